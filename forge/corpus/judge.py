"""From a case to its row of the manifest: bytes, canonical decode, verdicts.

A case that cannot be compiled, or that breaks something of ours, is a row that says so, never an exception.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import msgspec

from forge.check.compare import compare
from forge.check.decoder import Decoder
from forge.check.decoders.table import available_decoders
from forge.check.time_limit import TimeLimitPassed, time_limit
from forge.corpus.cases import BinlogFile, Case, CompiledCase, compile_case
from forge.corpus.outcomes import Outcome, judged, weightiest
from forge.decode.decode import canonical_events
from forge.decode.reference import Reference, read_reference
from forge.errors import FormatError, ScenarioError, UnsupportedError

#: Seconds for one case, all decoders in this process together.
CASE_LIMIT = 120.0
#: Cases, and bytes of their files, that programs read together.
CASES_TOGETHER = 64
BYTES_TOGETHER = 4 << 20

_JSON = json.JSONEncoder(ensure_ascii=False)

Status = Literal["compiled", "unreadable", "unsupported", "invalid", "crashed", "timeout"]


class CaseFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a case; ``decode`` has a JSON object a line, up to where our reader stops (None: not decoded)."""

    name: str
    data: bytes
    sha256: str
    decode: str | None = None


class DecoderVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one decoder makes of the bytes; ``detail`` is the first difference, or why it stopped.

    The outcome is judged against the verdict of the case (:func:`forge.corpus.outcomes.judged`).
    """

    decoder: str
    version: str | None
    outcome: Outcome
    detail: str | None = None
    warnings: list[str] = []


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One case, judged.

    ``status`` is of our side: ``compiled``; ``unreadable`` (compiled, but our own reader stops with an error);
    ``unsupported`` (known to servers, not built yet); ``invalid`` (the scenario is wrong); ``crashed``; ``timeout``.
    ``error`` says why.  ``against`` says how our own reader contradicts the verdict of the case; None if it does
    not.
    """

    case: Case
    status: Status
    error: str | None = None
    against: str | None = None
    tags: list[str] = []
    files: list[CaseFile] = []
    verdicts: list[DecoderVerdict] = []
    #: The files without the fault of the case, if it has one that can be left out.
    twin: list[CaseFile] = []

    @property
    def coverage(self) -> bytes:
        """A hash of what the case covers: its tags, and what each decoder did."""
        outcomes = [f"{verdict.decoder} {verdict.outcome}" for verdict in self.verdicts]
        return hashlib.sha256("\n".join([self.status, *sorted(self.tags), *outcomes]).encode()).digest()[:16]


Judge = Callable[[Iterable[Case]], Iterator[Judgement]]


class Jury(msgspec.Struct, frozen=True, kw_only=True):
    """The decoders of a build: those that can run here with their version, and why the others cannot."""

    present: dict[str, str] = {}
    absent: dict[str, str] = {}


def jury_here() -> Jury:
    """Every known decoder, ours first."""
    present: dict[str, str] = {}
    absent: dict[str, str] = {}
    for decoder in available_decoders():
        reason = decoder.available()
        if reason is None:
            present[decoder.name] = decoder.version()
        else:
            absent[decoder.name] = reason
    return Jury(present=present, absent=absent)


def judge_case(case: Case, *, decoders: Sequence[str]) -> Judgement:
    """Compile the case, decode it canonically and with every decoder named, and compare."""
    [judgement] = judge_cases([case], decoders=decoders)
    return judgement


def judge_cases(cases: Iterable[Case], *, decoders: Sequence[str]) -> Iterator[Judgement]:
    """The judgement of each case, in order; programs among the decoders read the files of many cases in one call."""
    named = [_decoder(name) for name in decoders]
    together: list[_Trial | Judgement] = []
    size = 0
    for case in cases:
        trial = _tried(case, named)
        together.append(trial)
        size += sum(len(file.data) for file in (trial.compiled.files if isinstance(trial, _Trial) else trial.files))
        if len(together) == CASES_TOGETHER or size > BYTES_TOGETHER:
            yield from _judged_together(together, named)
            together, size = [], 0
    yield from _judged_together(together, named)


def judge_compiled(case: Case, compiled: CompiledCase, decoders: Sequence[Decoder]) -> Judgement:
    """The judgement of a case whose files are known.  Decoders read one file after the other."""
    [judgement] = _judged_together([_read(case, compiled, decoders)], decoders)
    return judgement


@dataclass(slots=True)
class _Trial:
    """A case that was compiled, and what came of reading it: one entry a file, and a decoder's verdicts by its name."""

    case: Case
    compiled: CompiledCase
    references: list[Reference] = field(default_factory=list)
    decodes: list[tuple[str, FormatError | UnsupportedError | None]] = field(default_factory=list)
    verdicts: dict[str, list[compare.Verdict]] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Whether the files are right as far as we know, so that they may be read in one call with others."""
        return self.case.verdict == "accept" and all(problem is None for _, problem in self.decodes)


def _tried(case: Case, decoders: Sequence[Decoder]) -> _Trial | Judgement:
    compiled = CompiledCase([], case.tags)
    try:
        with time_limit(CASE_LIMIT):
            compiled = compile_case(case)
            return _read(case, compiled, decoders)
    except UnsupportedError as error:
        return _failed(case, "unsupported", str(error), compiled)
    except ScenarioError as error:
        return _failed(case, "invalid", str(error), compiled)
    except TimeLimitPassed:
        return _failed(case, "timeout", f"not done after {CASE_LIMIT:.0f} s", compiled)
    except Exception as error:  # noqa: BLE001  # Whatever it is, the other cases go on.
        return _crashed(case, error, compiled)


def _read(case: Case, compiled: CompiledCase, decoders: Sequence[Decoder]) -> _Trial:
    """The case, read by ourselves, and by the decoders that read it in this process."""
    trial = _Trial(case, compiled)
    for file in compiled.files:
        reference = read_reference(file.data)
        trial.references.append(reference)
        trial.decodes.append(canonical_decode(file.data))
        for decoder in decoders:
            if not decoder.reads_many:
                verdict = compare.check_one(reference, file.data, decoder)
                trial.verdicts.setdefault(decoder.name, []).append(verdict)
    return trial


def _judged_together(trials: Sequence[_Trial | Judgement], decoders: Sequence[Decoder]) -> Iterator[Judgement]:
    """The judgements of cases that were tried, once the other decoders have read them."""
    for decoder in decoders:
        if decoder.reads_many:
            _read_together([trial for trial in trials if isinstance(trial, _Trial)], decoder)
    for trial in trials:
        if isinstance(trial, Judgement):
            yield trial
            continue
        try:
            yield _concluded(trial, decoders)
        except Exception as error:  # noqa: BLE001  # As above.
            yield _crashed(trial.case, error, trial.compiled)


def _read_together(trials: Sequence[_Trial], decoder: Decoder) -> None:
    """Note the verdicts of a program: it reads right files together, as far as it can, others one by one."""
    right = [file.data for trial in trials if trial.is_right for file in trial.compiled.files]
    together = iter(
        compare.check_files([one for trial in trials if trial.is_right for one in trial.references], right, decoder)
    )
    for trial in trials:
        for reference, file in zip(trial.references, trial.compiled.files, strict=True):
            verdict = next(together) if trial.is_right else compare.check_one(reference, file.data, decoder)
            trial.verdicts.setdefault(decoder.name, []).append(verdict)


def _concluded(trial: _Trial, decoders: Sequence[Decoder]) -> Judgement:
    case, files = trial.case, trial.compiled.files
    place, problem = next(
        ((_place(file, files), problem) for file, (_, problem) in zip(files, trial.decodes, strict=True) if problem),
        ("", None),
    )
    return Judgement(
        case=case,
        status="compiled" if problem is None else "unreadable",
        error=None if problem is None else f"our own reader stops: {place}{problem}",
        against=against_verdict(case, problem, broken=_has_broken_cell(trial)),
        tags=list(trial.compiled.tags),
        files=[_case_file(file, decode) for file, (decode, _) in zip(files, trial.decodes, strict=True)],
        verdicts=[_judged(case, files, trial.verdicts[one.name]) for one in decoders if one.name in trial.verdicts],
        twin=[_case_file(file) for file in trial.compiled.twin],
    )


def _case_file(file: BinlogFile, decode: str | None = None) -> CaseFile:
    return CaseFile(name=file.name, data=file.data, sha256=hashlib.sha256(file.data).hexdigest(), decode=decode)


def _place(file: BinlogFile, files: Sequence[BinlogFile]) -> str:
    """The name of a file before what is said of it, where there are several."""
    return f"{file.name}: " if len(files) > 1 else ""


def _outcome(case: Case, read: compare.Verdict) -> Outcome:
    return judged(
        "timeout" if read.outcome == "too_long" else read.outcome,
        case.verdict,
        stopped=read.ended in ("refused", "unsupported"),
        marked=case.phase == "value" and read.cells_as_bytes > 0 and not read.cells_invented,
        passes=read.difference is not None and read.difference.what == "ending",
    )


def _judged(case: Case, files: Sequence[BinlogFile], of_files: Sequence[compare.Verdict]) -> DecoderVerdict:
    """One decoder's verdict on the case, of its verdicts on the files."""
    outcomes = [_outcome(case, of_file) for of_file in of_files]
    outcome = weightiest(outcomes)
    places = [_place(file, files) for file in files]
    number = outcomes.index(outcome)
    worst = of_files[number]
    return DecoderVerdict(
        decoder=worst.decoder,
        version=worst.version,
        outcome=outcome,
        detail=None if outcome == "agree" else f"{places[number]}{worst.message}",
        warnings=[
            f"{place}{text}" for place, of_file in zip(places, of_files, strict=True) for text in of_file.warnings
        ],
    )


def against_verdict(case: Case, problem: FormatError | UnsupportedError | None, *, broken: bool = False) -> str | None:
    """How our own reader, which ended with ``problem``, goes against the verdict; None if it does not.

    ``broken``: it shows a cell as bytes that are no value.
    """
    if case.verdict == "accept":
        return None if problem is None else f"it must be accepted, but our reader stops: {problem}"
    if problem is None:
        if case.verdict == "may" or (case.phase == "value" and broken):
            return None
        return f"it must be rejected ({case.phase}), but our reader accepts it"
    if isinstance(problem, FormatError) and case.phase in (None, problem.phase):
        return None
    if isinstance(problem, UnsupportedError) and case.verdict == "may":
        return None
    return f"it must be rejected in the phase {case.phase}, but our reader stops elsewhere: {problem}"


def _has_broken_cell(trial: _Trial) -> bool:
    """Whether the bytes of a cell are no value, in a case that is about it."""
    if trial.case.phase != "value":
        return False
    rows = (row for reference in trial.references for of_event in reference.rows.values() for row in of_event)
    images = (image for row in rows for image in (row.before, row.after))
    return any("broken" in (cell.typed() or ()) for image in images if image is not None for cell in image)


def canonical_decode(binlog: bytes) -> tuple[str, FormatError | UnsupportedError | None]:
    """JSON lines of the canonical decode as far as it goes, and the error that ends it."""
    lines: list[str] = []
    try:
        for event in canonical_events(binlog):
            lines.append(_JSON.encode(event) + "\n")
    except (FormatError, UnsupportedError) as error:
        return "".join(lines), error
    return "".join(lines), None


@cache
def _decoder(name: str) -> Decoder:
    return next(decoder for decoder in available_decoders() if decoder.name == name)


def _crashed(case: Case, error: Exception, compiled: CompiledCase) -> Judgement:
    return _failed(case, "crashed", f"{type(error).__name__}: {error}", compiled)


def _failed(case: Case, status: Status, error: str, compiled: CompiledCase) -> Judgement:
    return Judgement(
        case=case,
        status=status,
        error=" ".join(error.split()),
        tags=list(compiled.tags),
        files=[_case_file(file) for file in compiled.files],
    )
