"""The Jinja2 templates of ``templates/``: text that people and servers read, never bytes.  HTML is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from forge.resources import templates_dir


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates_dir()),
        undefined=StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(prose=_prose, cell=_cell, code_cell=_code_cell)
    return environment


def visible(text: str) -> str:
    """Text with characters that cannot be seen, such as zero bytes, as escapes; all others as they are."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def _prose(text: str) -> str:
    """Text in Markdown as it stands: marks of Markdown and HTML have no meaning in it."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", text)


def _cell(text: str) -> str:
    """Text in a cell of a table of Markdown."""
    return _prose(visible(" ".join(text.split())))


def _code_cell(text: str) -> str:
    """Code in a cell of a table of Markdown."""
    text = visible(" ".join(text.split())).replace("|", "\\|") or " "
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def render(template: str, **values: Any) -> str:
    """The file ``template`` (relative to ``templates/``) with these values; a value it lacks is an error."""
    text: str = _environment().get_template(template).render(**values)
    return text
