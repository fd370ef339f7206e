"""``forge.replay``: logs applied to a replica's tables, and what is in these at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from forge.binlog.opened import opened
from forge.binlog.window import LogSource, LogWindow
from forge.errors import FormatError, counted
from forge.replay.applier_settings import ApplierSettings
from forge.replay.applying import ApplyLog
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable
from forge.replay.stops import AppliedError
from forge.scenario import load_scenario
from forge.scenario.matrix import OptionSettings, base_scenario
from forge.scenario.model import Scenario


class BuiltFile(Protocol):
    """A file of a log (forge.LogFile)."""

    @property
    def name(self) -> str: ...
    @property
    def data(self) -> bytes: ...


@runtime_checkable
class BuiltLog(Protocol):
    """A log that is there with its bytes (forge.Log)."""

    @property
    def files(self) -> Sequence[BuiltFile]: ...


LogName = str | PathLike[str] | bytes | BuiltLog


@dataclass(frozen=True, slots=True)
class AppliedNote:
    """How rows of a table were treated: the rule, and the number of row events."""

    table: str
    kind: str
    rule: str
    events: int

    def __str__(self) -> str:
        return f"{self.table}: {self.kind.upper()}, {counted(self.events, 'event')}: {self.rule}"


@dataclass(frozen=True, slots=True)
class State:
    """What a replica has after the logs; ``error`` is what stopped it, None if it applied everything."""

    line: str
    error: AppliedError | None
    notes: tuple[AppliedNote, ...]
    #: Statements that ``rows_only`` left out.
    left_out: tuple[str, ...]
    _tables: Mapping[str, ReplicaTable] = field(repr=False)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, ``database.table``."""
        return tuple(self._tables)

    def count(self, table: str) -> int:
        """The number of rows of a table.  Raises KeyError."""
        return len(self._tables[table].rows)

    def rows(self, table: str) -> list[dict[str, str | None]]:
        """The rows of a table in the order of a scan: by column, its text as SQL prints it, or None.

        Bytes of binary columns, and those that are no text of their character set, are ``0x`` and hexadecimal digits.
        Raises KeyError for a table that is not there.
        """
        return list(self._shown(self._tables[table]))

    def values(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, with values as :func:`forge.values.decode` gives them.  Raises KeyError."""
        found = self._tables[table]
        rows = (found.decoded(found.rows[number]) for number in found.ordered(found.rows))
        return [{name: row[index] for index, name in found.named} for row in rows]

    def lines(self, table: str) -> Iterator[str]:
        """The rows of a table as JSON, one on a line (:meth:`rows`)."""
        return (json.dumps(row, ensure_ascii=False) + "\n" for row in self._shown(self._tables[table]))

    def arrow(self, table: str) -> Any:
        """The rows of a table as a ``pyarrow.Table``.  Raises KeyError; EnvironmentMissing without PyArrow."""
        from forge.replay.parquet_state import arrow_table

        return arrow_table(self._tables[table])

    @staticmethod
    def _shown(table: ReplicaTable) -> Iterator[dict[str, str | None]]:
        for number in table.ordered(table.rows):
            row = table.rows[number]
            yield {name: table.text(index, row[index]) for index, name in table.named}


def replay(
    logs: LogName | Sequence[LogName],
    *,
    onto: Scenario | str | PathLike[str],
    line: str | None = None,
    settings: Mapping[str, str] | None = None,
    rows_only: bool = False,
) -> State:
    """Apply logs to the tables of a replica, as its server does (docs/replay.md).

    ``logs`` are paths, bytes, or what :func:`forge.build` gives.
    ``onto`` is a scenario, the path of one or of a SQL script, or the text of a script; ``line`` is the replica's
    server line, unless that of the scenario.  ``settings`` are variables of the replica by name:
    ``replica_type_conversions``, ``replica_exec_mode``.  ``rows_only`` leaves out statements of the log that make or
    drop what ``onto`` declares.

    Raises ScenarioError for a scenario that is wrong, FormatError for bytes that are no log, and UnsupportedError for
    what has not been measured on a real replica: nothing is guessed.
    """
    replica = Replica(_scenario(onto, line))
    log = ApplyLog(replica, ApplierSettings.of(settings or {}), rows_only=rows_only)
    error: AppliedError | None = None
    for name, source in _opened([logs] if isinstance(logs, (str, bytes, PathLike, BuiltLog)) else logs):
        try:
            error = log.apply(name, source)
        except FormatError as wrong:
            raise wrong.in_file(name) from None
        if error is not None:
            break
    left_out = tuple(log.left_out)
    return State(
        replica.line.name, error, tuple(_notes(log.notes)), left_out, {t.name: t for t in replica.tables.values()}
    )


def _notes(notes: Counter[tuple[str, str, str]]) -> Iterator[AppliedNote]:
    return (AppliedNote(table, kind, rule, count) for (table, kind, rule), count in notes.items())


def _scenario(onto: Scenario | str | PathLike[str], line: str | None) -> Scenario:
    if isinstance(onto, Scenario):
        import msgspec

        return onto if line is None else msgspec.structs.replace(onto, server=line)
    settings = OptionSettings()
    if line is not None:
        settings.add("server", line, f"--as {line}")
    if isinstance(onto, str) and ("\n" in onto or ";" in onto):
        return base_scenario(onto, settings=settings)
    return load_scenario(fspath(onto), settings)


def _opened(logs: Iterable[LogName]) -> Iterator[tuple[str, LogSource]]:
    for number, log in enumerate(logs, start=1):
        if isinstance(log, bytes):
            yield f"log {number}", log
            continue
        if isinstance(log, BuiltLog):
            yield from ((file.name, file.data) for file in log.files)
            continue
        with Path(log).open("rb") as file:
            yield Path(log).name, LogWindow(opened(file, None))
