"""Progress of a Spark job."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge.progress import Progress

if TYPE_CHECKING:
    from pyspark import SparkContext

#: Seconds between two looks at the progress.
_TICK = 0.2


@contextlib.contextmanager
def watched(context: SparkContext | None, progress: Progress | None) -> Iterator[None]:
    """Tell ``progress`` how many tasks of the running stage are done, until the block ends.

    Spark Connect has no context, and tells nothing.
    """
    if progress is None or context is None:
        yield
        return
    finished = threading.Event()

    def watch() -> None:
        tracker = context.statusTracker()
        while not finished.wait(_TICK):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            largest = max((stage for stage in stages if stage), key=lambda stage: stage.numTasks, default=None)
            if largest is not None:
                progress(largest.numCompletedTasks, largest.numTasks)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
