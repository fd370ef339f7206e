"""forge fuzz: a decoder with known faults is found out, and every try can be made again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from forge.cli import app
from forge.conform.fuzz.search import DrawnSeeds, KitSeeds, try_of
from forge.errors import ScenarioError

#: It reads with our own decoder, is wrong about negative numbers, and dies of torn files.
FAULTY = """\
import json, os, sys
import forge
from forge.decode.expected import expected_of
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        hello = {"name": "faulty", "version": "1", "language": "Python", "levels": ["rows"], "forms": {}}
        hello["forms"]["integer"] = "text"
        print(json.dumps({"hello": hello}), flush=True)
        continue
    data = open(request["file"], "rb").read()
    expected = expected_of(data)
    if expected.problem is not None and expected.problem.phase == "framing":
        os._exit(9)
    for row in expected.rows:
        said = {"offset": row["offset"], "kind": row["kind"], "database": row["database"], "table": row["table"]}
        for image in ("before", "after"):
            if row[image] is not None:
                cells = []
                for cell in row[image]:
                    value = cell.get("value", {}).get("integer") if cell.get("value") else None
                    shown = {"column": cell["column"]}
                    if cell["raw"] is None:
                        shown["value"] = None
                    elif value is not None:
                        shown["value"] = value.lstrip("-")
                    else:
                        shown["not_shown"] = True
                    cells.append(shown)
                said[image] = cells
        print(json.dumps({"id": request["id"], "row": said}))
    end = "ok" if expected.problem is None else "refused"
    print(json.dumps({"id": request["id"], "end": end}), flush=True)
"""


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    program = tmp_path / "faulty.py"
    program.write_text(FAULTY)
    return f"{sys.executable} {program}"


def test_a_try_is_the_same_whenever_it_is_made() -> None:
    assert try_of(DrawnSeeds(), 1, 7) == try_of(DrawnSeeds(), 1, 7)
    assert try_of(DrawnSeeds(), 1, 7) != try_of(DrawnSeeds(), 2, 7)
    tries = [try_of(DrawnSeeds(), 0, number) for number in range(40)]
    assert {len(one.mutations) for one in tries} >= {1, 2, 3}


@pytest.mark.nightly
@pytest.mark.slow
def test_a_decoder_with_faults_is_found_out(faulty: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "failures"
    options = ["--testee", faulty, "--tries", "60", "--seed", "3", "--shrink", "5", "-o", str(out), "--json"]
    assert app.run(["fuzz", *options]) == 1
    shown = capfd.readouterr()
    assert "faulty 1 fails: " in shown.err
    *failures, summary = map(json.loads, shown.out.splitlines())
    assert summary["tries"] == 60
    assert summary["failures"] == len(failures)
    assert {"crashed", "disagree"} <= {failure["outcome"] for failure in failures}
    for failure in failures:
        smallest = (out / f"{failure['name']}.binlog").read_bytes()
        assert len(smallest) == failure["bytes"] <= failure["first_bytes"]
        assert json.loads((out / f"{failure['name']}.json").read_text()) == failure
    again = ["--testee", faulty, "--seed", "3", "--first", str(failures[0]["number"]), "--tries", "1", "--json"]
    assert app.run(["fuzz", *again, "--shrink", "0"]) == 1
    assert json.loads(capfd.readouterr().out.splitlines()[0])["name"] == failures[0]["name"]


def test_the_logs_of_a_kit_are_seeds(kit: Path, tmp_path: Path) -> None:
    seeds = KitSeeds(kit)
    assert try_of(seeds, 0, 1) == try_of(seeds, 0, 1)
    with pytest.raises(ScenarioError, match="there is no kit in "):
        KitSeeds(tmp_path)
