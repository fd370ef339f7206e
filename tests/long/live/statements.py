"""Statements at random: rows of a table with keys that are inserted, replaced, updated and deleted in all forms."""

from __future__ import annotations

from random import Random
from typing import Any

from msgspec import structs

from forge.engine.requests.rows import Delete, Insert, Replace, Update
from forge.engine.requests.statements import Statement
from forge.values.literals import literal_sql
from tests.long.live.cases import Asked, Case

#: Statements of a case.
STATEMENTS = 8
#: Part of the UPDATEs and DELETEs that have an order.
_ORDERED = 0.3
_KEYS = ("PRIMARY KEY (id)", "PRIMARY KEY (id), UNIQUE KEY (a)", "PRIMARY KEY (s, id)", "UNIQUE KEY (a, s)", "KEY (a)",
         "PRIMARY KEY (a, id), UNIQUE KEY (s)", "UNIQUE KEY (s(2)), KEY (id)", "PRIMARY KEY (s)")  # fmt: skip
_TEXTS = ("a", "B", "b", "A", "c", "", "ab", "aB", "z")
_COLUMNS = ("id", "a", "s", "d", "n")


def draw_statements(random: Random, table: str) -> Case:
    """A table of five columns, and statements that change its rows."""
    collation = random.choice(("", " COLLATE utf8mb4_bin", " CHARACTER SET latin1", " NOT NULL", " NOT NULL"))
    null = random.choice(("", " NOT NULL", " NOT NULL DEFAULT 7", " DEFAULT 3", " UNIQUE"))
    engine = random.choice(("", "", "", " ENGINE=MyISAM", " ENGINE=MEMORY"))
    key = random.choice(_KEYS)
    number = random.choice((" NOT NULL", " NOT NULL AUTO_INCREMENT")) if key.startswith("PRIMARY KEY (id") else ""
    parts = random.choice(("", "", " PARTITION BY HASH (id) PARTITIONS 3")) if key == "PRIMARY KEY (id)" else ""
    if null == " UNIQUE":
        parts = ""
    sql = (
        f"CREATE TABLE {table} (id INT{number}, a INT{null}, s VARCHAR(5){collation}, d DECIMAL(5,2) DEFAULT 1.5,"
        f" n DATETIME(2) NULL, {key}){parts or engine}"
    )
    statements = [_insert(random, table, rows=random.randint(2, 6))]
    statements += [_statement(random, table) for _ in range(STATEMENTS - 1)]
    if key.startswith("PRIMARY KEY (id)"):
        statements = [_ordered(random, statement) for statement in statements]
    # Where rows have not the order of a key of numbers, ours gives one, which SQL for a refused statement lacks.
    unordered = bool(parts or engine) or key.startswith("PRIMARY KEY (s")
    return Case(sql, tuple(Asked(statement, _sql(statement, unordered=unordered)) for statement in statements))


def _ordered(random: Random, statement: Statement) -> Statement:
    """Some UPDATEs and DELETEs with a text of their own: in the order of the key, or against it, and a LIMIT."""
    if statement.insert or statement.replace or random.random() >= _ORDERED:
        return statement
    text = _sql(statement)
    order = random.choice((" ORDER BY id", " ORDER BY id DESC", " ORDER BY id DESC LIMIT 100"))
    return structs.replace(statement, query=text + order) if text else statement


def _sql(statement: Statement, *, unordered: bool = False) -> str:
    """The statement as a server is asked it where we refuse it: for keys that are there, and NULL.

    "" for conditions on text, which a scenario compares exactly and a server by its collation, and for UPDATEs whose
    result is another in another order of the rows.
    """
    if unordered and statement.update is not None:
        return ""
    conditional = statement.update or statement.delete
    where = (conditional.where if conditional is not None else None) or {}
    # The key of one number may give the order in which another, or itself, changes.
    if "s" in where or (
        "a" in where and statement.update is not None and {"id", "a"} & set(statement.update.set or ())
    ):
        return ""
    if statement.query is not None:
        return statement.query
    new = statement.insert or statement.replace
    if new is not None:
        declared = [row for row in new.rows or () if isinstance(row, dict)]
        rows = [", ".join(_literal(row.get(column, _OMITTED)) for column in declared[0]) for row in declared]
        word = "REPLACE" if statement.insert is None else "INSERT IGNORE" if statement.insert.ignore else "INSERT"
        text = f"{word} INTO {new.into} ({', '.join(declared[0])}) VALUES " + ", ".join(f"({row})" for row in rows)
        updates = statement.insert.on_duplicate_key_update if statement.insert else None
        return text + (f" ON DUPLICATE KEY UPDATE {_assigned(updates)}" if updates else "")
    if statement.update is not None:
        return (
            f"UPDATE {statement.update.table} SET {_assigned(statement.update.set)}{_condition(statement.update.where)}"
        )
    assert statement.delete is not None
    return f"DELETE FROM {statement.delete.table}{_condition(statement.delete.where)}"


_OMITTED = object()
_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "ne": "<>"}


def _literal(cell: Any) -> str:
    if cell is _OMITTED:
        return "DEFAULT"
    if isinstance(cell, dict):
        return str(cell["sql"])
    return "NULL" if cell is None else literal_sql(cell)


def _assigned(cells: dict[str, Any] | None) -> str:
    return ", ".join(f"{column} = {_literal(cell)}" for column, cell in (cells or {}).items())


def _condition(where: dict[str, Any] | str | None) -> str:
    parts: list[str] = []
    if isinstance(where, str):
        return f" WHERE {where}"
    for column, wanted in (where or {}).items():
        if isinstance(wanted, list):
            missing = f" OR {column} IS NULL" if None in wanted else ""
            parts.append(f"({column} IN ({', '.join(map(_literal, wanted))}){missing})")
        elif isinstance(wanted, dict):
            parts += [f"{column} {_SIGNS[sign]} {_literal(cell)}" for sign, cell in wanted.items()]
        else:
            parts.append(f"{column} IS NULL" if wanted is None else f"{column} = {_literal(wanted)}")
    return (" WHERE " if parts else "") + " AND ".join(parts)


def _cell(random: Random, column: str) -> Any:
    if random.random() < 0.08:
        return None
    if column == "s":
        return random.choice(_TEXTS)
    if column == "d":
        return random.choice(("1.50", "-3", "0", "999.99", "12.35"))
    if column == "n":
        return random.choice(("2024-02-29 10:11:12.34", "1999-12-31 23:59:59", "2024-01-01"))
    return random.randint(0, 9)


def _row(random: Random, columns: tuple[str, ...]) -> dict[str, Any]:
    return {column: _cell(random, column) for column in columns}


def _insert(random: Random, table: str, rows: int) -> Statement:
    columns = tuple(sorted(random.sample(_COLUMNS, k=random.randint(1, 5))))
    changes = random.random() < 0.2
    return Statement(
        insert=Insert(
            into=table,
            rows=[_row(random, columns) for _ in range(rows)],
            ignore=random.random() < 0.2,
            on_duplicate_key_update=_row(random, tuple(random.sample(_COLUMNS[1:], k=random.randint(1, 2))))
            if changes
            else None,
        )
    )


def _where(random: Random) -> dict[str, Any] | None:
    if random.random() < 0.2:
        return None
    where: dict[str, Any] = {}
    for column in random.sample(_COLUMNS, k=random.choice((1, 1, 2))):
        cell = _cell(random, column)
        where[column] = (
            cell
            if cell is None
            else random.choice(
                (
                    cell,
                    [_cell(random, column) for _ in range(3)],
                    {random.choice(("lt", "le", "gt", "ge", "ne")): cell},
                )
            )
        )
    return where


def _statement(random: Random, table: str) -> Statement:
    kind = random.randrange(6)
    if kind == 0:
        return _insert(random, table, rows=random.randint(1, 3))
    if kind == 1:
        return Statement(
            replace=Replace(
                into=table, rows=[_row(random, _COLUMNS[: random.randint(2, 5)]) for _ in range(random.randint(1, 3))]
            )
        )
    if kind == 2:
        return Statement(delete=Delete(table=table, where=_where(random)))
    columns = random.sample(_COLUMNS, k=random.choice((1, 1, 2)))
    changed: dict[str, Any] = {column: _cell(random, column) for column in columns}
    if random.random() < 0.3:
        changed = {
            random.choice(("id", "a")): {
                "sql": random.choice(("a + 1", "id + 10", "id * 2", "COALESCE(a, 0) - 1", "a DIV 2"))
            }
        }
    elif random.random() < 0.3:
        changed = {
            "s": {"sql": random.choice(("CONCAT(s, '!')", "UPPER(s)", "LEFT(s, 1)", "REVERSE(s)", "COALESCE(s, 'q')"))}
        }
    return Statement(update=Update(table=table, set=changed, where=_where(random)))
