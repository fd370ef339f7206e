"""A log as nodes that can be taken away or changed: events, those inside payloads, rows; and the log of such nodes.

What the writer derives (sizes, positions, checksums, transaction lengths, bitmaps' widths) is left to it wherever the
log says just that, so that it is right again in each smaller log.  What a log says wrongly stays as it says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from forge.binlog.payload import PayloadForm, compress_events, inner_events
from forge.binlog.reader import read_events
from forge.binlog.writer import GROUP_BOUNDARIES, Item, write_binlog
from forge.errors import ForgeError
from forge.events.columns import bare_columns, columns_of
from forge.events.event import Event
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_compressed import COMPRESSED_ROWS, compress_block
from forge.events.query import Query
from forge.events.row_image import ChangedRow, build_rows, parse_rows
from forge.events.rows import ROWS_BODIES, STMT_END
from forge.events.table_map import TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, TransactionPayload
from forge.values.base import Column

#: Where a node is: its number, and if it is inside a payload its number there.
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """An event, or bytes that are no whole event (``event`` is None).

    ``rows`` are those of a row event whose table is known, with the columns of that table; ``inner`` are the events of
    a payload.
    """

    event: Event | None
    raw: bytes = b""
    rows: tuple[ChangedRow, ...] | None = None
    columns: tuple[Column, ...] = ()
    inner: tuple[Node, ...] | None = None

    @property
    def body(self) -> object:
        return None if self.event is None else self.event.body


@dataclass(frozen=True, slots=True)
class Log:
    """A file: its first bytes and its nodes."""

    nodes: tuple[Node, ...]
    magic: bytes = b"\xfebin"

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """All nodes, those inside a payload behind it."""
        for number, node in enumerate(self.nodes):
            yield (number,), node
            for place, inner in enumerate(node.inner or ()):
                yield (number, place), inner

    def changed(self, change: Callable[[Path, Node], Node | None]) -> Log:
        """The log with each node changed, or taken away where there is None."""
        nodes: list[Node] = []
        for number, node in enumerate(self.nodes):
            new = change((number,), node)
            if new is None:
                continue
            if new.inner is not None:
                inner = (change((number, place), one) for place, one in enumerate(new.inner))
                new = replace(new, inner=tuple(one for one in inner if one is not None))
            nodes.append(new)
        return replace(self, nodes=tuple(nodes))

    @property
    def mariadb(self) -> bool:
        first = self.nodes[0].body if self.nodes else None
        return isinstance(first, FormatDescription) and "MariaDB" in first.server_version


@dataclass(slots=True)
class _Tables:
    mariadb: bool = False
    columns: dict[int, tuple[Column, ...]] = field(default_factory=dict)

    def node(self, event: Event) -> Node:
        body = event.body
        if isinstance(body, FormatDescription):
            self.mariadb = body.context().mariadb
        if isinstance(body, TableMap):
            return Node(event, columns=self._mapped(body))
        if isinstance(body, ROWS_BODIES) and body.table_id in self.columns:
            columns = self.columns[body.table_id]
            try:
                rows = parse_rows(body, columns)
            except ForgeError:
                return Node(event)
            if isinstance(body, COMPRESSED_ROWS) or build_rows(rows) == body.rows:
                return Node(event, rows=rows, columns=columns)
        return Node(event)

    def _mapped(self, body: TableMap) -> tuple[Column, ...]:
        """The columns that a TABLE_MAP describes; without what its optional metadata says, if that is wrong."""
        self.columns.pop(body.table_id, None)
        for read in (partial(columns_of, mariadb=self.mariadb), bare_columns):
            with suppress(ForgeError):
                self.columns[body.table_id] = read(body)
                return self.columns[body.table_id]
        return ()


def read_log(data: bytes) -> Log:
    """The nodes of a file; bytes of which no event can be made are kept.  Raises nothing for any bytes."""
    tables = _Tables()
    nodes: list[Node] = []
    end = 4
    for placed in read_events(data, strict=False):
        node = tables.node(placed.event)
        if isinstance(placed.event.body, TransactionPayload):
            node = _payload(node, placed.event.body, placed.format, tables)
        nodes.append(node)
        end = placed.offset + len(placed.raw)
    if data[end:]:
        nodes.append(Node(None, data[end:]))
    log = Log(tuple(nodes), data[:4])
    lengths_derived = log.changed(_without_length)
    return lengths_derived if _same(lengths_derived, log) else log


def _payload(node: Node, body: TransactionPayload, format: FormatContext, tables: _Tables) -> Node:
    try:
        inner = tuple(tables.node(event.replace(log_pos=None)) for event in inner_events(body, format))
    except ForgeError:
        return node
    return replace(node, inner=inner)


def _same(log: Log, other: Log) -> bool:
    try:
        return write_log(log) == write_log(other)
    except ForgeError:
        return False


def _without_length(path: Path, node: Node) -> Node:
    """The transaction length is left to the writer, if there is one: else its field would be gone."""
    body = node.body
    if isinstance(body, (AnonymousGtid, GtidTagged)) and body.transaction_length is not None:
        assert node.event is not None
        return replace(node, event=node.event.replace(body=body.replace(transaction_length=None)))
    return node


def write_log(log: Log) -> bytes:
    """The file of the nodes.  Raises ScenarioError for what cannot be written."""
    format = FormatContext()
    items: list[Item] = []
    for node in log.nodes:
        items.append(_item(node, format))
        if isinstance(node.body, FormatDescription):
            format = node.body.context()
    return write_binlog(items, magic=log.magic)


def _item(node: Node, format: FormatContext) -> Item:
    if node.event is None:
        return node.raw
    body = node.event.body
    if node.inner is not None and isinstance(body, TransactionPayload):
        inner = [_item(one, format) for one in node.inner]
        events = [one for one in inner if isinstance(one, Event)]
        if events == [event.replace(log_pos=None) for event in inner_events(body, format)]:
            return node.event  # As the server compressed them: nothing says at which level.
        form = PayloadForm(compression=body.number(COMPRESSION_TYPE, 0) or 0)
        return node.event.replace(body=compress_events(events, format, form))
    if node.rows is not None and isinstance(body, ROWS_BODIES):
        data = build_rows(node.rows)
        packed = compress_block(data) if isinstance(body, COMPRESSED_ROWS) else data
        return node.event.replace(body=body.replace(rows=packed))
    return node.event


def unpacked_log(log: Log) -> Log:
    """The log with the events of payloads in the places of these."""
    nodes: list[Node] = []
    for node in log.nodes:
        nodes.extend([node] if node.inner is None else node.inner)
    return replace(log, nodes=tuple(nodes))


def group_starts(nodes: Sequence[Node]) -> list[int]:
    """Where groups begin: at GTIDs and events about the file, and at BEGIN where no GTID is before it."""
    starts: list[int] = []
    for number, node in enumerate(nodes):
        last = nodes[number - 1].event if number else None
        after_gtid = last is not None and last.type_code in (33, 34, 42, 162)
        boundary = node.event is None or node.event.type_code in GROUP_BOUNDARIES
        if not number or boundary or (statement_word(node) == "BEGIN" and not after_gtid):
            starts.append(number)
    return starts


def statement_word(node: Node) -> str | None:
    """BEGIN, COMMIT or ROLLBACK if a QUERY event is that, else ""; None for other events.  XA START begins as well."""
    if not isinstance(node.body, Query):
        return None
    if node.body.query.startswith("XA START "):
        return "BEGIN"
    return node.body.query if node.body.query in ("BEGIN", "COMMIT", "ROLLBACK") else ""


def well_shaped(log: Log) -> bool:
    """Whether transactions begin and end, statements end, and each group has what servers write before it."""
    nodes = unpacked_log(log).nodes
    if not nodes or not isinstance(nodes[0].body, FormatDescription):
        return False
    is_open, mapped, unended, after_gtid = False, False, False, False
    for node in nodes:
        event = node.event
        if event is None:
            return False
        word, code = statement_word(node), event.type_code
        begins, ends = word == "BEGIN" or code == 162, word in ("COMMIT", "ROLLBACK") or code in (16, 38)
        # Of one that was not prepared, this ends the group that is open.
        ends = ends or (is_open and str(getattr(event.body, "query", "")).startswith("XA ROLLBACK"))
        boundary = code in GROUP_BOUNDARIES
        if (boundary or begins) and (unended or mapped or (is_open and code != 162)):
            return False
        if after_gtid and boundary:
            return False
        if ends and (not is_open or unended or mapped):
            return False
        if isinstance(event.body, TableMap):
            mapped = True
        if isinstance(event.body, ROWS_BODIES):
            unended, mapped = not event.body.row_flags & STMT_END, False
        # DDL in a group of its own, which no event ends.
        is_open = begins or (is_open and not ends and not boundary)
        if code == 162 and _is_standalone(event):
            is_open = False
        if isinstance(event.body, (TableMap, *ROWS_BODIES)) and not is_open:
            return False
        after_gtid = code in (33, 34, 42)
    return not (is_open or unended or mapped or after_gtid)


def has_gtids(log: Log) -> bool:
    """Whether a GTID event stands before each transaction, as MySQL writes it since 5.7 and MariaDB since 10.0."""
    nodes = unpacked_log(log).nodes
    codes = [node.event.type_code if node.event is not None else 0 for node in nodes]
    begins = (place for place, node in enumerate(nodes) if statement_word(node) == "BEGIN")
    return all(place and codes[place - 1] in (33, 34, 42) for place in begins)


def _is_standalone(event: Event) -> bool:
    return bool(getattr(event.body, "flags2", 0) & 1)
