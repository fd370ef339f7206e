"""The Jinja2 templates of ``templates/``: text that people and servers read, never bytes.  HTML is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from forge.resources import templates_dir


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(templates_dir()),
        undefined=StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **values: Any) -> str:
    """The file ``template`` (relative to ``templates/``) with these values; a value it lacks is an error."""
    text: str = _environment().get_template(template).render(**values)
    return text
