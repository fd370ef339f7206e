"""How tests are shared out when several processes run them (``-n``, of pytest-xdist).

A file stays in one process, which builds once what its tests share.  All files that use Spark stay in one, which has
the one session.  What takes long begins first, so that all processes end at about the same time.
"""

from __future__ import annotations

from functools import cached_property

from xdist.scheduler import LoadScopeScheduling

#: Folders and files whose tests share a Spark session.
_SPARK = ("tests/spark/", "tests/corpus/test_", "tests/cli/test_corpus.py")


class Shares(LoadScopeScheduling):  # type: ignore[misc]
    """A share is a file, or all files that use Spark."""

    def _split_scope(self, nodeid: str) -> str:
        return "Spark" if nodeid.startswith(_SPARK) else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: object) -> None:
        # Fast tests are collected first (tests/conftest.py).
        self.workqueue.move_to_end(max(self.workqueue, key=self._rank), last=False)
        super()._assign_work_unit(node)

    def _rank(self, scope: str) -> tuple[bool, int]:
        return scope == "Spark", self._places[next(reversed(self.workqueue[scope]))]

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of each test in the order of collection."""
        return {nodeid: place for place, nodeid in enumerate(self.collection)}
