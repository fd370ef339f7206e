"""``forge diff``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import STDIN, open_log, shown
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, selection_options
from forge.cli.schema_files import schema_option
from forge.errors import CheckFailed, ScenarioError

if TYPE_CHECKING:
    from forge.binlog.difference import Difference
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection


@click.command()
@click.argument("left", type=FILE)
@click.argument("right", type=FILE)
@click.option("--all", "show_all", is_flag=True, help="Every difference, not only the first.")
@json_option("One JSON object per difference.")
@keyring_options
@selection_options()
@schema_option()
def command(left: str, right: str, show_all: bool, as_json: bool, keyring: Keyring | None, events: Selection) -> None:
    """Show where the binary logs LEFT and RIGHT differ: event, field, row and cell, both values.

    Sizes, positions, transaction lengths and checksums follow from the rest, and count only where the bytes of a file
    contradict them. Any bytes can be compared, broken ones too. LEFT and RIGHT may both be logs of several files, each
    a folder or an index file: the first file is compared with the first, and so on. `--table` and the options behind it
    choose events. Exit code 1 if there is a difference.

    \b
    Example:
      forge diff before.000001 after.000001
      forge diff before.000001 after.000001.gz --all --json
      forge diff plain.000001 encrypted.000001 --keys keyring.json
      forge diff before/ after/ --table shop.orders --type WRITE_ROWS
    """
    if left == right == STDIN:
        raise ScenarioError("standard input is a single log", expected="the path of a file beside it")
    found = _differences(_files(left), _files(right), events, keyring)
    first = next(found, None)
    if first is None:
        events.check_tables()
        if not events.is_all and not _has_wanted(_files(right if left == STDIN else left), events, keyring):
            raise ScenarioError(
                f"neither {shown(left)} nor {shown(right)} has an event of those", expected="another choice of events"
            )
        return

    def lines(first: Difference) -> Iterator[str]:
        for difference in [first, *found] if show_all else [first]:
            yield (json.dumps(asdict(difference), ensure_ascii=False) if as_json else str(difference)) + "\n"

    write_output(STDOUT, lines(first))
    raise CheckFailed(f"{left} and {right} differ")


def _files(source: str) -> list[str]:
    """The files of the log: those of a folder or an index file, or the one that it is."""
    path = Path(source)
    if source == STDIN or not (path.is_dir() or path.suffix == ".index"):
        return [source]
    from forge.binlog.folder import log_files

    return [str(file) for file in log_files(path)]


def _differences(left: list[str], right: list[str], wanted: Selection, keyring: Keyring | None) -> Iterator[Difference]:
    from forge.binlog.difference import Difference, differences

    several = len(left) > 1 or len(right) > 1
    for ours, theirs in zip(left, right, strict=False):
        with open_log(ours, keyring=keyring) as one, open_log(theirs, keyring=keyring) as other:
            for difference in differences(one, other, wanted):
                yield replace(difference, file=Path(ours).name) if several else difference
    if len(left) != len(right):
        yield Difference(None, 0, "session", "files", str(len(left)), str(len(right)))


def _has_wanted(files: list[str], wanted: Selection, keyring: Keyring | None) -> bool:
    """Whether a log has an event that is wanted: two without one are not alike in it."""
    from forge.binlog.listing.chosen import chosen_documents
    from forge.binlog.listing.disassemble import placed_documents

    for file in files:
        with open_log(file, keyring=keyring) as log:
            if next(chosen_documents(placed_documents(log), wanted), None) is not None:
                return True
    return False
