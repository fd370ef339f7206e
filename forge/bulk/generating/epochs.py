"""The definitions of tables through the time of a volume, and the statements in between that change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from forge.bulk.generating.lives import SPAN
from forge.compile.files.session_numbers import DEFAULT_TABLE_ID
from forge.engine.requests.statements import Statement
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DdlStatement
from forge.plan.grouping.groups import LoggedGroup
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.plan import Plan
from forge.plan.tables import Table
from forge.plan.time_zones import offset_of
from forge.scenario.model import Scenario
from forge.scenario.planning import plan
from forge.scenario.volume_model import Volume, VolumeDefinition
from forge.servers import ServerLine, server_line


@dataclass(frozen=True, slots=True)
class Epoch:
    """A time in which definitions stay: ``groups`` of the log begin it, at moment ``begin``."""

    begin: int
    groups: tuple[LoggedGroup, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """``plan``: of the session; its groups come before all rows.  ``epochs``: the first begins at 0."""

    plan: Plan
    line: ServerLine
    epochs: tuple[Epoch, ...]

    @property
    def logged(self) -> list[LoggedGroup]:
        """The groups that the log begins with."""
        return list(logged_groups(self.plan.groups, self.line))

    def table_ids(self, tables: Sequence[Table]) -> list[int]:
        """Definitions are opened once each: those that no statement has changed keep their numbers."""
        known: dict[tuple[str, str, int], int] = {}
        for epoch in self.epochs:
            for table in epoch.tables:
                known.setdefault((table.database, table.name, table.version), DEFAULT_TABLE_ID + len(known))
        return [known[table.database, table.name, table.version] for table in tables]


def definitions_of(scenario: Scenario) -> Definitions:
    """Raises ScenarioError for what a server would refuse, and for scenarios that volume cannot be made of."""
    volume = scenario.volume or Volume()
    _check(scenario)
    ordered = sorted(volume.definitions, key=lambda definition: definition.at)
    begin = plan(_with(scenario, ()))
    if not begin.tables:
        raise ScenarioError("the scenario has no tables", expected="`tables`, of which rows are made")
    names = list(begin.tables)
    tables = tuple(begin.tables[name] for name in names)
    line = server_line(scenario.server)
    epochs = [Epoch(0, (), tables)]
    ended = plan(_with(scenario, ordered)) if ordered else begin
    for declared, group in zip(ordered, ended.groups[len(ended.groups) - len(ordered) :], strict=True):
        if not isinstance(group, DdlStatement):
            raise ScenarioError(f"volume.definitions: {declared.ddl!r} is no data definition statement")
        changed = {table.full_name: table for table in group.tables}
        tables = tuple(changed.get(table.full_name, table) for table in tables)
        moment = min(int(Fraction(str(declared.at)) * SPAN), SPAN - 1)
        epochs.append(Epoch(moment, tuple(logged_groups((group,), line)), tables))
    for name, table in zip(names, tables, strict=True):
        if ended.tables.get(name) != table:
            raise UnsupportedError(f"volume.definitions: {name} is dropped or renamed, which is not supported")
        if table.partition is not None:
            raise UnsupportedError(f"forge generate for the partitioned table {name} is not supported")
    return Definitions(begin, line, tuple(epochs))


def _with(scenario: Scenario, definitions: Sequence[VolumeDefinition]) -> Scenario:
    """The scenario with these statements as its transactions."""
    changed = msgspec.structs.replace(
        scenario, volume=None, transactions=[[Statement(ddl=each.ddl)] for each in definitions]
    )
    if not definitions and scenario.origin is not None:
        changed.__dict__["located"] = scenario.origin  # Errors name lines of the file.
    return changed


def _check(scenario: Scenario) -> None:
    session = scenario.session
    if scenario.transactions:
        raise ScenarioError(
            "forge generate makes the transactions itself, and the scenario has some", expected="`tables` and `volume`"
        )
    if not session.is_own_log or session.ends_with == "nothing":
        raise ScenarioError("forge generate makes whole files of a server's own log")
    if session.binlog_format != "row" or session.rows_query:
        raise ScenarioError("forge generate has no statements' texts", expected="binlog_format: row, no rows_query")
    if session.gtid_tag or session.compression or session.log_bin_compress:
        raise UnsupportedError("forge generate does not make tagged GTIDs and compressed transactions")
    if offset_of(session.time_zone, server_line(scenario.server)):
        raise UnsupportedError("forge generate makes sessions in UTC alone", expected="time_zone +00:00 or SYSTEM")
    if session.max_binlog_size is not None or session.timestamp is not None:
        raise ScenarioError(
            "session.max_binlog_size and session.timestamp say what --files and `volume` say here", expected="neither"
        )
    if session.facts != type(session.facts)():
        raise ScenarioError("facts are of a recording, and what forge generate makes is none", expected="no facts")
