"""``forge check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import errors_in, read_bytes, shown
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, complete_decoders
from forge.cli.progress import progress
from forge.errors import CheckFailed, EnvironmentMissing, FormatError

if TYPE_CHECKING:
    from forge.check.compare.compare import Verdict


#: What a decoder does that is mistaken.
_MISTAKES = {
    "disagree": "reads the file differently",
    "refused": "refuses the file, which is right",
    "crashed": "crashes",
    "timeout": "does not end",
}
_COUNTED = {
    "agree": "agree", "disagree": "disagree", "refused": "refused", "unsupported": "unsupported",
    "crashed": "crashed", "timeout": "timed out", "not_here": "not here",
}  # fmt: skip


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--decoder",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_decoders,
    help="Only this decoder. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per decoder, then one with the summary.")
def command(file: str, names: tuple[str, ...], as_json: bool) -> None:
    """Compare what every installed decoder reads in the binary log FILE with the canonical decode.

    Prints a verdict per decoder and, where they differ, the first difference: event, table, row, column, both values
    and the bytes; then how many decoders came to each verdict.  Exit code 1 if a decoder disagrees, crashes, does not
    end, or refuses a file that is right; 3 if none does and the file breaks a rule of the format.

    \b
    Example:
      forge check binlog.000001
      forge check binlog.000001 --decoder mysqlbinlog --json
    """
    from forge.check.compare.compare import check_one, mistaken, read_reference
    from forge.check.decoders.table import available_decoders, decoder

    data = read_bytes(file)
    chosen = [decoder(name) for name in names] or available_decoders()
    for reader in chosen:
        missing = reader.available()
        if names and missing is not None:
            raise EnvironmentMissing(f"{reader.name} cannot run here: {missing}")
    reference = read_reference(data)
    verdicts = [check_one(reference, data, reader) for reader in progress(chosen, total=len(chosen), label="decoders")]
    write_output(STDOUT, _json_lines(verdicts) if as_json else _text_lines(verdicts))
    wrong = mistaken(verdicts, reference)
    if wrong:
        mistakes = (f"{verdict.decoder} {_MISTAKES[verdict.outcome]}" for verdict in wrong)
        raise CheckFailed(f"{shown(file)}: {'; '.join(mistakes)}")
    if isinstance(reference.problem, FormatError):
        with errors_in(file):
            raise reference.problem


def _json_lines(verdicts: Sequence[Verdict]) -> Iterator[bytes]:
    import msgspec

    from forge.check.compare.compare import count_outcomes

    for verdict in verdicts:
        yield msgspec.json.encode(verdict) + b"\n"
    yield msgspec.json.encode({"summary": count_outcomes(verdicts)}) + b"\n"


def _text_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    from forge.check.compare.compare import count_outcomes, explain

    for verdict in verdicts:
        name = verdict.decoder if verdict.version is None else f"{verdict.decoder} {verdict.version}"
        said = explain(verdict.difference) if verdict.difference is not None else verdict.message or ""
        yield f"{name}: {verdict.outcome.replace('_', ' ').upper()}: {said}\n"
        for warning in verdict.warnings:
            yield f"  warned: {warning}\n"
    counted = ", ".join(f"{count} {_COUNTED[outcome]}" for outcome, count in count_outcomes(verdicts).items() if count)
    yield f"{len(verdicts)} decoder{'' if len(verdicts) == 1 else 's'}: {counted}\n"
