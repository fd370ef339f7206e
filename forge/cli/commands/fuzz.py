"""``forge fuzz``."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from forge.cli.commands.fuzz_export import export
from forge.cli.output import echo, write_files
from forge.cli.parameters import FOLDER, grouped, json_option, limits_options, out_option, testee_option
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, counted

if TYPE_CHECKING:
    from forge.conform.fuzz.search import Failure
    from forge.conform.testee import Limits


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which logs are made, and how long."""

    seconds: float | None
    tries: int | None
    seed: int
    first: int
    bases: tuple[int, ...]


_SEARCH = (
    click.option(
        "--time", "seconds", type=click.FloatRange(min=0), metavar="S", help="End after so many seconds (default 60)."
    ),
    click.option("--tries", type=click.IntRange(min=1), metavar="N", help="End after so many logs."),
    click.option("--seed", type=int, default=0, metavar="N", help="Another seed makes other logs (default 0)."),
    click.option(
        "--first", type=click.IntRange(min=0), default=0, metavar="N", help="Begin with that log (default 0)."
    ),
    click.option(
        "--base", "bases", type=click.IntRange(min=0), multiple=True, metavar="N",
        help="Make the logs of that one, as a failure has it in `bases`. Repeatable.",
    ),
)  # fmt: skip


@click.group(invoke_without_command=True)
@testee_option("A decoder that speaks the protocol of `forge conform`.")
@click.option("--seeds", "kit", type=FOLDER, metavar="KIT", help="Change the logs of a kit (default: generated ones).")
@grouped("asked", _Asked, *_SEARCH)
@limits_options(5, 1024, "a log")
@click.option(
    "--shrink",
    "shrink_seconds",
    type=click.FloatRange(min=0),
    default=20.0,
    metavar="S",
    help="Seconds for making a failing log smaller (default 20; 0: not at all).",
)
@out_option("Write each failure there: its log, and how it came about.")
@json_option("One JSON object per failure, then one with the summary.")
@click.pass_context
def command(
    context: click.Context,
    testee: str | None,
    kit: Path | None,
    asked: _Asked,
    limits: Limits,
    shrink_seconds: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Look for logs that a decoder gets wrong.

    Logs are changed in fields, lengths, counts, order and bytes, many of them with checksums that hold. The decoder may
    refuse a changed log; it may not crash, hang, take memory without end, or show a row that a correct reader does not
    get. Failures with the same cause are one; its log is made smaller. Logs that reach new code of a decoder that tells
    its coverage are changed further. Exit code 1 if there is a failure.

    \b
    Example:
      forge fuzz --testee ./my-testee --time 60 -o failures
      forge fuzz --testee ./my-testee --seed 0 --first 1234 --tries 1
      forge fuzz export --for go -o fuzz/
    """  # fmt: skip
    if context.invoked_subcommand is not None:
        if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in context.params):
            raise click.UsageError(f"options of a search stand before {context.invoked_subcommand}, which has its own")
        return
    if testee is None:
        raise click.UsageError("Missing option '--testee'.", context)
    from forge.conform.fuzz.search import DrawnSeeds, KitSeeds, Tally, search
    from forge.conform.testee import Testee

    seeds = DrawnSeeds() if kit is None else KitSeeds(kit)
    tally = Tally()
    names: list[str] = []
    if asked.tries is None and asked.seconds is None:
        asked = replace(asked, seconds=60.0)
    if out is not None:
        out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="forge-fuzz-") as folder, Testee(testee, limits) as decoder:
        testee_name = f"{decoder.hello().name} {decoder.hello().version}"
        with progress_to("logs") as report:
            found = search(
                decoder, seeds, Path(folder) / "binlog.000001", asked, shrink_seconds=shrink_seconds, tally=tally,
                progress=lambda count: report(count, asked.tries or 0),
            )  # fmt: skip
            for failure in found:
                names.append(failure.name)
                described = _described(failure, testee_name, kit)
                if out is not None:
                    _write(out, failure, described)
                echo(json.dumps(described, ensure_ascii=False) if as_json else _sentence(described))
    summary: dict[str, Any] = {"tries": tally.tries, "outcomes": dict(tally.outcomes), "failures": len(names)}
    covered = ""
    if tally.places:
        summary |= {"places": len(tally.places), "kept": tally.kept}
        covered = f"; {len(tally.places)} places of its code reached, {tally.kept} logs kept"
    if as_json:
        echo(json.dumps(summary))
    else:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in tally.outcomes.most_common())
        echo(f"{counted(tally.tries, 'log')} ({counts}): {counted(len(names), 'cause')} of failure{covered}")
    if names:
        raise CheckFailed(f"{testee_name} fails: {counted(len(names), 'cause')} in {counted(tally.tries, 'log')}")


command.add_command(export)


def _described(failure: Failure, testee: str, kit: Path | None) -> dict[str, Any]:
    return {
        "name": failure.name,
        "testee": testee,
        "outcome": failure.finding.outcome,
        "kind": failure.finding.kind,
        "message": failure.message,
        "seed": failure.seed,
        "number": failure.first.number,
        "bases": list(failure.first.bases),
        "seeds": None if kit is None else str(kit),
        "mutations": list(failure.first.mutations),
        "bytes": len(failure.smallest),
        "first_bytes": len(failure.first.data),
    }


def _sentence(described: dict[str, Any]) -> str:
    how = "; ".join(described["mutations"]) or "not changed"
    message = " ".join(str(described["message"] or described["kind"]).split())
    return f"{described['name']}: {described['outcome']}: {message} ({how}; {_numbers(described)})"


def _numbers(described: dict[str, Any]) -> str:
    of = "".join(f" --base {number}" for number in described["bases"])
    return f"number {described['number']}" + (f",{of}" if of else "")


def _write(out: Path, failure: Failure, described: dict[str, Any]) -> None:
    text = json.dumps(described, ensure_ascii=False, indent=2) + "\n"
    write_files([(str(out / f"{failure.name}.binlog"), failure.smallest), (str(out / f"{failure.name}.json"), text)])
