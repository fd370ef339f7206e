"""``forge check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import errors_in, read_bytes, shown
from forge.cli.output import print_lines
from forge.cli.parameters import (
    FILE,
    complete_decoders,
    json_option,
    level_option,
    testee_option,
    timeout_option,
)
from forge.cli.progress import progress
from forge.cli.schema_files import schema_option
from forge.errors import CheckFailed, EnvironmentMissing, FormatError, ScenarioError, counted
from forge.unpacking import TooManyCells

if TYPE_CHECKING:
    from forge.check.compare.compare import Verdict
    from forge.conform.kit.protocol import Level


#: How a decoder is mistaken, by outcome.
_MISTAKES = {
    "disagree": "reads the file differently",
    "refused": "refuses a file that breaks no rule",
    "crashed": "crashes",
    "timeout": "does not end",
}
_TESTEE_MISTAKES = _MISTAKES | {
    "accepts": "reads on in a file that breaks a rule of the format",
    "unsupported": "does not support the file",
}
_COUNTED = {
    "agree": "agree", "disagree": "disagree", "refused": "refused", "unsupported": "unsupported",
    "crashed": "crashed", "timeout": "timed out", "too_long": "too long", "not_here": "not here",
}  # fmt: skip


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--decoder", "names", multiple=True, metavar="NAME", shell_complete=complete_decoders,
    help="Only this decoder. Repeatable.",
)  # fmt: skip
@testee_option("Only this program, which speaks the protocol of `forge conform`.")
@level_option("With --testee: what to compare.")
@timeout_option(20, "a testee")
@json_option("One JSON object per decoder, then one with the summary.")
@schema_option(digits_only=True)
def command(
    file: str, names: tuple[str, ...], testee: str | None, level: Level | None, timeout: float, as_json: bool
) -> None:
    """Compare what every installed decoder reads in the binary log FILE with the canonical decode.

    Prints a verdict per decoder and, where they differ, the first difference: event, table, row, column, both values
    and the bytes; then how many decoders came to each verdict.  Exit code 1 if a decoder disagrees, crashes, does not
    end, or refuses a file that is right; 3 if none does and the file breaks a rule of the format.  A program that
    prints more than 64 MiB of a large file is stopped there: TOO LONG, which does not fail the check.

    With --testee, a program of your own is asked in their place (docs/conform.md). Exit code 1 unless it is right:
    also if it reads on in a file that breaks a rule, or does not support a file that breaks none.

    \b
    Example:
      forge check binlog.000001
      forge check binlog.000001 --decoder mysqlbinlog --json
      forge check binlog.000001 --testee ./my-testee
    """
    if testee is not None:
        if names:
            raise ScenarioError("--testee and --decoder exclude each other", expected="one of them")
        _ask_testee(file, testee, level, timeout, as_json)
        return
    if level is not None:
        raise ScenarioError("--level goes with --testee")
    from forge.check.compare.compare import check_one, mistaken
    from forge.check.decoders.table import available_decoders, decoder
    from forge.decode.reference import read_reference

    data = read_bytes(file)
    chosen = [decoder(name) for name in names] or available_decoders()
    for reader in chosen:
        missing = reader.available()
        if names and missing is not None:
            raise EnvironmentMissing(f"{reader.name} cannot run here: {missing}")
    reference = read_reference(data)
    if isinstance(reference.problem, TooManyCells):
        raise reference.problem
    verdicts = [check_one(reference, data, reader) for reader in progress(chosen, total=len(chosen), label="decoders")]
    print_lines(_json_lines(verdicts) if as_json else _text_lines(verdicts))
    wrong = mistaken(verdicts, reference)
    if wrong:
        mistakes = (f"{verdict.decoder} {_MISTAKES[verdict.outcome]}" for verdict in wrong)
        raise CheckFailed(f"{shown(file)}: {'; '.join(mistakes)}")
    if isinstance(reference.problem, FormatError):
        with errors_in(file):
            raise reference.problem


def _ask_testee(file: str, command: str, level: Level | None, timeout: float, as_json: bool) -> None:
    import tempfile
    from pathlib import Path

    import msgspec

    from forge.check.compare.compare import explain
    from forge.conform.one_file import ask
    from forge.conform.testee import Limits, Testee

    data = read_bytes(file)
    with (
        tempfile.TemporaryDirectory(prefix="forge-check-") as folder,
        Testee(command, Limits(seconds=timeout)) as asked,
    ):
        hello = asked.hello()
        path = Path(folder, "binlog.000001") if file == "-" else Path(file).absolute()
        if file == "-":
            path.write_bytes(data)
        result = ask(asked, path, data, level)
    said = explain(result.difference) if result.difference is not None else result.message or ""
    if as_json:
        shown_result = {
            "testee": hello.name,
            "version": hello.version,
            "outcome": result.outcome,
            "message": result.message,
            "difference": msgspec.to_builtins(result.difference),
            "warnings": result.reading.warnings,
        }
        print_lines([msgspec.json.encode(shown_result).decode()])
    else:
        first = f"{hello.name} {hello.version}: {result.outcome.upper()}: {said}".removesuffix(": ")
        print_lines([first, *(f"  warned: {warning}" for warning in result.reading.warnings)])
    if not result.right:
        raise CheckFailed(f"{shown(file)}: {hello.name} {_TESTEE_MISTAKES[result.outcome]}")


def _json_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    import msgspec

    from forge.check.compare.compare import count_outcomes

    for verdict in verdicts:
        yield msgspec.json.encode(verdict).decode()
    yield msgspec.json.encode({"summary": count_outcomes(verdicts)}).decode()


def _text_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    from forge.check.compare.compare import count_outcomes, explain

    for verdict in verdicts:
        name = verdict.decoder if verdict.version is None else f"{verdict.decoder} {verdict.version}"
        said = explain(verdict.difference) if verdict.difference is not None else verdict.message or ""
        yield f"{name}: {verdict.outcome.replace('_', ' ').upper()}: {said}"
        for warning in verdict.warnings:
            yield f"  warned: {warning}"
    outcomes = ", ".join(f"{count} {_COUNTED[outcome]}" for outcome, count in count_outcomes(verdicts).items() if count)
    yield f"{counted(len(verdicts), 'decoder')}: {outcomes}"
