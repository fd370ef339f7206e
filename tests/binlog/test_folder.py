"""Which files are one log, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.binlog.folder import LogName, log_files, log_name
from forge.binlog.reader import MAGIC
from forge.errors import ScenarioError


def files(folder: Path, *names: str, data: bytes = MAGIC) -> list[Path]:
    for name in names:
        (folder / name).write_bytes(data)
    return [folder / name for name in names]


def test_the_files_of_a_folder_come_by_number(tmp_path: Path) -> None:
    expected = files(tmp_path, "binlog.000009", "binlog.000010", "binlog.999999", "binlog.1000000")
    files(tmp_path, "binlog.index", "ibdata1", ".binlog.000011.Xy3z", "binlog.000001.idx")
    assert log_files(tmp_path) == expected


def test_an_empty_folder_is_a_log_without_files(tmp_path: Path) -> None:
    assert log_files(tmp_path) == []


def test_files_of_other_kinds_with_numbers_are_passed_over(tmp_path: Path) -> None:
    files(tmp_path, "aria_log.00000001", data=b"\xfe\xfe\xfe\x09")
    expected = files(tmp_path, "mariadb-bin.000001")
    assert log_files(tmp_path) == expected


def test_several_logs_in_a_folder_are_refused_unless_an_index_says_which(tmp_path: Path) -> None:
    files(tmp_path, "binlog.000001", "relay.000001")
    with pytest.raises(ScenarioError, match="holds several logs: binlog, relay"):
        log_files(tmp_path)
    (tmp_path / "relay.index").write_text("./relay.000001\n")
    assert log_files(tmp_path / "relay.index") == [tmp_path / "relay.000001"]


def test_a_path_may_be_one_file(tmp_path: Path) -> None:
    expected = files(tmp_path, "saved.binlog", "binlog.000001")
    assert [*log_files(expected[0]), *log_files(expected[1])] == expected


def test_an_index_names_files_where_the_server_had_them(tmp_path: Path) -> None:
    expected = files(tmp_path, "binlog.000007", "binlog.000008")
    (tmp_path / "binlog.index").write_text("/var/lib/mysql/binlog.000007\n./binlog.000008\n./binlog.000008\n")
    assert log_files(tmp_path / "binlog.index") == expected


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    for name in ("none", "none.index"):
        with pytest.raises(ScenarioError, match="there is no log at"):
            log_files(tmp_path / name)


@pytest.mark.parametrize(("name", "following"), [("b.000001", "b.000002"), ("b.999999", "b.1000000")])
def test_the_next_file_has_the_next_number(name: str, following: str) -> None:
    parts = log_name(name)
    assert parts is not None
    assert (str(parts), str(parts.following)) == (name, following)


def test_other_names_are_no_names_of_logs() -> None:
    assert [log_name(name) for name in ("binlog.00001", "binlog.index", ".000001")] == [None, None, None]
    assert log_name("a.b.000001") == LogName("a.b", 1)
