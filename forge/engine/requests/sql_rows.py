"""INSERT, REPLACE, UPDATE and DELETE of a script as what a scenario says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.changes import Assignment, DeleteRows, InsertRows, RowsChange, Term, UpdateRows
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, Variable
from forge.sql.expressions import Unsigned
from forge.sql.expressions.evaluation import evaluate
from forge.sql.outline import literal_rows, plain_insert
from forge.sql.parse.changes import parse_rows_change
from forge.sql.write import identifier
from forge.values.literals import negated

_PLAIN_NAME = re.compile(r"[\w$]+")
#: The cell of DEFAULT, where a row has to have one.
_DEFAULT = {"sql": "DEFAULT"}
#: Bytes that are no characters of the script.
_NOT_TEXT = re.compile("[\ud800-\udfff]")
_NAMES = re.compile(r"@(`[^`]+`|[\w.$]+)")


class Saved(Struct, frozen=True):
    """The value of a system variable that a user variable keeps; None is the server's default."""

    value: Any


class Unknown:
    """The value of a user variable that a query gave it."""


def table_name(table: TableRef) -> str:
    """A table's name as an entry of a scenario has it: in backticks if something in it has a meaning there."""
    names = (part for part in (table.database, table.name) if part is not None)
    return ".".join(name if _PLAIN_NAME.fullmatch(name) else identifier(name) for name in names)


def database_of(change: RowsChange) -> str | None:
    """The database that the text names with the table; None of a join."""
    if isinstance(change, InsertRows):
        return change.table.database
    return None if isinstance(change.table, str) else change.table.name.database


def _qualified(column: ColumnName) -> str:
    names = (part for part in (column.database, column.table, column.name) if part is not None)
    return ".".join(map(identifier, names))


def literal(tree: Node, variables: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether an expression is a literal or a user variable, and the cell that says it."""
    if isinstance(tree, Variable) and not tree.name.startswith("@@"):
        value = variables.get(tree.name[1:])
        return not isinstance(value, Saved | Unknown), value
    if isinstance(tree, Call) and tree.name == "NEG" and isinstance(tree.arguments[0], Literal):
        number = tree.arguments[0].value
        if tree.arguments[0].form == "double":
            return False, None
        return isinstance(number, int | Decimal), negated(number) if isinstance(number, int | Decimal) else None
    if not isinstance(tree, Literal) or tree.form == "double":
        # A DOUBLE has a text of its own in a column of text.
        return False, None
    if isinstance(tree.value, bool):
        return True, int(tree.value)
    if isinstance(tree.value, str) and (tree.charset == "binary" or not tree.value.isprintable()):
        data = tree.value.encode("utf-8", "surrogateescape")
        if tree.charset == "binary" or tree.value.encode("utf-8", "replace") != data:
            return True, {"hex": data.hex()}
    return True, {"hex": tree.value.hex()} if isinstance(tree.value, bytes) else tree.value


def computed(term: Term, variables: Mapping[str, Any]) -> Any:
    """The cell that an expression of literals and user variables gives.  Raises UnsupportedError."""
    found, value = literal(term.tree, variables)
    if found:
        return value
    try:
        if any(isinstance(variables.get(name), Saved | Unknown) for name in named_variables(term.sql)):
            raise UnsupportedError(f"the value of {term.sql} is not known", expected="a literal")
        value = evaluate(term.tree, {f"@{name}": value for name, value in variables.items()})
    except KeyError as error:
        raise UnsupportedError(f"the value of {term.sql} is not known", expected=f"a literal, not {error}") from None
    value = value.value if isinstance(value, Unsigned) else value
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | Decimal | str):
        return value
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    raise UnsupportedError(f"the value of {term.sql} is not known", expected="a literal")


def named_variables(sql: str) -> set[str]:
    """The names of the user variables that a text may have."""
    return {name.strip("`").lower() for name in _NAMES.findall(sql)} if "@" in sql else set()


def plain_rows(sql: str) -> dict[str, Any] | None:
    """The request of an INSERT or REPLACE of nothing but literals; None of others, and where it is wrong."""
    plain = plain_insert(sql)
    if plain is None or "\0" in sql or _NOT_TEXT.search(sql):
        return None
    rows, head = literal_rows(sql, plain.start), _head(plain.head)
    if head is None:
        return None
    verb, request, columns = head
    if columns is not None and any(len(row) != len(columns) for row in rows):
        return None
    named = rows if columns is None else [dict(zip(columns, row, strict=True)) for row in rows]
    return {verb: {**request, "rows": named}}


@lru_cache(maxsize=256)
def _head(head: str) -> tuple[str, dict[str, Any], list[str] | None] | None:
    """The verb, the request without its rows, and the columns of what stands before VALUES; None with a database."""
    change = parse_rows_change(f"{head}()")
    assert isinstance(change, InsertRows)
    if change.table.database is not None:
        return None
    request: dict[str, Any] = {"into": table_name(change.table)}
    if change.ignore:
        request["ignore"] = True
    if change.columns is None:
        return change.verb, request, None
    return change.verb, request, [column.name for column in change.columns]


class RowsOfScript(Struct, frozen=True):
    """What statements on rows say, with the user variables that their client has."""

    variables: Mapping[str, Any]

    def request(self, change: RowsChange) -> dict[str, Any]:
        if isinstance(change, InsertRows):
            return self._insert(change)
        chosen = self._chosen(change)
        if isinstance(change.table, str):
            chosen["tables"] = change.table
            if isinstance(change, DeleteRows):
                return {"delete": {**chosen, "rows_of": list(change.targets)}}
            new = {_qualified(one.column): self._assigned(one) for one in change.assignments}
            return {"update": {**chosen, "set": new}}
        if isinstance(change, DeleteRows):
            return {"delete": {"from": table_name(change.table.name), **chosen}}
        new = {one.column.name: self._assigned(one) for one in change.assignments}
        return {"update": {"table": table_name(change.table.name), "set": new, **chosen}}

    def _insert(self, change: InsertRows) -> dict[str, Any]:
        request: dict[str, Any] = {"into": table_name(change.table)}
        names = None if change.columns is None else [column.name for column in change.columns]
        if change.query is not None:
            request["select"] = change.query
            request |= {"column_list": False} if names is None else {"columns": names}
        elif names is None:
            request["rows"] = [
                [_DEFAULT if cell is None else self.cell(cell) for cell in row] if row else {} for row in change.rows
            ]
        else:
            if any(len(row) != len(names) for row in change.rows if row):
                raise ScenarioError("a row has another number of values than there are columns")
            request["rows"] = [
                {name: self.cell(cell) for name, cell in zip(names, row, strict=False) if cell is not None}
                for row in change.rows
            ]
        if change.ignore:
            request["ignore"] = True
        if change.alias is not None:
            request["row_alias"] = change.alias
        if change.updates:
            request["on_duplicate_key_update"] = {
                one.column.name: self._updated(one, change.alias) for one in change.updates
            }
        return {change.verb: request}

    def _updated(self, one: Assignment, alias: str | None) -> Any:
        """What ON DUPLICATE KEY UPDATE gives a column."""
        tree = None if one.value is None else one.value.tree
        if isinstance(tree, Call) and tree.name in ("VALUES", "VALUE") and isinstance(tree.arguments[0], ColumnName):
            return {"values": tree.arguments[0].name}
        return self._assigned(one)

    def _assigned(self, one: Assignment) -> Any:
        return _DEFAULT if one.value is None else self.cell(one.value)

    def cell(self, term: Term) -> Any:
        """A literal, or an expression that the engine computes."""
        found, value = literal(term.tree, self.variables)
        return value if found else {"sql": term.sql}

    def _chosen(self, change: UpdateRows | DeleteRows) -> dict[str, Any]:
        """Which rows change."""
        choice, table = change.choice, change.table
        alone = None if isinstance(table, str) else table
        chosen: dict[str, Any] = {
            "alias": None if alone is None else alone.alias,
            "partition": None if alone is None else list(alone.partitions) or None,
            "ignore": change.ignore or None,
            "where": None if choice.where is None else choice.where.sql,
            "order_by": choice.order,
            "limit": choice.limit,
        }
        if alone is not None and alone.portion is not None:
            name, begin, end = alone.portion
            chosen["for_portion_of"] = {name: [self._literal(begin), self._literal(end)]}
        return {field: value for field, value in chosen.items() if value is not None}

    def _literal(self, term: Term) -> Any:
        found, value = literal(term.tree, self.variables)
        if not found:
            raise UnsupportedError(f"{term.sql} is not supported here yet", expected="a literal")
        return value
