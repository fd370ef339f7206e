"""Known bugs of other decoders, caught again.

A bug is *caught* if the release of a decoder that had it fails each of its cases, and the release that mended it reads
them right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.conform.kit.case_files import KitCase
from forge.conform.kit.reading import OpenKit
from forge.conform.known_bugs import KnownBug
from forge.conform.runner import CaseResult, run_cases
from forge.conform.testee import Limits
from forge.errors import ForgeError


@dataclass(frozen=True, slots=True)
class Caught:
    """What came of one bug.  ``problems`` are sentences; none, if it is caught."""

    bug: KnownBug
    problems: tuple[str, ...]


def catch(
    bugs: list[KnownBug],
    kit: OpenKit,
    programs: Mapping[str, Path],
    *,
    limits: Limits | None = None,
    done: Callable[[Caught], None] | None = None,
) -> list[Caught]:
    """Run the bugs both of whose releases have a program.

    A release is asked for each of its cases once.  One that does not start, or does not say hello, catches no bug.
    """
    by_name = {case.case: case for case in kit.cases}
    runnable = [bug for bug in bugs if bug.releases and all(release in programs for release in bug.releases)]
    results: dict[str, dict[str, CaseResult]] = {}
    silent: dict[str, str] = {}
    for release in sorted({release for bug in runnable for release in bug.releases}):
        try:
            results[release] = _results(release, runnable, by_name, kit, programs[release], limits)
        except ForgeError as error:
            silent[release] = f"{release}: {error}"
    caught: list[Caught] = []
    for bug in runnable:
        problems = [silent[release] for release in bug.releases if release in silent] or _misses(bug, results)
        caught.append(Caught(bug, tuple(problems)))
        if done is not None:
            done(caught[-1])
    return caught


def _results(
    release: str,
    bugs: list[KnownBug],
    by_name: Mapping[str, KitCase],
    kit: OpenKit,
    program: Path,
    limits: Limits | None,
) -> dict[str, CaseResult]:
    names = sorted({case for bug in bugs if release in bug.releases for case in bug.cases if case in by_name})
    _, results = run_cases(kit, [by_name[name] for name in names], str(program), limits=limits)
    return {result.case.case: result for result in results}


def _misses(bug: KnownBug, results: Mapping[str, Mapping[str, CaseResult]]) -> list[str]:
    problems = []
    for case in bug.cases:
        for release, fails in ((bug.bad, True), (bug.good, False)):
            if release is None:
                continue
            result = results[release].get(case)
            if result is None:
                problems.append(f"the kit has no case {case}")
            elif result.right is fails:
                said = "reads it right" if fails else f"{result.outcome}: {result.message}"
                problems.append(f"{release}, {case}: {said}")
    return problems
