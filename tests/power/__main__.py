"""Measures the power of the corpus: ``python -m tests.power --corpus out/corpus``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from forge.conform.kit.profiles import featured_entries, kit_entries
from forge.corpus.manifest import read_entries
from tests.power.choice import adding, listed
from tests.power.kept import readings
from tests.power.logs import logs_of_corpus, real_logs, spread
from tests.power.measure import Sample, covered, measured
from tests.power.subjects import SUBJECTS

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--corpus", type=_FOLDER, required=True, help="A corpus that `forge corpus build` made.")
@click.option("--real", type=_FOLDER, multiple=True, help="A folder of real logs, to compare with. Repeatable.")
@click.option("--subject", "names", multiple=True, type=click.Choice(list(SUBJECTS)), help="Only this decoder.")
@click.option("--sample", "size", default=1000, help="Mutants of each decoder (0: all).")
@click.option("--seed", default=1, help="Which of them.")
@click.option("--tries", default=400, help="Logs that a mutant is tried with, at most (0: all that run it).")
@click.option("--jobs", default=1, help="Processes.")
@click.option("--largest", default=1 << 15, help="Only logs of at most so many bytes.")
@click.option("--logs", "most", default=0, help="No more logs than this, of all files of scenarios (0: all).")
@click.option("--json", "out", type=_FILE, required=True, help="The figures; what logs reach is kept beside them.")
@click.option("--adding", "cases", type=_FILE, help="Write the cases that add something, for the profile smoke.")
def main(
    corpus: Path, real: tuple[Path, ...], names: tuple[str, ...], jobs: int, largest: int, most: int, out: Path,
    cases: Path | None, **sample: int,
) -> None:  # fmt: skip
    """Measure lines, branches and mutants of decoders under a corpus."""
    logs = logs_of_corpus(corpus, largest)
    logs = spread(logs, most) if most else logs
    others = real_logs(real, 1 << 20)
    figures = json.loads(out.read_text()) if out.exists() else {}

    def say(text: str) -> None:
        click.echo(text, err=True)

    subjects = [SUBJECTS[name]() for name in names or SUBJECTS]
    read = [readings(subject, logs, out.parent / "kept", jobs, say) for subject in subjects]
    entries = kit_entries(read_entries(corpus))
    chosen = adding(entries, logs, [reached for reached, _ in read], featured_entries(entries))
    measures = []
    for subject, (reached, right) in zip(subjects, read, strict=True):
        found = measured(
            subject,
            logs,
            reached,
            right,
            favoured=chosen.keys(),
            sample=Sample(**sample),
            folder=out.parent / "kept",
            jobs=jobs,
            say=say,
        )
        measures.append(found)
        figures[subject.name] = found.figures
        if others:
            of_real = readings(subject, others, out.parent / "kept", jobs, say)[0]
            figures[subject.name]["real"] = covered(subject, of_real) | {"logs": len(others)}
        of_corpus = found.figures["corpus"]
        click.echo(
            f"{subject.name}: lines {of_corpus['hit'] / of_corpus['lines']:.1%}, "
            f"branches {of_corpus['taken'] / of_corpus['branches']:.1%}, "
            f"mutants {found.figures['killed'] / max(1, found.figures['tried']):.1%} of {found.figures['tried']}"
        )
        out.write_text(json.dumps(figures, indent=1))
    if cases is not None:
        cases.write_text(listed(entries, logs, chosen, measures))


if __name__ == "__main__":
    main()
