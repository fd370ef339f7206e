"""``forge corpus export`` and ``forge corpus freeze``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from forge.cli.commands.corpus_commands.show import corpus_option, require_arrow
from forge.cli.output import echo, write_output
from forge.cli.parameters import FILE_OR_FOLDER, jobs_option, json_option
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, counted


@click.command(short_help="Write cases as a kit: plain files for any language.")
@click.argument("out", type=FILE_OR_FOLDER)
@corpus_option
@click.option(
    "--profile",
    default="full",
    metavar="WORD",
    help="smoke (few cases with every feature), full, sparse (files beyond 4 GiB, of no corpus), a server line, "
    "or a tag (default full).",
)
@click.option("--tags", metavar="EXPRESSION", help="Of these, only such as 'mysql-8.0 & rows & !JSON'.")
@jobs_option("Processes (default: one a core).")
@json_option("What was written as JSON.")
def export(out: Path, folder: Path, profile: str, tags: str | None, jobs: int | None, as_json: bool) -> None:
    """Write the cases of a corpus as a kit to the folder OUT, or to an archive if OUT ends with .tar.gz.

    A kit has the binary logs and, as JSON lines, what a correct reader gets of them. It needs no Python.

    \b
    Example:
      forge corpus export out/kit
      forge corpus export out/smoke.tar.gz --profile smoke
      forge corpus export out/kit --tags 'mysql-8.0 & rows & !JSON'
    """
    require_arrow()
    import msgspec

    from forge.conform.kit.export import export_kit

    with progress_to("cases written") as report:
        kit = export_kit(folder, out, profile=profile, tags=tags, jobs=jobs, progress=report)
    if as_json:
        echo(json.dumps(msgspec.to_builtins(kit)))
    else:
        echo(f"{out}: {counted(kit.cases, 'case')}, corpus version {kit.corpus}, profile {kit.profile}")


@click.command(short_help="Give new cases of the shipped corpus their ids.")
@corpus_option
@click.option("--check", is_flag=True, help="Only say what would change; exit code 1 if anything would.")
def freeze(folder: Path, check: bool) -> None:
    """Give the cases of the shipped corpus that are new, or whose bytes changed, short ids that stay.

    \b
    Example:
      forge corpus freeze
      forge corpus freeze --check
    """
    require_arrow()
    from forge.conform.kit.registry import read_registry, registry_path, registry_text
    from forge.corpus.manifest import read_entries

    before = read_registry()
    after = before.frozen(read_entries(folder))
    new = len(after.rows) - len(before.rows)
    retired = sum(row.retired is not None for row in after.rows) - sum(row.retired is not None for row in before.rows)
    said = f"{new} new ids, of which {retired} are of cases whose bytes changed"
    if not check:
        registry_path().parent.mkdir(exist_ok=True)
        write_output(str(registry_path()), registry_text(after))
        echo(f"{said}: corpus version {after.version}")
    elif new:
        raise CheckFailed(f"{said}: run `forge corpus freeze`")
    else:
        echo(f"all {len(after.rows)} ids stand: corpus version {after.version}")
