"""Column types as SHOW CREATE TABLE prints them."""

from __future__ import annotations

from forge.sql.write.literals import printed_text
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, column_type, facts_of

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
