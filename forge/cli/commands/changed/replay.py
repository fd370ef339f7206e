"""``forge replay``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.output import STDOUT, write_files, write_output
from forge.cli.parameters import FILE, FILE_OR_FOLDER, FOLDER, json_option, server_option
from forge.errors import CheckFailed, ScenarioError, counted

if TYPE_CHECKING:
    from forge.replay.end_state import State


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=FILE)
@click.option(
    "--onto",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The replica's tables and rows: a SQL script or a scenario.",
)
@server_option("--as", "line", help="Server line of the replica (default: the scenario's).")
@click.option(
    "--set", "variables", multiple=True, metavar="NAME=VALUE",
    help="A variable of the replica: replica_type_conversions, replica_exec_mode.",
)  # fmt: skip
@click.option("--rows-only", is_flag=True, help="Leave out statements that make or drop what --onto declares.")
@click.option("-o", "--output", "folder", type=FOLDER, help="Folder for the end state: a file TABLE.jsonl a table.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="Form of the files of -o; parquet needs the extra `rows`.",
)
@click.option(
    "--expect", type=FILE_OR_FOLDER, help="Rows that the tables must have: a folder of -o, or one of its files."
)
@json_option("One JSON object.")
def command(
    logs: tuple[str, ...],
    onto: str,
    line: str | None,
    variables: tuple[str, ...],
    rows_only: bool,
    folder: Path | None,
    form: str,
    expect: Path | None,
    as_json: bool,
) -> None:
    """Say what a replica makes of binary logs: how it finds and converts rows, where it stops, what it has at the end.

    The replica's tables may differ from the source's. What no real replica was seen to do is refused, never guessed.
    Exit code 1 if the replica stops with an error, or does not have the rows of --expect.

    \b
    Example:
      forge replay binlog.000001 --onto replica.sql --as mysql-9.7
      forge replay binlog.000001 --onto replica.sql --set replica_type_conversions=ALL_NON_LOSSY -o state
      forge replay binlog.000001 --onto replica.sql --expect state
    """
    from forge.replay.end_state import replay

    state = replay(logs, onto=Path(onto), line=line, settings=_settings(variables), rows_only=rows_only)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        of_table = state.lines if form == "jsonl" else lambda name: _parquet(state, name)
        write_files([(str(folder / f"{name}.{form}"), of_table(name)) for name in state.tables])
    write_output(STDOUT, json.dumps(_object(state), ensure_ascii=False) + "\n" if as_json else _report(state))
    different = [] if expect is None else list(_differences(state, expect))
    if different and not as_json:
        write_output(STDOUT, (line + "\n" for line in different))
    if state.error is not None:
        raise CheckFailed(f"the replica stops: error {state.error.code}")
    if different:
        raise CheckFailed("the replica has other rows than expected")


def _parquet(state: State, table: str) -> bytes:
    import io

    made, file = state.arrow(table), io.BytesIO()
    from pyarrow import parquet

    parquet.write_table(made, file)
    return file.getvalue()


def _settings(variables: Iterable[str]) -> dict[str, str]:
    settings = {}
    for word in variables:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise ScenarioError(f"--set {word!r} sets nothing", expected="--set name=value")
        settings[name] = value
    return settings


def _object(state: State) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "line": state.line,
        "error": None if state.error is None else asdict(state.error),
        "left_out": list(state.left_out),
        "notes": [asdict(note) for note in state.notes],
        "rows": {name: state.count(name) for name in state.tables},
    }


def _report(state: State) -> Iterator[str]:
    for text in state.left_out:
        yield f"left out: {text}\n"
    for note in state.notes:
        yield f"{note}\n"
    for name in state.tables:
        yield f"{name}: {counted(state.count(name), 'row')}\n"
    if state.error is not None:
        yield f"stopped at {state.error}\n"


def _differences(state: State, expect: Path) -> Iterator[str]:
    """Rows that are missing (-) and too many (+).  Raises OSError; ScenarioError for what is no such file."""
    files = sorted(expect.glob("*.jsonl")) if expect.is_dir() else [expect]
    if not files:
        raise ScenarioError(f"{expect} has no files *.jsonl", expected="a folder that -o wrote")
    for file in files:
        name = file.name.removesuffix(".jsonl")
        try:
            wanted = Counter(_row(dict(json.loads(text))) for text in file.read_text("utf-8").splitlines())
        except (ValueError, TypeError):
            raise ScenarioError("this is not a row a line", file=str(file), expected="a JSON object a line") from None
        found = Counter(map(_row, state.rows(name))) if name in state.tables else Counter[str]()
        yield from (f"- {name} {row}" for row in (wanted - found).elements())
        yield from (f"+ {name} {row}" for row in (found - wanted).elements())


def _row(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False)
