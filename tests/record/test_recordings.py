"""The recordings in ``corpora/recordings``: compiled with their facts they are the recorded bytes, what these decode to
is what the server's SELECT gave, and together they use everything that the compiler makes for MySQL 9.7.
"""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge.binlog.reader import PlacedEvent, read_events
from forge.errors import ScenarioError
from forge.events.format_description import FormatDescription
from forge.events.table_map import TableMap
from forge.record.recording import VerifyResult, find_recordings, record, verify
from forge.resources import corpora_dir

pytestmark = pytest.mark.slow

RECORDINGS = sorted(path.parent for path in corpora_dir().glob("recordings/**/recording.yaml"))


def name(folder: Path) -> str:
    return folder.relative_to(corpora_dir() / "recordings").as_posix()


@cache
def verified(folder: Path) -> VerifyResult:
    return verify(folder)


@pytest.mark.parametrize("folder", RECORDINGS, ids=name)
def test_a_recorded_scenario_compiles_to_the_recorded_bytes_which_decode_to_what_select_gave(folder: Path) -> None:
    result = verified(folder)
    assert result.difference is None
    assert result.contents is None
    assert result.tables is not None
    # None that the rules make needless.
    assert result.statuses == (folder / "facts.yaml").read_text("utf-8").count("\n- query: ")


SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")
#: Families that only some servers have.
ONLY = {
    "compressed": SERVERS[1:],
    "network": SERVERS[1:],
    "old-fractions": SERVERS[1:],
    "old-temporals": SERVERS[1:],
    "vectors": (SERVERS[0], SERVERS[2]),
    "wrong-addresses": SERVERS[1:],
    "years-two-digits": SERVERS[1:],
}


def families() -> list[Path]:
    return sorted((corpora_dir() / "scenarios" / "values").glob("*.yaml"))


@pytest.mark.parametrize("scenario", families(), ids=lambda path: path.stem)
def test_every_family_of_values_is_recorded_as_it_is_on_each_server_that_has_it(scenario: Path) -> None:
    folder = corpora_dir() / "recordings" / "values" / scenario.stem
    assert sorted(path.name for path in folder.iterdir()) == sorted(ONLY.get(scenario.stem, SERVERS))
    for recording in folder.iterdir():
        assert (recording / "scenario.yaml").read_bytes() == scenario.read_bytes()
        settings = yaml.safe_load((recording / "recording.yaml").read_text("utf-8"))["settings"]
        # What else it says is a choice of the family's other axes, without which it would not verify.
        assert settings["server"] == recording.name


def test_at_least_sixty_families_and_servers_are_recorded_and_all_their_rows_compared() -> None:
    folders = [folder for folder in RECORDINGS if folder.parent.parent.name == "values"]
    assert len(folders) >= 60
    for folder in folders:
        tables = json.loads((folder / "contents.json").read_text("utf-8"))
        assert verified(folder).rows == sum(len(table["rows"]) for table in tables.values()) > 0


@cache
def events(folder: Path) -> list[PlacedEvent]:
    names = yaml.safe_load((folder / "recording.yaml").read_text("utf-8")).get("files", ["binlog.000001"])
    return [placed for name in names for placed in read_events((folder / name).read_bytes())]


def table_maps() -> list[TableMap]:
    return [p.event.body for folder in RECORDINGS for p in events(folder) if isinstance(p.event.body, TableMap)]


def test_the_recordings_have_every_event_that_is_compiled() -> None:
    types = {placed.event.type_name for folder in RECORDINGS for placed in events(folder)}
    assert types >= {
        "FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "GTID", "ANONYMOUS_GTID", "QUERY", "ROWS_QUERY", "TABLE_MAP",
        "WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "XID", "ROTATE", "STOP",
    }  # fmt: skip


def test_the_recordings_have_every_column_type() -> None:
    codes = {code for table in table_maps() for code in table.types}
    integers, floats, decimal, bit, year, date = {1, 2, 9, 3, 8}, {4, 5}, {246}, {16}, {13}, {10}
    temporal, strings, blobs, json = {17, 18, 19}, {15, 254}, {252}, {245}
    assert codes >= integers | floats | decimal | bit | year | date | temporal | strings | blobs | json


def test_the_recordings_have_every_record_of_optional_metadata() -> None:
    records = {item.type_name for table in table_maps() for item in table.optional_metadata}
    assert records >= {
        "signedness", "default_charset", "column_charset", "column_name", "set_members", "enum_members",
        "simple_primary_key", "prefix_primary_key", "enum_set_default_charset", "enum_set_column_charset", "visibility",
    }  # fmt: skip


def sessions() -> list[dict[str, Any]]:
    return [yaml.safe_load((folder / "recording.yaml").read_text("utf-8")) for folder in RECORDINGS]


@pytest.mark.parametrize(
    "option",
    [
        "--gtid-mode=ON", "--gtid-mode=OFF", "--binlog-checksum=CRC32", "--binlog-checksum=NONE",
        "--binlog-row-metadata=FULL", "--binlog-row-metadata=MINIMAL", "--binlog-row-event-max-size=256",
    ],
)  # fmt: skip
def test_some_recording_was_made_with_each_setting(option: str) -> None:
    assert any(option in session["options"] for session in sessions())


def test_the_recordings_keep_the_servers_own_version_string() -> None:
    for folder in RECORDINGS:
        body = events(folder)[0].event.body
        assert isinstance(body, FormatDescription)
        how = yaml.safe_load((folder / "recording.yaml").read_text("utf-8"))
        assert body.server_version.startswith(how["server_version"])


def test_a_difference_is_reported_as_event_field_and_offset(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(corpora_dir() / "recordings" / "first-day", folder)
    scenario = folder / "scenario.yaml"
    scenario.write_text(scenario.read_text("utf-8").replace("qty: 3", "qty: 4"), "utf-8")
    difference = verify(folder).difference
    assert difference is not None
    assert difference.event_type == "ROWS_QUERY"
    assert "= 3 WHERE" in difference.left
    assert "= 4 WHERE" in difference.right
    data = (folder / "binlog.000001").read_bytes()
    assert data[difference.offset : difference.offset + 7] == b"3 WHERE"


def test_a_difference_in_a_later_file_names_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(corpora_dir() / "recordings" / "files" / "mysql-9.7", folder)
    scenario = folder / "scenario.yaml"
    scenario.write_text(scenario.read_text("utf-8").replace("note: d", "note: z"), "utf-8")
    difference = verify(folder).difference
    assert difference is not None
    assert difference.file == "binlog.000005"
    assert str(difference).startswith("binlog.000005, event 4 (ROWS_QUERY), offset ")


def test_a_recorded_file_with_a_wrong_byte_is_a_difference(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(corpora_dir() / "recordings" / "files" / "mysql-9.7", folder)
    data = bytearray((folder / "binlog.000002").read_bytes())
    data[-10] ^= 1
    (folder / "binlog.000002").write_bytes(data)
    assert str(verify(folder).difference).startswith("binlog.000002, event ")


def test_a_file_too_many_and_another_index_are_differences(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(corpora_dir() / "recordings" / "files" / "mysql-9.7", folder)
    (folder / "binlog.index").write_text("./binlog.000002\n")
    assert str(verify(folder).difference).startswith("index, offset 14: names")
    how = folder / "recording.yaml"
    how.write_text(how.read_text("utf-8").replace(", binlog.000008", ""), "utf-8")
    difference = verify(folder).difference
    assert difference is not None
    assert (difference.field, difference.left, difference.right) == ("files", "7", "8")


def test_patterns_find_each_recording_once(tmp_path: Path) -> None:
    whole = corpora_dir() / "recordings"
    assert find_recordings([str(whole)]) == RECORDINGS
    assert find_recordings([str(whole / "**")]) == RECORDINGS
    assert find_recordings([str(whole / "e*"), str(whole / "enums" / "facts.yaml")]) == [
        folder for folder in RECORDINGS if folder.relative_to(whole).parts[0].startswith("e")
    ]
    with pytest.raises(ScenarioError, match="names no recording"):
        find_recordings([str(tmp_path)])


@pytest.mark.parametrize("file", ["facts.yaml", "recording.yaml", "scenario.yaml", "binlog.000001"])
def test_a_folder_that_lacks_a_file_is_no_recording(tmp_path: Path, file: str) -> None:
    folder = tmp_path / "lacking"
    shutil.copytree(corpora_dir() / "recordings" / "empty", folder)
    (folder / file).unlink()
    with pytest.raises(ScenarioError, match=file):
        verify(folder)


def test_facts_that_are_none_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    shutil.copytree(corpora_dir() / "recordings" / "empty", folder)
    (folder / "facts.yaml").write_text("openned: 5\n", "utf-8")
    with pytest.raises(ScenarioError, match="openned"):
        verify(folder)


@pytest.mark.servers
@pytest.mark.parametrize("scenario", ["many-tables", "ddl", "current-timestamps-unset", "ends-with-rotate"])
def test_a_scenario_recorded_now_verifies(tmp_path: Path, scenario: str) -> None:
    recorded = record(corpora_dir() / "recordings" / scenario / "scenario.yaml", tmp_path / scenario)
    assert (tmp_path / scenario / "binlog.000001").read_bytes() == recorded.binlog
    assert verify(tmp_path / scenario).difference is None


@pytest.mark.servers
@pytest.mark.parametrize("server", SERVERS)
def test_a_session_of_several_files_recorded_now_verifies(tmp_path: Path, server: str) -> None:
    scenario = corpora_dir() / "recordings" / "files" / server / "scenario.yaml"
    recorded = record(scenario, tmp_path / "files", parameters={"server": server})
    assert len(recorded.files) == 8
    assert verify(tmp_path / "files").difference is None


@pytest.mark.servers
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_replicas_relay_log_recorded_now_verifies(tmp_path: Path, server: str) -> None:
    scenario = corpora_dir() / "recordings" / "relay-log" / server / "scenario.yaml"
    recorded = record(scenario, tmp_path / "relay", parameters={"server": server})
    assert [name for name, _ in recorded.files] == [f"relay.{number:06}" for number in range(1, 5)]
    assert verify(tmp_path / "relay").difference is None


@pytest.mark.servers
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_the_log_of_a_replica_of_two_sources_recorded_now_verifies(tmp_path: Path, server: str) -> None:
    scenario = Path(__file__).parent / "recordings" / f"two-sources-{server}" / "scenario.yaml"
    recorded = record(scenario, tmp_path / "replica")
    assert len(recorded.files) == 2
    assert verify(tmp_path / "replica").difference is None


@pytest.mark.servers
def test_a_payload_beyond_the_compressors_window_recorded_now_verifies(tmp_path: Path) -> None:
    record(Path(__file__).with_name("payload-beyond-window.yaml"), tmp_path / "large")
    assert verify(tmp_path / "large").difference is None


@pytest.mark.servers
def test_a_session_that_follows_a_bound_one_recorded_now_verifies(tmp_path: Path) -> None:
    scenario = corpora_dir() / "scenarios" / "transactions" / "xa-sessions.yaml"
    record(scenario, tmp_path / "sessions", parameters={"server": "mariadb-11.8"})
    assert verify(tmp_path / "sessions").problem is None


@pytest.mark.servers
def test_settings_of_a_recording_are_kept_for_its_verification(tmp_path: Path) -> None:
    scenario = corpora_dir() / "recordings" / "first-day" / "scenario.yaml"
    # In the place of another recording, of which nothing stays.
    shutil.copytree(corpora_dir() / "recordings" / "files" / "mysql-9.7", tmp_path / "other")
    record(scenario, tmp_path / "other", parameters={"session.gtid": False, "session.server_id": 42})
    assert verify(tmp_path / "other").difference is None
    assert [path.name for path in (tmp_path / "other").glob("binlog.*")] == ["binlog.000001"]
    assert {placed.event.server_id for placed in events(tmp_path / "other")} == {42}
    assert "ANONYMOUS_GTID" in {placed.event.type_name for placed in events(tmp_path / "other")}
