"""What a comparison says: the first difference, in one sentence, at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.check.compare.compare import Verdict, check, compare, explain
from forge.check.compare.differences import Comparison, Decoding
from forge.check.decoder import (
    NOT_SHOWN,
    DecodedRow,
    DecodedTable,
    Decoder,
    DecodingEnded,
    Deferred,
    Expected,
    ExpectedKey,
    Gap,
    Item,
    Warned,
)
from forge.check.decoders.forge_decoder import ForgeDecoder
from forge.check.decoders.table import available_decoders, decoder
from forge.decode.cells import Cell, MappedTable
from forge.decode.reference import Reference, read_reference
from forge.errors import ScenarioError

Recording = Callable[[str], bytes]
Broken = Callable[[str, str, Mapping[int, int]], bytes]
Replaced = Callable[[str, bytes, bytes], bytes]


class Told(ForgeDecoder):
    """A decoder that says what it is told to say."""

    name = "told"

    def __init__(self, items: Iterable[Item | DecodingEnded], *, hides: tuple[int, ...] = ()) -> None:
        self.items = list(items)
        self.hides = hides

    def decode(self, data: bytes) -> Iterable[Item]:  # type: ignore[override]
        for item in self.items:
            if isinstance(item, DecodingEnded):
                raise item
            yield item

    def decode_known(self, data: bytes, reference: Reference) -> Iterable[Item]:  # type: ignore[override]
        return self.decode(data)

    def normalise(self, cell: Cell) -> Expected:  # type: ignore[override]
        return NOT_SHOWN if cell.number in self.hides else super().normalise(cell)


class ToldColumns(Told):
    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        return tuple(None if column.name == "d" else column.name for column in mapped.columns or ())

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        return "id"


def ours(data: bytes) -> list[Item]:
    return list(ForgeDecoder().decode(data))


def verdict(data: bytes, other: Decoder) -> Verdict:
    return compare(read_reference(data), other, other.decode(data))


def test_our_own_items_agree(any_recording: str, recording: Recording) -> None:
    data = recording(any_recording)
    found = verdict(data, Told(ours(data)))
    rows = sum(isinstance(item, DecodedRow) for item in ours(data))
    assert (found.outcome, found.rows, found.difference) == ("agree", rows, None)


def test_a_changed_byte_in_a_cell_is_the_first_difference(recording: Recording, replaced: Replaced) -> None:
    data = recording("types-full")
    # -1234.5678 in DECIMAL(10,4): one digit of the first row changes.
    changed = replaced("types-full", bytes.fromhex("7ffb2de9d1"), bytes.fromhex("7ffb2de9d2"))
    found = verdict(data, Told(ours(changed)))
    difference = found.difference
    assert found.outcome == "disagree"
    assert difference is not None
    row_event = next(item for item in ours(data) if isinstance(item, DecodedRow) and item.table == "reals")
    assert (difference.table, difference.row, difference.image, difference.column) == ("p.reals", 1, "after", 4)
    assert (difference.column_name, difference.offset) == ("n", row_event.place[0])
    assert (difference.expected, difference.found, difference.raw) == ("-1234.5678", "-1234.5677", "7ffb2de9d1")
    assert (
        found.message
        == difference.sentence
        == (
            f"event {difference.event_index} at {difference.offset} (p.reals), row 1, after image, column 4 `n`"
            " DECIMAL(10,4) is '-1234.5678', told shows '-1234.5677'; its bytes are 7f fb 2d e9 d1"
        )
    )
    assert explain(difference).splitlines()[1:] == [
        "  canonical    -1234.5678",
        "  should show  -1234.5678",
        "  shows        -1234.5677",
        "  bytes        7ffb2de9d1",
    ]


@settings(max_examples=25)
@given(st.data())
def test_any_changed_cell_is_found_where_it_is(recording: Recording, data: st.DataObject) -> None:
    file = recording(data.draw(st.sampled_from(["types-full", "types-minimal", "images-full"])))
    items = ours(file)
    places = [index for index, item in enumerate(items) if isinstance(item, DecodedRow) and item.after]
    chosen = data.draw(st.sampled_from(places))
    row = items[chosen]
    assert isinstance(row, DecodedRow)
    assert row.after is not None
    column = data.draw(st.sampled_from(sorted(row.after)))
    items[chosen] = replace(row, after={**row.after, column: "something else"})
    difference = verdict(file, Told(items)).difference
    assert difference is not None
    assert (difference.what, difference.offset, difference.column) == ("value", row.place[0], column)
    before = [item for item in items[:chosen] if isinstance(item, DecodedRow) and item.place == row.place]
    assert difference.row == len(before) + 1


def change_row(items: list[Item], **changes: object) -> list[Item]:
    """The items with the first row changed."""
    index = next(index for index, item in enumerate(items) if isinstance(item, DecodedRow))
    row = items[index]
    assert isinstance(row, DecodedRow)
    return [*items[:index], replace(row, **changes), *items[index + 1 :]]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "what", "words"),
    [
        ({"after": {1: "1"}}, "presence", "column 2 `a` VARCHAR(10) is 'x', told does not show it"),
        ({"after": {1: "1", 2: "x", 4: None}}, "presence", "column 4 is absent, told shows NULL"),
        ({"after": {1: None, 2: "x"}}, "value", "column 1 `id` INT is '1', told shows NULL; its bytes are 01 00 00 00"),
        ({"kind": "delete"}, "row", "row 1 is 'insert p.img', told shows 'delete p.img'"),
        ({"table": "other"}, "row", "told shows 'insert p.other'"),
        ({"before": {1: "1"}}, "presence", "before image, column 1 is absent, told shows '1'"),
    ],
)
def test_every_kind_of_row_difference_is_named(
    recording: Recording, changes: dict[str, object], what: str, words: str
) -> None:
    data = recording("images-full")
    difference = verdict(data, Told(change_row(ours(data), **changes))).difference
    assert difference is not None
    assert difference.what == what
    assert words in difference.sentence


def test_missing_and_surplus_rows_are_counted(recording: Recording) -> None:
    data = recording("images-full")
    items = ours(data)
    first = next(index for index, item in enumerate(items) if isinstance(item, DecodedRow))
    missing = verdict(data, Told(items[: first + 1] + items[first + 2 :])).difference
    assert missing is not None
    assert (missing.what, missing.row, missing.expected, missing.found) == ("rows", 2, "2", "1")
    surplus = verdict(data, Told([*items[:first], items[first], *items[first:]])).difference
    assert surplus is not None
    assert surplus.sentence.startswith("event ")
    elsewhere = verdict(data, Told([*items, DecodedRow((9999, 0), "p", "img", "insert", None, {})])).difference
    assert elsewhere is not None
    assert elsewhere.sentence == "at 9999: told shows 1 row, forge nothing"


def test_tables_are_compared_by_name_columns_and_key(recording: Recording) -> None:
    data = recording("images-full")
    tables = [item for item in ours(data) if isinstance(item, DecodedTable)]
    plain = [replace(table, columns=("id", "a", "b", "c", "anything"), primary_key="id") for table in tables]
    only_img = [item for item in plain if item.name == "p.img"]
    renamed = [replace(only_img[0], columns=("id", "A", "b", "c", "d"))]
    shown = verdict(data, ToldColumns(renamed)).difference
    assert shown is not None
    assert (shown.what, shown.column, shown.expected, shown.found) == ("columns", 2, "a", "A")
    shown = verdict(data, ToldColumns([replace(only_img[0], primary_key=None)])).difference
    assert shown is not None
    assert (shown.what, shown.expected, shown.found) == ("primary_key", "id", None)
    shown = verdict(data, Told([replace(tables[0], name="p.other")])).difference
    assert shown is not None
    assert shown.what == "table"


def test_a_table_map_that_a_decoder_leaves_out_is_said_to_be_left_out(recording: Recording) -> None:
    data = recording("images-full")
    items = [item for item in ours(data) if not (isinstance(item, DecodedTable) and item.name == "p.nokey")]
    difference = verdict(data, Told(items)).difference
    assert difference is not None
    assert difference.sentence.endswith("TABLE_MAP of p.nokey: told does not show the table")
    assert (difference.what, difference.expected, difference.found) == ("table", "p.nokey", None)


def test_a_column_that_a_decoder_does_not_describe_is_not_said_to_be_null(recording: Recording) -> None:
    data = recording("images-full")
    tables = [item for item in ours(data) if isinstance(item, DecodedTable) and item.name == "p.img"]
    difference = verdict(data, ToldColumns([replace(tables[0], columns=("id",))])).difference
    assert difference is not None
    assert difference.sentence.endswith("column 2 should be 'a', told shows nothing")


def test_cells_that_a_decoder_cannot_show_are_counted_and_not_taken_as_agreement(recording: Recording) -> None:
    data = recording("vector")
    items = change_row(ours(data), after={1: "1", 2: "whatever", 3: "4294967295"})
    found = verdict(data, Told(items, hides=(2,)))
    assert (found.outcome, found.cells, found.cells_not_shown) == ("agree", 2, 1)
    assert found.message == "1 row, 2 cells; 1 cell without a form there"


@pytest.mark.parametrize("ending", ["refused", "unsupported", "crashed", "timeout"])
def test_a_decoder_that_ends_early_is_compared_up_to_there(recording: Recording, ending: str) -> None:
    data = recording("images-full")
    items = ours(data)
    stop = DecodingEnded(ending, "that is all")  # type: ignore[arg-type]
    found = verdict(data, Told([*items[:5], stop]))
    assert (found.outcome, found.message, found.difference) == (ending, "that is all", None)
    wrong = change_row(items[:5], after={1: "2"})
    assert verdict(data, Told([*wrong, stop])).outcome == "disagree"


def test_a_gap_excuses_the_rest_of_its_event_only(recording: Recording) -> None:
    data = recording("geometry")
    items = ours(data)
    first = next(item for item in items if isinstance(item, DecodedRow))
    left = [item for item in items if not (isinstance(item, DecodedRow) and item.place == first.place)]
    found = verdict(data, Told([Gap(first.place, "column type 255"), *left]))
    assert (found.outcome, found.rows) == ("unsupported", 1)
    assert found.message == f"column type 255 in the event at {first.place[0]}"
    assert verdict(data, Told([Gap(first.place, "column type 255"), *left[:-1]])).outcome == "disagree"


def test_deferred_rows_are_compared_with_those_of_the_event_that_shows_them(recording: Recording) -> None:
    data = recording("partitions")
    rows = [item for item in ours(data) if isinstance(item, DecodedRow) and item.kind == "insert"]
    assert rows[0].place != rows[1].place
    moved = [replace(item, place=rows[1].place) if item == rows[0] else item for item in ours(data)]
    assert verdict(data, Told([Deferred(rows[0].place), *moved])).outcome == "agree"
    swapped = [item for item in moved if item not in (rows[1], replace(rows[0], place=rows[1].place))]
    found = verdict(data, Told([Deferred(rows[0].place), rows[1], replace(rows[0], place=rows[1].place), *swapped]))
    assert found.difference is not None
    assert found.difference.offset == rows[0].place[0]


def test_warnings_are_kept(recording: Recording) -> None:
    data = recording("year-zero")
    assert verdict(data, Told([*ours(data), Warned("odd")])).warnings == ("odd",)


def test_a_file_that_only_forge_refuses_is_a_disagreement(recording: Recording) -> None:
    data = recording("year-zero")
    torn = data[:-1]
    found = verdict(torn, Told(ours(data)))
    assert found.outcome == "disagree"
    assert found.message is not None
    assert found.message.startswith("forge refuses the file (event ")
    both = verdict(torn, Told([*ours(data), DecodingEnded("refused", "torn")]))
    assert (both.outcome, both.message) == ("refused", "torn")


def test_what_an_event_with_a_wrong_checksum_says_does_not_count(recording: Recording) -> None:
    data = bytearray(recording("year-zero"))
    row = next(item for item in ours(bytes(data)) if isinstance(item, DecodedRow))
    data[row.place[0] + 32] ^= 1
    reference = read_reference(bytes(data))
    assert reference.rows == {}
    assert reference.problem_place == row.place


def test_forge_says_so_where_it_cannot_read_rows(broken: Broken) -> None:
    data = broken("year-zero", "TABLE_MAP", {34: 0})
    found = check(data, [ForgeDecoder(), Told([])])
    assert [one.outcome for one in found] == ["unsupported", "disagree"]
    assert found[0].message is not None
    assert "type 0" in found[0].message


def test_a_decoder_that_is_not_here_gets_a_verdict_that_says_why(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_SERVERS", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    found = check(recording("year-zero"), available_decoders())
    assert [one.decoder for one in found] == [
        "forge", "python-mysql-replication", "mysqlbinlog", "mariadb-binlog-10.11", "mariadb-binlog-11.8",
    ]  # fmt: skip
    missing = [one for one in found if one.outcome == "not_here"]
    assert [one.decoder for one in missing][-3:] == ["mysqlbinlog", "mariadb-binlog-10.11", "mariadb-binlog-11.8"]
    assert missing[-1].message == "no maria118.run in /nowhere, and no mariadb-binlog on PATH"
    assert missing[-1].version is None


def test_decoders_go_by_name() -> None:
    assert decoder("forge").name == "forge"
    assert decoder("mariadb-binlog").name.startswith("mariadb-binlog-")
    with pytest.raises(ScenarioError, match="did you mean 'mysqlbinlog'"):
        decoder("mysqlbinlg")


@given(st.binary(max_size=200))
def test_any_bytes_get_a_verdict_from_every_decoder_in_this_process(data: bytes) -> None:
    for file in (data, b"\xfebin" + data):
        outcomes = [one.outcome for one in check(file, available_decoders()[:2])]
        assert set(outcomes) <= {"agree", "refused", "unsupported", "not_here"}


def test_a_statement_that_a_decoder_shows_otherwise_is_a_difference() -> None:
    reference = Reference(statements={(4, 0): (1, "COMMIT"), (90, 0): (2, "XID 7")})
    decoding = Decoding(statements={(4, 0): "ROLLBACK"})
    found = list(Comparison(reference, ForgeDecoder(), decoding).differences())
    assert [(one.what, one.expected, one.found) for one in found] == [("statement", "COMMIT", "ROLLBACK")]
