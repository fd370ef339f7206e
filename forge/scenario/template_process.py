"""Renders templates: the program of a process of its own, which has limits of time and memory.

A template is text from somebody, and ``{{ 'a' * 3000000000 }}`` is short.  Whatever operator, filter or method takes
too much, this process ends, and :mod:`forge.scenario.template` says so.  It reads pickled requests (text, parameters;
None for the parameters: which names the template uses) and answers each with a line of JSON.
"""

from __future__ import annotations

import base64
import json
import pickle
import re
import resource
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateRuntimeError, TemplateSyntaxError, UndefinedError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

#: Seconds of processor time for one template, bytes of memory for all, and characters of what is rendered.
SECONDS, MEMORY, LONGEST = 0.5, 192 << 20, 1 << 25
#: Stands before each line of the template's own text: NUL, the line's number, NUL.
MARK = "\0{}\0"
_FILE = "<template>"
#: Where an object of Python lies: no two runs would show the same.
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+>")

Answer = dict[str, Any]


class _LineMarks(Extension):
    """Puts a mark in front of every line of the template's own text."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            if token.type == "data":
                lines = enumerate(token.value.split("\n"), start=token.lineno)
                text = "\n".join(MARK.format(number) + line for number, line in lines)
                yield Token(token.lineno, "data", text)
            else:
                yield token


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
    if type(value).__name__ == "Tagged":  # of forge.located, which is not imported for it
        return f"!{value.tag} {json.dumps(value.text, ensure_ascii=False)}"
    return json.dumps(value, ensure_ascii=False)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        # What is constant would become part of the program that is compiled, however long it is.
        optimized=False,
        extensions=[_LineMarks],
    )
    # Text by chance: no two builds would be the same.
    del environment.globals["lipsum"], environment.filters["random"]
    environment.filters["yaml"] = yaml_text
    return environment


_ENVIRONMENT = _environment()


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    """A template, compiled once for all the cases of a family."""
    return _ENVIRONMENT.from_string(text)


def answer(text: str, parameters: Mapping[str, Any] | None) -> Answer:
    """``text`` or ``names``; else what is wrong as ``problem``, ``syntax`` or ``missing``, and the ``line``."""
    try:
        if parameters is None:
            return {"names": sorted(find_undeclared_variables(_ENVIRONMENT.parse(text)))}
        rendered = _compiled(text).render(parameters)
        if len(rendered) > LONGEST:
            return {"problem": f"it makes a text of {len(rendered)} characters; {LONGEST} is the most"}
        if _PLACE.search(rendered):
            return {"problem": "it shows a place in memory, which is another each time"}
        return {"text": rendered}
    except TemplateSyntaxError as error:
        return {"syntax": error.message, "line": error.lineno}
    except SyntaxError as error:
        # What Jinja2 makes of it is too deep for Python.
        return {"syntax": f"its parts lie inside each other too deep ({error.msg})", "line": None}
    except Exception as error:  # noqa: BLE001  # Filters raise what they like for what they are given.
        frames = traceback.walk_tb(error.__traceback__)
        line = next((number for frame, number in reversed([*frames]) if frame.f_code.co_filename == _FILE), None)
        if isinstance(error, MemoryError):
            return {"problem": f"it takes more than {MEMORY >> 20} MiB of memory", "line": line}
        if isinstance(error, RecursionError):
            return {"problem": "a macro calls itself, or parts lie inside each other, without end", "line": None}
        missing = re.fullmatch(r"'([^']*)' is undefined", str(error)) if isinstance(error, UndefinedError) else None
        if missing:
            return {"missing": missing[1], "line": line}
        own = isinstance(error, (TemplateRuntimeError, ArithmeticError, TypeError, ValueError, LookupError))
        return {"problem": str(error) if own else f"{type(error).__name__}: {error}", "line": line}


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    resource.setrlimit(limit, (MEMORY, MEMORY))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            text, parameters = pickle.load(requests)  # From the process that started this one.
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        said = answer(text, parameters)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
