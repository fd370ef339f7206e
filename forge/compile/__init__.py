"""Policy: what a server logs of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.events.event import Event
    from forge.plan.plan import Plan


def compile_plan(plan: Plan) -> list[Event]:
    """The events of the file that a server of the plan's line would have written (``forge.compile.files``)."""
    from forge.compile.files.compilation import compile_plan as compile_events

    return compile_events(plan)


def compile_files(plan: Plan) -> list[list[Event]]:
    """The events of every file of the plan (``forge.compile.files.compilation``)."""
    from forge.compile.files.compilation import compile_files as compile_all

    return compile_all(plan)


__all__ = ["compile_files", "compile_plan"]
