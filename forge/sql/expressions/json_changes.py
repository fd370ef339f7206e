"""JSON functions of MySQL that change documents, and ask what is in them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Node
from forge.sql.expressions.documents import document_of, element, path_of, values_at
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    Row,
    evaluate,
    plain,
    text_of,
)
from forge.sql.expressions.operands import (
    Document,
    Operand,
)
from forge.values.json.binary import Json, Opaque, SqlInteger
from forge.values.json.path import Cell, Leg, Member
from forge.values.json.text import format_json


def _legs(path: Operand) -> list[Leg]:
    legs = path_of(path)
    if any(isinstance(leg, str) for leg in legs):
        raise ScenarioError(f"the path {path!r} names several places (error 3149)", expected="one without a wildcard")
    return [leg for leg in legs if not isinstance(leg, str)]


def _put(document: Json, legs: list[Leg], value: Json, *, adds: bool, replaces: bool) -> Json:
    """The document with a value at a path: JSON_SET, JSON_INSERT, JSON_REPLACE."""
    if not legs:
        return value if replaces else document
    leg, rest = legs[0], legs[1:]
    if isinstance(leg, Member):
        if not isinstance(document, dict):
            return document
        if leg.name in document:
            return document | {leg.name: _put(document[leg.name], rest, value, adds=adds, replaces=replaces)}
        return document | {leg.name: value} if adds and not rest else document
    is_array = isinstance(document, (list, tuple))
    cells = list(document) if is_array else [document]
    place = leg.position(len(cells))
    if 0 <= place < len(cells):
        cells[place] = _put(cells[place], rest, value, adds=adds, replaces=replaces)
        return cells if is_array else cells[0]
    if not adds or rest:
        return document
    return [*cells, value] if place >= len(cells) else [value, *cells]


def _changing(change: Callable[[Json, list[Leg], Callable[[], Json]], Json]) -> Function:
    """A function of a document, and of paths and values in turn: what ``change`` makes of it at each path, in order."""

    def computed(row: Row, node: Node, *nodes: Node) -> Operand:
        value = evaluate(node, row)
        if len(nodes) % 2:
            raise ScenarioError("a path has no value (error 1582)", expected="paths and values in turn")
        paths = [evaluate(path, row) for path in nodes[::2]]
        if value is None or None in paths:
            return None
        document = document_of(value)
        for path, new in zip(paths, nodes[1::2], strict=True):
            document = change(document, _legs(path), partial(element, new, row))
        return Document(document)

    return Function(computed, 3, 1000, "nodes")


def _changes(*, adds: bool, replaces: bool) -> Function:
    return _changing(lambda document, legs, new: _put(document, legs, new(), adds=adds, replaces=replaces))


def _without(document: Json, legs: list[Leg]) -> Json:
    leg, rest = legs[0], legs[1:]
    if isinstance(leg, Member):
        if not isinstance(document, dict) or leg.name not in document:
            return document
        if not rest:
            return {name: value for name, value in document.items() if name != leg.name}
        return document | {leg.name: _without(document[leg.name], rest)}
    if not isinstance(document, (list, tuple)):
        return _without(document, rest) if rest and leg.position(1) == 0 else document
    place = leg.position(len(document))
    if not 0 <= place < len(document):
        return document
    if not rest:
        return [*document[:place], *document[place + 1 :]]
    return [*document[:place], _without(document[place], rest), *document[place + 1 :]]


def _removed(value: Operand, *paths: Operand) -> Document:
    document = document_of(value)
    for path in paths:
        legs = _legs(path)
        if not legs:
            raise ScenarioError("JSON_REMOVE of the whole document (error 3153)", expected="a path behind $")
        document = _without(document, legs)
    return Document(document)


def _appended(document: Json, legs: list[Leg], new: Callable[[], Json]) -> Json:
    """JSON_ARRAY_APPEND."""
    found = values_at(document, legs)
    if not found:
        return document
    cells = list(found[0]) if isinstance(found[0], (list, tuple)) else [found[0]]
    return _put(document, legs, [*cells, new()], adds=False, replaces=True)


def _array_insert(document: Json, legs: list[Leg], new: Callable[[], Json]) -> Json:
    *around, last = legs
    found = values_at(document, around)
    if not isinstance(last, Cell):
        raise ScenarioError("JSON_ARRAY_INSERT has a path to no cell (error 3165)", expected="$.a[0]")
    if not found or not isinstance(found[0], (list, tuple)):
        return document
    cells = list(found[0])
    cells.insert(max(last.position(len(cells)), 0), new())
    return _put(document, around, cells, adds=False, replaces=True)


def _patched(document: Json, patch: Json) -> Json:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _patched(result.get(name), value)
    return result


def _merge_patch(first: Operand, *others: Operand) -> Document:
    document = document_of(first)
    for other in others:
        document = _patched(document, document_of(other))
    return Document(document)


def _preserved(first: Json, second: Json) -> Json:
    if isinstance(first, dict) and isinstance(second, dict):
        both = {name: _preserved(first[name], second[name]) for name in first if name in second}
        return {**first, **second, **both}
    cells = [list(one) if isinstance(one, (list, tuple)) else [one] for one in (first, second)]
    return cells[0] + cells[1]


def _merge_preserve(first: Operand, *others: Operand) -> Document:
    document = document_of(first)
    for other in others:
        document = _preserved(document, document_of(other))
    return Document(document)


def _is_same(first: Json, second: Json) -> bool:
    one, other = plain(first), plain(second)
    if isinstance(one, Opaque) or isinstance(other, Opaque):
        raise UnsupportedError("comparisons of SQL values inside JSON are not supported yet")
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _holds(document: Json, wanted: Json) -> bool:
    """JSON_CONTAINS."""
    if isinstance(document, (list, tuple)):
        elements = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        return all(any(_holds(cell, one) for cell in document) for one in elements)
    if isinstance(document, dict):
        return isinstance(wanted, dict) and all(
            name in document and _holds(document[name], value) for name, value in wanted.items()
        )
    return _is_same(document, wanted)


def _member(row: Row, node: Node, array: Node) -> int | None:
    """``value MEMBER OF (array)``."""
    value, document = evaluate(node, row), evaluate(array, row)
    if value is None or document is None:
        return None
    found = document_of(document)
    wanted = element(node, row)
    return int(any(_is_same(cell, wanted) for cell in (found if isinstance(found, (list, tuple)) else [found])))


def _contains(value: Operand, wanted: Operand, path: Operand = "$") -> int | None:
    found = values_at(document_of(value), _legs(path))
    return int(_holds(found[0], document_of(wanted))) if found else None


def _contains_path(value: Operand, which: Operand, *paths: Operand) -> int:
    document = document_of(value)
    found = [bool(values_at(document, path_of(path))) for path in paths]
    return int(all(found) if text_of(which).lower() == "all" else any(found))


def _keys(value: Operand, path: Operand = "$") -> Document | None:
    found = values_at(document_of(value), _legs(path))
    if not found or not isinstance(found[0], dict):
        return None
    return Document(sorted(found[0], key=lambda name: (len(name.encode()), name.encode())))


def _type(value: Operand) -> str:
    document = document_of(value)
    match document:
        case None:
            return "NULL"
        case bool():
            return "BOOLEAN"
        case SqlInteger():
            return "UNSIGNED INTEGER" if document.unsigned else "INTEGER"
        case int():
            return "UNSIGNED INTEGER" if document > (1 << 63) - 1 else "INTEGER"
        case float():
            return "DOUBLE"
        case str():
            return "STRING"
        case dict():
            return "OBJECT"
        case list() | tuple():
            return "ARRAY"
    raise UnsupportedError("JSON_TYPE of this value is not supported yet")


def _depth(value: Operand) -> int:
    def depth(document: Json) -> int:
        inner = document.values() if isinstance(document, dict) else document
        if not isinstance(document, (dict, list, tuple)):
            return 1
        return 1 + max(map(depth, inner), default=0)

    return depth(document_of(value))


def _length(value: Operand, path: Operand = "$") -> int | None:
    found = values_at(document_of(value), _legs(path))
    if not found:
        return None
    return len(found[0]) if isinstance(found[0], (list, tuple, dict)) else 1


def _quoted(value: Operand) -> str:
    if isinstance(value, int | Decimal | float):
        raise UnsupportedError("JSON_QUOTE of a number is not supported yet")
    return format_json(text_of(value))


#: All of them are MySQL's: MariaDB computes on the text of a document.
JSON_CHANGES = {
    "JSON_SET": _changes(adds=True, replaces=True),
    "JSON_INSERT": _changes(adds=True, replaces=False),
    "JSON_REPLACE": _changes(adds=False, replaces=True),
    "JSON_REMOVE": Function(_removed, 2, 1000),
    "JSON_ARRAY_APPEND": _changing(_appended),
    "JSON_ARRAY_INSERT": _changing(_array_insert),
    "JSON_MERGE_PATCH": Function(_merge_patch, 2, 1000),
    **dict.fromkeys(("JSON_MERGE_PRESERVE", "JSON_MERGE"), Function(_merge_preserve, 2, 1000)),
    "MEMBER": Function(_member, 2, 2, "nodes"),
    "JSON_CONTAINS": Function(_contains, 2, 3),
    "JSON_CONTAINS_PATH": Function(_contains_path, 3, 1000),
    "JSON_KEYS": Function(_keys, 1, 2),
    "JSON_TYPE": Function(_type),
    "JSON_DEPTH": Function(_depth),
    "JSON_LENGTH": Function(_length, 1, 2),
    "JSON_QUOTE": Function(_quoted),
}
FUNCTIONS |= JSON_CHANGES
