"""Triggers: which tables the text of one may change.

What a trigger does to rows is not computed: scenarios declare it (``further``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_PART = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})?"
_HEAD = re.compile(
    r"\b(?P<timing>BEFORE|AFTER)\s+(?P<event>INSERT|UPDATE|DELETE)\s+ON\b.*?\bFOR\s+EACH\s+ROW\b(?P<body>.*)",
    re.IGNORECASE | re.DOTALL,
)
_EACH_ROW = re.compile(r"\bFOR\s+EACH\s+ROW\b", re.IGNORECASE)
_NOISE = re.compile(r"/\*.*?\*/|--\s[^\n]*|#[^\n]*|'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_CHANGE = re.compile(
    rf"\b(?:(?P<insert>INSERT|REPLACE)(?:\s+(?:IGNORE|LOW_PRIORITY|HIGH_PRIORITY|DELAYED))*(?:\s+INTO)?"
    rf"|(?P<update>(?<!FOR\s)(?<!KEY\s)UPDATE)(?:\s+(?:IGNORE|LOW_PRIORITY))*"
    rf"|(?P<delete>DELETE)(?:\s+(?:IGNORE|LOW_PRIORITY|QUICK))*\s+FROM)\s+(?P<table>{_NAME})",
    re.IGNORECASE,
)


TriggerEvent = Literal["insert", "update", "delete"]
TableName = tuple[str, str]


#: What a trigger's text gives columns of its own row: SET NEW.a = ..., and SELECT ... INTO NEW.a.
_SET = re.compile(r"\bSET\b(?P<list>[^;]*)", re.IGNORECASE)
_INTO_NEW = re.compile(rf"\bINTO\s+NEW\s*\.\s*(?P<column>{_PART})", re.IGNORECASE)
_NEW = re.compile(rf"(?:^|,)\s*NEW\s*\.\s*(?P<column>{_PART})\s*:?=", re.IGNORECASE)
_FIRST = re.compile(r"\s*(?:(?:FOLLOWS|PRECEDES)\s+\S+\s+)?(?:BEGIN\b\s*)*(?P<word>\w+)", re.IGNORECASE)
_ROW_WORDS = ("INSERT", "REPLACE", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger: its table, the text that it runs, and the tables that this changes, with how."""

    table: TableName
    timing: Literal["before", "after"]
    event: TriggerEvent
    changes: tuple[tuple[TableName, tuple[TriggerEvent, ...]], ...]
    #: Lower-case names of the columns of its own row that it may set.
    sets: frozenset[str] = frozenset()
    #: The first thing that it does is to change rows.
    starts_with_rows: bool = False
    body: str = ""


def trigger_of(sql: str, table: TableName) -> Trigger | None:
    """What the text of CREATE TRIGGER on a table says of it; None if it is none."""
    head = _HEAD.search(_NOISE.sub(" ", sql))
    if head is None:
        return None
    events: dict[str, TriggerEvent] = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
    return Trigger(
        table=table,
        timing="before" if head["timing"].upper() == "BEFORE" else "after",
        event=events[head["event"].upper()],
        changes=changed_tables(head["body"], table[0]),
        sets=_set_columns(head["body"]),
        starts_with_rows=_first_word(head["body"]) in _ROW_WORDS,
        body=sql[row.end() :] if (row := _EACH_ROW.search(sql)) is not None else "",
    )


def _set_columns(body: str) -> frozenset[str]:
    found = [match["column"] for match in _INTO_NEW.finditer(body)]
    for assignments in _SET.finditer(body):
        text = assignments["list"]
        while (shorter := re.sub(r"\([^()]*\)", " ", text)) != text:
            text = shorter
        found += [match["column"] for match in _NEW.finditer(text)]
    return frozenset(name.strip("`").replace("``", "`").lower() for name in found)


def _first_word(body: str) -> str:
    match = _FIRST.match(body)
    return "" if match is None else match["word"].upper()


def _name(text: str, database: str) -> TableName:
    parts = [part.strip("`").replace("``", "`") for part in re.findall(_PART, text)]
    return (parts[0] if len(parts) == 2 else database, parts[-1])


def changed_tables(body: str, database: str) -> tuple[tuple[TableName, tuple[TriggerEvent, ...]], ...]:
    """The tables that a trigger's text changes, in order, with what it may do to their rows."""
    found: dict[TableName, dict[TriggerEvent, None]] = {}
    text = _NOISE.sub(" ", body)
    for match in _CHANGE.finditer(text):
        events = found.setdefault(_name(match["table"], database), {})
        if match["insert"] is not None:
            events["insert"] = None
            if match["insert"].upper() == "REPLACE":
                events["delete"] = None
            elif re.search(r"ON\s+DUPLICATE\s+KEY", text[match.end() :].partition(";")[0], re.IGNORECASE):
                events["update"] = None
        else:
            events["update" if match["update"] is not None else "delete"] = None
    return tuple((name, tuple(events)) for name, events in found.items())
