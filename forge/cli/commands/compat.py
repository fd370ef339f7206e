"""``forge compat``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import open_log, shown
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, json_option, selection_options, server_option, settings_options
from forge.errors import FormatError, ScenarioError

if TYPE_CHECKING:
    from forge.binlog.selection import Selection
    from forge.binlog.window import LogWindow
    from forge.check.compat.report import Report
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@server_option("--from", "producer", help="Server line that writes the log (default: the scenario's).")
@server_option("--to", "consumer", help="Server line that reads it, e.g. mysql-5.5.")
@click.option(
    "--replica", is_flag=True, help="FILE FILE are definitions: of the source's tables, and of its replica's."
)
@server_option("--as", "line", help="With --replica: the replica's server line (default: that of its definitions).")
@settings_options()
@selection_options()
@json_option("One JSON object, with the decode that the consumer gets.")
def command(
    files: tuple[str, ...],
    producer: str | None,
    consumer: str | None,
    replica: bool,
    line: str | None,
    settings: OptionSettings,
    events: Selection,
    as_json: bool,
) -> None:
    """Show how a consumer of another server line reads the log of the scenario FILE, or binary logs.

    Lists what it ignores, misreads and refuses, each with the reason and the release that introduced it, and says where
    a reader and a replica of that line stop. Of binary logs, `--table` and the options behind it choose events.

    With --replica, says of two definitions of tables what becomes of each column, and how rows are found.

    \b
    Example:
      forge compat shop.yaml --from mysql-9.7 --to mysql-5.5
      forge compat shop.yaml --from mysql-9.7 --to mariadb-10.11 --set session.compression=true --json
      forge compat --replica source.sql replica.sql --as mariadb-11.8
      forge compat binlog.000001 binlog.000002.gz --to mysql-5.7 --table shop.orders
    """
    import json

    import msgspec

    from forge.check.compat.report import summary
    from forge.servers import server_line

    if replica:
        if consumer is not None or producer is not None or settings or not events.is_all or len(files) != 2:
            raise ScenarioError("--replica compares two definitions", expected="two files, and --as LINE")
        write_output(STDOUT, _of_definitions(files[0], files[1], line, as_json))
        return
    if consumer is None or line is not None:
        raise ScenarioError("who reads the log is not said", expected="--to LINE, or --replica with two definitions")
    try:
        server_line(consumer)
    except ScenarioError as error:
        raise error.at(f"--to {consumer}", None) from None
    logs = [file for file in files if _is_log(file)]
    if not logs and len(files) == 1 and events.is_all:
        report = _of_scenario(files[0], producer, consumer, settings)
    elif len(logs) < len(files):
        raise ScenarioError(
            f"{next(file for file in files if file not in logs)} is no binary log",
            expected="one scenario without a choice of events, or binary logs",
        )
    elif producer is not None or settings:
        raise ScenarioError("--from and --set are for scenarios", expected="binary logs alone")
    else:
        report = _of_logs(files, consumer, events, decoded=as_json)
    shown = json.dumps(msgspec.to_builtins(report), ensure_ascii=False) + "\n" if as_json else summary(report)
    write_output(STDOUT, shown)


def _of_definitions(source: str, target: str, line: str | None, as_json: bool) -> str:
    import json

    import msgspec

    from forge.replay.definition_pair import definition_pairs, lines_of
    from forge.scenario import load_scenario
    from forge.scenario.matrix import parse_settings

    named = parse_settings([], server=line)
    pairs = list(definition_pairs(load_scenario(source), load_scenario(target, named)))
    if as_json:
        return json.dumps(msgspec.to_builtins(pairs), ensure_ascii=False) + "\n"
    return "".join(f"{one}\n" for one in lines_of(pairs))


def _of_scenario(file: str, producer: str | None, consumer: str, settings: OptionSettings) -> Report:
    from forge.binlog import write_binlog
    from forge.check.compat.report import compatibility
    from forge.compile import compile_files
    from forge.scenario import load_scenario, plan

    if producer is not None:
        settings.add("server", producer, f"--from {producer}")
    planned = plan(load_scenario(file, settings))
    return compatibility(planned, [write_binlog(events) for events in compile_files(planned)], consumer)


def _is_log(file: str) -> bool:
    """Whether it is a binary log, compressed as a whole or not, or empty; what cannot be read is told where it is."""
    from forge.binlog.reader import has_magic
    from forge.binlog.wrapped import wrapping

    try:
        if not Path(file).is_file() and Path(file).exists():
            raise ScenarioError(f"{shown(file)} is read more than once", expected="a regular file")
        with Path(file).open("rb") as opened:
            begin = opened.read(4)
    except OSError:
        return False
    return has_magic(begin) or wrapping(begin) is not None or not begin


def _of_logs(files: tuple[str, ...], consumer: str, wanted: Selection, decoded: bool) -> Report:
    from forge.check.compat.report import compatibility_of_logs

    place = files[0]

    def opened() -> Iterator[LogWindow]:
        nonlocal place
        for place in files:
            with open_log(place) as log:
                yield log

    try:
        report = compatibility_of_logs(opened(), consumer, decoded=decoded, wanted=wanted)
    except FormatError as error:
        raise error.in_file(shown(place)) from None
    wanted.check_tables()
    return report
