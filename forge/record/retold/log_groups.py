"""Groups of a log as transactions of a scenario."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from forge.compile.rows.table_map import wire_columns
from forge.engine.dictionary.catalog import SYSTEM_DATABASES
from forge.engine.dictionary.table_state import TableState
from forge.engine.session.session import Session
from forge.errors import ForgeError, ScenarioError, UnsupportedError
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.gtid import Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.intvar import Intvar
from forge.events.layout import Surroundings
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.plain import name_text
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rows import ROWS_BODIES, STMT_END, RowsBody
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.table_map import TableMap
from forge.events.user_var import UserVar
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.record.retold.log_parts import GTIDS, Document, Part, in_block
from forge.record.retold.log_rows import Change, ChangedRows, changes_of
from forge.record.retold.log_settings import changes_rows
from forge.scenario.script import script_document
from forge.sql.ast.definitions import TableRef
from forge.sql.write import identifier

Entry = Any
#: Forms of a group's statements that are tried.
_MOST_FORMS = 8
_OF_DATABASES = re.compile(r"\s*(CREATE|DROP|ALTER)\s+(DATABASE|SCHEMA)\b", re.IGNORECASE)
#: What servers add to the text of a trigger or a view.
_DEFINER = re.compile(r"\bDEFINER\s*=\s*`[^`]*`(?:@`[^`]*`)? ", re.IGNORECASE)
_VERB = re.compile(r"\s*(INSERT|REPLACE|UPDATE|DELETE)\b", re.IGNORECASE)
_CREATES = re.compile(r"\s*CREATE\b", re.IGNORECASE)
_SAVEPOINT = re.compile(r"(SAVEPOINT|ROLLBACK TO(?: SAVEPOINT)?|RELEASE SAVEPOINT) (.+)", re.IGNORECASE)
_STEPS = {"savepoint": "savepoint", "release savepoint": "release_savepoint"}
_XA_NAME = r"(X'[0-9A-Fa-f]*'),(X'[0-9A-Fa-f]*'),([0-9]+)"
_XA_END = re.compile(rf"XA (COMMIT|ROLLBACK) {_XA_NAME}")
_PLAIN_NAME = re.compile(r"[\w$]+")


class MissingDatabase(Exception):
    """A statement ran in a database that is not there yet: it was before the log begins."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class MissingTable(Exception):
    """A table map names a table that is not there yet: it was before the log begins."""

    def __init__(self, mapped: TableMap) -> None:
        super().__init__(mapped)
        self.mapped = mapped


def makes_database(query: Query) -> bool:
    """Whether the statement makes or drops the database that its event names."""
    return _OF_DATABASES.match(query.query) is not None


def full_name(mapped: TableMap) -> str:
    """A table's name as an entry of a scenario has it."""
    names = (name_text(mapped.database), name_text(mapped.table))
    return ".".join(name if _PLAIN_NAME.fullmatch(name) else identifier(name) for name in names)


def as_events(documents: Sequence[Document]) -> Entry:
    """Documents of a listing as events that the scenario places itself."""
    return [{"event": placed_event(document)} for document in documents]


def is_placed(entry: Entry) -> bool:
    """Whether an entry has nothing but events of its own."""
    return isinstance(entry, list) and all("event" in one for one in entry)


def placed_event(document: Document) -> dict[str, Any]:
    """An event of a listing as a scenario places it; sizes and positions are derived there."""
    header = ("event", "timestamp", "server_id", "flags", "event_size", "log_pos", "checksum", "header_extra", "body")
    flags = list(document.get("flags", []))
    event = {"type": document["event"]}
    event |= {name: document[name] for name in ("timestamp", "server_id") if name in document}
    if "body" in document:
        event["hex"] = document["body"]
    else:
        event["fields"] = {name: value for name, value in document.items() if name not in header}
    ignorable = "IGNORABLE" in flags
    if ignorable or document["event"] in ("IGNORABLE", "ROWS_QUERY"):
        event["ignorable"] = ignorable
    flags = [flag for flag in flags if flag != "IGNORABLE"]
    return event | ({"flags": flags} if flags else {})


@dataclass(slots=True)
class _Statement:
    """What one statement inside a group has left in the log."""

    text: str | None = None
    maps: dict[int, TableMap] = field(default_factory=dict)
    rows: list[RowsBody] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    seeds: list[int] | None = None
    placed: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class GroupTeller:
    """Says what happened in a group, in a session that stands before it."""

    session: Session
    group: Part
    #: Whether the session logs texts beside rows.
    texts: bool
    #: Tables that were there before the log begins.
    existing: Container[tuple[str, str]]
    events: list[Event] = field(init=False)

    def __post_init__(self) -> None:
        self.events = list(self.group.events())

    @property
    def gtid(self) -> str | int | None:
        """The number of the group's GTID, with what it is a number of."""
        body = self.events[0].body
        if isinstance(body, MariadbGtid):
            return f"{body.domain_id}-{self.events[0].server_id}-{body.sequence_number}"
        if isinstance(body, GtidTagged):
            return f"{body.uuid}:{body.tag}:{body.gno}"
        return f"{body.uuid}:{body.gno}" if isinstance(body, Gtid) else None

    @property
    def first_query(self) -> Query | None:
        return next((event.body for event in self.events if isinstance(event.body, Query)), None)

    def entries(self) -> Iterator[Entry]:
        """The entries that may say it, the most likely first.  Raises ForgeError, MissingTable."""
        if in_block(self.group):
            yield from self._blocks()
            return
        query, last = self.first_query, self.events[-1].body
        if query is None:
            raise UnsupportedError("the group has no QUERY event")
        found = _XA_END.fullmatch(query.query)
        if found is not None:
            yield {f"xa_{found[1].lower()}": _xa_name(found)}
        elif last is not query:
            yield from ({"statements": one} for one in self._texts(query, _Statement()))
        elif changes_rows(query):
            statement = _Statement()
            for event in self.events:
                self._values(event.body, statement)
            yield from ({"statements": one} for one in self._texts(query, statement))
        else:
            yield {"statements": [{"ddl": query.query}]}
            if (typed := _DEFINER.sub("", query.query, count=1)) != query.query:
                yield {"statements": [{"ddl": typed}]}
            yield {"statements": [{"logged": {"text": query.query}}]}
            yield {"statements": [{"logged": {"text": query.query, "numbered": False}}]}

    def _blocks(self) -> Iterator[Entry]:
        last = self.events[-1].body
        how: dict[str, Any] = {"explicit": True}
        if isinstance(last, XaPrepare):
            name = {"gtrid": {"hex": last.gtrid.hex()}, "bqual": {"hex": last.bqual.hex()}, "format_id": last.format_id}
            how = {"xa": name | ({"one_phase": True} if last.one_phase else {"end": "prepared"})}
        elif isinstance(last, Query) and last.query == "ROLLBACK":
            how |= {"end": "rollback"}
        elif not (isinstance(last, Xid) or (isinstance(last, Query) and last.query == "COMMIT")):
            raise UnsupportedError("the transaction has no end")
        texts = [one.body.query for one in self.events if isinstance(one.body, (RowsQuery, AnnotateRows))]
        if len(texts) == 1 and _CREATES.match(texts[0]):
            # CREATE TABLE ... SELECT: what was typed stands beside the rows.
            yield {"statements": [{"ddl": texts[0]}]}
        made: list[Entry] = []
        for choice in range(_MOST_FORMS):
            statements = list(self._statements(choice))
            if not statements:
                raise UnsupportedError("the transaction is empty")
            forms = [{"statements": statements, **how}]
            if how == {"explicit": True} and len(statements) == 1 and not isinstance(last, Xid):
                forms.append({"statements": statements})
            yield from (form for form in forms if form not in made)
            made += forms

    def _statements(self, choice: int) -> Iterator[dict[str, Any]]:
        """The statements inside the block; of each that has several forms, that number ``choice``."""
        open = _Statement()
        begun = isinstance(self.events[0].body, MariadbGtid)
        for number, event in enumerate(self.events):
            body = event.body
            if isinstance(body, GTIDS) or (number == len(self.events) - 1):
                continue
            if isinstance(body, Query):
                if not begun:
                    begun = True
                elif not body.query.startswith("XA END"):
                    yield from _nth(self._texts(body, open), choice)
                    open = _Statement()
            elif isinstance(body, (RowsQuery, AnnotateRows)):
                open.text = body.query
            elif isinstance(body, TableMap):
                open.maps[body.table_id] = body
            elif isinstance(body, ROWS_BODIES):
                open.rows.append(body)
                if body.row_flags & STMT_END:
                    yield from _nth(self._changed(open), choice)
                    open = _Statement()
            elif not self._values(body, open):
                raise UnsupportedError(f"{event.type_name} inside a transaction")
        if open.rows or open.maps:
            raise UnsupportedError("rows without the end of their statement")

    def _values(self, body: object, open: _Statement) -> bool:
        """Notes an event with a value that a statement reads."""
        if isinstance(body, UserVar):
            open.variables[body.name] = _variable(body, mariadb=self.session.line.family == "mariadb")
        elif isinstance(body, Rand):
            open.seeds = [body.seed1, body.seed2]
        elif not isinstance(body, Intvar):
            return False
        return True

    def _texts(self, query: Query | ExecuteLoadQuery, open: _Statement) -> Iterator[list[dict[str, Any]]]:
        """A statement that is logged as text."""
        text = query.query
        step = _SAVEPOINT.fullmatch(text)
        if step is not None:
            word = " ".join(step[1].lower().split())
            yield [{_STEPS.get(word, "rollback_to"): step[2].strip("`")}]
        elif isinstance(query, Query) and changes_rows(query):
            statement = _as_typed(text)
            if open.variables:
                statement["user_variables"] = open.variables
            if open.seeds is not None:
                statement["rand_seeds"] = open.seeds
            if self.session.settings.binlog_format == "mixed":
                statement["logged_as"] = "text"
            yield [statement]
        else:
            yield [{"ddl": text}]

    def _changed(self, open: _Statement) -> Iterator[list[dict[str, Any]]]:
        """A statement that is logged as rows."""
        main, *others = open.maps.values()
        if open.text is not None:
            with suppress(ScenarioError):
                typed = _as_typed(open.text) | ({} if self.texts else {"rows_query": True})
                yield [typed | ({} if self.session.settings.binlog_format == "row" else {"logged_as": "rows"})]
        for beside in self._beside(open, main, others) if others else ({},):
            for request in self._of_table(open.rows, main).requests():
                if open.text is not None and not _is_of_verb(open.text, request):
                    continue
                logged: dict[str, Any] = {} if self.texts == (open.text is not None) else {"rows_query": not self.texts}
                text = {} if open.text is None else {"query": open.text}
                if self.session.settings.binlog_format != "row":
                    logged["logged_as"] = "rows"
                yield [{**request, **beside, **text, **logged}]
        if open.text is not None and not others:
            # The text is of a statement that does the same in a way of its own.
            kind = self.session.line.rows.query_event.upper()
            for request in self._of_table(open.rows, main).requests():
                yield [{"event": {"type": kind, "text": open.text}}, {**request, "rows_query": False}]

    def _of_table(self, rows: Sequence[RowsBody], mapped: TableMap) -> ChangedRows:
        state = self.state(mapped)
        bodies = [body for body in rows if body.table_id == mapped.table_id]
        changed = ChangedRows(state, full_name(mapped), self._changes_of(bodies, mapped, state))
        return changed if state.table.row_end is None else changed.of_versions()

    def _beside(self, open: _Statement, main: TableMap, others: Sequence[TableMap]) -> Iterator[dict[str, Any]]:
        """What a statement on the main table does in others: what follows from its definition, or by triggers that run
        after its rows or before them.
        """
        parent = name_text(main.database), name_text(main.table)
        follows = any(key.parent == parent for mapped in others for key in self.state(mapped).table.foreign_keys)
        if follows:
            yield {}
        runs = [list(run) for _, run in groupby(open.rows, lambda body: body.table_id)]
        changed = [mapped for mapped in others if any(body.table_id == mapped.table_id for body in open.rows)]
        locks = [full_name(mapped) for mapped in others if mapped not in changed]
        for before in (False, True):
            further: list[dict[str, Any]] = []
            row = 0
            for run in runs:
                part = self._of_table(run, open.maps[run[0].table_id])
                if run[0].table_id == main.table_id:
                    row += len(part.changes)
                    continue
                request = next(part.requests(), None)
                if request is None:
                    raise UnsupportedError("a statement changes another table in a way that no statement has")
                is_before = before or not row
                further.append(
                    {**request, "row": row + 1 if is_before else row} | ({"before": True} if is_before else {})
                )
            yield ({"further": further} if further else {}) | ({"locks": locks} if locks else {})
        if not follows:
            yield {}

    def _changes_of(self, rows: Sequence[RowsBody], mapped: TableMap, state: TableState) -> list[Change]:
        wires = wire_columns(state.table, self.session.settings, self.session.line)
        return changes_of(rows, mapped, wires, state)

    def state(self, mapped: TableMap) -> TableState:
        """The table as it is.  Raises MissingTable."""
        found = self.session.catalog.known(TableRef(name_text(mapped.database), name_text(mapped.table), 0), "")
        if found is None and name_text(mapped.database).lower() in SYSTEM_DATABASES:
            raise UnsupportedError(f"{full_name(mapped)} is a table of the server's own")
        if found is None and (name_text(mapped.database), name_text(mapped.table)) in self.existing:
            raise UnsupportedError(f"{full_name(mapped)} is a table that no definition gives")
        if found is None:
            raise MissingTable(mapped)
        return found

    def missing_rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Rows that a group changes and tables that were there do not have, by table."""
        maps: dict[int, TableMap] = {}
        rows: dict[int, list[RowsBody]] = {}
        for event in self.events:
            if isinstance(event.body, TableMap):
                maps[event.body.table_id] = event.body
            elif isinstance(event.body, ROWS_BODIES) and event.body.table_id in maps:
                rows.setdefault(event.body.table_id, []).append(event.body)
        for table_id, bodies in rows.items():
            mapped = maps[table_id]
            if (name_text(mapped.database), name_text(mapped.table)) not in self.existing:
                continue
            try:
                changed = self._of_table(bodies, mapped)
                for cells in changed.missing():
                    yield changed.name, changed.existing_row(cells)
            except ForgeError:
                continue  # The group has no statements then.


def _as_typed(text: str) -> dict[str, Any]:
    """The statement that a text is, as a script says it.  Raises ScenarioError."""
    entries = script_document(text, None).value["transactions"]
    if len(entries) != 1:
        raise UnsupportedError("the text is no statement that changes rows")
    return dict(entries[0][0] if isinstance(entries[0], list) else entries[0]["statements"][0])


def _is_of_verb(text: str, request: Mapping[str, Any]) -> bool:
    """Whether a text may be that of a statement; of a text that begins otherwise, as with LOAD DATA, it may."""
    verb = _VERB.match(text)
    return verb is None or verb[1].lower() in request


def _nth(forms: Iterator[Any], choice: int) -> Iterator[Any]:
    """That one of the forms, or the last."""
    last: Any = None
    for number, form in enumerate(forms):
        last = form
        if number == choice:
            break
    yield from last or ()


def _xa_name(found: re.Match[str]) -> dict[str, Any]:
    gtrid, bqual, format_id = found.groups()[-3:]
    return {"gtrid": {"hex": gtrid[2:-1]}, "bqual": {"hex": bqual[2:-1]}, "format_id": int(format_id)}


def _variable(body: UserVar, *, mariadb: bool) -> Any:
    """The value of a user variable as ``user_variables`` has it."""
    if body.value is None:
        return None
    shown = body.canonical(Surroundings(mariadb=mariadb))["value"]
    kind, value = shown["type"], shown.get("value")
    if value is None:
        return {"hex": shown["hex"]}
    if kind == "INTEGER":
        return {"unsigned": int(value)} if body.value_flags else int(value)
    if kind == "STRING":
        return {"text": value, "collation": shown["collation"]["name"]}
    if kind in ("REAL", "DECIMAL"):
        return {kind.lower(): value}
    raise UnsupportedError("a user variable of that type")
