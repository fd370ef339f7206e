"""A replica on paper: what an applier of a server line makes of a log on tables of its own (docs/replay.md)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """The room: ``forge.replay`` is the function as well, whose name an import of a module in here takes."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        from forge.replay.end_state import replay

        return replay(*given, **named)


sys.modules[__name__].__class__ = _Room
