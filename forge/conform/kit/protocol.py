"""What a runner and a testee say to each other: a JSON object a line, requests on standard input, answers on output.

The first request is ``hello``, which the testee answers with its name and how it shows values.  Each other request
names a file; its answers are frames, events or rows in the order of the file, then ``end``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from forge.decode.cells import Kind

VERSION = 1

#: What a testee is asked for: events' places and sizes; their fields; rows.
Level = Literal["frames", "events", "rows"]
#: How it got on: through; it stops with an error; it says that it does not know a thing; it failed inside itself.
End = Literal["ok", "refused", "unsupported", "crashed"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request.  ``hello`` has the protocol's version and no file.  ``coverage`` asks for that of the answer."""

    id: int
    hello: int | msgspec.UnsetType = msgspec.UNSET
    file: str | msgspec.UnsetType = msgspec.UNSET
    level: Level | msgspec.UnsetType = msgspec.UNSET
    flavor: Literal["mysql", "mariadb"] | msgspec.UnsetType = msgspec.UNSET
    server: str | msgspec.UnsetType = msgspec.UNSET
    coverage: bool | msgspec.UnsetType = msgspec.UNSET


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """Who a testee is.

    ``forms``: how it shows each kind of value (forge/conform/forms.py); ``typed`` where it says nothing.
    ``cannot``: tags of cases that it does not support, such as ``event:TRANSACTION_PAYLOAD``; such cases are not asked.
    ``flavors``: the families of servers that it reads.  ``limits``: sentences for people on what it cannot show.
    ``coverage``: it can say which places of its code a file was the first to reach.
    """

    name: str
    version: str
    language: str | None = None
    levels: tuple[Level, ...] = ("rows",)
    flavors: tuple[Literal["mysql", "mariadb"], ...] = ("mysql", "mariadb")
    forms: dict[str, str] = {}
    cannot: list[str] = []
    limits: list[str] = []
    coverage: bool = False


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """An event's outside: ``checksum`` says whether it holds, null if it has none.  Fields that are left out are not
    compared.
    """

    offset: int
    inner: int = 0
    type_code: int | msgspec.UnsetType = msgspec.UNSET
    event_size: int | msgspec.UnsetType = msgspec.UNSET
    log_pos: int | msgspec.UnsetType = msgspec.UNSET
    timestamp: int | msgspec.UnsetType = msgspec.UNSET
    server_id: int | msgspec.UnsetType = msgspec.UNSET
    checksum: bool | msgspec.UnsetType | None = msgspec.UNSET


class EventAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of an event, by the names of the canonical decode; those that are left out are not compared."""

    offset: int
    inner: int = 0
    type: str | msgspec.UnsetType = msgspec.UNSET
    fields: dict[str, Any] = {}


class CellAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A cell: its column (from 1), and its value in the testee's form, its bytes as hex, or both; null for NULL.

    A cell with neither is NULL.
    """

    column: int
    value: Any = msgspec.UNSET
    raw: str | msgspec.UnsetType | None = msgspec.UNSET


class RowAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A row.  ``offset`` and ``inner`` are those of its event; a testee that does not know them leaves them out.

    An image lists the cells of the columns that are present in it; columns that a testee always shows as NULL when they
    are absent are for its forms to say (``absent``: ``null``).
    """

    kind: Kind
    database: str | dict[str, str]
    table: str | dict[str, str]
    before: list[CellAnswer] | None = None
    after: list[CellAnswer] | None = None
    offset: int | None = None
    inner: int = 0


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of the event at that place is left out, and why."""

    offset: int = 0
    inner: int = 0
    what: Any = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a testee: exactly one of these, but ``message``, ``id`` and ``coverage``, which go with ``end``.

    ``gap``: it leaves out what is left of the event at that offset, and says why.  ``coverage``: numbers of places in
    the testee's code (lines, branches) that no file before reached in this process; a place has the same number in all.
    """

    id: int | None = None
    hello: Hello | None = None
    frame: Frame | None = None
    event: EventAnswer | None = None
    row: RowAnswer | None = None
    gap: Gap | None = None
    warning: str | None = None
    end: End | None = None
    message: str | None = None
    coverage: list[int] = []


_DECODER = msgspec.json.Decoder(Answer)
_encode = msgspec.json.Encoder().encode


def request_line(request: Request) -> bytes:
    """A request as it is sent."""
    return _encode(request) + b"\n"


def parse_answer(line: bytes) -> Answer:
    """One line of a testee.  Raises ValueError, in words for its author."""
    try:
        answer = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        shown = line[:120].decode("utf-8", "backslashreplace").rstrip("\n")
        raise ValueError(f"this is no answer of the protocol: {shown!r} ({error})") from None
    kinds = (answer.hello, answer.frame, answer.event, answer.row, answer.gap, answer.warning, answer.end)
    if sum(kind is not None for kind in kinds) != 1:
        raise ValueError(f"an answer is one of hello, frame, event, row, gap, warning, end: {line[:120]!r}")
    return answer
