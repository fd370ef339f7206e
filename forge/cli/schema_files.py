"""``--schema``: definitions of tables, for what logs do not tell of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from forge.cli.inputs import STDIN, open_log, read_text, shown
from forge.cli.parameters import FILE


def schema_option(*, digits_only: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--schema FILE``: the command reads its logs with the names that the definitions give.

    ``digits_only``: of the definitions, no more is taken than the digits of old temporal types, without which rows
    cannot be read.
    """
    help = "A SQL script with definitions of tables: names, signs, members where the log has none."
    if digits_only:
        help = "A SQL script with definitions of tables: the digits of MariaDB's old temporal types."

    def with_option(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def taking(*, schema: str | None, **given: Any) -> Any:
            if schema is None:
                return command(**given)
            from forge.events.columns import declared_columns

            first = given["files"][0] if "files" in given else given.get("file", given.get("left"))
            with declared_columns(_columns(schema, str(first), digits_only)):
                return command(**given)

        return click.option("--schema", type=FILE, metavar="FILE", help=help)(taking)

    return with_option


def _columns(schema: str, log: str, digits_only: bool) -> Any:
    """The columns of the definitions, on the server line of a log."""
    from forge.binlog.reader import read_events
    from forge.record.retold.log_settings import line_of
    from forge.record.retold.log_tables import columns_of_schema, schema_file
    from forge.servers import server_line
    from forge.servers.loading import COMPLETE_LINES
    from forge.values.base import Column

    line = COMPLETE_LINES["mysql"]
    if log != STDIN:
        with open_log(log) as window:
            first = next(read_events(window, strict=False), None)
            line = line if first is None else line_of(first)
    text = read_text(schema)
    found = columns_of_schema(schema_file(text, server_line(line), shown(schema)), server_line(line))
    if not digits_only:
        return found
    plain = lambda column: Column(column.type_code, column.metadata, declared=column.declared)  # noqa: E731
    return {name: [tuple(map(plain, form)) for form in forms] for name, forms in found.items()}
