"""Logs made smaller: what they have to show stays, and what is left is a log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge.binlog.reader import read_events
from forge.conform.shrink.columns import without_columns
from forge.conform.shrink.nodes import Node, read_log, well_shaped, write_log
from forge.conform.shrink.shrink import shrink
from forge.decode.expected import expected_of
from forge.errors import FormatError
from forge.events.gtid import Gtid
from forge.events.optional_metadata import METADATA_CODES, MetadataRecord
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.resources import corpora_dir
from forge.values.wire_types import WireType

_HOME = corpora_dir() / "recordings"
_ALL = sorted(path for path in _HOME.rglob("*.0[0-9][0-9][0-9][0-9][0-9]*") if path.stat().st_size < 20_000)


def recording(name: str) -> bytes:
    return next(path for path in _ALL if path.relative_to(_HOME).parts[0] == name).read_bytes()


def cells_of(data: bytes) -> list[dict[str, Any]]:
    images = [image for row in expected_of(data).rows for image in (row["before"], row["after"])]
    return [cell for image in images for cell in image or ()]


def shows_text(text: str) -> Callable[[bytes], bool]:
    """Whether a log has a cell with this text."""
    return lambda data: any(cell.get("text") == text for cell in cells_of(data))


def types_of(data: bytes) -> list[str]:
    return [event["type"] for event in expected_of(data).events]


@pytest.mark.parametrize("path", _ALL[::23], ids=lambda path: str(path.relative_to(_HOME).parent))
def test_a_log_taken_apart_is_written_again_as_it_was(path: Path) -> None:
    data = path.read_bytes()
    assert write_log(read_log(data)) == data


@pytest.mark.parametrize("path", _ALL[::17], ids=lambda path: str(path.relative_to(_HOME).parent))
def test_the_transactions_of_a_recording_are_whole(path: Path) -> None:
    assert well_shaped(read_log(path.read_bytes()))


def test_the_transactions_of_xa_are_whole() -> None:
    path = _HOME / "transactions" / "xa-mixed-mysql-9.7" / "binlog.000001"
    assert well_shaped(read_log(path.read_bytes()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "integers",
        "json",
        "decimals",
        "compressed",
        "compressed-events",
        "datetimes",
        "sets",
        "mariadb-domains-mariadb-10.11",
    ],
)
def test_a_log_with_a_value_becomes_a_small_right_log_with_that_value(name: str) -> None:
    data = recording(name)
    texts = [cell["text"] for cell in cells_of(data) if cell.get("text")]
    wanted = texts[len(texts) // 2]
    result = shrink(data, shows_text(wanted))
    assert result.finished
    assert shows_text(wanted)(result.data)
    assert len(result.data) <= 1024 + 2 * len(wanted)
    assert expected_of(result.data).problem is None
    assert well_shaped(read_log(result.data))
    assert len(expected_of(result.data).rows) == 1
    assert len(expected_of(result.data).rows[0]["after"]) == 1


def test_what_is_left_says_its_positions_lengths_and_checksums_rightly() -> None:
    small = shrink(recording("integers"), shows_text("-8388608")).data
    for placed in read_events(small):
        assert (placed.event.event_size, placed.event.log_pos, placed.event.checksum) == (None, None, None)
    gtid = next(placed for placed in read_events(small) if isinstance(placed.event.body, Gtid))
    assert isinstance(gtid.event.body, Gtid)
    assert gtid.event.body.transaction_length == len(small) - gtid.offset
    assert types_of(small) == ["FORMAT_DESCRIPTION", "GTID", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]


def test_the_same_file_comes_out_each_time() -> None:
    data = recording("json")
    texts = [cell["text"] for cell in cells_of(data) if cell.get("text")]
    shows = shows_text(max(texts, key=len))
    assert shrink(data, shows).data == shrink(data, shows).data


def test_a_document_is_cut_down_to_the_member_that_matters() -> None:
    data = recording("json")

    def has_a_double(log: bytes) -> bool:
        return any("." in str(cell.get("text", "")) and cell["type_code"] == WireType.JSON for cell in cells_of(log))

    if not has_a_double(data):
        pytest.fail("the recording has no number with a point")
    small = shrink(data, has_a_double).data
    (cell,) = [cell for cell in cells_of(small) if cell["raw"] is not None]
    assert len(cell["raw"]) // 2 < 40


@pytest.mark.slow
def test_a_log_that_has_to_stay_as_it_is_stays() -> None:
    data = recording("integers")
    result = shrink(data, lambda candidate: candidate == data)
    assert result.data == data


def test_a_broken_log_is_cut_down_to_what_is_broken() -> None:
    data = recording("integers")[:-2]
    problem = expected_of(data).problem
    assert problem is not None

    def torn(log: bytes) -> bool:
        found = expected_of(log).problem
        return found is not None and found.args[0].startswith("the event says")

    assert torn(data)
    assert len(shrink(data, torn).data) < 60


def test_a_log_that_breaks_a_rule_inside_whole_events_keeps_whole_transactions() -> None:
    log = read_log(recording("integers"))

    def spoiled(path: object, node: Node) -> Node:
        if not isinstance(node.body, TableMap) or node.event is None:
            return node
        records = (MetadataRecord(METADATA_CODES["signedness"], b""), *node.body.optional_metadata[1:])
        return replace(node, event=node.event.replace(body=node.body.replace(optional_metadata=records)))

    data = write_log(log.changed(spoiled))
    problem = expected_of(data).problem
    assert problem is not None

    def breaks_it(candidate: bytes) -> bool:
        found = expected_of(candidate).problem
        return isinstance(found, FormatError) and "signedness" in found.rule

    small = shrink(data, breaks_it).data
    assert len(small) < 500
    assert well_shaped(read_log(small))


def test_no_time_gives_the_log_as_it_was() -> None:
    data = recording("integers")
    result = shrink(data, shows_text("-8388608"), seconds=0.0)
    assert (result.data, result.finished) == (data, False)


def _without_each_column(data: bytes) -> None:
    """Take each column alone out of a log: the others keep their values, names and types."""
    log = read_log(data)
    count = max((len(node.columns) for _, node in log.walk()), default=0)
    for dropped in range(count):

        def change(path: object, node: Node, dropped: int = dropped) -> Node:
            is_its_own = isinstance(node.body, (TableMap, *ROWS_BODIES)) and len(node.columns) > max(dropped, 1)
            if not is_its_own or (isinstance(node.body, ROWS_BODIES) and node.rows is None):
                return node
            return without_columns(node, {dropped}, mariadb=log.mariadb)

        smaller = write_log(log.changed(change))
        before, after = expected_of(data), expected_of(smaller)
        assert after.problem is None, (dropped, after.problem)
        assert len(after.rows) == len(before.rows)
        for old, new in zip(before.rows, after.rows, strict=True):
            for image in ("before", "after"):
                if old[image] is None:
                    assert new[image] is None
                    continue
                numbered = {cell["column"]: cell for cell in old[image]}
                if old["table"] != new["table"]:
                    continue
                kept = [cell for number, cell in numbered.items() if number != dropped + 1]
                if len(new[image]) == len(old[image]):
                    continue  # a table without that column
                values = [(cell["raw"], cell.get("name"), cell.get("text")) for cell in kept]
                assert [(cell["raw"], cell.get("name"), cell.get("text")) for cell in new[image]] == values


@pytest.mark.parametrize(
    "name", ["integers", "charsets-full", "enums-minimal", "sets", "invisible-columns", "images-minimal", "binaries"]
)
def test_a_column_taken_out_leaves_the_others_as_they_were(name: str) -> None:
    _without_each_column(recording(name))
