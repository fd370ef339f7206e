"""Every log in Debian's ``mariadb-test-data`` (``make servers``), of MySQL 4.1 to MariaDB 11, is listed whole and back.

Nothing of the package lies here.  Without it, no log of such servers is tried: a skipped test says so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.reader import read_events
from forge.errors import FormatError

HOME = Path(os.environ.get("FORGE_SERVERS") or Path.home() / ".cache" / "real-servers") / "test-data"

#: Logs that are damaged on purpose, or encrypted: what reading them says.
DAMAGED = {
    "binlog_before_20574.bin": "the events from here on are encrypted",
    "bug11747416_32228_binlog.000001": "the event says it has 65567 bytes, but only 7876 are left",
    "corrupt-relay-bin.000624": "QUERY body: 16949 bytes announced, but only 139 left",
    "mdev-39404-binlog.000001": "the checksum of this MARIADB_GTID event is wrong",
    "invalid_row_v2_tag.001": "the checksum of this FORMAT_DESCRIPTION event is wrong",
}
#: Events of these logs that are listed as bytes: the damaged ones, and those that are encrypted.
RAW_EVENTS = {"binlog_before_20574.bin": None, "bug11747416_32228_binlog.000001": 1, "corrupt-relay-bin.000624": 1}


def _logs() -> list[Path]:
    files = sorted(path for path in HOME.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if path.read_bytes()[:4] == b"\xfebin"]


LOGS = _logs()


def test_the_package_is_there() -> None:
    if not LOGS:
        pytest.skip(f"NOT CHECKED: logs of other servers; `make servers` fetches mariadb-test-data into {HOME}")
    # As many as the package of 10.11.18 has.
    assert len(LOGS) >= 34


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_is_listed_whole_and_its_listing_gives_it_again(path: Path) -> None:
    data = path.read_bytes()
    raw = [document for document in disassemble(data) if document.keys() & {"bytes", "body"}]
    allowed = RAW_EVENTS.get(path.name, 0)
    assert allowed is None or len(raw) == allowed
    assert assemble("".join(listing_text(data))) == data


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_is_read_to_its_end_or_to_what_is_wrong_with_it(path: Path) -> None:
    wrong = DAMAGED.get(path.name)
    if wrong is None:
        assert list(read_events(path.read_bytes()))
        return
    with pytest.raises(FormatError, match=wrong):
        list(read_events(path.read_bytes()))
