"""Coverage leads a search: lines that a testee reaches first are told, and logs that reach them are changed further."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge.cli import app
from forge.conform.fuzz.search import DrawnSeeds, Kept, base_of, try_of
from forge.testing import reached

#: It has a fault behind two conditions, neither of which a log that servers write fulfils.
DEEP = """\
def read(data):
    at, server, flags = 4, False, False
    while at + 19 <= len(data):
        size = int.from_bytes(data[at + 9 : at + 13], "little")
        if data[at + 5] == 0xFB:
            server = True
        if server:
            if data[at + 17] in (0x7F, 0x80, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE):
                flags = True
        if flags:
            raise SystemExit("it gives up")
        at += max(size, 19)
"""
TESTEE = """\
import json, sys
sys.path.insert(0, {folder!r})
import deep
from forge.testing.reached import Reached
reached = Reached("deep")
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        hello = {{"name": "deep", "version": "1", "forms": {{}}, "coverage": {coverage}}}
        print(json.dumps({{"hello": hello}}), flush=True)
        continue
    with reached:
        deep.read(open(request["file"], "rb").read())
    done = {{"id": request["id"], "end": "refused"}}
    if request.get("coverage"):
        done["coverage"] = reached.fresh()
    print(json.dumps(done), flush=True)
"""
#: Files of forge that a process without it has beside it.
ALONE = """\
import json, sys
sys.path.insert(0, {folder!r})
from reached import Reached
watched = Reached("deep")
import deep
with watched:
    deep.read(b"")
first = watched.fresh()
with watched:
    deep.read(b"")
again = watched.fresh()
with watched:
    deep.read(bytes(60))
print(json.dumps([first, again, watched.fresh()]))
"""


def test_a_line_is_told_once_and_has_the_same_number_everywhere(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(DEEP)
    (tmp_path / "reached.py").write_text(Path(reached.__file__).read_text("utf-8"))
    command = [sys.executable, "-I", "-c", ALONE.format(folder=str(tmp_path))]
    first, again, more = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert sorted(first) == [246540677, 2042026259, 2545465407]
    assert again == []
    assert len(more) == len(set(more)) == 5
    assert not set(first) & set(more)


def test_the_log_that_reached_a_new_place_is_kept_and_made_again() -> None:
    kept = Kept(0, set())
    first = try_of(DrawnSeeds(), 0, 5)
    kept.note(first, [1, 2])
    kept.note(try_of(DrawnSeeds(), 0, 6), [2])
    assert kept.tries == [first]
    number = next(number for number in range(7, 40) if kept.base(number) is not None)
    assert any(kept.base(other) is None for other in range(7, 40))
    changed = try_of(DrawnSeeds(), 0, number, kept.base(number))
    assert changed.bases == (5,)
    assert changed.mutations[: len(first.mutations)] == first.mutations
    assert try_of(DrawnSeeds(), 0, number, base_of(DrawnSeeds(), 0, changed.bases)) == changed


@pytest.mark.nightly
@pytest.mark.slow
def test_a_fault_behind_two_conditions_is_found_with_coverage(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.py").write_text(DEEP)
    for coverage in (True, False):
        program = tmp_path / f"testee-{coverage}.py"
        program.write_text(TESTEE.format(folder=str(tmp_path), coverage=coverage))
        command = ["fuzz", "--testee", f"{sys.executable} {program}", "--json", "--shrink", "0"]
        app.run([*command, "--tries", "400", "--seed", "1"])
        *failures, summary = map(json.loads, capfd.readouterr().out.splitlines())
        found = [failure for failure in failures if failure["outcome"] == "crashed"]
        assert bool(found) is coverage
        assert summary.get("kept", 0) == 2 * coverage
        if coverage:
            bases = [word for number in found[0]["bases"] for word in ("--base", str(number))]
            again = [*command, "--seed", "1", "--first", str(found[0]["number"]), *bases, "--tries", "1"]
            assert app.run(again) == 1
            *failures, _ = map(json.loads, capfd.readouterr().out.splitlines())
            assert [failure["name"] for failure in failures] == [found[0]["name"]]
