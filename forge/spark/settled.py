"""What our tasks do for the Python process that runs them, which Spark keeps for later tasks.

Tasks load this module, so it needs little.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TypeVar

_Item = TypeVar("_Item")

_is_settled = False


def settled(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items.  Behind the last ones of its first task, what a process has loaded is there to stay.

    Spark looks for garbage after each task (pyspark/daemon.py).  Among all modules and kernels that takes 50 ms, as
    much as reading 10 MB of a log.
    """
    global _is_settled
    yield from items
    if not _is_settled:
        _is_settled = True
        gc.collect()
        gc.freeze()
