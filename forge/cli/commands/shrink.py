"""``forge shrink``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import read_bytes, shown
from forge.cli.output import echo, refuse_inputs, write_output
from forge.cli.parameters import FILE, output_option, testee_option, timeout_option
from forge.cli.progress import progress_to
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.conform.shrink.search import Shows


@click.command()
@click.argument("file", type=FILE)
@click.option("--while", "condition", metavar="COMMAND", help="A command of the shell; {} stands for the file.")
@testee_option("A decoder that speaks the protocol of `forge conform`.")
@click.option("--keep-outcome", is_flag=True, help="With --testee: its outcome and the kind of difference stay.")
@output_option("The smaller file.", metavar="OUT")
@click.option("--seconds", type=click.FloatRange(min=0), metavar="S", help="End the search after so many seconds.")
@timeout_option(20)
def command(
    file: str,
    condition: str | None,
    testee: str | None,
    keep_outcome: bool,
    output: str,
    seconds: float | None,
    timeout: float,
) -> None:
    """Make the binary log FILE smaller while a command, or a testee, does the same with it.

    Transactions, events, rows, columns, values, metadata and names are taken away as long as the exit code of COMMAND
    stays that of the whole FILE (a command that does not end counts as an outcome too), or the testee's outcome and
    first difference stay of the same kind. The result is a well-formed log if FILE is one.

    \b
    Example:
      forge shrink binlog.000001 --while './reader {} | grep -q 42' -o small.000001
      forge shrink binlog.000001 --testee ./my-testee --keep-outcome -o small.000001
    """
    from forge.conform.shrink.shrink import shrink

    if (condition is None) == (testee is None):
        raise ScenarioError(
            "nothing says what has to stay", expected="--while COMMAND, or --testee with --keep-outcome"
        )
    if (testee is not None) != keep_outcome:
        raise ScenarioError("--testee and --keep-outcome belong together", expected="both of them")
    refuse_inputs([output], [file])
    data = read_bytes(file)
    with tempfile.TemporaryDirectory(prefix="forge-shrink-") as folder:
        path = Path(folder) / (Path(file).name if file != "-" else "binlog.000001")
        with _condition(data, path, condition, testee, timeout) as (shows, stays), progress_to("bytes") as report:
            result = shrink(data, shows, seconds=seconds, progress=report)
    write_output(output, result.data)
    ended = "" if result.finished else "; the time was over before the search"
    echo(
        f"{shown(file)}: {len(data)} bytes, {output}: {len(result.data)} bytes, {stays}"
        f" ({result.asked} candidates asked){ended}"
    )


@contextmanager
def _condition(
    data: bytes, path: Path, condition: str | None, command: str | None, timeout: float
) -> Iterator[tuple[Shows, str]]:
    """What a smaller file has to show, and that in words."""
    from forge.conform.shrink.outcomes import CommandOutcome, TesteeOutcome
    from forge.conform.testee import Limits, Testee
    from forge.corpus.outcomes import RIGHT

    if condition is not None:
        by_command = CommandOutcome(condition, path, timeout=timeout)
        code = by_command.of(data)
        words = "the command does not end" if code is None else f"exit code {code}"
        yield (lambda candidate: by_command.of(candidate) == code), words
        return
    with Testee(command or "", Limits(seconds=timeout)) as testee:
        by_testee = TesteeOutcome(testee, path)
        finding = by_testee.of(data)
        if finding.outcome in RIGHT:
            raise ScenarioError(
                f"the testee is right about this file: {finding.outcome}", expected="a file that it fails"
            )
        words = finding.outcome if finding.kind is None else f"{finding.outcome}, {finding.kind}"
        yield (lambda candidate: by_testee.of(candidate) == finding), words
