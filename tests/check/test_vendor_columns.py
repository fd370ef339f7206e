"""How columns are described, held against what mysqlbinlog 9.7.4 and mariadb-binlog 11.8 printed of the recordings."""

from __future__ import annotations

from collections.abc import Callable

from forge.binlog.logged import logged_events
from forge.decode.cells import MappedTable
from forge.decode.table_maps import TableMaps
from forge.vendors.column_forms import column_texts, escaped, primary_key_text

Recording = Callable[[str], bytes]


def tables(data: bytes) -> dict[str, MappedTable]:
    maps = TableMaps()
    found = (maps.note(logged) for logged in logged_events(data))
    return {mapped.body.table: mapped for mapped in found if mapped is not None}


def test_strings_have_their_length_in_characters_and_their_collation(recording: Recording) -> None:
    texts = column_texts(tables(recording("types-full"))["texts"], "mysql")
    assert texts == (
        "`a` CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`b` CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`c` VARCHAR(20) NOT NULL CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`d` VARCHAR(300) CHARSET latin1 COLLATE latin1_swedish_ci",
        "`e` VARCHAR(9) CHARSET ascii COLLATE ascii_general_ci",
        "`f` TINYTEXT CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`g` TEXT CHARSET latin1 COLLATE latin1_swedish_ci",
        "`h` MEDIUMTEXT CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`i` LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "`j` BINARY(3)",
    )


def test_numbers_and_times_have_their_arguments(recording: Recording) -> None:
    found = tables(recording("types-full"))
    assert (column_texts(found["ints"], "mysql") or ())[9:13] == (
        "`j` BIGINT UNSIGNED", "`y` YEAR", "`k` BIT(1)", "`l` BIT(9)",
    )  # fmt: skip
    assert (column_texts(found["reals"], "mysql") or ())[2:6] == (
        "`g` FLOAT", "`n` DECIMAL(10,4)", "`m` DECIMAL(65,30)", "`o` DECIMAL(3,3) UNSIGNED",
    )  # fmt: skip
    assert (column_texts(found["times"], "mysql") or ())[:3] == ("`d` DATE", "`t0` TIME", "`t1` TIME(1)")


def test_members_stand_between_null_and_collation(recording: Recording) -> None:
    found = tables(recording("types-full"))["sets"]
    first = "`e` ENUM NOT NULL('x', 'y', 'z') CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci"
    assert (column_texts(found, "mysql") or ())[0] == first
    assert (column_texts(found, "mariadb-11.8") or ())[0] == first.replace(", ", ",")
    latin1 = "`f` ENUM('gr\udcfcn', '\udcdf') CHARSET latin1 COLLATE latin1_swedish_ci"
    assert (column_texts(found, "mysql") or ())[1] == latin1


def test_a_collation_that_the_reader_does_not_know_is_not_told(recording: Recording) -> None:
    found = tables(recording("types-full"))["texts"]
    assert (column_texts(found, "mariadb-10.11") or ())[0] is None
    assert (column_texts(found, "mariadb-10.11") or ())[9] == "`j` BINARY(3)"


def test_without_names_there_are_only_types(recording: Recording) -> None:
    found = tables(recording("types-minimal"))["chg"]
    assert column_texts(found, "mysql") == (
        "INT NOT NULL", "VARCHAR(9) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci", "INT UNSIGNED",
    )  # fmt: skip
    assert primary_key_text(found, "mysql") is None


def test_invisible_columns_and_generated_keys_are_marked(recording: Recording) -> None:
    found = tables(recording("invisible"))["a"]
    assert column_texts(found, "mysql") == (
        "`my_row_id` BIGINT UNSIGNED NOT NULL INVISIBLE AUTO_INCREMENT", "`i` INT", "`j` INT INVISIBLE",
    )  # fmt: skip
    assert primary_key_text(found, "mysql") == "my_row_id"
    assert (column_texts(found, "mariadb-11.8") or ())[2] == "`j` INT"


def test_keys_are_in_key_order_with_their_prefixes(recording: Recording) -> None:
    assert primary_key_text(tables(recording("prefix-key"))["a"], "mysql") == "c, b(3)"


def test_columns_of_the_other_vendor_are_not_described(recording: Recording) -> None:
    assert column_texts(tables(recording("vector"))["a"], "mysql") == ("`i` INT", "`v` VECTOR(3)", "`u` INT UNSIGNED")
    assert column_texts(tables(recording("vector"))["a"], "mariadb-11.8") is None
    assert column_texts(tables(recording("mariadb-compressed-column"))["a"], "mysql") is None


def test_names_are_escaped_as_they_are_printed() -> None:
    assert escaped("a\n\r\\\b\t'\0é") == "a\\n\\r\\\\\\b\\t\\'\\0é"
