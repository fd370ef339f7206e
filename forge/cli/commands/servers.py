"""``forge servers``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import msgspec

from forge.cli.output import print_lines
from forge.cli.parameters import complete_servers, json_option

if TYPE_CHECKING:
    from forge.servers.overview import Overview


@click.command()
@click.argument("lines", nargs=-1, metavar="[LINE]...", shell_complete=complete_servers)
@json_option("One JSON object per line.")
def command(lines: tuple[str, ...], as_json: bool) -> None:
    """List the server lines: what each writes, and how its facts are known.

    Without LINE all of them, one row each: how many facts a real server of the line showed ("here"), a public log of
    it has, real servers of older and newer lines showed alike, the source or documents say, and nobody knows; and how
    many logs of other people's test suites are known, and rebuilt byte for byte.  With LINE, its event types, those
    logs, and each of its facts with its value and how it is known.

    \b
    Example:
      forge servers
      forge servers mysql-8.0.17 mariadb-5.5
    """
    from forge.servers import server_names
    from forge.servers.overview import overview

    found = [overview(name) for name in lines or server_names()]
    if as_json:
        print_lines(json.dumps(_object(one), ensure_ascii=False) for one in found)
    elif lines:
        print_lines(["\n\n".join("\n".join(_details(one)) for one in found)])
    else:
        print_lines(_table(found))


def _types(one: Overview) -> list[str]:
    """The event types that readers of the line know, by code."""
    from forge.events.registry import EVENT_NAMES, knows_type

    return [name for code, name in sorted(EVENT_NAMES.items()) if knows_type(one.line, code)]


def _object(one: Overview) -> dict[str, Any]:
    return {
        "line": one.line.name,
        "family": one.line.family,
        "server_version": one.line.server_version,
        "like": one.like,
        "note": one.note,
        "binlog_version": one.line.framing.binlog_version,
        "listed_types": len(one.line.post_header_bytes),
        "event_types": _types(one),
        "recorded": one.line.recorded,
        "facts": {
            fact: {"value": _value(one, fact), "label": known.label, "evidence": known.source}
            for fact, known in one.facts.items()
        },
        "public_logs": [
            {"file": log.file, "origin": log.origin, "rebuilt": log.scenario is not None} for log in one.public
        ],
    }


def _table(found: list[Overview]) -> list[str]:
    from forge.render.aligned import aligned
    from forge.servers.overview import LABELS

    rows: list[tuple[str, ...]] = [
        ("line", "version", "like", "types", "here", "log", "alike", "source", "unknown", "public logs")
    ]
    for one in found:
        types = str(len(one.line.post_header_bytes) or "-")
        rebuilt = sum(log.scenario is not None for log in one.public)
        public = f"{len(one.public)}, {rebuilt} rebuilt" if one.public else "-"
        counts = (str(one.count(label)) for label in LABELS)
        rows.append((one.line.name, one.line.server_version, one.like or "-", types, *counts, public))
    return aligned(rows)


def _value(one: Overview, fact: str) -> Any:
    """The value of a fact as JSON has it."""
    from forge.servers.overview import value_of

    return json.loads(msgspec.json.encode(value_of(one.line, fact)))


def _details(one: Overview) -> list[str]:
    from forge.servers.overview import LABELS

    counts = ", ".join(f"{one.count(label)} {label}" for label in LABELS if one.count(label))
    text = [
        f"{one.line.name}: {one.line.server_version}" + (f", as {one.like} but for what follows" if one.like else ""),
        f"  {one.note}",
        f"  event types: {', '.join(_types(one))}",
        f"  facts: {counts}",
    ]
    text += [
        f"  public log: {log.file} ({log.origin}), {'rebuilt byte for byte' if log.scenario else 'read'}"
        for log in one.public
    ] or ["  public log: none is known"]
    for label in reversed(LABELS):
        text += [
            f"  {label}: {fact} = {json.dumps(_value(one, fact), ensure_ascii=False)} ({known.source})"
            for fact, known in one.facts.items()
            if known.label == label
        ]
    return text
