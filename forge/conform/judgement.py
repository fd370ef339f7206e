"""What a testee did with a file, seen from the verdict of its case: outcome, words, differences."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forge.check.compare.differences import Difference
from forge.conform.comparison import Comparison, Reading
from forge.conform.forms import Forms
from forge.conform.kit.case_files import KitCase, KitFile
from forge.conform.kit.protocol import EventAnswer, Frame, Level
from forge.conform.kit.reading import OpenKit
from forge.conform.testee import Testee
from forge.corpus.outcomes import RIGHT, Outcome
from forge.errors import Phase, Verdict

#: Differences that are told beside the first one, each of another column or kind.
_OTHERS = 12


@dataclass(frozen=True, slots=True)
class Judged:
    """``differences`` are those of an outcome that is about them, one of each kind; ``count`` is that of all."""

    outcome: Outcome
    message: str | None = None
    differences: tuple[Difference, ...] = ()
    count: int = 0

    @property
    def difference(self) -> Difference | None:
        """The first one."""
        return next(iter(self.differences), None)


def judged(
    comparison: Comparison, verdict: Verdict, phase: Phase | None = None, *, sound_to: int | None = None
) -> Judged:
    """The outcome, given what a correct reader does with the bytes.

    A reader that stops where it has to or may, must have read what lies before ``sound_to``, if that is known; it may
    have shown whatever it likes behind.  One that reads on where it may has to agree as far as a correct reader comes:
    nothing says what follows.  It is as good as an error if no value is shown for a cell whose bytes are none.
    """
    reading = comparison.reading
    if reading.ended in ("crashed", "timeout"):
        return Judged(reading.ended, reading.message)
    if verdict != "accept" and reading.ended != "ok":
        return _stopped(comparison, sound_to)
    differences, passes = comparison.differences(), comparison.reads_on()
    if verdict == "reject":
        is_marked = phase == "value" and comparison.as_bytes > 0 and not comparison.invented
        if not is_marked:
            wrong = _wrong("accepts", [one for one in (comparison.invention, passes, *differences) if one is not None])
            return replace(wrong, message=_words(reading) or wrong.message)
    if differences:
        return _wrong("disagree", differences)
    if verdict == "reject":
        return Judged("rejects")
    if passes is not None and verdict == "accept":
        return _wrong("disagree", [passes])
    if reading.ended != "ok":
        return Judged(reading.ended, _words(reading))
    if reading.gaps:
        return Judged("rejects" if verdict == "may" else "unsupported", _words(reading))
    return Judged("agree")


def _stopped(comparison: Comparison, sound_to: int | None) -> Judged:
    """It stopped in a file that may be, or has to be, refused."""
    words = _words(comparison.reading)
    if sound_to is None:
        return Judged("rejects", words)
    before = replace(comparison, until=sound_to)
    if differences := before.differences():
        return _wrong("disagree", differences)
    if before.is_short_of(sound_to):
        ended: Outcome = "unsupported" if comparison.reading.ended == "unsupported" else "refused"
        return Judged(ended, f"it stops before the fault at {sound_to}: {words or 'without a word'}")
    return Judged("rejects", words)


def _wrong(outcome: Outcome, differences: Sequence[Difference]) -> Judged:
    kinds: dict[tuple[object, ...], Difference] = {}
    for one in differences:
        kinds.setdefault((one.what, one.table, one.image, one.column, one.field), one)
    return Judged(
        outcome,
        differences[0].sentence if differences else None,
        tuple(kinds.values())[: 1 + _OTHERS],
        len(differences),
    )


def _words(reading: Reading) -> str | None:
    return reading.message or next(iter(reading.gaps.values()), None)


@dataclass(slots=True)
class Twins:
    """What the testee does with the twins of cases, each of which it is asked once."""

    kit: OpenKit
    level: Level
    forms: Forms
    _known: dict[tuple[str, str], Comparison] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def confirmed(self, judged: Judged, comparison: Comparison, case: KitCase, file: KitFile, testee: Testee) -> Judged:
        """The same, or what is wrong with it: a refusal is right if the twin is not refused; to show nothing, where
        nothing is to be shown, if something is shown of the twin.  Raises ManifestError, OSError.
        """
        shows_nothing = not comparison.asked_for and not comparison.reading.gaps
        if case.twin is None or judged.outcome not in RIGHT or (judged.outcome == "agree" and not shows_nothing):
            return judged
        twin = self._compared(case, file, testee)
        reading = twin.reading
        if judged.outcome == "agree":
            if twin.given or not twin.asked_for or reading.ended != "ok":
                return judged
            if reading.gaps:  # It says that it does not know what there is to show.
                return Judged("unsupported", _words(reading))
            return Judged("disagree", f"it shows nothing here, where nothing is, and nothing of the twin {case.twin}")
        if comparison.reading.ended == "ok" or _is_read(twin, file.fault_at):
            return judged
        ended: Outcome = "unsupported" if reading.ended == "unsupported" else "refused"
        words = reading.message or reading.ended
        return Judged(ended, f"it does not read the twin {case.twin}, which has no fault: {words}")

    def _compared(self, case: KitCase, file: KitFile, testee: Testee) -> Comparison:
        assert case.twin is not None
        key = case.twin, file.name
        with self._lock:
            known = self._known.get(key)
        if known is None:
            kit = self.kit.twin(case)
            assert kit is not None
            [twin] = kit.cases
            same = next((one for one in twin.files if one.name == file.name), twin.files[0])
            with kit.laid_out(twin, same) as path:
                reading = testee.read(path, self.level, twin.flavor, twin.server)
            known = Comparison(kit.expected(twin, same), self.forms, reading, self.level)
            with self._lock:
                self._known[key] = known
        return known


def _is_read(twin: Comparison, fault_at: int | None) -> bool:
    """Whether a twin is read where the fault of the case would be."""
    if twin.reading.ended == "ok":
        return True
    if fault_at is None:
        return False
    rows = [(row["offset"], row.get("inner", 0)) for row in twin.expected.rows]
    behind = next((place for place in rows if place[0] >= fault_at), None)
    if behind is not None and len(twin.reading.rows) >= sum(place <= behind for place in rows):
        return True
    shown: list[Frame | EventAnswer] = [*twin.reading.frames, *twin.reading.events]
    return any(item.offset > fault_at for item in shown)
