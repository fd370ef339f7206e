"""``forge servers``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import complete_servers

if TYPE_CHECKING:
    from forge.servers.overview import Overview


@click.command()
@click.argument("lines", nargs=-1, metavar="[LINE]...", shell_complete=complete_servers)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def command(lines: tuple[str, ...], as_json: bool) -> None:
    """List the server lines: what each writes, how its facts are known, and what no recording holds yet.

    Without LINE all of them, one row each: facts that were recorded on a real server, read in a public file, or taken
    from source and documents; and how many logs of other people's test suites are known, and rebuilt byte for byte.
    With LINE, its event types, those logs, and each of its own facts that no recording holds.

    \b
    Example:
      forge servers
      forge servers mysql-8.0.17 mariadb-5.5
    """
    from forge.servers import server_names
    from forge.servers.overview import overview

    found = [overview(name) for name in lines or server_names()]
    if as_json:
        write_output(STDOUT, "".join(json.dumps(_object(one), ensure_ascii=False) + "\n" for one in found))
    elif lines:
        write_output(STDOUT, "\n".join(map(_details, found)))
    else:
        write_output(STDOUT, _table(found))


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
        "facts": one.facts,
        "unrecorded": one.unrecorded,
        "public_logs": [
            {"file": log.file, "origin": log.origin, "rebuilt": log.scenario is not None} for log in one.public
        ],
    }


def _table(found: list[Overview]) -> str:
    rows: list[tuple[str, ...]] = [
        ("line", "version", "like", "types", "recorded", "files", "source", "own unrecorded", "public logs")
    ]
    for one in found:
        facts = (str(one.facts[kind]) for kind in ("recorded", "file", "source"))
        types = str(len(one.line.post_header_bytes) or "-")
        rebuilt = sum(log.scenario is not None for log in one.public)
        public = f"{len(one.public)}, {rebuilt} rebuilt" if one.public else "-"
        own = str(len(one.unrecorded))
        rows.append((one.line.name, one.line.server_version, one.like or "-", types, *facts, own, public))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows
    )


def _details(one: Overview) -> str:
    facts = ", ".join(f"{count} {word}" for word, count in one.facts.items())
    text = [
        f"{one.line.name}: {one.line.server_version}" + (f", as {one.like} but for what follows" if one.like else ""),
        f"  {one.note}",
        f"  event types: {', '.join(_types(one))}",
        f"  facts: {facts}",
    ]
    text += [
        f"  public log: {log.file} ({log.origin}), {'rebuilt byte for byte' if log.scenario else 'read'}"
        for log in one.public
    ] or ["  public log: none is known"]
    text += [f"  not recorded: {fact} ({source})" for fact, source in one.unrecorded.items()]
    return "".join(line + "\n" for line in text)
