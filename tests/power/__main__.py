"""Measures the power of the corpus: ``python -m tests.power --corpus out/corpus``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tests.power.logs import logs_of_corpus, real_logs, spread
from tests.power.measure import measured
from tests.power.subjects import SUBJECTS

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.option("--corpus", type=_FOLDER, required=True, help="A corpus that `forge corpus build` made.")
@click.option("--real", type=_FOLDER, multiple=True, help="A folder of real logs, to compare with. Repeatable.")
@click.option("--subject", "names", multiple=True, type=click.Choice(list(SUBJECTS)), help="Only this decoder.")
@click.option("--sample", default=1000, help="Mutants of each decoder (0: all).")
@click.option("--seed", default=1, help="Which of them.")
@click.option("--jobs", default=1, help="Processes.")
@click.option("--largest", default=1 << 15, help="Only logs of at most so many bytes.")
@click.option("--logs", "most", default=0, help="No more logs than this, of all files of scenarios (0: all).")
@click.option("--json", "out", type=click.Path(path_type=Path), required=True, help="The figures.")
def main(
    corpus: Path, real: tuple[Path, ...], names: tuple[str, ...], sample: int, seed: int, jobs: int, largest: int,
    most: int,
    out: Path,
) -> None:  # fmt: skip
    """Measure lines, branches and mutants of decoders under a corpus."""
    logs = logs_of_corpus(corpus, largest)
    logs = spread(logs, most) if most else logs
    others = real_logs(real, 1 << 20)
    figures = json.loads(out.read_text()) if out.exists() else {}
    for name in names or SUBJECTS:
        found = measured(
            SUBJECTS[name], logs, others, sample=sample, seed=seed, jobs=jobs,
            say=lambda text: click.echo(text, err=True),
        )  # fmt: skip
        figures[name] = found | {"sample": sample, "seed": seed}
        out.write_text(json.dumps(figures, indent=1))
        covered = found["corpus"]
        click.echo(
            f"{name}: lines {covered['hit'] / covered['lines']:.1%}, "
            f"branches {covered['taken'] / covered['branches']:.1%}, "
            f"mutants {found['killed'] / max(1, found['tried']):.1%} of {found['tried']}"
        )


if __name__ == "__main__":
    main()
