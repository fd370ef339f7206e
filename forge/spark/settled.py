"""What our tasks do for the Python process that runs them, which Spark keeps for later tasks.

Tasks load this module, so it needs little.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import TypeVar

_Item = TypeVar("_Item")

#: Modules that the process had when it was settled.
_known = 0


def settle() -> None:
    """What the process has loaded is there to stay: call it at the end of a task.

    Spark looks for garbage after each task (pyspark/daemon.py).  Among all modules and kernels that takes 50 ms, as
    much as reading 10 MB of a log.
    """
    global _known
    if len(sys.modules) > _known:
        _known = len(sys.modules)
        gc.collect()
        gc.freeze()


def settled(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items; the process is settled behind the last one."""
    yield from items
    settle()
