"""What a template may cost: the length of a text, the size of a number, and the steps of its loops and calls.

A template is text from somebody, and ``{{ 'a' * 3000000000 }}`` is short.  Every operation of Jinja2 that gives more
than it is given asks here before it is carried out, so that a template fails on all platforms alike, at once, and with
its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jinja2 import StrictUndefined, TemplateRuntimeError, nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

#: Characters of a text; of one that is not ASCII a quarter, and items of a list a thirty-second of it.
LONGEST = 1 << 25
#: The same of all that one rendering makes.
MOST_MADE = 3 << 25
#: Bits of a whole number.
_MOST_BITS = 1 << 14
#: Steps of one rendering: an iteration of a loop is one, a call, which takes so much longer, is some.
MOST_STEPS, _CALL = 1 << 20, 16

#: What is left of the steps, and of what may be made.
_left: ContextVar[list[int]] = ContextVar("left")
_LONG_NUMBER = re.compile(r"[0-9]{8}")
#: Characters or items that a filter takes that looks at each of them.
_MOST_FILTERED = 1 << 20
#: The filters that do not, or do so quickly.
_QUICK = frozenset((
    "abs", "count", "d", "default", "float", "format", "int", "join", "last", "length", "lower", "replace", "string",
    "trim", "upper",
))  # fmt: skip
#: Filters that put something into every line, word or place of a text, and how many of these it has at most.
_REPEATING: dict[str, Callable[[str], int]] = {
    "indent": lambda text: len(text.splitlines()) + 1, "urlize": lambda text: len(text.split()) + 1, "wordwrap": len,
}  # fmt: skip
#: Filters that make as much for each of their parts as a number says, and the largest number that they are given.
_MOST_GIVEN = {"batch": 1 << 20, "slice": 1 << 20, "tojson": 16}
#: Methods of text and numbers that give any amount for a short argument, and that no scenario needs.
_REFUSED = frozenset(("expandtabs", "maketrans", "to_bytes", "translate"))


class TemplateLimitError(TemplateRuntimeError):
    """A template that would make too much."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Templates that cannot reach the system, change what they are given, or make more than the limits allow."""

    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def __init__(self, **options: Any) -> None:
        super().__init__(
            undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False, finalize=_checked, **options
        )
        self.concat = _joined  # type: ignore[method-assign]
        del self.globals["lipsum"]  # Text by chance: no two builds would be the same.
        for name in self.filters:
            self.filters[name] = _bounded(name, self.filters[name])
        self.filters["format"] = _with_small_widths(self.filters["format"])
        self.filters["join"] = _checked_join(self.filters["join"])
        self.filters["replace"] = _checked_replace(self.filters["replace"])
        self.filters[_COUNTED], self.filters[_CONCATENATED] = _counted, _concatenated

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template: nodes.Template = _Counting().visit(super()._parse(source, name, filename))
        return template

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _REFUSED and super().is_safe_attribute(obj, attr, value)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        _spend(_CALL)
        method = getattr(__obj, "__wrapped__", __obj)
        owner, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
        if isinstance(owner, (str, bytes)):
            _check_numbers(name, (*args, *kwargs.values()))
            if name in ("format", "format_map"):
                _check_widths(owner, (*args, *kwargs.values()))
                _checked([*args, *kwargs.values()])
            elif name == "join" and args:
                args = (_checked_items(args[0], len(owner)), *args[1:])
            elif name == "replace" and len(args) > 1:
                _check_replace(owner, args[0], args[1])
            elif "split" in name and len(owner) > _MOST_FILTERED:
                raise TemplateLimitError(f"{name} is given a text of {len(owner)}; {_MOST_FILTERED} is the most")
            return _made(super().call(__context, __obj, *args, **kwargs))
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            _check_product(left, right)
        elif operator == "+":
            _check_length(_length(left) + _length(right))
        elif operator == "**":
            if isinstance(left, int) and isinstance(right, int) and left not in (-1, 0, 1):
                _check_bits(left.bit_length() * right)
        elif isinstance(left, (str, bytes)):
            _check_widths(left, right if isinstance(right, tuple) else (right,))
            _checked(right)
            return _made(super().call_binop(context, operator, left, right))
        return super().call_binop(context, operator, left, right)


class Budget:
    """What one rendering may take: ``with Budget(): ...``."""

    def __enter__(self) -> None:
        self._token = _left.set([MOST_STEPS, MOST_MADE])

    def __exit__(self, *_: object) -> None:
        _left.reset(self._token)


_COUNTED, _CONCATENATED = "_counted", "_concatenated"


class _Counting(NodeTransformer):
    """Has every loop count its iterations, and every ``~`` the characters that it makes."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        node.iter = _filtered(node.iter, _COUNTED)
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _CONCATENATED)


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _spend(steps: int = 1) -> None:
    left = _left.get(None)
    if left is None:
        return  # Jinja2 works out what is constant when it compiles.
    left[0] -= steps
    if left[0] < 0:
        raise TemplateLimitError(f"its loops and calls take more than {MOST_STEPS} steps")


def _counted(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _spend()
        yield item


def _joined(pieces: Iterable[str]) -> str:
    pieces = pieces if isinstance(pieces, (list, tuple)) else list(pieces)
    _check_length(sum(map(_length, pieces)))
    return "".join(pieces)


def _concatenated(items: list[Any]) -> str:
    return _joined([str(_checked(item)) for item in items])


def _checked(value: Any) -> Any:
    """What is about to be shown as text, if that is not too long: a list may have the same long text many times."""
    if not isinstance(value, (list, tuple, dict)):
        return value
    waiting, length = [value], 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((*item, *item.values()))
            length += 64 * len(item)
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
        length += 32 + _length(item)
        if length > LONGEST:
            raise TemplateLimitError(f"it shows a list of more than {LONGEST}")
    return value


def _made(value: Any) -> Any:
    """What was made, counted."""
    _check_length(_length(value))
    return value


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else 4 * len(value)
    if isinstance(value, (list, tuple)):
        return 32 * len(value)
    return len(value) if isinstance(value, bytes) else 0


def _check_length(length: int) -> None:
    _check_size(length)
    left = _left.get(None)
    if left is None:
        return
    left[1] -= length
    if left[1] < 0:
        raise TemplateLimitError(f"it makes texts and lists of more than {MOST_MADE} together")


def _check_size(length: int) -> None:
    if length > LONGEST:
        raise TemplateLimitError(f"it makes a text or list of {_shown(length)}; {LONGEST} is the most")


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TemplateLimitError(f"it makes a number of {_shown(bits)} bits; {_MOST_BITS} is the most")


def _shown(count: int) -> str:
    return str(count) if count < 10**18 else "more than 10^18"


def _check_product(left: Any, right: Any) -> None:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(times, int):
            _check_length(_length(sequence) * times)
            return
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())


def _check_numbers(name: str, values: Iterable[Any]) -> None:
    most = _MOST_GIVEN.get(name, LONGEST)
    for value in values:
        if isinstance(value, int) and value > most:
            raise TemplateLimitError(f"{name} is given {_shown(value)}; {most} is the most")


def _check_repeated(text: str, places: int, values: Iterable[Any]) -> None:
    longest = max((value if isinstance(value, int) else _length(value) for value in values), default=0)
    _check_size(_length(text) + places * longest)


def _check_widths(form: str | bytes, values: Iterable[Any]) -> None:
    text = form if isinstance(form, str) else form.decode("latin-1")
    if _LONG_NUMBER.search(text):
        raise TemplateLimitError("a format has a width or precision of more than seven digits")
    if "*" in text or "{" in text:
        _check_numbers("a format", values)


def _check_replace(text: Any, old: Any, new: Any) -> None:
    text, old, new = str(text), str(old), str(new)
    found = text.count(old) if len(new) > len(old) else 0
    _check_length(_length(text) + found * _length(new))


def _checked_items(items: Iterable[Any], separator: int) -> list[Any]:
    kept = list(items)
    _check_length(sum(_length(item) + separator for item in kept))
    return kept


def _bounded(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, for numbers and texts that are not too large."""

    @functools.wraps(made)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _spend(_CALL)
        values = (*args, *kwargs.values())
        _check_numbers(name, values)
        for value in values:
            _checked(value)
            if name not in _QUICK and isinstance(value, (str, bytes, list, tuple)) and len(value) > _MOST_FILTERED:
                raise TemplateLimitError(
                    f"{name} is given {len(value)} characters or items; {_MOST_FILTERED} is the most"
                )
        if name in _REPEATING:
            at = next((at for at, value in enumerate(args) if isinstance(value, str)), len(args))
            text, others = str(args[at]) if at < len(args) else "", (*args[at + 1 :], *kwargs.values())
            # The number that `wordwrap` and `urlize` take makes lines shorter.
            repeated = [value for value in others if name == "indent" or isinstance(value, str)]
            _check_repeated(text, _REPEATING[name](text), repeated)
        return _made(made(*args, **kwargs))

    return checked


def _with_small_widths(made: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(made)
    def checked(value: str, *args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        inner = [item for value in values if isinstance(value, Mapping) for item in value.values()]
        _check_widths(str(value), (*values, *inner))
        return made(value, *args, **kwargs)

    return checked


def _checked_join(made: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(made)
    def checked(context: Any, value: Iterable[Any], d: str = "", *args: Any, **kwargs: Any) -> Any:
        return made(context, _checked_items(value, len(d)), d, *args, **kwargs)

    return checked


def _checked_replace(made: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(made)
    def checked(context: Any, text: Any, old: str, new: str, *args: Any, **kwargs: Any) -> Any:
        _check_replace(text, old, new)
        return made(context, text, old, new, *args, **kwargs)

    return checked
