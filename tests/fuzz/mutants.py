"""The mutants: each a function of a seed and a number, made of a recorded log by the mutators of ``forge fuzz``."""

from __future__ import annotations

from functools import cache

from forge.resources import corpora_dir
from forge.testing.draws.source import RandomSource
from forge.testing.mutations import changed_log

#: Bytes of a recording that is changed: larger ones take longer and show no more.
_LARGEST = 3000
#: Changes of one log at most.
_MOST_CHANGES = 3


@cache
def seeds() -> tuple[bytes, ...]:
    """The small logs that real servers wrote, the same in every run for one state of the repository."""
    paths = sorted(corpora_dir().joinpath("recordings").rglob("*.[0-9]*"))
    logs = [path.read_bytes() for path in paths if path.is_file() and path.stat().st_size <= _LARGEST]
    return tuple(dict.fromkeys(log for log in logs if log[:4] == b"\xfebin"))


def mutant(seed: int, number: int) -> bytes:
    """The log of that number."""
    source = RandomSource(f"tests/fuzz/{seed}/{number}")
    data = source.one_of(seeds())
    for _ in range(source.integer(1, _MOST_CHANGES)):
        data, _ = changed_log(source, data)
    return data
