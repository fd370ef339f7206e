"""What the groups of a log may have been: statements that run one after the other in a session of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from forge.binlog.reader import MAGIC, check_magic, read_events
from forge.engine.dictionary.catalog import SYSTEM_DATABASES
from forge.engine.session.session import Session
from forge.errors import ForgeError, FormatError, ScenarioError, UnsupportedError
from forge.events.format_description import FormatDescription
from forge.events.plain import name_text
from forge.events.query import Query
from forge.events.table_map import TableMap
from forge.plan.facts import Facts
from forge.plan.plan import Plan
from forge.plan.session import Session as Settings
from forge.record.facts import facts_of
from forge.record.retold.log_groups import (
    GroupTeller,
    MissingDatabase,
    MissingTable,
    as_events,
    makes_database,
)
from forge.record.retold.log_parts import Part, listed_parts
from forge.record.retold.log_selection import refuse_large
from forge.record.retold.log_settings import line_of, session_of, settings_of
from forge.record.retold.log_tables import SchemaFile, logged_definitions, schema_file
from forge.render.definition_of import definition_of
from forge.scenario.model import Scenario
from forge.scenario.places import Entry, Places
from forge.scenario.planning import finished, opened, run_entry
from forge.servers import server_line
from forge.sql.write import identifier

#: What is raised where a statement cannot have made a group; forms of msgspec are ValueErrors.
REFUSALS = (ForgeError, ValueError, LookupError)


#: How often a log is looked at anew for what was not known before: tables, databases, statements that do not run.
_MOST_EXPLORED = 200


class Exploration:
    """A log, what of it is said as statements so far, and what stands in the way."""

    def __init__(self, data: bytes, name: str, file: str, settings: dict[str, Any], schema: str | None) -> None:
        self.data = data
        check_magic(data)
        refuse_large(len(data))
        placed = list(read_events(data, strict=False))
        if not placed:
            raise FormatError("the log has no whole event", phase="framing", offset=len(MAGIC))
        self.parts, self.behind = listed_parts(data, placed)
        self.documents = [document for part in self.parts for document in part.documents] + self.behind
        self.line = server_line(str(settings.get("server") or line_of(placed[0])))
        self.schema = SchemaFile() if schema is None else schema_file(schema, self.line, None)
        bodies = [event.body for part in self.parts for event in part.events()]
        self.mapped = [body for body in bodies if isinstance(body, TableMap)]
        #: Definitions in the log of tables whose making is said as events.
        self.logged = logged_definitions(bodies, self.line)
        self.head = {"scenario": str(settings.get("scenario") or name), "server": self.line.name}
        unknown = [key for key in settings if key not in ("server", "scenario") and not key.startswith("session.")]
        if unknown:
            raise ScenarioError(f"a scenario of a log has no {unknown[0]!r}", expected="server, scenario, session.NAME")
        self.session: dict[str, Any] = session_of(self.parts, self.line, file)
        self.session |= {key.removeprefix("session."): value for key, value in settings.items() if "." in key}
        self.steps = [part for part in self.parts if part.kind in ("group", "event")]
        #: Why a part is said as its events, by its number among the steps.
        self.reasons: dict[int, str] = {
            number: f"{part.documents[0].get('event')} between groups"
            for number, part in enumerate(self.steps)
            if part.kind == "event"
        }
        #: Definitions of tables that were there, and their rows, as transactions.
        self.tables: dict[tuple[str, str], str] = {}
        self.databases: dict[str, None] = {}
        #: Tables that are not looked for again: those, and others that no definition gives.
        self.untold: set[tuple[str, str]] = set()
        #: How many of the forms of a step were wrong.
        self.refused: dict[int, int] = {}
        self.differences: dict[int, str] = {}
        #: What could not be run, and why; it may have left traces in the session, which is then begun anew.
        self.failed: dict[str, str] = {}
        self.is_marked = False

    def explored(self) -> tuple[list[Any], list[Any], list[int]]:
        """The entries of all steps, what was there before, and of each entry its step's number (-1: a setting)."""
        for _ in range(_MOST_EXPLORED):
            self.is_marked = False
            try:
                explored = self._explore()
                if not self.is_marked:
                    return explored
            except MissingDatabase as missing:
                self.databases[missing.name] = None
            except MissingTable as missing:
                self._declare(missing.mapped)
                for mapped in self.mapped:
                    key = name_text(mapped.database), name_text(mapped.table)
                    if key not in self.untold and key not in self.logged.tables:
                        self._declare(mapped)
        raise UnsupportedError("too many statements leave traces where they cannot run")

    def _declare(self, mapped: TableMap) -> None:
        """The table was there before the log begins, unless no definition gives it."""
        key = name_text(mapped.database), name_text(mapped.table)
        self.untold.add(key)
        with suppress(*REFUSALS):
            known = self.schema.text(*key) or self.logged.text(*key)
            text = known or definition_of(mapped, self.line, engine=self._engine(mapped))
            scenario = self._scenario(self.tree([], _declared({key: text})))
            opened(scenario, Places(scenario))
            self.tables[key] = text

    def _engine(self, mapped: Any) -> str | None:
        """MyISAM for a table whose changes end with COMMIT as a text."""
        for part in self.steps:
            bodies = [event.body for event in part.events()]
            if mapped in bodies and bodies and isinstance(bodies[-1], Query):
                return "MyISAM"
            if mapped in bodies:
                return None
        return None

    def _explore(self) -> tuple[list[Any], list[Any], list[int]]:
        existing: list[Any] = [[{"ddl": f"CREATE DATABASE {identifier(name)}"}] for name in self.databases]
        existing += _declared(self.tables)
        scenario = self._scenario(self.tree([], existing), self.facts())
        places = Places(scenario)
        session = opened(scenario, places)
        entries: list[Any] = []
        numbers: list[int] = []
        current: dict[str, Any] = {}
        self.database = ""
        placed = False
        for number, part in enumerate(self.steps):
            if number in self.reasons:
                entries.append(as_events(part.documents))
                numbers.append(number)
                self._run(session, entries[-1], places)
                placed = True
                continue
            teller = GroupTeller(session, part, bool(self.session.get("rows_query")), self.untold)
            for table, row in list(teller.missing_rows()):
                entry = [{"insert": {"into": table, "rows": [row]}}]
                if self._run(session, entry, places) is None:
                    existing.append(entry)
            for change in self._changes(teller.first_query, current):
                if self._run(session, change, places) is None:
                    entries.append(change)
                    numbers.append(-1)
            entry, reason = self._first_that_runs(session, teller, number, places, given=placed)
            placed = entry is None
            if entry is None:
                self.reasons[number] = reason
                entry = as_events(part.documents)
                self._run(session, entry, places)
            entries.append(entry)
            numbers.append(number)
        return entries, existing, numbers

    def _first_that_runs(
        self, session: Session, teller: GroupTeller, number: int, places: Places, *, given: bool
    ) -> tuple[Any, str]:
        """The first entry that may say a group, or why there is none; ``given``: it says its GTID, which is not the
        next one after that of another statement.
        """
        reason = self.differences.get(number, "")
        skipped = self.refused.get(number, 0)
        try:
            for form, entry in enumerate(teller.entries()):
                if form < skipped:
                    continue
                entry = self._with_database(entry, teller, session)
                if given and (gtid := teller.gtid) is not None:
                    entry = {**entry, "gtid": gtid}
                before = session.journal.logged
                error = self._run(session, entry, places)
                if error is None and session.journal.logged == before + 1:
                    query = teller.first_query
                    is_gone = query is not None and makes_database(query)
                    # The current database may be the one that is dropped.
                    self.database = session.client.database if is_gone else entry.get("database", self.database)
                    return entry, ""
                reason = reason or error or f"the statement is logged as {session.journal.logged - before} groups"
        except REFUSALS as error:
            reason = reason or str(error)
        return None, reason

    def _with_database(self, entry: Any, teller: GroupTeller, session: Session) -> Any:
        query = teller.first_query
        if query is None or not query.database or query.database == self.database or makes_database(query):
            return entry
        name = name_text(query.database)
        if name.lower() in SYSTEM_DATABASES:
            return entry
        if name not in session.catalog.databases:
            if name in self.databases:
                return entry
            raise MissingDatabase(name)
        return {**entry, "database": name}

    def _changes(self, query: Query | None, current: dict[str, Any]) -> Iterator[Any]:
        """SET of what is otherwise than before."""
        if query is None:
            return
        wanted = settings_of(query, self.line)
        default = msgspec.structs.asdict(Settings())
        new = {
            name: value
            for name, value in wanted.items()
            if current.get(name, self.session.get(name, default.get(name))) != value
        }
        for name, value in new.items():
            current[name] = value
            yield [{"set": {name: value}}]

    def _run(self, session: Session, entry: Any, places: Places) -> str | None:
        """Runs an entry; what is wrong with it, if something is."""
        known = f"{session.journal.logged} {entry}"
        if known in self.failed:
            return self.failed[known]
        try:
            request = msgspec.convert({"scenario": "x", "transactions": [entry]}, Scenario).transactions[0]
            run_entry(session, Entry(places, ("transactions", 0)), request)
        except REFUSALS as error:
            self.is_marked = True
            self.failed[known] = str(error)
            return str(error)
        return None

    def tree(self, entries: list[Any], existing: list[Any]) -> dict[str, Any]:
        session = {name: value for name, value in self.session.items() if value is not None}
        tree = {**self.head, "session": session}
        if existing:
            tree["existing"] = existing
        return {**tree, "transactions": entries}

    def _scenario(self, tree: dict[str, Any], facts: Facts | None = None) -> Scenario:
        try:
            scenario = msgspec.convert(tree, Scenario)
        except msgspec.ValidationError as error:
            raise ScenarioError(str(error)) from None
        if facts is None:
            return scenario
        return msgspec.structs.replace(scenario, session=msgspec.structs.replace(scenario.session, facts=facts))

    def facts(self, *, placed: bool = True) -> Facts:
        """The facts of all that is not said as events, which are ``placed`` in the scenario."""
        raw = {id(self.steps[number]) for number in self.reasons}
        raw |= {id(part) for part in self.parts[1:] if isinstance(part.placed[0].event.body, FormatDescription)}
        facts = facts_of(file_of(part for part in self.parts if id(part) not in raw))
        if raw and placed:
            every = facts_of(file_of(self.parts))
            facts = msgspec.structs.replace(facts, exec_times=every.exec_times)
        return facts

    def plan(self, tree: dict[str, Any], facts: Facts) -> Plan:
        scenario = self._scenario(tree, facts)
        places = Places(scenario)
        session = opened(scenario, places)
        for entry in scenario.transactions:
            run_entry(session, Entry(places, ("transactions", 0)), entry)
        return finished(session, scenario)


def _declared(tables: Mapping[tuple[str, str], str]) -> list[Any]:
    """Tables, as transactions that make them."""
    return [{"statements": [{"ddl": text}], "database": database} for (database, _), text in tables.items()]


def file_of(parts: Iterable[Part]) -> bytes:
    return MAGIC + b"".join(placed.raw for part in parts for placed in part.placed)
