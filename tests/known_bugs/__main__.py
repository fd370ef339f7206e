"""Catch the known bugs of other decoders again: ``python -m tests.known_bugs --kit out/kit --programs out/known-bugs``.

Each release is built by ``.ci/release`` with the ordinary client of its language; what cannot be built here is said.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import click

from forge.conform.kit.reading import open_kit
from forge.conform.known_bugs import KnownBug, read_known_bugs
from forge.conform.testee import Limits
from tests.known_bugs.catching import Caught, catch

_BUILD = Path(__file__).resolve().parents[2] / ".ci" / "release"


def main() -> int:
    """Exit code 1 if a bug that was run is not caught."""
    parser = argparse.ArgumentParser(prog="tests.known_bugs", description=__doc__)
    parser.add_argument("--kit", type=Path, default=Path("out/kit"))
    parser.add_argument("--programs", type=Path, default=Path("out/known-bugs"), help="where releases are built")
    parser.add_argument("--bug", type=int, action="append", help="only this number; repeatable")
    parser.add_argument("--decoder", help="only bugs of this decoder")
    parser.add_argument("--json", type=Path, help="write the results here")
    asked = parser.parse_args()
    bugs = [bug for bug in read_known_bugs() if _wanted(bug, asked.bug, asked.decoder)]
    programs = _built(sorted({release for bug in bugs for release in bug.releases}), asked.programs)
    caught = catch(bugs, open_kit(asked.kit), programs, limits=Limits(seconds=5.0), done=_say)
    if asked.json is not None:
        rows = [{"number": one.bug.number, "problems": one.problems} for one in caught]
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    right = sum(not one.problems for one in caught)
    mended = sum(not one.problems and one.bug.good is not None for one in caught)
    unbuilt = sum(bool(bug.releases) for bug in bugs) - len(caught)
    cases = sum(bool(bug.cases) and not bug.releases for bug in bugs)
    none = sum(bug.why_none is not None for bug in bugs)
    click.echo(f"{right} of {len(caught)} bugs are caught again, {mended} of them mended in a later release")
    click.echo(f"{unbuilt} have releases that cannot be built here")
    click.echo(f"{cases} have cases and no releases to run; {none} have no case")
    return 0 if right == len(caught) else 1


def _wanted(bug: KnownBug, numbers: list[int] | None, decoder: str | None) -> bool:
    of_decoder = decoder is None or any(release.split()[0] == decoder for release in bug.releases)
    return (not numbers or bug.number in numbers) and of_decoder


def _built(releases: list[str], folder: Path) -> dict[str, Path]:
    programs = {}
    for number, release in enumerate(releases, start=1):
        if sys.stderr.isatty():
            click.echo(f"\rbuilding {number} of {len(releases)}: {release:<40}", nl=False, err=True)
        name, version = release.split()
        ran = subprocess.run([_BUILD, folder, name, version], capture_output=True, text=True, check=False)
        if ran.returncode:
            click.echo(f"{release}: not built: {(ran.stderr.strip().splitlines() or ['no word'])[-1][:200]}")
        else:
            programs[release] = (folder / f"{name}-{version}").resolve()
    return programs


def _say(caught: Caught) -> None:
    bug = caught.bug
    state = "NOT CAUGHT" if caught.problems else "caught"
    click.echo(f"{bug.number:>3} {state}: {bug.bad} -> {bug.good or 'unmended'}: {bug.what} ({', '.join(bug.issues)})")
    for problem in caught.problems:
        click.echo(f"      {problem[:300]}")


if __name__ == "__main__":
    sys.exit(main())
