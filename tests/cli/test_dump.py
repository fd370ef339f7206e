"""``forge dump`` over recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.cli import app
from forge.decode.decode import canonical_events
from forge.errors import escaped
from forge.events.rows import PreGaWriteRows
from forge.resources import corpora_dir

RECORDINGS = corpora_dir() / "recordings"
FILES = [
    *sorted(RECORDINGS.glob("json*/binlog.000001")),
    *sorted(RECORDINGS.glob("values/*/mysql-9.7/binlog.000001")),
    *sorted(RECORDINGS.glob("values/*/mariadb-11.8/binlog.000001")),
]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.relative_to(RECORDINGS).as_posix())
def test_an_event_is_one_line_of_json_with_every_character_as_it_is_if_a_terminal_may_have_it(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["dump", "--json", str(path)]) == 0
    events = list(canonical_events(path.read_bytes()))
    shown = [escaped(json.dumps(event, ensure_ascii=False)) + "\n" for event in events]
    assert capfd.readouterr().out == "".join(shown)


def test_no_value_is_shown_as_python_writes_it() -> None:
    fields = {
        "row_flags": ["STMT_END"], "flags": ["A", "B"], "empty": [], "none": None, "yes": True,
        "text": {"hex": "00ff"}, "more": [{"hex": "c0"}, {"name": "x", "value": [1, 2]}],
    }  # fmt: skip
    shown = PreGaWriteRows.summary(fields)
    assert shown == "flags=A, B  empty=-  none=-  yes=true  text=0x00ff  more=0xc0, name=x value=1, 2"
