"""Measures what the corpus reaches of foreign decoders: ``python -m tests.power.foreign --corpus out/corpus``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click

from tests.power.foreign.decoders import DECODERS
from tests.power.foreign.figures import figures
from tests.power.foreign.running import read_all
from tests.power.logs import logs_of_corpus

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option("--corpus", type=_FOLDER, required=True, help="A corpus that `forge corpus build` made.")
@click.option("--out", type=_FOLDER, required=True, help="Gets the programs, what they note, and the logs.")
@click.option("--decoder", "names", multiple=True, type=click.Choice(list(DECODERS)), help="Only this decoder.")
@click.option("--largest", default=1 << 15, help="Only logs of at most so many bytes.")
@click.option("--again", is_flag=True, help="Count what was noted before, and run nothing.")
@click.option("--json", "path", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The figures.")
def main(corpus: Path, out: Path, names: tuple[str, ...], largest: int, again: bool, path: Path) -> None:
    """Measure how much of the decode code of foreign decoders the logs of a corpus reach."""
    found = json.loads(path.read_text()) if path.exists() else {}
    logs = logs_of_corpus(corpus, largest)
    for name in names or DECODERS:
        decoder = DECODERS[name](out)
        ended = found.get(name, {}).get("ended", [])
        if not again:
            shutil.rmtree(decoder.notes)
            decoder.notes.mkdir()
            decoder.build()
            ended = read_all(
                decoder.folder / name, decoder.run_with(), logs, out / "logs", lambda text: click.echo(text, err=True)
            )
        found[name] = figures(name, decoder.parts(), decoder.sources)
        found[name] |= {"language": decoder.language, "unit": decoder.unit, "logs": len(logs), "ended": ended}
        path.write_text(json.dumps(found, indent=1))
        click.echo(
            f"{name}: {found[name]['hit'] / found[name]['counted']:.1%} of {found[name]['counted']} {decoder.unit}"
        )


if __name__ == "__main__":
    main()
