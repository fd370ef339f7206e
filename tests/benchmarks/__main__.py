"""Times ours and the peers on the same logs, in rounds, and says what ratios come out."""

from __future__ import annotations

import compileall
import importlib.metadata
import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import click

import forge
from forge.check.decoders.vendors.program import servers_home
from forge.errors import ForgeError
from forge.record.builds import is_unpacked
from tests.benchmarks.lines import LINES, Line
from tests.benchmarks.peers import builds
from tests.benchmarks.results import document, figure_of, table
from tests.benchmarks.run import Run
from tests.benchmarks.subjects import Subjects
from tests.benchmarks.tables import SIZES, TINY
from tests.benchmarks.workloads import Workloads

_FILE = click.Path(path_type=Path)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _chosen(wanted: str | None) -> list[Line]:
    if wanted is None:
        return list(LINES)
    names = set(wanted.upper().split(","))
    known = {line.name.upper() for line in LINES} | {line.workload.upper() for line in LINES}
    if names - known:
        unknown = ", ".join(sorted(names - known))
        raise click.BadParameter(f"no line or workload is called {unknown}; known: {', '.join(sorted(known))}")
    return [line for line in LINES if names & {line.name.upper(), line.workload.upper()}]


def _versions() -> dict[str, str]:
    versions = builds.versions() | {name: importlib.metadata.version(name) for name in ("numba", "numpy", "pyarrow")}
    try:
        versions["python-mysql-replication"] = importlib.metadata.version("mysql-replication")
    except importlib.metadata.PackageNotFoundError:
        versions["python-mysql-replication"] = "missing"
    if is_unpacked("mysql97"):
        asked = [str(servers_home() / "mysql97.run"), "mysqlbinlog", "--version"]
        words = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
        versions["mysqld, mysqlbinlog"] = words[words.index("Ver") + 1]
    else:
        versions["mysqld, mysqlbinlog"] = "missing"
    return versions


@click.command(help=__doc__)
@click.option("--rounds", default=5, show_default=True, help="Rounds; medians are taken over them.")
@click.option("--only", metavar="NAME,...", help="Lines (E1) or workloads (W2).")
@click.option("--before", metavar="REV", help="The revision that the reference path is compared with.")
@click.option("--folder", type=_FILE, default=Path("out/benchmarks"), show_default=True, help="Keeps the workloads.")
@click.option("--tiny", is_flag=True, help="Small workloads: to see that everything runs.")
@click.option("--json", "output", type=_FILE, metavar="FILE", help="Write the results there.")
@click.option("--make-only", is_flag=True, help="Make the workloads, and time nothing.")
def main(
    rounds: int, only: str | None, before: str | None, folder: Path, tiny: bool, output: Path | None, make_only: bool,
) -> None:  # fmt: skip
    lines = _chosen(only)
    workloads = Workloads(folder.resolve(), TINY if tiny else SIZES)
    try:
        workloads.make(_say)
    except ForgeError as error:
        raise click.ClickException(str(error)) from None
    if make_only:
        return
    # As where it was installed: a start reads bytecode, also after a source has changed.
    compileall.compile_dir(Path(forge.__file__).parent, quiet=2)
    run = Run(rounds)
    with ExitStack() as resources:
        run.measure(lines, Subjects(workloads, before, resources).get, _say)
    figures = [figure_of(line, run) for line in lines]
    click.echo(table(figures))
    loads = ", ".join(f"{load:.2f}" for load in run.load)
    click.echo(f"{run.rounds} rounds; load average {loads}")
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(document(run, figures, _versions()), indent=1, ensure_ascii=False) + "\n")
    if run.failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
