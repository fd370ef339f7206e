"""Record everything that a server line can say on its real server, and compare: ``python -m tests.long.lines``.

The scenarios are those of all recordings of the line's family and of the shipped corpus, of each file a few members of
its matrix.  What is not identical is kept, with the recording; the table of them all is ``OUT/LINE/outcomes.tsv``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from forge.cli.progress import progress
from forge.errors import FormatError, ScenarioError
from forge.record.builds import BUILD_OF_LINE, is_unpacked
from forge.record.client import RecordingError
from forge.record.recording import RECORDING, SCENARIO, record, verify
from forge.resources import corpora_dir, templates_dir
from forge.scenario.file_texts import read_text
from forge.scenario.matrix import base_scenario, expand
from forge.servers import server_line

#: What becomes of a scenario: the bytes are the server's or not, we or the server take it not, no server has such one.
OUTCOMES = ("identical", "differs", "refused by us", "refused by the server", "not to be recorded")


@dataclass(frozen=True, slots=True)
class Asked:
    """A scenario with the settings of one member of its matrix, or of its recording; the server is left open."""

    name: str
    path: Path
    settings: Mapping[str, Any]


def asked_of(line: str, each: int) -> Iterator[Asked]:
    """The scenarios that servers of the line's family may be asked for, ``each`` of a file at most."""
    family = server_line(line).family
    seen = set()
    for file in sorted((corpora_dir() / "recordings").rglob(RECORDING)):
        path = file.with_name(SCENARIO)
        settings = yaml.safe_load(file.read_text()).get("settings", {})
        server = settings.pop("server", None) or base_scenario(path.read_text()).server
        key = (path.read_text(), repr(settings))
        if server_line(server).family == family and key not in seen:
            seen.add(key)
            yield Asked(str(file.parent.relative_to(corpora_dir())), path, settings)
    for folder in (corpora_dir() / "scenarios", templates_dir() / "scenarios"):
        for path in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.yaml.j2"))):
            yield from _members(path, folder, family, each)


def _members(path: Path, folder: Path, family: str, each: int) -> Iterator[Asked]:
    try:
        members = [one for one in expand(read_text(path)) if server_line(one.scenario.server).family == family]
    except ScenarioError:
        return  # Those that are about what is wrong in a scenario.
    settings = [{key: value for key, value in one.choices.items() if key != "server"} for one in members]
    unlike = [one for number, one in enumerate(settings) if one not in settings[:number]]
    for one in unlike[:: -(-len(unlike) // each) or 1]:
        words = ",".join(f"{key}={value}" for key, value in one.items())
        yield Asked(f"{path.relative_to(folder.parent)}[{words}]", path, one)


def outcome_of(asked: Asked, line: str, out: Path) -> tuple[str, str]:
    """The outcome and what is said of it; a recording that is not identical stays in ``out``."""
    # Rows are logged without optional metadata where the line has none: it is no part of what most scenarios are about.
    metadata = {} if server_line(line).knows("row_metadata") else {"session.row_metadata": "minimal"}
    try:
        record(asked.path, out, parameters={**asked.settings, **metadata, "server": line})
    except ScenarioError as error:
        kind = "not to be recorded" if "recorded" in str(error) or "no server writes" in str(error) else "refused by us"
        return kind, str(error)
    except RecordingError as error:
        return "refused by the server", str(error)
    try:
        result = verify(out)
    except (ScenarioError, FormatError) as error:
        return "differs", str(error)
    if result.problem is not None:
        return "differs", str(result.problem)
    shutil.rmtree(out)
    return "identical", ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.long.lines", description=__doc__)
    lines = [line for line, build in BUILD_OF_LINE.items() if is_unpacked(build)]
    parser.add_argument("--line", choices=lines, action="append", help="default: all whose servers are unpacked")
    parser.add_argument("--out", type=Path, default=Path("out/lines"), help="folder for tables and recordings")
    parser.add_argument("--each", type=int, default=3, help="members of the matrix of a shipped scenario (3)")
    parser.add_argument("--only", default="", help="scenarios whose names have this in them")
    given = parser.parse_args()
    for line in given.line or lines:
        folder = given.out / line
        folder.mkdir(parents=True, exist_ok=True)
        asked = [one for one in asked_of(line, given.each) if given.only in one.name]
        counts: Counter[str] = Counter()
        with (folder / "outcomes.tsv").open("w") as table:
            for number, one in enumerate(progress(asked, total=len(asked), label=line)):
                kept = folder / f"{number:03}-{one.path.stem if one.path.name != SCENARIO else one.path.parent.name}"
                shutil.rmtree(kept, ignore_errors=True)
                outcome, words = outcome_of(one, line, kept)
                counts[outcome] += 1
                table.write("\t".join((outcome, one.name, kept.name, " ".join(words.split())[:400])) + "\n")
                table.flush()
        sys.stdout.write(f"{line}: {', '.join(f'{counts[outcome]} {outcome}' for outcome in OUTCOMES)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
