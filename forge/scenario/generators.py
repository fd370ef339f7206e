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
import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from forge.engine.requests.cells import CellPlace, Generated
from forge.errors import ScenarioError, nearest

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
#: Longest text or bytes that a generator makes.
_LONGEST = 1 << 24
#: What these Faker providers give depends on the day.
_DATED_MODULE = "faker.providers.date_time"
_UNDATED = ("century", "timezone", "pytimezone")
_DATED = ("profile", "simple_profile", "credit_card_expire", "credit_card_full", "passport_dob", "passport_dates",
          "passport_full", "ssn")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Seeded:
    """The place of a cell in a scenario with a seed."""

    seed: int
    place: CellPlace

    @property
    def row(self) -> int:
        return self.place.row

    def number(self) -> int:
        """64 bits that depend on the seed and the place alone."""
        place = self.place
        key = "\0".join((str(self.seed), place.table, place.column, str(place.row), str(place.update)))
        return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")

    def source(self) -> random.Random:
        return random.Random(self.number())


@dataclass(frozen=True, slots=True)
class Generators:
    """The generators of a scenario with a seed (the engine's ``CellGenerator``)."""

    seed: int

    def __call__(self, cell: Mapping[str, Any], place: CellPlace) -> Generated:
        """The literal that a generator gives in a place.  Raises ScenarioError for one that does not exist or work."""
        return _generate(cell, _Seeded(self.seed, place))


def _generate(cell: Mapping[str, Any], place: _Seeded) -> Generated:
    if set(cell) == {"generate"}:
        cell = cell["generate"]
        if not isinstance(cell, Mapping):
            raise ScenarioError("generate has no generator", expected="{generate: {choice: [...]}}")
    names = [name for name in cell if name in _GENERATORS]
    if len(names) != 1:
        shown = ", ".join(map(repr, cell)) or "nothing"
        suggestion = next((word for key in cell if (word := nearest(str(key), _GENERATORS))), None)
        raise ScenarioError(
            f"{shown} does not name a generator",
            expected=f"a literal, or one of {', '.join(_GENERATORS)}",
            suggestion=None if names else suggestion,
        )
    name = names[0]
    options = {key: value for key, value in cell.items() if key != name}
    return _GENERATORS[name](cell[name], options, place)


def _faker(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "faker", ("args", "locale"))
    if not isinstance(argument, str):
        raise ScenarioError("faker needs the name of a provider", expected="{faker: name}")
    locale = options.get("locale", "en_US")
    arguments = options.get("args", {})
    if not isinstance(arguments, Mapping) or not isinstance(locale, str):
        raise ScenarioError("faker has wrong options", expected="{faker: name, args: {...}, locale: de_DE}")
    instance = _faker_instance(locale)
    method = _faker_method(locale, argument)
    instance.seed_instance(place.number())
    try:
        value = method(**arguments)
    except Exception as error:  # noqa: BLE001 - providers raise whatever they like for wrong arguments
        raise ScenarioError(f"faker {argument} failed: {error}") from None
    if isinstance(value, (list, tuple, set, dict)):
        value = list(value) if isinstance(value, (tuple, set)) else value
    return Generated(value, fits=True)


@cache
def _faker_instance(locale: str) -> Any:
    from faker import Faker

    try:
        return Faker(locale)
    except (AttributeError, ValueError):
        raise ScenarioError(f"faker has no locale {locale!r}", expected="one such as de_DE") from None


@cache
def _faker_method(locale: str, name: str) -> Callable[..., Any]:
    """The provider's method.  Raises ScenarioError for unknown ones, and for those that look at the calendar."""
    names = _provider_names(locale)
    if name not in names:
        raise ScenarioError(f"faker has no provider {name!r}", suggestion=nearest(name, names))
    if _is_dated(locale, name):
        raise ScenarioError(
            f"faker {name} depends on today's date, and the file would change from day to day",
            expected="{datetime: {from: 2020-01-01, to: 2030-01-01}}",
        )
    method: Callable[..., Any] = getattr(_faker_instance(locale), name)
    return method


def faker_providers(locale: str = "en_US") -> list[str]:
    """The providers of Faker that ``{faker: name}`` takes.  Raises ScenarioError for a locale that Faker lacks."""
    return sorted(name for name in _provider_names(locale) if not _is_dated(locale, name))


@cache
def _provider_names(locale: str) -> frozenset[str]:
    return frozenset(
        attribute
        for provider in _faker_instance(locale).factories[0].get_providers()
        for attribute in dir(provider)
        if not attribute.startswith("_") and callable(getattr(provider, attribute))
    )


def _is_dated(locale: str, name: str) -> bool:
    """Whether what a provider gives depends on today's date."""
    for provider in _faker_instance(locale).factories[0].get_providers():
        own = getattr(type(provider), name, None)
        module = getattr(own, "__module__", "")
        dated = module.startswith(_DATED_MODULE) and name not in _UNDATED
        dated = dated or (name in _DATED and module != "faker.providers.ssn.en_US")
        if own is not None and dated:
            return True
    return False


def _sequence(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "sequence", ())
    if isinstance(argument, Mapping):
        _only(argument, "sequence", ("start", "step"))
        start, step = argument.get("start", 1), argument.get("step", 1)
    else:
        start, step = argument, 1
    if not _is_integer(start) or not _is_integer(step):
        raise ScenarioError("sequence needs whole numbers", expected="{sequence: 1} or {sequence: {start: 1, step: 1}}")
    return Generated(start + step * place.row)


def _choice(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "choice", ())
    return Generated(place.source().choice(_list("choice", argument)))


def _cycle(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "cycle", ())
    values = _list("cycle", argument)
    return Generated(values[place.row % len(values)])


def _random_int(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "random_int", ())
    _only(argument, "random_int", ("min", "max"))
    low, high = argument.get("min", 0), argument.get("max")
    if not _is_integer(low) or not _is_integer(high) or low > high:
        raise ScenarioError("random_int needs two whole numbers", expected="{random_int: {min: 1, max: 6}}")
    return Generated(place.source().randint(low, high))


def _text(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "text", ())
    source = place.source()
    return Generated("".join(source.choices(_LETTERS, k=_length("text", argument, source))))


def _bytes(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "bytes", ())
    source = place.source()
    return Generated(source.randbytes(_length("bytes", argument, source)))


def _datetime(argument: Any, options: dict[str, Any], place: _Seeded) -> Generated:
    _only(options, "datetime", ())
    _only(argument, "datetime", ("from", "to"))
    try:
        low, high = (dt.datetime.fromisoformat(str(argument[end])) for end in ("from", "to"))
        span = (high - low) // dt.timedelta(microseconds=1)
    except (KeyError, ValueError, TypeError):
        span = -1
    if span < 0:
        raise ScenarioError("datetime needs two moments", expected="{datetime: {from: 2020-01-01, to: 2030-01-01}}")
    moment = low + dt.timedelta(microseconds=place.source().randint(0, span))
    return Generated(moment.isoformat(" ", "microseconds"))


def _length(name: str, argument: Any, source: random.Random) -> int:
    longest: Any = argument
    shortest: Any = argument
    if isinstance(argument, Mapping):
        _only(argument, name, ("length", "min"))
        longest = argument.get("length")
        shortest = argument.get("min", longest)
    if not _is_integer(longest) or not _is_integer(shortest) or not 0 <= shortest <= longest <= _LONGEST:
        raise ScenarioError(f"{name} needs a length", expected=f"{{{name}: {{length: 20}}}}, at most {_LONGEST}")
    return source.randint(shortest, longest)


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


_GENERATORS: dict[str, Callable[[Any, dict[str, Any], _Seeded], Generated]] = {
    "faker": _faker,
    "sequence": _sequence,
    "choice": _choice,
    "cycle": _cycle,
    "random_int": _random_int,
    "text": _text,
    "bytes": _bytes,
    "datetime": _datetime,
}
