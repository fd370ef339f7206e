"""A kit of somebody else's: its names are no paths, and what it says has the shape that runners need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.cli import app
from forge.conform.kit.reading import open_kit
from forge.errors import ManifestError

FILE: dict[str, Any] = {"name": "f.bin", "size": 4, "sha256": "0" * 64, "events": 1, "rows": 0, "stops_at": None}
CASE: dict[str, Any] = {
    "id": "a-case", "title": "t", "case": "c", "since": None, "server": "mysql-9.7", "flavor": "mysql",
    "verdict": "accept", "phase": None, "files": [FILE], "tags": [], "rules": [], "thresholds": [], "smoke": True,
    "guards": [],
}  # fmt: skip
EVENT: dict[str, Any] = {
    "index": 0, "offset": 4, "type": "XID", "fields": {}, "checksum": {"algorithm": "NONE", "valid": None},
}  # fmt: skip
PATHS = ("/tmp/x", "../x", "a/b", "..", "", "a\0b", "a\\b", "-a")


def kit(folder: Path, case: dict[str, Any], events: str = "", rows: str = "") -> Path:
    (folder / "cases" / "a-case").mkdir(parents=True)
    (folder / "index.jsonl").write_text(json.dumps(case) + "\n")
    (folder / "cases" / "a-case" / "f.bin").write_bytes(b"\xfebin")
    (folder / "cases" / "a-case" / "f.bin.events.jsonl").write_text(events)
    (folder / "cases" / "a-case" / "f.bin.rows.jsonl").write_text(rows)
    return folder


@pytest.mark.parametrize("name", PATHS)
def test_no_name_of_a_kit_is_a_path(name: str, tmp_path: Path) -> None:
    cases: list[dict[str, object]] = [{"id": name}, {"twin": name}, {"files": [FILE | {"name": name}]}]
    for number, case in enumerate(cases):
        with pytest.raises(ManifestError, match=r"line 1 of index\.jsonl: the (id of a case|name of a file) is "):
            open_kit(kit(tmp_path / str(number), CASE | case))


@pytest.mark.parametrize(
    ("events", "rows"),
    [
        (json.dumps({name: value for name, value in EVENT.items() if name != "type"}), ""),
        (json.dumps(EVENT | {"offset": "4"}), ""),
        ("[" * 100_000, ""),
        ("7", ""),
        ("", json.dumps({"event": 0, "offset": 4, "row": 1, "kind": "insert", "database": "d", "table": "t"})),
    ],
)
def test_what_is_expected_has_the_shape_that_runners_need(
    events: str, rows: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = kit(tmp_path / "kit", CASE, events, rows)
    opened = open_kit(folder)
    with pytest.raises(ManifestError, match=r"f\.bin\.(events|rows)\.jsonl: "):
        opened.expected(opened.cases[0], opened.cases[0].files[0])
    assert app.run(["conform", "true", "--kit", str(folder)]) in (1, 2, 3)
    assert "error of ours" not in capfd.readouterr().err
