"""The text of a finding's record: what people wrote, and what the program found."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from forge.conform.findings.records import Made

_MADE = "\n[made]\n"


def record_text(before: str, made: Made) -> str:
    """The text of a record with another table ``[made]``; what people wrote stays as it is."""
    return before.partition(_MADE)[0].rstrip("\n") + "\n" + _MADE + "\n".join(_made_lines(made)) + "\n"


def _made_lines(made: Made) -> Iterator[str]:
    for name in ("case", "verdict", "outcome", "kind", "event", "field", "right", "wrong"):
        value = getattr(made, name)
        if value is not None:
            yield f"{name} = {value if isinstance(value, int) else _quoted(value)}"
    for name in ("readers", "servers"):
        said = ", ".join(f"{_quoted(who)} = {_quoted(does)}" for who, does in getattr(made, name).items())
        if said:
            yield f"{name} = {{ {said} }}"
    if made.cell is not None:
        place = made.cell
        yield (
            f'cell = {{ event = {place.event}, row = {place.row}, image = "{place.image}", column = {place.column} }}'
        )
    data = made.data
    yield 'log = """'
    yield from (data[at : at + 32].hex() for at in range(0, len(data), 32))
    yield '"""'


def _quoted(text: str) -> str:
    """A basic string of TOML: what JSON writes is one, but for DEL and surrogates."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
