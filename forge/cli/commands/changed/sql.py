"""``forge sql``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import errors_in, open_log, pays_in_bulk, read_text, shown
from forge.cli.output import echo, refuse_inputs, write_output
from forge.cli.parameters import FILE, grouped, keyring_options, selection_options, stdout_option, time_zone_option
from forge.cli.progress import progress
from forge.errors import CheckFailed, ForgeError, ScenarioError, counted

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.logged import LoggedEvent
    from forge.binlog.selection import Selection
    from forge.changed.log_sql import LogSql
    from forge.changed.spill import Spill

_FORM = (
    click.option("--flashback", is_flag=True, help="The statements that take the changes back, the last one first."),
    click.option(
        "--style", type=click.Choice(["update", "replace", "binlog"]), default="update", show_default=True,
        help="replace: REPLACE for new rows, and for changed ones that keep their key; binlog: BINLOG statements.",
    ),
    click.option("--columns", metavar="NAMES", help="Write only these columns, with commas between, and keys."),
    click.option("--where", metavar="EXPRESSION", help="Only rows for which it is true before or after the change."),
    click.option(
        "--statements", is_flag=True, help="Write statements that are in the log as text, too; else they are listed."
    ),
    click.option(
        "--schema", type=FILE, metavar="FILE",
        help="A SQL script with definitions of tables: names, keys, generated columns.",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Form:
    """How rows are said."""

    flashback: bool
    style: Any
    columns: str | None
    where: str | None
    statements: bool
    schema: str | None


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="LOGS...", type=FILE)
@grouped("form", _Form, *_FORM)
@stdout_option("The file to write; standard output unless given.")
@selection_options()
@time_zone_option
@keyring_options
def command(
    files: tuple[str, ...], form: _Form, output: str, events: Selection, minutes: int, keyring: Keyring | None
) -> None:
    """Write the changed rows of the binary logs LOGS... as SQL, or with --flashback the SQL that takes them back.

    A row is found by its primary key, else by a unique key, else by all of its columns with LIMIT 1. Names and keys
    are those of the log (binlog_row_metadata=FULL), of its CREATE TABLE and ALTER TABLE statements, and of --schema.
    What is not written stands in a comment in its place and on standard error: statements that are in the log as text,
    and changes whose images do not tell enough; these end with exit code 1.

    \b
    Example:
      forge sql binlog.000001
      forge sql binlog.0* --table shop.orders --since '2024-02-29 10:00:00' --flashback -o undo.sql
      forge sql binlog.000001 --table shop.orders --where "qty > 3 AND status = 'new'"
      forge sql binlog.000001 --database shop --schema shop.sql --style replace
    """
    from forge.changed.spill import Spill

    refuse_inputs([output], files)
    with Spill() if form.flashback else nullcontext() as spill:
        made: list[LogSql] = []
        asked = partial(_log_sql, form, events, minutes, spill)
        write_output(output, _pieces(files, keyring, asked, spill, made), exact=True)
    events.check_tables()
    [written] = made
    if written.listed:
        echo(f"forge: {counted(written.listed, 'statement')} of the log listed, not written", err=True)
    if written.unwritten:
        raise CheckFailed(f"{counted(written.unwritten, 'change')} not written: the log does not tell enough of them")


def _pieces(
    files: tuple[str, ...],
    keyring: Keyring | None,
    asked: Callable[[LoggedEvent | None], LogSql],
    spill: Spill | None,
    made: list[LogSql],
) -> Iterator[str]:
    """The text; ``made`` gets what counts it."""
    from forge.binlog.logged import logged_events

    for file in progress(files, total=len(files), label="files"):
        with errors_in(file), open_log(file, keyring=keyring) as log:
            logged = logged_events(log)
            first = next(logged, None)
            if not made:
                made.append(asked(first))
                yield made[0].head
            if first is None:
                continue
            done = yield from _in_bulk(made[0], file, keyring)
            if done == inf:
                continue
            made[0].begin(shown(file))
            for one in chain((first,), logged):
                if one.index > done:
                    yield from made[0].step(one)
                else:
                    made[0].note(one)
                if made[0].is_behind(one):
                    break
    yield from made[0].end()
    if spill is not None:
        yield from (piece.decode("utf-8", "surrogateescape") for piece in spill.backwards())


def _in_bulk(written: LogSql, file: str, keyring: Keyring | None) -> Generator[str, None, float]:
    """The statements of a file as far as they are made in bulk: the number of the last event that they are of."""
    if not written.is_plain or not pays_in_bulk(file):
        return -1
    from forge.changed.bulk_sql import BulkSql

    bulk = BulkSql(written, Path(file), shown(file), keyring)
    try:
        yield from bulk.read()
    except ForgeError:
        if bulk.is_inside:
            raise
        # What is wrong, and what the bulk reader does not take, is said by the reference path.
        return bulk.done
    return inf


def _log_sql(form: _Form, events: Selection, minutes: int, spill: Spill | None, first: LoggedEvent | None) -> LogSql:
    from forge.changed.chosen_events import Asked
    from forge.changed.conditions import Condition
    from forge.changed.known_tables import KnownTables
    from forge.changed.log_sql import LogSql
    from forge.changed.row_statements import RowStatements
    from forge.changed.sql_cells import SqlCells
    from forge.record.retold.log_settings import line_of
    from forge.servers import server_line
    from forge.sql.write import identifier

    line = server_line("mysql-9.7" if first is None else line_of(first.placed))
    tables = KnownTables(line)
    if form.schema is not None:
        tables.read_schema(read_text(form.schema), shown(form.schema))
    cells = SqlCells(minutes, "utf8mb4" if line.knows("utf8mb4") else "utf8")
    if form.columns is not None and form.style != "update":
        raise ScenarioError(
            f"--columns does not go with --style {form.style}", expected="whole rows, or --style update"
        )
    columns = None if form.columns is None else frozenset(map(identifier, form.columns.split(",")))
    rows = RowStatements(cells, form.style, form.flashback, columns)
    where = None if form.where is None else Condition(form.where, tables)
    asked = Asked(rows, events, where, form.statements)
    return LogSql(asked, tables, lambda line: echo(f"forge: not written: {line}", err=True), spill)
