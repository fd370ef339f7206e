"""``forge facts``."""

from __future__ import annotations

import json

import click

from forge.cli.inputs import errors_in, read_bytes, shown
from forge.cli.output import STDOUT, refuse_inputs, write_output
from forge.cli.parameters import FILE


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILES...")
@click.option("-o", "--output", default=STDOUT, type=FILE, help="Output file (default: standard output).")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of YAML.")
def command(files: tuple[str, ...], output: str, as_json: bool) -> None:
    """Print the facts of the session that wrote the binary logs FILES: times and ids that no scenario decides.

    A scenario takes them as session.facts; it then compiles to these bytes, if it says what happened. Several FILES are
    those of one session, in their order. - is standard input.

    \b
    Example:
      forge facts binlog.000001 -o facts.yaml
      forge verify shop.yaml --against binlog.000001
    """
    import msgspec

    from forge.record.facts import facts_of
    from forge.record.recording import facts_text

    refuse_inputs([output], files)
    logs = [read_bytes(file) for file in files]
    with errors_in(files[0]):
        facts = facts_of(*logs, names=[shown(file) for file in files])
    text = json.dumps(msgspec.to_builtins(facts)) + "\n" if as_json else facts_text(facts)
    write_output(output, text)
