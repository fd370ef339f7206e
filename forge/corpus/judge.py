"""From a case to its row of the manifest: bytes, canonical decode, verdicts.

A case that cannot be compiled, or that breaks something of ours, is a row that says so, never an exception.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

import msgspec

from forge.check.canonical import canonical_events
from forge.check.compare import Outcome, check
from forge.check.decoders import Decoder, available_decoders
from forge.check.time_limit import TimeLimitPassed, time_limit
from forge.corpus.cases import Case, compile_case
from forge.errors import FormatError, ScenarioError, UnsupportedError

#: Seconds for one case, all decoders together.
CASE_LIMIT = 120.0

Status = Literal["compiled", "unreadable", "unsupported", "invalid", "crashed", "timeout"]


class DecoderVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one decoder makes of the bytes; ``detail`` is the first difference, or why it stopped."""

    decoder: str
    version: str | None
    outcome: Outcome
    detail: str | None = None
    warnings: list[str] = []


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One case, judged.

    ``status`` is of our side: ``compiled``; ``unreadable`` (our own reader refuses what was compiled); ``unsupported``
    (known to servers, not built yet); ``invalid`` (the scenario is wrong); ``crashed``; ``timeout``.  ``error`` says
    why, and ``decode`` has a JSON object a line.
    """

    case: Case
    status: Status
    error: str | None = None
    binlog: bytes | None = None
    sha256: str | None = None
    decode: str | None = None
    verdicts: list[DecoderVerdict] = []


Judge = Callable[[Case], Judgement]


class Jury(msgspec.Struct, frozen=True, kw_only=True):
    """The decoders of a build: those that can run here with their version, and why the others cannot."""

    present: dict[str, str] = {}
    absent: dict[str, str] = {}


def jury_here() -> Jury:
    """Every known decoder, ours first."""
    present: dict[str, str] = {}
    absent: dict[str, str] = {}
    for one in available_decoders():
        reason = one.available()
        if reason is None:
            present[one.name] = one.version()
        else:
            absent[one.name] = reason
    return Jury(present=present, absent=absent)


def judge_case(case: Case, *, decoders: Sequence[str]) -> Judgement:
    """Compile the case, decode it canonically and with every decoder named, and compare."""
    made: bytes | None = None
    try:
        with time_limit(CASE_LIMIT):
            made = compile_case(case)
            return judge_bytes(case, made, [_decoder(name) for name in decoders])
    except UnsupportedError as error:
        return _failed(case, "unsupported", str(error), made)
    except ScenarioError as error:
        return _failed(case, "invalid", str(error), made)
    except TimeLimitPassed:
        return _failed(case, "timeout", f"not done after {CASE_LIMIT:.0f} s", made)
    except Exception as error:  # noqa: BLE001  # Whatever it is, the other cases go on.
        return _failed(case, "crashed", f"{type(error).__name__}: {error}", made)


def judge_bytes(case: Case, binlog: bytes, decoders: Sequence[Decoder]) -> Judgement:
    """The judgement of a case whose bytes are known."""
    verdicts = [
        DecoderVerdict(
            decoder=one.decoder,
            version=one.version,
            outcome=one.outcome,
            detail=None if one.outcome == "agree" else one.message,
            warnings=list(one.warnings),
        )
        for one in check(binlog, decoders)
    ]
    decode, error = canonical_decode(binlog)
    return Judgement(
        case=case,
        status="compiled" if error is None else "unreadable",
        error=error,
        binlog=binlog,
        sha256=hashlib.sha256(binlog).hexdigest(),
        decode=decode,
        verdicts=verdicts,
    )


def canonical_decode(binlog: bytes) -> tuple[str, str | None]:
    """JSON lines of the canonical decode as far as it goes, and the error that ends it."""
    lines: list[str] = []
    try:
        for event in canonical_events(binlog):
            lines.append(json.dumps(event, ensure_ascii=False) + "\n")
    except (FormatError, UnsupportedError) as error:
        return "".join(lines), f"our own reader stops: {error}"
    return "".join(lines), None


@cache
def _decoder(name: str) -> Decoder:
    return next(one for one in available_decoders() if one.name == name)


def _failed(case: Case, status: Status, error: str, binlog: bytes | None) -> Judgement:
    sha256 = None if binlog is None else hashlib.sha256(binlog).hexdigest()
    return Judgement(case=case, status=status, error=" ".join(error.split()), binlog=binlog, sha256=sha256)
