"""SQL text: names, literals, types, and statements as they replay a scenario or as servers log them.

A ``table`` of a statement on rows is written already, as :func:`qualified` does; columns are names, cells and values
literals of SQL, ``where`` is empty or a clause with a space before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import Account, CreateTrigger, ViewStatement
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, column_type, facts_of


def identifier(name: str, quote: str = "`") -> str:
    """The name in backticks, or in double quotes as with ANSI_QUOTES; its own ones doubled."""
    return quote + name.replace(quote, quote * 2) + quote


def qualified(database: str, name: str, current: str | None = None, quote: str = "`") -> str:
    """``database.name``, both in quotes; of the ``current`` database the name alone."""
    own = identifier(name, quote)
    return own if database == current else f"{identifier(database, quote)}.{own}"


_PRINTED = str.maketrans({"\0": r"\0", "\n": r"\n", "\r": r"\r", "\\": r"\\", "'": "''"})


def printed_text(text: str) -> str:
    """A text literal with the few escapes of SHOW CREATE TABLE."""
    return f"'{text.translate(_PRINTED)}'"


#: TEXT(n) and BLOB(n) are printed as the type that they became, by its bytes of length.
_LOB_WORDS = ("tiny", "", "medium", "long")


def type_sql(sql_type: SqlType, width: int | None) -> str:
    """The type's name with its arguments; display widths are printed for ZEROFILL and TINYINT(1) only."""
    facts, lower = facts_of(sql_type), sql_type.name.lower() + _arguments(sql_type, width)
    if facts.is_lob and sql_type.length is not None:
        lower = _LOB_WORDS[column_for(sql_type).metadata[0] - 1] + ("text" if facts.is_text else "blob")
    elif sql_type.name == "GEOMETRYCOLLECTION":
        lower = "geomcollection"
    return lower + " unsigned" * sql_type.unsigned + " zerofill" * sql_type.zerofill


def _arguments(sql_type: SqlType, width: int | None) -> str:
    facts = facts_of(sql_type)
    if facts.display_widths is not None:
        if sql_type.zerofill:
            return f"({printed_digits(sql_type, width)})"
        return "(1)" if sql_type.name == "TINYINT" and width == 1 and not sql_type.unsigned else ""
    if facts.kind == "decimal":
        return f"({sql_type.precision or 10},{sql_type.scale or 0})"
    if facts.is_approximate:
        return "" if sql_type.precision is None else f"({sql_type.precision},{sql_type.scale})"
    if facts.has_members:
        return f"({','.join(map(printed_text, sql_type.members))})"
    if column_type(sql_type.name).arguments == "length" and not facts.is_lob:
        return f"({facts.default_length if sql_type.length is None else sql_type.length})"
    return f"({sql_type.fsp})" if sql_type.fsp else ""


def printed_digits(sql_type: SqlType, width: int | None) -> int:
    """Characters of a number of a column with ZEROFILL, a decimal point included."""
    widths = facts_of(sql_type).display_widths
    if widths is not None:
        return widths[1] if width is None else width
    return (sql_type.precision or 10) + bool(sql_type.scale)


def insert_sql(verb: str, table: str, columns: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> str:
    """INSERT or REPLACE of rows of literals; without ``columns`` it names none."""
    lines = [f"({', '.join(row)})" for row in rows]
    return f"{_into(verb, table, columns)} VALUES {', '.join(lines)}"


def insert_select_sql(verb: str, table: str, columns: Sequence[str] | None, select: str) -> str:
    """INSERT or REPLACE of a SELECT's rows; without ``columns`` it names none."""
    return f"{_into(verb, table, columns)} {select}"


def _into(verb: str, table: str, columns: Sequence[str] | None) -> str:
    names = "" if columns is None else f" ({', '.join(map(identifier, columns))})"
    return f"{verb} INTO {table}{names}"


def duplicate_sql(assignments: Sequence[str]) -> str:
    """`` ON DUPLICATE KEY UPDATE ...``; "" without assignments."""
    return f" ON DUPLICATE KEY UPDATE {', '.join(assignments)}" if assignments else ""


def new_value(column: str) -> str:
    """What ON DUPLICATE KEY UPDATE calls the value of a column in the new row."""
    return f"VALUES({identifier(column)})"


def assignment(column: str, value: str) -> str:
    return f"{identifier(column)} = {value}"


def chosen_value(branches: Sequence[tuple[Sequence[str], str]]) -> str:
    """CASE that gives a row the value behind the conditions which it meets, all of them."""
    cases = [f"WHEN {' AND '.join(conditions)} THEN {value}" for conditions, value in branches]
    return f"CASE {' '.join(cases)} END"


class Access(Struct, frozen=True):
    """How a server is made to find the rows of an UPDATE or DELETE, and in which order: by default its own way.

    ``hint`` is an optimizer hint, ``ignored`` are keys for IGNORE INDEX, ``order`` terms for ORDER BY.
    """

    hint: str = ""
    ignored: Sequence[str] = ()
    order: Sequence[str] = ()


def no_index_hint(table: str) -> str:
    """The optimizer hint that no key of the table is read."""
    return f"/*+ NO_INDEX({identifier(table)}) */ "


def update_sql(table: str, assignments: Sequence[str], where: str, access: Access) -> str:
    ignored = _ignored(access)
    return f"UPDATE {access.hint}{table}{ignored} SET {', '.join(assignments)}{where}{_order(access)}"


def delete_sql(table: str, where: str, access: Access) -> str:
    if access.ignored:
        # Only the form for several tables takes index hints.
        return f"DELETE {table} FROM {table}{_ignored(access)}{where}"
    return f"DELETE {access.hint}FROM {table}{where}{_order(access)}"


def _ignored(access: Access) -> str:
    return f" IGNORE INDEX ({', '.join(map(identifier, access.ignored))})" if access.ignored else ""


def _order(access: Access) -> str:
    return f" ORDER BY {', '.join(access.order)}" if access.order else ""


def view_sql(view: ViewStatement, definer: Account, current: str) -> str:
    """CREATE or ALTER VIEW; ``current`` is the session's database, which the view's name is written without."""
    words = "CREATE OR REPLACE" if view.replaces else view.verb.upper()
    condition = "IF NOT EXISTS " if view.exists else ""
    columns = f"({', '.join(map(identifier, view.columns))})" if view.columns else ""
    return (
        f"{words} ALGORITHM={view.algorithm} DEFINER={_account(definer)} SQL SECURITY {view.security}"
        f" VIEW {condition}{table_sql(view.name, current)}{columns} AS {view.body}"
    )


def trigger_sql(trigger: CreateTrigger, definer: Account) -> str:
    """CREATE TRIGGER: behind the definer the text goes on as it was sent."""
    return f"CREATE DEFINER={_account(definer)} {trigger.text}"


def table_sql(table: TableRef, current: str) -> str:
    """A name in a statement, without the current database."""
    return qualified(table.database or current, table.name, current)


def _account(account: Account) -> str:
    user, host = account
    return identifier(user) + (f"@{identifier(host)}" if host or user else "")
