"""``forge build``."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.case_names import LISTED, folder_names, named_case
from forge.cli.inputs import read_scenario, shown
from forge.cli.output import STDOUT, echo, is_folder, refuse_inputs, write_binlogs
from forge.cli.parameters import FILE, case_option, json_option, output_option, settings_options
from forge.cli.progress import progress
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.scenario import Case
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("file", type=FILE)
@output_option("Output: a file, a folder (a new one needs a slash at its end), or - for standard output.")
@settings_options("Use this server line instead of the scenario's, e.g. mysql-8.4.")
@case_option("Only this case of the scenario's matrix.")
@json_option("One JSON object per case: its name, and the path, size and sha256 of each file.")
def command(file: str, output: str, settings: OptionSettings, case_name: str | None, as_json: bool) -> None:
    """Compile the scenario FILE (- for standard input) into a binary log.

    A session that rotates makes several files and an index file: name the first one as output, or a folder. A scenario
    with a matrix makes several cases: name a folder as output, and each case gets a folder of its own inside it. The
    command prints what it writes into a folder.

    \b
    Example:
      forge build first.yaml -o first.000001
      forge build family.yaml -o family/
      forge build family.yaml --set session.row_image=minimal --server mysql-8.4 -o minimal.000001
    """
    from forge.scenario import expand

    if as_json and output == STDOUT:
        raise click.UsageError("--json lists the files that are written, and -o - writes none")
    refuse_inputs([output], [file])
    cases = expand(read_scenario(file), file=shown(file), settings=settings)
    if case_name is not None:
        _build(named_case(list(cases), case_name, file), file, output, as_json)
        return
    first = list(itertools.islice(cases, LISTED))
    if not first:
        raise ScenarioError("the matrix excludes every combination of its values", file=shown(file))
    if len(first) == 1:
        _build(first[0], file, output, as_json)
    elif is_folder(output):
        _build_all([*first, *cases], file, output, as_json)
    else:
        raise ScenarioError(
            f"the matrix makes several cases, but {output} is one file",
            file=shown(file),
            expected="a folder with a slash at its end for all of them; or one of them,"
            f" by --case {first[0].name!r} or by --set KEY=VALUE for each key of the matrix",
        )


def _build_all(cases: list[Case], file: str, output: str, as_json: bool) -> None:
    """Build every case into a folder of its own; a case that cannot be built does not stop the others."""
    Path(output).mkdir(exist_ok=True)
    folders = folder_names([case.name for case in cases])
    failures: list[tuple[str, ScenarioError]] = []
    for case, folder in zip(progress(cases, total=len(cases), label="cases"), folders, strict=True):
        try:
            _build(case, file, str(Path(output) / folder) + os.sep, as_json)
        except ScenarioError as error:
            failures.append((case.name, error))
    if not as_json:
        echo(f"{len(cases) - len(failures)} of {len(cases)} cases")
    if failures:
        name, problem = failures[0]
        raise ScenarioError(f"{len(failures)} of {len(cases)} cases cannot be built; the first is {name}: {problem}")


def _build(case: Case, file: str, output: str, as_json: bool) -> None:
    from forge.compile import compile_files, file_names, files_in_pieces, index_of_plan
    from forge.scenario import plan

    try:
        planned = plan(case.scenario)
        files = [_Measured(pieces) for pieces in files_in_pieces(planned, compile_files(planned))]
        names = file_names(planned, len(files))
        index = index_of_plan(planned, len(files))
        # Nothing of a file goes to standard output before all of it is known to be right.
        pieces = [b"".join(each) for each in files] if output == STDOUT else files
        paths = write_binlogs(output, list(zip(names, pieces, strict=True)), index, inputs=[file])
    except ScenarioError as error:
        raise error.at(shown(file), None) from None
    if as_json:
        described = [
            {"path": path, "size": data.size, "sha256": data.hash.hexdigest()}
            for path, data in zip(paths, files, strict=True)
        ]
        echo(json.dumps({"case": case.name, "files": described}, ensure_ascii=False))
    elif is_folder(output):
        for path, data in zip(paths, files, strict=True):
            echo(f"{path}: {data.size} bytes")


class _Measured:
    """The pieces of a file, which are counted as they go by."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.size = 0
        self.hash = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.size += len(piece)
            self.hash.update(piece)
            yield piece
