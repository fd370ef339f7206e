"""The mutants: each a function of a seed and a number, made of a recorded log by the mutators of ``forge fuzz``."""

from __future__ import annotations

from functools import cache

from forge.binlog.reader import MAGIC
from forge.conform.fuzz.excerpts import Sizes, excerpts_of
from forge.resources import corpora_dir
from forge.testing.draws.source import RandomSource
from forge.testing.mutations import changed_log

#: Bytes of a recording that is changed whole, and of an excerpt: larger ones take longer and show no more.
_LARGEST, _LARGEST_EXCERPT = 3000, 600
#: One mutant of so many is made of a whole recording; the others of excerpts.
_WHOLE = 64
#: Changes of one log at most.
_MOST_CHANGES = 3


@cache
def recordings() -> tuple[bytes, ...]:
    """The logs that real servers wrote, the same in every run for one state of the repository."""
    paths = sorted(corpora_dir().joinpath("recordings").rglob("*.[0-9][0-9][0-9][0-9][0-9][0-9]*"))
    logs = [path.read_bytes() for path in paths if path.is_file()]
    return tuple(dict.fromkeys(log for log in logs if log[:4] == MAGIC))


@cache
def seeds() -> tuple[bytes, ...]:
    """The small ones of them, whole."""
    return tuple(log for log in recordings() if len(log) <= _LARGEST)


@cache
def excerpts() -> tuple[tuple[bytes, ...], ...]:
    """Of each recording its FORMAT_DESCRIPTION with one transaction, or what stands between two, each once; those with
    the same types of events together.

    A reader takes as long for every event, changed or not: where few stand around the changed one, more are changed.
    """
    kinds: dict[tuple[int, ...], dict[Sizes, bytes]] = {}
    for log in recordings():
        for sizes, excerpt in excerpts_of(log):
            if len(excerpt) <= _LARGEST_EXCERPT:
                kinds.setdefault(tuple(code for code, _ in sizes[1]), {}).setdefault(sizes, excerpt)
    return tuple(tuple(several.values()) for several in kinds.values())


def mutant(seed: int, number: int) -> bytes:
    """The log of that number."""
    source = RandomSource(f"tests/fuzz/{seed}/{number}")
    data = source.one_of(source.one_of(excerpts()) if source.integer(0, _WHOLE - 1) else seeds())
    for _ in range(source.integer(1, _MOST_CHANGES)):
        data, _ = changed_log(source, data)
    return data
