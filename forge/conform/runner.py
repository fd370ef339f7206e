"""Cases of a kit put to a testee, several at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from forge.check.compare.differences import Difference
from forge.conform.comparison import Comparison
from forge.conform.expected_failures import ExpectedFailure
from forge.conform.forms import Forms
from forge.conform.judgement import Twins, judged
from forge.conform.kit.case_files import KitCase
from forge.conform.kit.protocol import Hello, Level
from forge.conform.kit.reading import OpenKit
from forge.conform.testee import Limits, Testee
from forge.corpus.outcomes import RIGHT, Outcome, weightiest
from forge.progress import Progress

#: What a result means beside a list of expected failures: as it has to be; a failure that is listed; one that is not;
#: a listed one that fails otherwise; a listed one that is right now.
Standing = Literal["right", "expected", "unexpected", "other", "mended"]
#: Standings that make a run fail.
BAD: frozenset[Standing] = frozenset(("unexpected", "other", "mended"))
#: How many bytes of answers a file may take: so many, and so many times what the kit expects of it.
_SPARE, _WORDIER = 8 << 20, 16


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case.  ``message`` is the first difference, or the testee's words; ``file`` is where.

    ``others`` are differences of other columns and kinds than the first; ``differences`` is the number of all.
    """

    case: KitCase
    outcome: Outcome
    message: str | None = None
    file: str | None = None
    difference: Difference | None = None
    warnings: tuple[str, ...] = ()
    rows: int = 0
    cells: int = 0
    not_shown: int = 0
    others: tuple[Difference, ...] = ()
    differences: int = 0
    #: As those of :class:`forge.conform.comparison.Comparison`.
    fitting: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        return self.outcome in RIGHT


def standing(result: CaseResult, listed: Mapping[str, ExpectedFailure]) -> Standing:
    """What a result means beside the list."""
    known = listed.get(result.case.id)
    if known is None:
        return "right" if result.right else "unexpected"
    if result.right:
        return "mended"
    return "expected" if result.outcome == known.outcome else "other"


def run_case(kit: OpenKit, case: KitCase, testee: Testee, twins: Twins) -> CaseResult:
    """One case: its files one after the other, the outcome that weighs most.  Raises ManifestError, OSError."""
    if _is_left_open(kit, case, twins.forms):
        return CaseResult(case, "unsupported", "it hands out such values undecoded: whether they are one is not asked")
    results: list[CaseResult] = []
    for file in case.files:
        expected = kit.expected(case, file)
        # Answers are kept until they are compared: a flood ends where it can be no answer any more.
        most = _SPARE + _WORDIER * kit.expected_size(case, file)
        with kit.laid_out(case, file) as path:
            reading = testee.read(path, twins.level, case.flavor, case.server, most=most)
        comparison = Comparison(expected, twins.forms, reading, twins.level)
        # A correct reader stops in one file of a chain; the others it reads.
        verdict = case.verdict if len(case.files) == 1 or file.stops_at is not None else "accept"
        judgement = judged(comparison, verdict, case.phase, sound_to=file.sound_to)
        judgement = twins.confirmed(judgement, comparison, case, file, testee)
        results.append(
            CaseResult(
                case,
                judgement.outcome,
                judgement.message,
                file.name,
                judgement.difference,
                tuple(reading.warnings),
                comparison.rows,
                comparison.cells,
                comparison.not_shown,
                judgement.differences[1:],
                judgement.count,
                comparison.fitting,
            )
        )
    worst = weightiest(result.outcome for result in results)
    return next(result for result in results if result.outcome == worst)


def _is_left_open(kit: OpenKit, case: KitCase, forms: Forms) -> bool:
    """Whether the case is only about bytes that are no value, of kinds that the testee hands out undecoded."""
    if not forms.opaque or case.verdict == "accept" or any(file.stops_at is not None for file in case.files):
        return False
    rows = (row for file in case.files for row in kit.expected(case, file).rows)
    cells = (cell for row in rows for image in (row["before"], row["after"]) for cell in image or ())
    broken = [cell for cell in cells if "broken" in (cell.get("value") or ())]
    return bool(broken) and all(map(forms.leaves_open, broken))


def run_cases(
    kit: OpenKit,
    cases: Sequence[KitCase],
    command: str,
    *,
    level: Level | None = None,
    jobs: int = 1,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> tuple[Hello, list[CaseResult]]:
    """Put cases to ``jobs`` processes of a testee.  Results are in the order of the cases.

    A case whose server the testee does not read, or which has a tag that it says it cannot do, is ``unsupported``
    and not asked.  Raises EnvironmentMissing if the testee cannot be started; ScenarioError if it does not keep to
    the protocol when it says who it is, or does not know the level; ManifestError, OSError.
    """
    with Testee(command, limits) as first:
        hello = first.hello()
    forms = Forms(hello.forms)
    wanted = level or hello.levels[-1]
    twins = Twins(kit, wanted, forms)
    work: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, CaseResult] | BaseException] = queue.SimpleQueue()
    results: dict[int, CaseResult] = {}
    for number, case in enumerate(cases):
        why = _not_asked(case, hello)
        if why is None:
            work.put(number)
        else:
            results[number] = CaseResult(case, "unsupported", why)
    asked = len(cases) - len(results)

    def answer() -> None:
        try:
            with Testee(command, limits) as testee:
                while (number := work.get()) is not None:
                    done.put((number, run_case(kit, cases[number], testee, twins)))
        except BaseException as error:  # noqa: BLE001  # It belongs to whoever waits.
            done.put(error)

    count = max(1, min(jobs, asked))
    threads = [threading.Thread(target=answer, daemon=True) for _ in range(count)]
    for thread in threads:
        work.put(None)
        thread.start()
    try:
        for number, result in _finished(done, asked):
            results[number] = result
            if progress is not None:
                progress(len(results), len(cases))
    finally:
        while not work.empty():
            work.get_nowait()
        for _ in threads:
            work.put(None)
        for thread in threads:
            thread.join()
    return hello, [results[number] for number in range(len(cases))]


def _finished(
    done: queue.SimpleQueue[tuple[int, CaseResult] | BaseException], count: int
) -> Iterator[tuple[int, CaseResult]]:
    for _ in range(count):
        item = done.get()
        if isinstance(item, BaseException):
            raise item
        yield item


def _not_asked(case: KitCase, hello: Hello) -> str | None:
    if case.flavor not in hello.flavors:
        return f"it does not read logs of {case.flavor}"
    tag = next((tag for tag in hello.cannot if tag in case.tags), None)
    return None if tag is None else f"it says that it does not support {tag}"
