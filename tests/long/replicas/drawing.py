"""Cells at random: two tables, one made of the other by small changes, rows that mostly agree, a few statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.replay.cells import Cell

_CONVERSIONS = ("", "", "ALL_NON_LOSSY", "ALL_LOSSY", "ALL_LOSSY,ALL_NON_LOSSY")
#: Columns of a key that are hashed or prefixed: a TEXT has no key of its own.
_PREFIXED = ("text", "blob")


@dataclass(frozen=True, slots=True)
class _Type:
    """Types that convert into each other, as far as anything does, and values of theirs."""

    names: tuple[str, ...]
    values: tuple[str, ...]


_INTEGERS = _Type(
    (
        "tinyint", "smallint", "mediumint", "int", "bigint", "tinyint unsigned", "smallint unsigned", "int unsigned",
        "bigint unsigned",
    ),
    ("0", "1", "-1", "5", "100", "-100", "200", "30000", "-30000", "70000", "2147483647", "4294967295", "-2147483648"),
)  # fmt: skip
_TEXTS = _Type(
    (
        "varchar(5)", "varchar(10)", "varchar(80)", "varchar(300)", "char(5)", "char(10)", "text", "tinytext",
        "varchar(10) character set latin1", "char(5) character set latin1", "varchar(10) collate utf8mb4_bin",
        "char(10) collate utf8mb4_bin", "varchar(10) collate utf8mb4_general_ci",
    ),
    ("''", "'a'", "'A'", "'a '", "'abc'", "'abcde'", "'abcdefgh'", "'ä'", "'äöü'", "'x  '", "'zz'"),
)  # fmt: skip
_BINARIES = _Type(
    ("varbinary(5)", "varbinary(10)", "binary(5)", "binary(10)", "blob", "tinyblob"),
    ("''", "'a'", "'a\\0'", "'abc'", "'abcde'", "x'ff00'", "x'00'"),
)
_DECIMALS = _Type(
    ("decimal(5,2)", "decimal(8,2)", "decimal(8,4)", "decimal(4,0)", "decimal(12,6)", "float", "double"),
    ("0", "1.5", "-1.5", "123.45", "999.99", "-0.01", "12.3456", "7"),
)
_MOMENTS = _Type(
    ("datetime", "datetime(3)", "datetime(6)", "date", "timestamp null", "timestamp(3) null", "time", "time(3)"),
    ("'2024-01-02 03:04:05'", "'2024-01-02 03:04:05.5'", "'2001-12-31 00:00:00'", "'2024-02-29 23:59:59.999999'"),
)
_SETS = _Type(
    ("enum('a','b')", "enum('b','a')", "enum('a','b','c')", "set('a','b')", "set('a','b','c')"), ("'a'", "'b'")
)
_BITS = _Type(("bit(1)", "bit(5)", "bit(8)", "bit(9)", "bit(20)"), ("b'0'", "b'1'"))
_KINDS = (_INTEGERS, _INTEGERS, _INTEGERS, _TEXTS, _TEXTS, _BINARIES, _DECIMALS, _MOMENTS, _SETS, _BITS)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str
    kind: _Type
    ends: str = ""

    @property
    def definition(self) -> str:
        return f"{self.name} {self.type} {self.ends}".rstrip()


def drawn(random: Random, name: str) -> Cell:
    """A cell without results."""
    source = [_column(random, f"c{number}") for number in range(random.randint(1, 4))]
    replica = _changed(random, source)
    rows = [[_value(random, column) for column in source] for _ in range(random.randint(0, 4))]
    there = _changed_rows(random, source, rows)
    source_keys, replica_keys = _keys(random, source), None
    if random.random() < 0.4 and replica[: len(source)] == source:
        replica_keys = source_keys
    return Cell(
        group="found", name=name,
        src=", ".join([*(column.definition for column in source), *source_keys]),
        rep=", ".join([*(column.definition for column in replica), *(replica_keys or _keys(random, replica))]),
        rows=tuple(f"({', '.join(row)})" for row in rows),
        rrows=tuple(f"({', '.join(_of_replica(row, source, replica))})" for row in there),
        dml=tuple(_statement(random, source, rows) for _ in range(random.choice((1, 1, 1, 2, 3)))),
        image=random.choice(("minimal", "noblob", "full", "full")),
        conv=random.choice(_CONVERSIONS), mode="IDEMPOTENT" if random.random() < 0.2 else "STRICT",
    )  # fmt: skip


def _of_replica(row: Sequence[str], source: Sequence[_Column], replica: Sequence[_Column]) -> list[str]:
    """The values of a row by the replica's columns, the default of those that the source has none of."""
    return [
        row[place] if place < len(source) and source[place].kind is column.kind else "DEFAULT"
        for place, column in enumerate(replica)
    ]


def _column(random: Random, name: str) -> _Column:
    kind = random.choice(_KINDS)
    return _Column(name, random.choice(kind.names), kind, "not null" if random.random() < 0.4 else "")


def _value(random: Random, column: _Column) -> str:
    if "not null" not in column.ends and random.random() < 0.15:
        return "NULL"
    return random.choice(column.kind.values[:4] if random.random() < 0.6 else column.kind.values)


def _changed(random: Random, source: Sequence[_Column]) -> list[_Column]:
    """The replica's columns."""
    columns = list(source)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        place = random.randrange(len(columns))
        column = columns[place]
        match random.randrange(5):
            case 0:
                columns[place] = replace(column, type=random.choice(column.kind.names))
            case 1:
                columns[place] = replace(column, ends="" if column.ends else "not null")
            case 2:
                columns[place] = replace(column, name=f"other{place}")
            case 3:
                columns.append(_extra(random, f"e{len(columns)}"))
            case _:
                del columns[max(len(columns) - 1, 1) :]
    return columns


def _extra(random: Random, name: str) -> _Column:
    ends = random.choice(("", "not null", "default 7", "not null default 7"))
    return _Column(name, "int", _INTEGERS, ends)


def _changed_rows(random: Random, source: Sequence[_Column], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The replica's rows."""
    there = [list(row) for row in rows]
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        if not there:
            break
        row = random.randrange(len(there))
        match random.randrange(4):
            case 0:
                del there[row]
            case 1:
                there.append(list(there[row]))
            case 2:
                place = random.randrange(len(source))
                there[row][place] = _value(random, source[place])
            case _:
                random.shuffle(there)
    if random.random() < 0.2:
        there.append([_value(random, column) for column in source])
    return there


def _keys(random: Random, columns: Sequence[_Column]) -> list[str]:
    keys = [
        f"{random.choice(('key', 'key', 'unique'))} k{number} ({_parts(random, columns)})"
        for number in range(random.choice((0, 0, 1, 1, 2)))
    ]
    if random.random() < 0.4:
        keys.append(f"primary key ({_parts(random, [one for one in columns if 'not null' in one.ends] or columns)})")
    return keys


def _parts(random: Random, columns: Sequence[_Column]) -> str:
    chosen = random.sample(list(columns), k=min(len(columns), random.choice((1, 1, 2))))
    return ", ".join(
        f"{column.name}({random.choice((1, 3))})" if column.type.endswith(_PREFIXED) else column.name
        for column in chosen
    )


def _statement(random: Random, columns: Sequence[_Column], rows: Sequence[Sequence[str]]) -> str:
    kind = random.choice(("INSERT", "UPDATE", "UPDATE", "DELETE"))
    if kind == "INSERT" or not rows:
        chosen = [column for column in columns if "not null" in column.ends or random.random() < 0.8] or list(columns)
        names = ", ".join(column.name for column in chosen)
        values = (
            f"({', '.join(_value(random, column) for column in chosen)})" for _ in range(random.choice((1, 1, 2)))
        )
        return f"INSERT INTO x.t ({names}) VALUES {', '.join(values)}"
    column, row = random.randrange(len(columns)), random.choice(rows)
    where = f" WHERE {columns[column].name} <=> {row[column]}" if random.random() < 0.8 else ""
    if kind == "DELETE":
        return f"DELETE FROM x.t{where}"
    changed = random.sample(list(columns), k=random.randint(1, min(2, len(columns))))
    return f"UPDATE x.t SET {', '.join(f'{one.name} = {_value(random, one)}' for one in changed)}{where}"
