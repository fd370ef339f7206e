"""Scenario files that are Jinja2 templates: rendering, with the lines of the source kept."""

from __future__ import annotations

import base64
import json
import re
import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from forge.errors import ScenarioError, nearest
from forge.located import Tagged

if TYPE_CHECKING:
    from jinja2 import Template

    from forge.scenario.template_limits import BoundedEnvironment

#: Stands in rendered text before each line of the template: NUL, the line's number, NUL.  YAML has no NUL.
_MARK = re.compile("\0([0-9]+)\0")
_NAME = "<template>"


@dataclass(frozen=True, slots=True)
class Rendered:
    """Text that came out of a template; ``lines`` gives each of its lines the number it has in the template."""

    text: str
    lines: list[int]


def is_template(file: str | None, text: str) -> bool:
    """Whether a file is a template: by its name (``.j2``), or because it has template marks in it."""
    return (file is not None and file.endswith(".j2")) or "{{" in text or "{%" in text


def render(text: str, parameters: Mapping[str, Any], *, file: str | None = None, first_line: int = 1) -> Rendered:
    """Render a template, or a part of one that begins at ``first_line``.

    Raises ScenarioError (file, line) for wrong syntax, for parameters that are used but not given, and for what is
    beyond the limits of :mod:`forge.scenario.template_limits`.
    """
    from jinja2 import TemplateError, TemplateSyntaxError

    from forge.scenario.template_limits import Budget

    if "\0" in text:
        raise ScenarioError("the template has a NUL character in it", file=file)
    try:
        with Budget():
            marked = _compiled(text).render(parameters)
    except RecursionError:
        raise ScenarioError(
            "the template failed: a macro calls itself, or parts lie inside each other, without end", file=file
        ) from None
    except TemplateSyntaxError as error:
        line = error.lineno + first_line - 1
        raise ScenarioError(f"bad template: {error.message}", file=file, line=line) from None
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise _failed(error, parameters, file, first_line) from None
    return _unmarked(marked, first_line)


def check_parameters(text: str, parameters: Collection[str], *, file: str | None = None) -> None:
    """Raise ScenarioError for the name of a parameter that the template does not use."""
    if not parameters:
        return
    from jinja2 import TemplateSyntaxError
    from jinja2.meta import find_undeclared_variables

    try:
        used = find_undeclared_variables(_environment().parse(text))
    except TemplateSyntaxError as error:
        raise ScenarioError(f"bad template: {error.message}", file=file, line=error.lineno) from None
    except RecursionError:
        raise ScenarioError("bad template: its parts lie inside each other too deep", file=file) from None
    for name in parameters:
        if name not in used:
            expected = f"one of {', '.join(sorted(used))}" if used else "no parameters"
            raise ScenarioError(
                f"the template has no parameter {name!r}", file=file, expected=expected, suggestion=nearest(name, used)
            )


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    """A template, compiled once for all the cases of a family."""
    return _environment().from_string(text)


@cache
def _environment() -> BoundedEnvironment:
    from jinja2.ext import Extension
    from jinja2.lexer import Token, TokenStream

    from forge.scenario.template_limits import BoundedEnvironment

    class LineMarks(Extension):
        """Puts a mark in front of every line of the template's own text."""

        def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
            for token in stream:
                if token.type == "data":
                    yield Token(token.lineno, "data", _marked(token.value, token.lineno))
                else:
                    yield token

    environment = BoundedEnvironment(extensions=[LineMarks])
    environment.filters["yaml"] = yaml_text
    return environment


def yaml_text(value: Any) -> str:
    """A value as YAML on one line: what ``{{ value | yaml }}`` writes.  Raises TypeError for what YAML lacks."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_text(str(key))}: {yaml_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(yaml_text, value)) + "]"
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return f"!!binary {base64.b64encode(value).decode()}"
    if isinstance(value, Tagged):
        return f"!{value.tag} {json.dumps(value.text, ensure_ascii=False)}"
    return json.dumps(value, ensure_ascii=False)


def _marked(data: str, line: int) -> str:
    first, *others = data.split("\n")
    marked = [f"\0{line}\0{first}"]
    marked += [f"\0{line + number}\0{other}" for number, other in enumerate(others, start=1)]
    return "\n".join(marked)


def _unmarked(marked: str, first_line: int) -> Rendered:
    texts: list[str] = []
    lines: list[int] = []
    current = 1
    for line in marked.split("\n"):
        marks = [int(number) for number in _MARK.findall(line)]
        # A line belongs to the first piece of template text in it that is not empty, or else to the line before.
        lines.append((marks[0] if marks else current) + first_line - 1)
        current = marks[-1] if marks else current
        texts.append(_MARK.sub("", line))
    return Rendered("\n".join(texts), lines)


def _failed(error: Exception, parameters: Mapping[str, Any], file: str | None, first_line: int) -> ScenarioError:
    from jinja2 import UndefinedError

    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _NAME]
    line = places[-1] + first_line - 1 if places and places[-1] else None
    missing = re.fullmatch(r"'([^']*)' is undefined", str(error))
    if isinstance(error, UndefinedError) and missing:
        names = ", ".join(parameters) or "none"
        return ScenarioError(
            f"the template needs the parameter {missing[1]!r}",
            file=file,
            line=line,
            expected=f"--set {missing[1]}=VALUE (given: {names})",
            suggestion=nearest(missing[1], parameters),
        )
    return ScenarioError(f"the template failed: {error}", file=file, line=line)
