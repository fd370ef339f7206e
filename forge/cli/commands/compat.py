"""``forge compat``."""

from __future__ import annotations

import click

from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, complete_servers, parameters_option
from forge.errors import ScenarioError


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--from",
    "producer",
    metavar="LINE",
    shell_complete=complete_servers,
    help="Server line that writes the log (default: the scenario's).",
)
@click.option(
    "--to",
    "consumer",
    required=True,
    metavar="LINE",
    shell_complete=complete_servers,
    help="Server line that reads it, e.g. mysql-5.5.",
)
@parameters_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with the decode that the consumer gets.")
def command(file: str, producer: str | None, consumer: str, parameters: tuple[str, ...], as_json: bool) -> None:
    """Show how a consumer of another server line reads the log of the scenario FILE.

    Lists what it ignores, misreads and refuses, each with the reason and the release that introduced it, and says where
    a reader and a replica of that line stop.

    \b
    Example:
      forge compat shop.yaml --from mysql-9.7 --to mysql-5.5
      forge compat shop.yaml --from mysql-9.7 --to mariadb-10.11 --set session.compression=true --json
    """
    import json

    from forge.binlog import write_binlog
    from forge.check.compat.report import compatibility, summary
    from forge.compile import compile_files
    from forge.scenario import load_scenario, parse_settings, plan
    from forge.servers import server_line

    try:
        server_line(consumer)
    except ScenarioError as error:
        raise error.at(f"--to {consumer}", None) from None
    settings = parse_settings(parameters)
    if producer is not None:
        settings.add("server", producer, f"--from {producer}")
    planned = plan(load_scenario(file, settings))
    report = compatibility(planned, [write_binlog(events) for events in compile_files(planned)], consumer)
    write_output(STDOUT, json.dumps(report.plain(), ensure_ascii=False) + "\n" if as_json else summary(report))
