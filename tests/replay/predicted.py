"""What ``forge.replay`` says of a cell, in the form in which cells keep what a replica had."""

from __future__ import annotations

from decimal import Decimal

from forge.charsets import collation
from forge.replay.applier_settings import ApplierSettings
from forge.replay.applying import ApplyLog
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable
from forge.scenario.matrix import base_scenario
from forge.values.declaration.sqltype import SqlType
from forge.values.network import network_text
from tests.replay.built import log_of
from tests.replay.cells import CLOCK, Cell, EndRow, in_order

_HEAD = "-- forge: server: {line}\n-- forge: session: {{database: x, time_zone: '+00:00'{more}}}\n"
#: How cells ask for invisible primary keys.
_INVISIBLE_KEYS = "SET SESSION sql_generate_invisible_primary_key=1"


def replica_of(cell: Cell, line: str) -> Replica:
    """The replica before the log.  Raises ForgeError for what is refused."""
    text = [
        f"SET sql_mode = '', foreign_key_checks = 0, timestamp = {CLOCK}",
        "CREATE DATABASE x CHARACTER SET utf8mb4",
        *cell.created("rep"),
    ]
    # Rows of a view are those of the table behind it.
    into = cell.tables[0] if any("CREATE VIEW" in one for one in cell.created("rep")) else "t"
    text += [f"INSERT INTO x.{into} VALUES {', '.join(cell.rrows)}"] if cell.rrows else []
    more = ", generate_invisible_primary_key: true" if _INVISIBLE_KEYS in text else ""
    return Replica(base_scenario(_HEAD.format(line=line, more=more) + ";\n".join(text) + ";\n"))


def predicted(cell: Cell, line: str) -> tuple[object, ...]:
    """The outcome (:attr:`Result.outcome`).  Raises ForgeError for what is refused."""
    log = log_of(cell, cell.source or line)
    replica = replica_of(cell, line)
    given = {"replica_type_conversions": cell.conv, "replica_exec_mode": cell.mode}
    applied = ApplyLog(replica, ApplierSettings.of(given | {name: str(one) for name, one in cell.settings.items()}))
    error = applied.apply("FIRST", log)
    others = {name: in_order(end_rows(replica, name)) for name in cell.tables}
    # Rows of a view are those of the table behind it.
    own = others[cell.tables[0]] if replica.is_view(("x", "t")) else in_order(end_rows(replica, "t"))
    return 0 if error is None else error.code, own, tuple(sorted(others.items()))


def end_rows(replica: Replica, name: str) -> list[EndRow]:
    """The rows of a table as a client shows them."""
    table = replica.tables.get(("x", name))
    if table is None:
        return []
    shown = [index for index, column in enumerate(table.definitions) if column.row_hash is None]
    return [tuple(client_text(table, index, row[index]) for index in shown) for row in table.rows.values()]


def client_text(table: ReplicaTable, index: int, raw: bytes | None) -> str | None:
    """A cell as a client with utf8mb4 shows it, bytes that are no UTF-8 as ``\\xNN``."""
    if raw is None:
        return None
    definition = table.definitions[index]
    column, facts, type_ = definition.wire, definition.type_facts, definition.type
    if facts.is_geometry:
        return raw[4:].decode("utf-8", "backslashreplace")
    value = table.codecs[index].decode(table.columns[index], raw)
    if facts.kind == "bit":
        value = raw
    if type_.name in ("UUID", "INET4", "INET6"):
        return network_text(type_.name, value.ljust(4 if type_.name == "INET4" else 16, b"\0"))
    if facts.kind == "enum" and value > len(column.members or ()):
        return ""
    if facts.kind == "set":
        value &= (1 << len(column.members or ())) - 1
    if facts.is_approximate:
        return _float_text(value, type_)
    shown = None if value is raw else definition.codec.text(column, value)
    text = value if shown is None else shown
    if type_.zerofill:
        digits = type_.precision or type_.length or _WIDTHS.get(type_.name, 10)
        return str(text).rjust(digits + bool(type_.scale), "0")
    if isinstance(text, bytes) and type_.collation not in (None, 63):
        return _malformed(text, collation(type_.collation or 0).charset, mysql="mysql" in table.state.definition.server)
    return text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text


#: Digits of integers with ZEROFILL.
_WIDTHS = {"TINYINT": 3, "SMALLINT": 5, "MEDIUMINT": 8, "INT": 10, "BIGINT": 20}


def _float_text(value: float, type_: SqlType) -> str:
    if type_.scale is not None:
        return f"{value:.{type_.scale}f}"
    digits = 6 if type_.name == "FLOAT" else 17
    shown = f"{value:.{digits}g}" if digits == 6 else repr(value).removesuffix(".0")
    number = Decimal(shown)
    if number and -16 < number.adjusted() < 15:
        return f"{number:f}"
    return shown.replace("e+", "e").replace("e0", "e")


def _malformed(data: bytes, charset: str, *, mysql: bool) -> str:
    """Bytes that are not of their column's character set, as servers convert them for a client."""
    if charset == "utf8mb4":
        return data.decode("utf-8", "backslashreplace")
    if charset == "utf8mb3":
        # MySQL stops at a character that is not all there; MariaDB shows a question mark.
        good = data.decode("utf-8", "ignore")
        return good if mysql else good + "?"
    return "".join(chr(byte) if byte < 0x80 else "?" for byte in data)
