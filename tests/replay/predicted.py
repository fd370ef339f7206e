"""What ``forge.replay`` says of a cell, in the form in which cells keep what a replica had."""

from __future__ import annotations

from forge.replay.applying import ApplierSettings, ApplyLog
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable
from forge.scenario.matrix import base_scenario
from tests.replay.built import log_of
from tests.replay.cells import CLOCK, Cell, EndRow, in_order

_HEAD = "-- forge: server: {line}\n-- forge: session: {{database: x, time_zone: '+00:00'}}\n"


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
    return Replica(base_scenario(_HEAD.format(line=line) + ";\n".join(text) + ";\n"))


def predicted(cell: Cell, line: str) -> tuple[object, ...]:
    """The outcome (:attr:`Result.outcome`).  Raises ForgeError for what is refused."""
    log = log_of(cell, cell.source or line)
    replica = replica_of(cell, line)
    if cell.settings:
        raise AssertionError(cell.settings)
    applied = ApplyLog(replica, ApplierSettings(cell.conv, cell.mode == "IDEMPOTENT"))
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
    shown = len(table.state.definition.columns)
    return [
        tuple(client_text(table, index, raw) for index, raw in enumerate(row[:shown])) for row in table.rows.values()
    ]


def client_text(table: ReplicaTable, index: int, raw: bytes | None) -> str | None:
    """A cell as a client shows it, bytes that are no UTF-8 as ``\\xNN``."""
    if raw is None:
        return None
    column, codec = table.columns[index], table.codecs[index]
    value = codec.decode(column, raw)
    if table.definitions[index].type_facts.kind == "bit":
        value = raw
    if table.definitions[index].type_facts.kind == "enum" and value > len(column.members or ()):
        return ""
    shown = None if value is raw else codec.text(column, value)
    text = value if shown is None else shown
    return text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
