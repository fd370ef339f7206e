"""``forge info``."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import file_paths, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, stdout_option, table_options, time_zone_option
from forge.cli.progress import progress_to
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="LOGS...", type=FILE)
@json_option("One JSON object; times are seconds since the epoch.")
@click.option("--html", "as_html", is_flag=True, help="A page of HTML that needs nothing but itself.")
@stdout_option()
@table_options
@time_zone_option
@keyring_options
def command(
    files: tuple[str, ...],
    as_json: bool,
    as_html: bool,
    output: str,
    events: Selection,
    minutes: int,
    keyring: Keyring | None,
) -> None:
    """Tell on one page what the binary logs LOGS... are: server, times, GTIDs, transactions, tables, statements.

    A transaction's bytes are those of all its events; its seconds are from the first event's time to the last one's.
    Numbers that do not follow one another are those of GTIDs, and MySQL's sequence numbers within a file. Of a damaged
    log the page has what comes before the damage; exit code 3. Needs the extra `rows`.

    \b
    Example:
      forge info binlog.000001
      forge info binlog.0* --database shop --time-zone +02:00
      forge info binlog.0* --html -o logs.html
    """
    import forge.bulk  # noqa: F401  It says which package is missing.
    from forge.changed.info_page import html_page, info_object, sections, text_page
    from forge.changed.log_info import log_info

    if as_json and as_html:
        raise ScenarioError("--json and --html are two forms of the output", expected="one of them")
    refuse_inputs([output], files)
    paths = file_paths(files)
    total = sum(path.stat().st_size for path in paths)
    with progress_to("bytes") as show:
        info = log_info(paths, keyring=keyring, progress=lambda read: show(read, total))
    parts = list(sections(info, events, timezone(timedelta(minutes=minutes))))
    if as_json:
        write_output(output, json.dumps(info_object(info, events), ensure_ascii=False) + "\n")
    elif as_html:
        write_output(output, html_page(", ".join(map(shown, files)), parts))
    else:
        write_output(output, (line + "\n" for line in text_page(parts)))
    if info.problem is not None:
        raise info.problem
