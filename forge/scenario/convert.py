"""From a YAML tree to the declared form, with errors a person can act on."""

from __future__ import annotations

import datetime as dt
import re
import types
import typing
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal

import msgspec

from forge.errors import ScenarioError, nearest
from forge.located import Located, Tagged
from forge.scenario.model import Scenario
from forge.values.json.binary import Opaque, SqlInteger

#: Python literals that cells may be, besides what YAML has.
_LITERALS = (bytes, bytearray, memoryview, Decimal, dt.datetime, dt.date, dt.time, dt.timedelta)
#: Values of cells that msgspec would convert.
_WHOLE = (str, int, type(None), Opaque, SqlInteger, Tagged)
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number with a point",
    "str": "text",
    "bool": "true or false",
    "null": "nothing",
    "array": "a list",
    "object": "a mapping",
    "bytes": "bytes",
}
#: A longer list of words hides the one that was probably meant.
_LISTED = 16
_WHERE = re.compile(r" - at `(?P<path>[^`]*)`\Z")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")


def convert(located: Located) -> Scenario:
    """The scenario that a YAML document declares.

    Raises ScenarioError (file, line, what was expected, nearest word) where the document has another form.
    """
    if located.value is None:
        raise ScenarioError("the file is empty", file=located.file, line=1, expected="a scenario")
    try:
        scenario = msgspec.convert(located.value, Scenario)
    except msgspec.ValidationError as error:
        raise _explained(str(error), located.value, located) from None
    scenario.__dict__["located"] = located
    return scenario


def checked(scenario: Scenario) -> Scenario:
    """A scenario written in Python, converted and checked like one from a file."""
    if scenario.origin is not None:
        return scenario
    try:
        tree = _tree(scenario)
    except TypeError as error:
        raise ScenarioError(f"the scenario holds a value that is not a literal: {error}") from None
    except RecursionError:
        raise ScenarioError("the scenario holds a value that is nested too deep") from None
    try:
        return msgspec.convert(tree, Scenario)
    except msgspec.ValidationError as error:
        raise _explained(str(error), tree, None) from None


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Asked once: msgspec evaluates all annotations of the struct for each answer."""
    return msgspec.structs.fields(struct)


def _tree(declared: Any) -> Any:
    """The declared form as mappings, lists and literals."""
    if isinstance(declared, _WHOLE):
        return declared
    if isinstance(declared, msgspec.Struct):
        values = ((field, getattr(declared, field.name)) for field in _fields(type(declared)))
        return {field.encode_name: _tree(value) for field, value in values if value is not field.default}
    if isinstance(declared, dict):
        return {key: _tree(value) for key, value in declared.items()}
    if isinstance(declared, list | tuple):
        return [_tree(value) for value in declared]
    return msgspec.to_builtins(declared, builtin_types=_LITERALS)


def _explained(message: str, tree: Any, located: Located | None) -> ScenarioError:
    """One sentence for a message of msgspec's (their forms are held by tests)."""
    path: tuple[str | int, ...] = ()
    if match := _WHERE.search(message):
        path = _path(match["path"], tree)
        message = message[: match.start()]
    hint = _type_at(path)
    place = f" in {_shown(path)}" if path else ""
    line_path, suggestion = path, None
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", message, re.DOTALL):
        word = match[1]
        words = _words(hint)
        line_path = (*path, word)
        suggestion = nearest(word, words)
        problem = f"unknown word {word!r}{place}"
        expected: str | None = f"one of {', '.join(words)}"
        if suggestion is not None and len(words) > _LISTED:
            expected = None
        if path[:1] in (("transactions",), ("existing",)) and len(path) == 2 and suggestion is None:
            expected = "a list of statements (`- - insert: ...`), or a mapping with statements"
    elif match := re.fullmatch(r"Object missing required field `(.*)`", message):
        problem, expected = f"{match[1]!r} is missing{place}", None
    elif match := re.fullmatch(r"Invalid enum value (.*)", message, re.DOTALL):
        problem, expected = f"{_shown(path)} is {match[1]}", _describe(hint)
        suggestion = nearest(match[1].strip("'"), _words(hint))
    elif match := re.fullmatch(r"Expected `([^`]*)`(.*)", message, re.DOTALL):
        actual, constraint = _actual(match[2], path, tree)
        problem = f"{_shown(path) or 'the scenario'} is {actual}"
        expected = _describe(hint) + constraint
    else:
        problem, expected = message + (place if located is None else ""), None
    error = ScenarioError(problem, expected=expected, suggestion=suggestion)
    return error if located is None else error.at(*located.place(line_path))


def _actual(rest: str, path: tuple[str | int, ...], tree: Any) -> tuple[str, str]:
    """What stands in the place, and in words the constraint that it breaks (``, got `int``` or `` of length >= 1``)."""
    if match := re.fullmatch(r", got `(.*)`", rest):
        return _KINDS.get(match[1], match[1]), ""
    value: Any = tree
    for step in path:
        value = value[step]
    actual = "empty" if value in ("", [], {}) else f"{value!r}"
    if match := re.fullmatch(r" ([<>]=?) (-?\d+)", rest):
        return actual, f" {match[1]} {match[2]}"
    return actual, " that is not empty" if "length >= 1" in rest else rest


def _path(text: str, tree: Any) -> tuple[str | int, ...]:
    """The steps of a path like ``$.tables[0].keys``; ``[...]`` is the key of a mapping, which has to be found."""
    steps: list[str | int] = []
    value = tree
    for name, index, anonymous in _STEP.findall(text):
        if anonymous:
            # Only `matrix` is a mapping with checked values: the first value that is not a list is the one meant.
            key = next((key for key, item in value.items() if not isinstance(item, list)), None)
            if key is None:
                break
            step: str | int = key
        else:
            step = name or int(index)
        steps.append(step)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
    return tuple(steps)


def _shown(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _type_at(path: tuple[str | int, ...]) -> Any:
    """The declared type of the place at ``path``; Any if it has none."""
    hint: Any = Scenario
    for step in path:
        following: Any = Any
        for option in _options(hint):
            if isinstance(step, str) and isinstance(option, type) and issubclass(option, msgspec.Struct):
                fields = {field.encode_name: field.type for field in msgspec.structs.fields(option)}
                following = fields.get(step, following)
            elif isinstance(step, int) and typing.get_origin(option) is list:
                following = typing.get_args(option)[0]
            elif isinstance(step, str) and typing.get_origin(option) is dict:
                following = typing.get_args(option)[1]
        hint = following
    return hint


def _options(hint: Any) -> list[Any]:
    """The members of a union, or the one type, with annotations taken off and None left out."""
    while typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return [option for member in typing.get_args(hint) for option in _options(member)]
    return [] if hint in (type(None), msgspec.UnsetType) else [hint]


def _words(hint: Any) -> list[str]:
    """The words that may stand in a place: names of fields, or values of an enumeration."""
    words: list[str] = []
    for option in _options(hint):
        if typing.get_origin(option) is Literal:
            words += typing.get_args(option)
        elif isinstance(option, type) and issubclass(option, msgspec.Struct):
            words += [field.encode_name for field in msgspec.structs.fields(option)]
    return words


def _describe(hint: Any) -> str:
    """A type in words."""
    parts = []
    for option in _options(hint):
        origin = typing.get_origin(option) or option
        if origin is Literal:
            parts.append("one of " + ", ".join(map(str, typing.get_args(option))))
        elif origin in (int, float, str, bool):
            parts.append(_KINDS[origin.__name__])
        elif origin is list:
            parts.append(_KINDS["array"])
        else:
            parts.append(_KINDS["object"])
    return " or ".join(dict.fromkeys(parts))
