"""DATE, TIME, DATETIME and TIMESTAMP: the SQL types, whose columns are the current ones or those from before 5.6."""

from __future__ import annotations

from forge.servers.facts.values import Dialect
from forge.values.base import Column
from forge.values.declaration.arguments import check_argument
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.temporal import current, old
from forge.values.temporal.text import MAX_FSP
from forge.values.wire_types import WireType

#: The wire types with fsp, and those of servers before 5.6 (MariaDB: with mysql56_temporal_format=OFF).
_FRACTIONAL = {
    "TIME": (WireType.TIME2, WireType.TIME),
    "DATETIME": (WireType.DATETIME2, WireType.DATETIME),
    "TIMESTAMP": (WireType.TIMESTAMP2, WireType.TIMESTAMP),
}


def _declare_date(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(WireType.DATE)


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    check_argument("fractional seconds precision", sql_type, sql_type.fsp, 0, MAX_FSP)
    with_fsp, without = _FRACTIONAL[sql_type.name]
    return Column(without) if temporals == "old" else Column(with_fsp, bytes([sql_type.fsp]))


def _fractional(name: str, facts: TypeFacts) -> ColumnType:
    examples = tuple(SqlType(name, fsp=fsp) for fsp in range(MAX_FSP + 1))
    return ColumnType(name=name, facts=facts, declare=_declare, arguments="fsp", examples=examples)


FAMILY = Family(
    codecs=(*current.CODECS, *old.CODECS),
    column_types=(
        ColumnType(
            name="DATE",
            facts=TypeFacts(kind="date", refuses_implicit_default=True),
            declare=_declare_date,
            examples=(SqlType("DATE"),),
        ),
        _fractional("TIME", TypeFacts(kind="time", implicit_default="00:00:00")),
        _fractional("DATETIME", TypeFacts(kind="moment", refuses_implicit_default=True)),
        _fractional("TIMESTAMP", TypeFacts(kind="moment")),
    ),
)
