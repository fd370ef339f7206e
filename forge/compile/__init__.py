"""Policy: what a server logs of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.compile.model import Plan
    from forge.events.event import Event


def compile_plan(plan: Plan) -> list[Event]:
    """The events of the file that a server of the plan's line would have written (``forge.compile.file``)."""
    from forge.compile.file import compile_plan as compile_events

    return compile_events(plan)


__all__ = ["compile_plan"]
