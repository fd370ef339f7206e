"""Recordings of settings, GTIDs and sessions that change: compiled with their facts they are the recorded bytes.

They are no cases of the corpus (``corpora/recordings`` has those); ``forge verify tests/record/recordings`` takes them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.record.recording import verify

RECORDINGS = sorted(path.parent for path in (Path(__file__).parent / "recordings").glob("*/recording.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_a_recorded_session_compiles_to_the_recorded_bytes_which_decode_to_what_select_gave(folder: Path) -> None:
    result = verify(folder)
    assert result.difference is None
    assert result.contents is None
    assert result.tables is not None
    assert result.statuses == (folder / "facts.yaml").read_text("utf-8").count("\n- query: ")
