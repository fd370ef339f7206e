"""Reading the text of the vendors' readers, from lines that they printed (9.7.4, 10.11.18, 11.8.9)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.check.decoder import DecodedRow, DecodedTable, DecodingEnded, Deferred, Gap, Image, Item, Warned
from forge.check.decoders.mariadb_binlog import MariadbBinlog
from forge.check.decoders.mysqlbinlog import Mysqlbinlog
from forge.check.decoders.vendors.pseudo_sql import TextReader
from forge.vendors.quoting import escape, escape_control, unescape

MARIADB = MariadbBinlog("mariadb-binlog-11.8", "maria118", "mariadb-11.8")


def header(what: str, at: int = 979) -> list[bytes]:
    line = f"#240229 12:34:56 server id 1  end_log_pos 1170 CRC32 0x3d702374 \t{what}"
    return [f"# at {at}".encode(), line.encode()]


ROWS = "Write_rows: table id 120 flags: STMT_END_F USE_SQL_FOREIGN_KEY_F"


def read(lines: Sequence[bytes], *, mariadb: bool = False, offsets: Sequence[int] = range(4, 2000)) -> list[Item]:
    read_value = MARIADB.read_value if mariadb else Mysqlbinlog().read_value
    return list(TextReader(read_value, frozenset(offsets)).read(b"\n".join(lines)))


def images(lines: Sequence[bytes], *, mariadb: bool = False) -> list[tuple[Image | None, Image | None]]:
    return [(item.before, item.after) for item in read(lines, mariadb=mariadb) if isinstance(item, DecodedRow)]


def cell(line: bytes, *, mariadb: bool = False) -> object:
    rows = images([*header(ROWS), b"### INSERT INTO `t`.`a`", b"### SET", line], mariadb=mariadb)
    after = rows[0][1]
    assert after is not None
    return next(iter(after.values()))


@pytest.mark.parametrize(
    ("line", "form"),
    [
        (b"###   @1=-1 (255) /* TINYINT meta=0 nullable=1 is_null=0 */", "-1 (255)"),
        (b"###   @1=127 /* TINYINT meta=0 nullable=1 is_null=0 */", "127"),
        (b"###   @7=NULL /* INT meta=0 nullable=1 is_null=1 */", None),
        (b"###   @1=1.5                  /* FLOAT meta=4 nullable=1 is_null=0 */", "1.5"),
        (b"###   @2=1.0000000000000000159e+100 /* DOUBLE meta=8 nullable=1 is_null=0 */", "1.0000000000000000159e+100"),
        (b"###   @6=0.500 /* DECIMAL(3,3) meta=771 nullable=1 is_null=0 */", "0.500"),
        (b"###   @13=b'100000001' /* BIT(9) meta=257 nullable=1 is_null=0 */", "b'100000001'"),
        (b"###   @1='2024:02:29' /* DATE meta=0 nullable=1 is_null=0 */", "2024:02:29"),
        (b"###   @3='-838:59:59.0' /* TIME(1) meta=1 nullable=1 is_null=0 */", "-838:59:59.0"),
        (b"###   @18=2147483647.99 /* TIMESTAMP(2) meta=2 nullable=1 is_null=0 */", "2147483647.99"),
        (b"###   @1=2 /* ENUM(1 byte) meta=63233 nullable=0 is_null=0 */", "2"),
        (b"###   @3=b'00000101' /* SET(1 bytes) meta=63489 nullable=1 is_null=0 */", "b'00000101'"),
        (b"###   @1='' /* STRING(20) meta=65044 nullable=1 is_null=0 */", b""),
        (b"###   @4='\xe9' /* VARSTRING(300) meta=300 nullable=1 is_null=0 */", b"\xe9"),
        (
            b"###   @3='a\\'b\\\\c\\n\\t\\r\\x00\\x1az\"%' /* VARSTRING(80) meta=80 nullable=0 is_null=0 */",
            b"a'b\\c\n\t\r\0\x1az\"%",
        ),
        (b"###   @9='### INSERT INTO `x`' /* LONGBLOB/LONGTEXT meta=4 nullable=1 is_null=0 */", b"### INSERT INTO `x`"),
        (b"###   @9=''' /* INT */' /* BLOB/TEXT meta=2 nullable=1 is_null=0 */", b"'' /* INT */"),
        (b"###   @2='{\"a\": \"\\\\\\\\\"}' /* JSON meta=4 nullable=1 is_null=0 */", '{"a": "\\\\"}'),
        (b"###   @2=[1.00000e+00] /* VECTOR(2) meta=4 nullable=1 is_null=0 */", "[1.00000e+00]"),
    ],
)  # fmt: skip
def test_a_cell_is_read_back_to_its_value(line: bytes, form: object) -> None:
    assert cell(line) == form


def test_mariadb_escapes_neither_quotes_nor_backslashes() -> None:
    line = b"###   @3='a'b\\c\\x0a' /* VARSTRING(80) meta=80 nullable=0 is_null=0 */"
    assert cell(line, mariadb=True) == b"a'b\\c\\x0a"
    assert escape_control(b"a'b\\c\n") == b"a'b\\c\\x0a"


@given(st.binary())
def test_unescape_undoes_escape(value: bytes) -> None:
    escaped = escape(value)
    assert unescape(escaped) == value
    assert b"\n" not in escaped


def test_an_update_has_a_before_image_and_an_after_image() -> None:
    lines = [
        *header("Update_rows: table id 127 flags: STMT_END_F"),
        b"### UPDATE `t`.`img`",
        b"### WHERE",
        b"###   @1=1 /* INT meta=0 nullable=0 is_null=0 */",
        b"### SET",
        b"###   @3=NULL /* BLOB/TEXT meta=2 nullable=1 is_null=1 */",
        b"###   @4=-294967296 (4000000000) /* INT meta=0 nullable=1 is_null=0 */",
    ]
    assert read(lines) == [
        DecodedRow((979, 0), "t", "img", "update", {1: "1"}, {3: None, 4: "-294967296 (4000000000)"})
    ]


def test_deletes_have_only_a_before_image_and_rows_without_columns_are_rows() -> None:
    lines = [
        *header("Delete_rows: table id 127 flags: STMT_END_F"),
        b"### DELETE FROM `t`.`chg`",
        b"### WHERE",
        b"###   @1=1 /* INT meta=0 nullable=0 is_null=0 */",
        *header(ROWS, 1100),
        b"### INSERT INTO `t`.`nokey` VALUES ()",
    ]
    assert images(lines) == [({1: "1"}, None), (None, {})]


@pytest.mark.parametrize("words", [b"### SET", b"### SET /* no columns */"])
def test_an_after_image_without_columns_is_one(words: bytes) -> None:
    line = b"###   @1=1 /* INT meta=0 nullable=1 is_null=0 */"
    ((before, after),) = images(
        [*header("Update_rows: table id 127 flags: STMT_END_F"), b"### UPDATE `t`.`a`", b"### WHERE", line, words]
    )
    assert before is not None
    assert after == {}


def test_names_are_read_with_their_backticks_and_line_breaks() -> None:
    lines = [
        *header("Table_map: `p`.`a`b", 900),
        b"'c` mapped to number 151",
        b"# has_generated_invisible_primary_key=0",
        b"# Columns(`x``y` INT,",
        b"#         `n\\nl` ENUM('a,', 'b'),",
        b"#         `q\\'\\\\` INT)",
        b"# Primary Key(x`y, n)",
        *header(ROWS),
        b"### INSERT INTO `p`.`a``b",
        b"'c`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=1 is_null=0 */",
    ]
    table, row = read(lines)
    columns = ("`x``y` INT", "`n\\nl` ENUM('a,', 'b')", "`q\\'\\\\` INT")
    assert table == DecodedTable((900, 0), "`p`.`a`b\n'c`", columns, "x`y, n")
    assert isinstance(row, DecodedRow)
    assert (row.database, row.table) == ("p", "a`b\n'c")


def test_rows_of_a_statement_are_held_back_until_its_last_event() -> None:
    lines = [
        *header("Write_rows: table id 147 flags: USE_SQL_FOREIGN_KEY_F", 589),
        *header("Write_rows: table id 147 flags: STMT_END_F USE_SQL_FOREIGN_KEY_F", 632),
        b"### Extra row info for partitioning: partition: 1",
        b"### INSERT INTO `p`.`a`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=0 is_null=0 */",
        b"### INSERT INTO `p`.`a`",
        b"### SET",
        b"###   @1=2 /* INT meta=0 nullable=0 is_null=0 */",
    ]
    assert read(lines) == [
        Deferred((589, 0)),
        DecodedRow((632, 0), "p", "a", "insert", None, {1: "1"}),
        DecodedRow((632, 0), "p", "a", "insert", None, {1: "2"}),
    ]


def test_mariadb_announces_both_events_before_it_prints_their_headers() -> None:
    first, second = header("Write_rows: table id 147", 589), header("Write_rows: table id 147 flags: STMT_END_F", 632)
    lines = [
        first[0],
        second[0],
        first[1],
        second[1],
        b"### INSERT INTO `p`.`a`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=0 is_null=0 */",
        b"# Number of rows: 1",
    ]
    items = read(lines, mariadb=True)
    assert items == [Deferred((589, 0)), DecodedRow((632, 0), "p", "a", "insert", None, {1: "1"})]


def test_rows_of_a_statement_that_never_ends_are_a_gap() -> None:
    assert read(header("Write_rows: table id 147", 589)) == [Gap((589, 0), "rows of a statement that does not end")]


def test_a_column_that_cannot_be_printed_loses_the_rest_of_its_event_and_nothing_else() -> None:
    lines = [
        *header(ROWS, 580),
        b"### INSERT INTO `t`.`geo`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=1 is_null=0 */",
        b"###   @2=!! Don't know how to handle column type=255 meta=4 (0004)",
        *header(ROWS, 1085),
        b"### INSERT INTO `p`.`b`",
        b"### SET",
        b"###   @1=7 /* INT meta=0 nullable=1 is_null=0 */",
    ]
    assert read(lines) == [
        Gap((580, 0), "column type 255"),
        DecodedRow((1085, 0), "p", "b", "insert", None, {1: "7"}),
    ]


def test_events_inside_a_payload_are_numbered() -> None:
    lines = [
        *header("Transaction_Payload\t\tpayload_size=138\tcompression_type=ZSTD\tuncompressed_size=178", 415),
        b"# Start of compressed events.",
        *header("Query\tthread_id=58\texec_time=0\terror_code=0", 586),
        *header("Table_map: `p`.`a` mapped to number 166", 586),
        b"# Columns(INT)",
        *header(ROWS, 586),
        b"### INSERT INTO `p`.`a`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=1 is_null=0 */",
        *header("Xid = 631", 586),
        b"# End of compressed events.",
        *header(ROWS, 586),
        b"### INSERT INTO `p`.`a` VALUES ()",
    ]
    assert read(lines, offsets=[415, 586]) == [
        DecodedTable((415, 2), "`p`.`a`", ("INT",)),
        DecodedRow((415, 3), "p", "a", "insert", None, {1: "1"}),
        DecodedRow((586, 0), "p", "a", "insert", None, {}),
    ]


def test_a_diff_over_several_lines_is_one_cell() -> None:
    rows = images(
        [
            *header("Update_rows_partial: table id 167 flags: STMT_END_F"),
            b"### UPDATE `p`.`a`",
            b"### WHERE",
            b"###   @1=1 /* INT meta=0 nullable=0 is_null=0 */",
            b"### SET",
            b"###   @2=JSON_REPLACE(@2, '$.s', 'X\\'Y',",
            b"###      '$.n', 1) /* JSON meta=4 nullable=1 is_null=0 */",
        ]
    )
    assert rows == [({1: "1"}, {2: "JSON_REPLACE(@2, '$.s', 'X\\'Y','$.n', 1)"})]


def test_statement_text_that_looks_like_rows_is_not_rows() -> None:
    lines = [
        *header("Query\tthread_id=58\texec_time=0\terror_code=0", 200),
        b"CREATE TABLE a (i INT) /*",
        b"# at 300",
        b"### INSERT INTO `p`.`a`",
        b"### SET",
        b"###   @1=1 /* INT meta=0 nullable=1 is_null=0 */",
        b"*/",
    ]
    assert read(lines, offsets=[200, 320]) == []


def test_warnings_are_told_and_unmapped_rows_end_the_reading() -> None:
    warning = b"# Warning: this binlog is either in use or was not closed properly."
    assert read([*header("Xid = 1"), warning]) == [
        Warned("Warning: this binlog is either in use or was not closed properly.")
    ]
    with pytest.raises(DecodingEnded, match="unknown table #500"):
        read([*header(ROWS), b"### Row event for unknown table #500# at 1000"])
    with pytest.raises(DecodingEnded, match="it prints"):
        read([*header(ROWS), b"### INSERT INTO `p`.`a`", b"### SET", b"###   @1=?"])


def test_a_column_type_that_the_reader_does_not_know_is_remembered() -> None:
    reader = TextReader(MARIADB.read_value, frozenset((1078, 1145)))
    lines = [
        *header("Table_map: `t`.`vec` mapped to number 131", 1078),
        b"# Columns(`id` INT,",
        b"#         `v` INVALID_TYPE(242)`w` INT UNSIGNED)",
        b"# at 1145",
    ]
    list(reader.read(b"\n".join(lines)))
    assert reader.invalid_type == "242"
    assert reader.announced == (1145, 0)
