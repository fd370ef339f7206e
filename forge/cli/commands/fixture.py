"""``forge fixture``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.case_names import named_case, only_case
from forge.cli.inputs import read_scenario, shown
from forge.cli.logs_as_scenarios import LogPart, is_log, log_options
from forge.cli.output import echo, refuse_inputs, write_files
from forge.cli.parameters import FILE, case_option, complete_languages, json_option, out_option, settings_options
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.scenario.matrix import OptionSettings

#: What ``forge.testing.fixtures.write`` has; that module is imported when the command runs.
_EMBEDDED = 4096
#: A larger one is more than a method of Java holds.
_MOST_EMBEDDED = 65536


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--lang",
    "language",
    required=True,
    shell_complete=complete_languages,
    metavar="LANGUAGE",
    help="go, java, rust, python, node, c, csharp or kotlin.",
)
@out_option(
    "The folder of the tests; for java and kotlin the one that has java/ and resources/, such as src/test.",
    required=True,
)
@click.option("--package", metavar="NAME", help="Package or namespace (go, java, kotlin, csharp, python).")
@click.option(
    "--embed",
    type=click.IntRange(0, _MOST_EMBEDDED),
    default=_EMBEDDED,
    metavar="BYTES",
    help="Put logs of up to so many bytes into the test; larger ones stand beside it (default 4096).",
)
@settings_options("Use this server line instead of the scenario's.")
@case_option("This case of the scenario's matrix.")
@log_options
@json_option("What was written as JSON.")
def command(
    file: str,
    language: str,
    out: Path,
    package: str | None,
    embed: int,
    settings: OptionSettings,
    case_name: str | None,
    part: LogPart,
    as_json: bool,
) -> None:  # fmt: skip
    """Make a test in another language: the log of the scenario FILE, and the rows that a correct reader gets.

    FILE may be a binary log, or a part of one, in the place of its scenario.

    A second file has the reader, which you fill in: the test fails until then. All tests of a folder share it, and it
    is made once; making a test again replaces the test alone.

    \b
    Example:
      forge fixture orders.yaml --lang go --package shop -o shop/
      forge fixture orders.yaml --lang java --package com.acme -o src/test
      forge fixture binlog.000001 --only-transactions 1-3 --anonymise seed --lang python -o tests/
    """
    from forge.scenario import expand
    from forge.testing.fixtures.fixture import fixture_of
    from forge.testing.fixtures.write import fixture_files

    if is_log(file):
        from forge.scenario.script import scenario_text

        cases = list(expand(scenario_text(part.retold(file, settings).tree), file=shown(file)))
    else:
        part.refuse(file)
        cases = list(expand(read_scenario(file), file=shown(file), settings=settings))
    case = only_case(cases, file) if case_name is None else named_case(cases, case_name, file)
    try:
        files = fixture_files(fixture_of(case.scenario, case.name), language, package=package, embed=embed)
    except ScenarioError as error:
        raise error.at(shown(file), None) from None
    contents = [(out / name, data) for name, data in files.tests.items()]
    name, reader = files.reader
    is_new = not (out / name).exists()
    if is_new:
        contents.append((out / name, reader))
    refuse_inputs([str(path) for path, _ in contents], [file])
    for path, _ in contents:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_files([(str(path), data) for path, data in contents])
    if as_json:
        written = [{"path": str(path), "size": len(data)} for path, data in contents]
        echo(json.dumps({"case": case.name, "files": written, "reader": str(out / name)}, ensure_ascii=False))
        return
    for path, data in contents:
        echo(f"{path}: {len(data)} bytes")
    echo(f"{out / name}: {'the reader, to be filled in' if is_new else 'the reader, left as it is'}")
