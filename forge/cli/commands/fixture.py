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
from forge.cli.parameters import (
    FILE,
    case_option,
    complete_languages,
    complete_readers,
    json_option,
    out_option,
    settings_options,
)
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.scenario.matrix import OptionSettings
    from forge.testing.fixtures.languages import Reader
    from forge.testing.fixtures.model import Fixture

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
@click.option(
    "--reader",
    metavar="LIBRARY",
    shell_complete=complete_readers,
    help="A reader that is filled in: go-mysql, mysql-binlog-connector-java, debezium-connector, "
    "python-mysql-replication, zongji or mysql_common.",
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
    reader: str | None,
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

    A second file has the reader, which you fill in: the test fails until then. --reader makes one that calls a library.
    All tests of a folder share it, and it is made once; making a test again replaces the test alone.

    \b
    Example:
      forge fixture orders.yaml --lang go --reader go-mysql --package shop -o shop/
      forge fixture orders.yaml --lang java --package com.acme -o src/test
      forge fixture binlog.000001 --only-transactions 1-3 --anonymise seed --lang python -o tests/
    """
    from forge.scenario import expand
    from forge.testing.fixtures.fixture import fixture_of
    from forge.testing.fixtures.languages import READERS
    from forge.testing.fixtures.write import fixture_files, library_of, reader_path

    if is_log(file):
        from forge.scenario.script import scenario_text

        cases = list(expand(scenario_text(part.retold(file, settings).tree), file=shown(file)))
    else:
        part.refuse(file)
        cases = list(expand(read_scenario(file), file=shown(file), settings=settings))
    case = only_case(cases, file) if case_name is None else named_case(cases, case_name, file)
    try:
        fixture = fixture_of(case.scenario, case.name)
        reader = _reader_of(out / reader_path(fixture, language, package=package), reader)
        known = None if reader is None else _known(fixture, library_of(reader, language))
        files = fixture_files(fixture, language, package=package, embed=embed, reader=reader, known=known)
    except ScenarioError as error:
        raise error.at(shown(file), None) from None
    contents = [(out / name, data) for name, data in files.tests.items()]
    name, made = files.reader
    is_new = not (out / name).exists()
    if is_new:
        contents.append((out / name, made))
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
    what = "to be filled in" if reader is None else f"which calls {reader}"
    echo(f"{out / name}: the reader, {what if is_new else 'left as it is'}")
    if reader is not None:
        echo(f"add to your project: {', '.join(READERS[reader].dependencies)}")


def _reader_of(path: Path, wanted: str | None) -> str | None:
    """The library that the reader's file calls, if it is there already.  Raises ScenarioError if it is another."""
    from forge.testing.fixtures.write import reader_made

    if not path.exists():
        return wanted
    found = reader_made(path.read_text(errors="replace"))
    if wanted not in (None, found):
        raise ScenarioError(
            f"{shown(str(path))} is there, and calls {found or 'a reader of yours'}, not {wanted}",
            expected="another folder with -o, or no --reader",
        )
    return found


def _known(fixture: Fixture, library: Reader) -> dict[str, list[str]]:
    """The findings of a library that the logs may show, a line each, by the log's name."""
    from forge.conform.findings.records import read_findings
    from forge.conform.findings.traits import findings_shown_by

    findings = [one for one in read_findings() if one.decoder == library.testee and one.status in ("open", "unshown")]
    return {
        log.name: [f"{one.name}: {one.title}" for one in findings_shown_by(log.data, findings)] for log in fixture.logs
    }
