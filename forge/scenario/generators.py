"""Generated cells.  Each is a pure function of (seed, table, column, row), so any part of a table can be made anywhere.

A generator is a mapping whose first key is its name:

=================================================  ==================================================================
``{faker: name}``                                  a provider of Faker, with its ``args`` and a ``locale``
``{sequence: 10}``                                 10, 11, 12 ... by row; ``{sequence: {start: 0, step: 5}}``
``{choice: [a, b, c]}``                            one of these
``{cycle: [a, b, c]}``                             these in turn, by row
``{random_int: {min: 1, max: 6}}``                 a whole number, both ends included
``{text: {length: 20}}``                           letters and digits; ``min`` for texts of different lengths
``{bytes: {length: 16}}``                          bytes; ``min`` likewise
``{datetime: {from: 2020-01-01, to: 2030-01-01}}`` a moment, microseconds included
=================================================  ==================================================================

In a JSON column a mapping is a document; there a generator is written ``{generate: {...}}``.  ``{value: ...}`` is a
literal in every column.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forge.engine.requests.cells import ColumnPlace, GeneratedColumn
from forge.errors import ScenarioError, nearest
from forge.scenario.counter_hash import below, drawn, drawn_bytes, drawn_letters, key_of
from forge.scenario.faker_cells import faker_cells

#: Longest text or bytes that a generator makes, and the longest of which an example is kept.
_LONGEST = 1 << 24
_SHORT = 1 << 16
#: Columns whose generators are kept; those of many UPDATEs come and go.
_KEPT = 256


@dataclass(frozen=True, slots=True)
class Generators:
    """The generators of a scenario with a seed (the engine's ``CellGenerator``)."""

    seed: int
    #: What was made of cells, by their identity and place; an entry keeps its cell alive.
    _columns: dict[tuple[int, ColumnPlace], tuple[Any, GeneratedColumn]] = field(default_factory=dict, compare=False)

    def __call__(self, cell: Mapping[str, Any], place: ColumnPlace) -> GeneratedColumn:
        """The cells of a generator in a column.  Raises ScenarioError for one that does not exist or work."""
        known = self._columns.get((id(cell), place))
        if known is not None:
            return known[1]
        column = _generated(cell, key_of(self.seed, place.table, place.column, place.update))
        if len(self._columns) >= _KEPT:
            self._columns.clear()
        self._columns[id(cell), place] = cell, column
        return column


def _generated(cell: Mapping[str, Any], key: int) -> GeneratedColumn:
    if set(cell) == {"generate"}:
        cell = cell["generate"]
        if not isinstance(cell, Mapping):
            raise ScenarioError("generate has no generator", expected="{generate: {choice: [...]}}")
    names = [name for name in cell if name in _GENERATORS]
    if len(names) != 1:
        shown = ", ".join(map(repr, cell)) or "nothing"
        suggestion = next((word for word in (nearest(str(key), _GENERATORS) for key in cell) if word), None)
        raise ScenarioError(
            f"{shown} does not name a generator",
            expected=f"a literal, or one of {', '.join(_GENERATORS)}",
            suggestion=None if names else suggestion,
        )
    name = names[0]
    options = {key: value for key, value in cell.items() if key != name}
    return _GENERATORS[name](cell[name], options, key)


def _faker(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "faker", ("args", "locale"))
    if not isinstance(argument, str):
        raise ScenarioError("faker needs the name of a provider", expected="{faker: name}")
    locale = options.get("locale", "en_US")
    arguments = options.get("args", {})
    if not isinstance(arguments, Mapping) or not isinstance(locale, str):
        raise ScenarioError("faker has wrong options", expected="{faker: name, args: {...}, locale: de_DE}")
    cell = faker_cells(argument, locale, arguments)
    return GeneratedColumn(lambda row: cell(drawn(key, row)), fits=True)


def _sequence(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "sequence", ())
    if isinstance(argument, Mapping):
        _only(argument, "sequence", ("start", "step"))
        start, step = argument.get("start", 1), argument.get("step", 1)
    else:
        start, step = argument, 1
    if not _is_integer(start) or not _is_integer(step):
        raise ScenarioError("sequence needs whole numbers", expected="{sequence: 1} or {sequence: {start: 1, step: 1}}")
    return GeneratedColumn(lambda row: start + step * row, "series", (start, step))


def _choice(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "choice", ())
    values = _list("choice", argument)
    return _listed(values, lambda row: below(drawn(key, row), len(values)))


def _cycle(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "cycle", ())
    values = _list("cycle", argument)
    return _listed(values, lambda row: row % len(values))


def _listed(values: list[Any], place: Callable[[int], int]) -> GeneratedColumn:
    return GeneratedColumn(lambda row: values[place(row)], "listed", tuple(values), place=place)


def _random_int(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "random_int", ())
    _only(argument, "random_int", ("min", "max"))
    low, high = argument.get("min", 0), argument.get("max")
    if not _is_integer(low) or not _is_integer(high) or low > high:
        raise ScenarioError("random_int needs two whole numbers", expected="{random_int: {min: 1, max: 6}}")
    span = high - low + 1
    return GeneratedColumn(lambda row: low + below(drawn(key, row), span), "integers", (low, high))


def _text(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "text", ())
    shortest, longest = _lengths("text", argument)
    spread = longest - shortest + 1

    def cell(row: int) -> str:
        number = drawn(key, row)
        return drawn_letters(number, shortest + below(number, spread))

    known = ("letters", ("a" * shortest, "a" * longest)) if longest <= _SHORT else ()
    return GeneratedColumn(cell, *known)


def _bytes(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "bytes", ())
    shortest, longest = _lengths("bytes", argument)
    spread = longest - shortest + 1

    def cell(row: int) -> bytes:
        number = drawn(key, row)
        return drawn_bytes(number, shortest + below(number, spread))

    known = ("bytes", (bytes(shortest), bytes(longest), b"\xff" * longest)) if longest <= _SHORT else ()
    return GeneratedColumn(cell, *known)


def _datetime(argument: Any, options: dict[str, Any], key: int) -> GeneratedColumn:
    _only(options, "datetime", ())
    _only(argument, "datetime", ("from", "to"))
    try:
        low, high = (dt.datetime.fromisoformat(str(argument[end])) for end in ("from", "to"))
        span = (high - low) // dt.timedelta(microseconds=1)
    except (KeyError, ValueError, TypeError):
        span = -1
    if span < 0:
        raise ScenarioError("datetime needs two moments", expected="{datetime: {from: 2020-01-01, to: 2030-01-01}}")

    def cell(row: int) -> str:
        return (low + dt.timedelta(0, 0, below(drawn(key, row), span + 1))).isoformat(" ", "microseconds")

    ends = tuple(moment.isoformat(" ", "microseconds") for moment in (low, high))
    return GeneratedColumn(cell, "moments", ends)


def _lengths(name: str, argument: Any) -> tuple[int, int]:
    """(shortest, longest)"""
    longest: Any = argument
    shortest: Any = argument
    if isinstance(argument, Mapping):
        _only(argument, name, ("length", "min"))
        longest = argument.get("length")
        shortest = argument.get("min", longest)
    if not _is_integer(longest) or not _is_integer(shortest) or not 0 <= shortest <= longest <= _LONGEST:
        raise ScenarioError(f"{name} needs a length", expected=f"{{{name}: {{length: 20}}}}, at most {_LONGEST}")
    return shortest, longest


def _list(name: str, argument: Any) -> list[Any]:
    if not isinstance(argument, list) or not argument:
        raise ScenarioError(f"{name} needs a list", expected=f"{{{name}: [a, b, c]}}")
    return argument


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _only(options: Any, name: str, allowed: tuple[str, ...]) -> None:
    """Refuse unknown options of a generator."""
    if not isinstance(options, Mapping):
        raise ScenarioError(f"{name} needs a mapping", expected=f"{{{name}: {{{', '.join(allowed)}}}}}")
    for word in options:
        if word not in allowed:
            expected = f"one of {', '.join(allowed)}" if allowed else "nothing beside it"
            raise ScenarioError(
                f"{name} has no option {word!r}", expected=expected, suggestion=nearest(str(word), allowed)
            )


_GENERATORS: dict[str, Callable[[Any, dict[str, Any], int], GeneratedColumn]] = {
    "faker": _faker,
    "sequence": _sequence,
    "choice": _choice,
    "cycle": _cycle,
    "random_int": _random_int,
    "text": _text,
    "bytes": _bytes,
    "datetime": _datetime,
}
