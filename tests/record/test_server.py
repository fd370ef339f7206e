"""Fresh real servers come up, log, go down in both ways, and say why they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.binlog.reader import read_events
from forge.errors import EnvironmentMissing
from forge.record.client import RecordingError
from forge.record.server import RealServer


def test_a_missing_server_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match="make servers"):
        RealServer(tmp_path)


def test_an_unknown_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match="postgres"):
        RealServer(tmp_path, "postgres")


def test_a_program_that_cannot_serve_is_reported_with_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "maria118.run").write_text("#!/bin/sh\necho '[ERROR] no such disk' >&2\nexit 1\n")
    (tmp_path / "maria118.run").chmod(0o755)
    with (
        pytest.raises(RecordingError, match=r"MariaDB 11\.8 did not start: no such disk"),
        RealServer(tmp_path, "maria118"),
    ):
        pass


def _last_type(data: bytes) -> str:
    return list(read_events(data))[-1].event.type_name


@pytest.mark.servers
@pytest.mark.parametrize("name", ["mysql97", "maria1011", "maria118"])
def test_a_server_logs_and_leaves_nothing_behind(name: str) -> None:
    with RealServer(name=name) as server:
        folder = server.folder
        assert server.run_sql("CREATE DATABASE one; SELECT 'é', 2;") == "é\t2\n"
        server.flush()
        server.stop()
        ends = [_last_type(path.read_bytes()) for path in server.binlog_files()]
        assert ends == ["ROTATE", "STOP"]
    assert not folder.exists()


@pytest.mark.servers
def test_a_killed_server_leaves_its_file_open_and_starts_again() -> None:
    with RealServer() as server:
        server.run_sql("CREATE DATABASE one;")
        server.kill()
        first = server.binlog_files()[0].read_bytes()
        assert first[4 + 17] & 1
        assert _last_type(first) == "QUERY"
        server.start()
        assert "one\n" in server.run_sql("SHOW DATABASES;")


@pytest.mark.servers
def test_a_refused_statement_is_reported_with_line_and_message() -> None:
    with RealServer() as server, pytest.raises(RecordingError, match=r"line 2: Table 'one\.t' doesn't exist"):
        server.run_sql("CREATE DATABASE one;\nINSERT INTO one.t VALUES (1);\n")


@pytest.mark.servers
def test_an_option_that_the_server_does_not_know_is_reported() -> None:
    with pytest.raises(RecordingError, match="no-such-option"), RealServer(options=["--no-such-option"]):
        pass
