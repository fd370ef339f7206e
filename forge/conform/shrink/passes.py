"""What is taken away of a log, coarse before fine: each pass tries one kind of part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

from forge.conform.shrink.columns import without_columns
from forge.conform.shrink.nodes import Log, Node, Path, group_starts, statement_word, unpacked_log
from forge.conform.shrink.search import Search
from forge.conform.shrink.values import plainer_cells, plainest_cell
from forge.errors import ForgeError
from forge.events.event import RawBody
from forge.events.mariadb_compressed import uncompressed
from forge.events.optional_metadata import METADATA_CODES, record
from forge.events.query import Query, QueryFields
from forge.events.row_image import ChangedRow, Image, images_of, partial_columns, present_columns
from forge.events.rows import ROWS_BODIES, STMT_END
from forge.events.table_map import TableMap
from forge.values.base import Column

#: Where a cell is: its node, the number of its row, whether it is of the after image, its number in the image.
Cell = tuple[Path, int, bool, int]


def _most_parts(
    search: Search, parts: Sequence[tuple[Path, int]], change: Callable[[Node, Set[int]], Node | None]
) -> None:
    """Take away as many parts of nodes as can be; ``change`` makes a node without its parts of these numbers.

    It gives None where they must not all go.
    """
    log = search.log
    nodes = dict(log.walk())

    def without(gone: Set[int]) -> Log | None:
        taken: dict[Path, set[int]] = {}
        for place in gone:
            path, number = parts[place]
            taken.setdefault(path, set()).add(number)
        new = {path: change(nodes[path], numbers) for path, numbers in taken.items()}
        return None if None in new.values() else log.changed(lambda path, node: new.get(path, node))

    search.most(len(parts), without)


def groups(search: Search) -> None:
    """Transactions, and other groups of events."""
    nodes = search.log.nodes
    starts = [*group_starts(nodes), len(nodes)]
    spans = [range(a, b) for a, b in pairwise(starts) if a]

    def without(gone: Set[int]) -> Log:
        numbers = {number for place in gone for number in spans[place]}
        return replace(search_log, nodes=tuple(node for n, node in enumerate(nodes) if n not in numbers))

    search_log = search.log
    search.most(len(spans), without)


def unpacking(search: Search) -> None:
    """Compression: a plain log shows it better, and smaller parts can be taken away."""
    log = search.log
    if any(node.inner is not None for node in log.nodes):
        search.offer(unpacked_log(log), any_size=True)
    if any(_is_compressed(node) for _, node in search.log.walk()):
        search.offer(search.log.changed(lambda _, node: _plain(node)), any_size=True)


def _is_compressed(node: Node) -> bool:
    return _plain(node) is not node


def _plain(node: Node) -> Node:
    if node.event is None:
        return node
    try:
        body = uncompressed(node.event.body)
    except ForgeError:
        return node
    return node if body is node.event.body else replace(node, event=node.event.replace(body=body))


def events(search: Search) -> None:
    """Statements, then events one by one; an event that ended its statement leaves its flag to the one before it."""
    for spans in (_statements(search.log), [[path] for path, _ in search.log.walk() if path != (0,)]):
        log = search.log
        flat = [path for path, node in log.walk() if node.inner is None]

        def without(gone: Set[int], spans: list[list[Path]] = spans, log: Log = log, flat: list[Path] = flat) -> Log:
            paths = {path for place in gone for path in spans[place]}
            ends = _new_ends(log, flat, paths)
            return log.changed(lambda p, n: None if p in paths else _ended(n) if p in ends else n)

        search.most(len(spans), without)


def _statements(log: Log) -> list[list[Path]]:
    """The events of each statement in row format: from the first TABLE_MAP to the one that ends it."""
    found: list[list[Path]] = []
    current: list[Path] = []
    for path, node in log.walk():
        if isinstance(node.body, TableMap) or (current and isinstance(node.body, ROWS_BODIES)):
            current.append(path)
        if isinstance(node.body, ROWS_BODIES) and node.body.row_flags & STMT_END and current:
            found.append(current)
            current = []
    return found


def _new_ends(log: Log, flat: list[Path], gone: Set[Path]) -> set[Path]:
    nodes = dict(log.walk())
    ends: set[Path] = set()
    last: Path | None = None
    for path in flat:
        body = nodes[path].body
        if not isinstance(body, ROWS_BODIES):
            continue
        if path not in gone:
            last = path
        if body.row_flags & STMT_END:
            if path in gone and last is not None:
                ends.add(last)
            last = None
    return ends


def _ended(node: Node) -> Node:
    event = node.event
    if event is None or not isinstance(event.body, ROWS_BODIES):
        return node
    return replace(node, event=event.replace(body=event.body.replace(row_flags=event.body.row_flags | STMT_END)))


def rows(search: Search) -> None:
    """The rows of each row event; one stays."""
    for path, node in search.log.walk():
        if node.rows is not None and len(node.rows) > 1:
            _most_parts(search, [(path, number) for number in range(len(node.rows))], _without_rows)


def _without_rows(node: Node, taken: Set[int]) -> Node | None:
    kept = _without(node.rows or (), taken)
    return replace(node, rows=kept) if kept else None


def _tables(log: Log) -> dict[tuple[str, str, bytes], dict[Path, Node]]:
    """The table maps and row events of each table."""
    tables: dict[tuple[str, str, bytes], dict[Path, Node]] = {}
    mapped: dict[int, tuple[str, str, bytes]] = {}
    for path, node in log.walk():
        body = node.body
        if isinstance(body, TableMap) and node.columns:
            mapped[body.table_id] = (body.database, body.table, body.types)
            tables.setdefault(mapped[body.table_id], {})[path] = node
        elif isinstance(body, ROWS_BODIES) and body.table_id in mapped:
            tables[mapped[body.table_id]][path] = node
    return tables


def columns(search: Search) -> None:
    """The columns of each table; one stays.  A table with a row event that cannot be split stays as it is."""
    for key in _tables(search.log):
        log = search.log
        nodes = _tables(log)[key]
        if any(isinstance(node.body, ROWS_BODIES) and node.rows is None for node in nodes.values()):
            continue
        count = len(key[2])

        def without(
            gone: Set[int], log: Log = log, nodes: Mapping[Path, Node] = nodes, count: int = count
        ) -> Log | None:
            if len(gone) == count:
                return None
            return log.changed(lambda p, n: without_columns(n, gone, mariadb=log.mariadb) if p in nodes else n)

        search.most(count, without)


def values(search: Search) -> None:
    """The plainest values in as many cells as can be; then each of the others step by step."""
    log = search.log
    cells = [(cell, plain) for cell, column, raw in _cells(log) if (plain := plainest_cell(column, raw)) is not None]
    search.most(len(cells), lambda gone: _with_cells(log, {cells[place][0]: cells[place][1] for place in gone}))
    for cell, column, _ in _cells(search.log):
        while _one_step(search, cell, column):
            pass


def _one_step(search: Search, cell: Cell, column: Column) -> bool:
    raw = _cell_at(search.log, cell)
    return raw is not None and any(
        search.offer(_with_cells(search.log, {cell: plainer})) for plainer in plainer_cells(column, raw)
    )


def _cells(log: Log) -> list[tuple[Cell, Column, bytes]]:
    """All cells that are values, not NULL and not diffs."""
    found: list[tuple[Cell, Column, bytes]] = []
    for path, node in log.walk():
        if node.rows is None or not isinstance(node.body, ROWS_BODIES):
            continue
        bitmaps = images_of(node.body)
        for number, row in enumerate(node.rows):
            for is_after, image in ((False, row.before), (True, row.after)):
                bitmap = bitmaps[is_after]
                if image is None or bitmap is None:
                    continue
                diffs = partial_columns(image, node.columns)
                present = present_columns(bitmap, len(node.columns))
                for place, (index, raw) in enumerate(zip(present, image.cells, strict=True)):
                    if raw is not None and index not in diffs:
                        found.append(((path, number, is_after, place), node.columns[index], raw))
    return found


def _cell_at(log: Log, cell: Cell) -> bytes | None:
    path, number, is_after, place = cell
    node = dict(log.walk())[path]
    image = None if node.rows is None else node.rows[number].after if is_after else node.rows[number].before
    return None if image is None else image.cells[place]


def _with_cells(log: Log, new: Mapping[Cell, bytes | None]) -> Log:
    by_node: dict[Path, dict[tuple[int, bool, int], bytes | None]] = {}
    for (path, number, is_after, place), raw in new.items():
        by_node.setdefault(path, {})[(number, is_after, place)] = raw

    def image(old: Image | None, number: int, is_after: bool, cells: Mapping[Any, bytes | None]) -> Image | None:
        if old is None:
            return None
        return replace(old, cells=tuple(cells.get((number, is_after, at), cell) for at, cell in enumerate(old.cells)))

    def change(path: Path, node: Node) -> Node:
        cells = by_node.get(path)
        if cells is None:
            return node
        changed = (
            ChangedRow(image(row.before, number, False, cells), image(row.after, number, True, cells))
            for number, row in enumerate(node.rows or ())
        )
        return replace(node, rows=tuple(changed))

    return log.changed(change)


def descriptions(search: Search) -> None:
    """Records of optional metadata, status variables, and extra row info."""
    parts = [(path, number) for path, node in search.log.walk() for number in range(_described(node))]
    _most_parts(search, parts, _undescribed)


def _described(node: Node) -> int:
    body = node.body
    if isinstance(body, TableMap):
        return len(body.optional_metadata)
    if isinstance(body, QueryFields):
        return len(body.status_variables)
    return int(bool(getattr(body, "extra", b""))) if isinstance(body, ROWS_BODIES) else 0


def _undescribed(node: Node, taken: Set[int]) -> Node:
    body = node.body
    if isinstance(body, TableMap):
        return _with_body(node, optional_metadata=_without(body.optional_metadata, taken))
    if isinstance(body, QueryFields):
        return _with_body(node, status_variables=_without(body.status_variables, taken))
    return _with_body(node, extra=b"")


def _without(items: tuple[Any, ...], taken: Set[int]) -> tuple[Any, ...]:
    return tuple(item for number, item in enumerate(items) if number not in taken)


def names(search: Search) -> None:
    """Names of databases, tables and columns, and texts of statements."""
    for change in (_short_columns, _short_tables, _short_databases, _no_default_database, _short_texts):
        parts = [(path, 0) for path, node in search.log.walk() if change(node) is not node]
        _most_parts(search, parts, lambda node, taken, change=change: change(node))  # type: ignore[misc]


def _with_body(node: Node, **changes: Any) -> Node:
    assert node.event is not None
    body: Any = node.event.body
    return replace(node, event=node.event.replace(body=body.replace(**changes)))


def _short_tables(node: Node) -> Node:
    return _with_body(node, table="t") if isinstance(node.body, TableMap) and len(node.body.table) > 1 else node


def _short_databases(node: Node) -> Node:
    return _with_body(node, database="d") if isinstance(node.body, TableMap) and len(node.body.database) > 1 else node


def _no_default_database(node: Node) -> Node:
    return _with_body(node, database="") if isinstance(node.body, QueryFields) and node.body.database else node


def _short_columns(node: Node) -> Node:
    body = node.body
    names_of = body.records().get("column_name") if isinstance(body, TableMap) else None
    short = tuple(_letters(number) for number in range(len(names_of or ())))
    if not isinstance(body, TableMap) or not names_of or sum(map(len, short)) >= sum(map(len, names_of)):
        return node
    records = tuple(
        record("column_name", short) if one.type_code == METADATA_CODES["column_name"] else one
        for one in body.optional_metadata
    )
    columns = tuple(replace(c, name=name) for c, name in zip(node.columns, short, strict=False))
    return replace(_with_body(node, optional_metadata=records), columns=columns)


def _letters(number: int) -> str:
    return chr(97 + number) if number < 26 else _letters(number // 26 - 1) + _letters(number % 26)


def _short_texts(node: Node) -> Node:
    is_text = isinstance(node.body, Query) and statement_word(node) == "" and len(node.body.query) > 1
    return _with_body(node, query=" ") if is_text else node


def raw_bytes(search: Search) -> None:
    """Bytes of bodies that are not read, and of what is no whole event."""
    for path, node in search.log.walk():
        _most_parts(search, [(path, number) for number in range(len(_raw(node)))], _without_bytes)


def _raw(node: Node) -> bytes:
    return node.body.data if isinstance(node.body, RawBody) else node.raw


def _without_bytes(node: Node, taken: Set[int]) -> Node:
    data = bytes(byte for number, byte in enumerate(_raw(node)) if number not in taken)
    return _with_body(node, data=data) if isinstance(node.body, RawBody) else replace(node, raw=data)


#: In their order; all again as long as one of them takes something away.
PASSES: tuple[Callable[[Search], None], ...] = (
    groups, unpacking, events, rows, columns, values, descriptions, names, raw_bytes,
)  # fmt: skip
