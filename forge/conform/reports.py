"""The results of a run: for people, for machines, for CI servers (JUnit)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args
from xml.etree import ElementTree

import msgspec

from forge.conform.expected_failures import ExpectedFailure
from forge.conform.kit.protocol import Hello
from forge.conform.runner import BAD, CaseResult, Standing, standing
from forge.corpus.outcomes import OUTCOMES, RIGHT, score_of
from forge.errors import Verdict, counted

_WORDS: Mapping[Standing, str] = {
    "unexpected": "fail and are not on the list",
    "other": "fail otherwise than the list says",
    "mended": "are on the list and right now",
}
#: Cases of each kind that are told in full.
_SHOWN = 20
#: From so many values on, and from such a share of those that differ, another form is the likely cause.
_MANY, _MOST = 10, 0.8


def summary_lines(
    hello: Hello, results: Sequence[CaseResult], listed: Mapping[str, ExpectedFailure], *, whole: bool = False
) -> Iterator[str]:
    """The score, outcomes by number, then the cases that make the run fail with what was wrong (``whole``: all)."""
    counts = Counter(result.outcome for result in results)
    by_outcome = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    compared = (
        f"{counted(sum(r.rows for r in results), 'row')}, {counted(sum(r.cells for r in results), 'cell')} compared"
    )
    score = score_of((result.case.verdict, result.outcome) for result in results)
    shares = [score.words(verdict) for verdict in get_args(Verdict) if score.supported[verdict] or verdict == "accept"]
    yield f"{hello.name} {hello.version}: {'; '.join(shares)}"
    yield f"{counted(len(results), 'case')}: {by_outcome}"
    yield f"{compared}; {counted(sum(result.not_shown for result in results), 'cell')} without a form"
    yield from _fitting_forms(results)
    by_standing: dict[Standing, list[CaseResult]] = {}
    for result in results:
        by_standing.setdefault(standing(result, listed), []).append(result)
    if listed:
        yield f"{len(by_standing.get('expected', ()))} fail as the list says"
    for word, sentence in _WORDS.items():
        found = by_standing.get(word, [])
        if found:
            yield f"{len(found)} {sentence}:"
        for result in found if whole else found[:_SHOWN]:
            said = f": {result.message}" if result.message else ""
            yield f"  {result.case.id} {result.outcome}{said}"
            yield f"    {result.case.title}"
        if not whole and len(found) > _SHOWN:
            yield f"  and {len(found) - _SHOWN} more (--all shows them)"


def _fitting_forms(results: Sequence[CaseResult]) -> Iterator[str]:
    """What a testee may have to say of its forms: kinds whose values differ, and are right in another form."""
    found: Counter[tuple[str, str]] = Counter()
    for result in results:
        found.update(result.fitting)
    for kind in dict.fromkeys(kind for kind, _ in found):
        best = max((word for of, word in found if of == kind and word), key=lambda word: found[kind, word], default="")
        differing, fitting = found[kind, ""], found[kind, best]
        if best and fitting >= _MANY and fitting > differing * _MOST:
            said = f'"{kind}": "{best}" in the hello\'s forms'
            yield f"{fitting} of {differing} differing values of {kind} are right as {said}"


def result_object(result: CaseResult, listed: Mapping[str, ExpectedFailure]) -> dict[str, Any]:
    """One result for a machine."""
    return {
        "id": result.case.id,
        "verdict": result.case.verdict,
        "outcome": result.outcome,
        "standing": standing(result, listed),
        "reason": listed[result.case.id].reason if result.case.id in listed else None,
        "file": result.file,
        "message": result.message,
        "difference": msgspec.to_builtins(result.difference),
        "others": msgspec.to_builtins(result.others),
        "differences": result.differences,
        "warnings": list(result.warnings),
        "rows": result.rows,
        "cells": result.cells,
        "not_shown": result.not_shown,
    }


def summary_object(
    hello: Hello, results: Sequence[CaseResult], listed: Mapping[str, ExpectedFailure]
) -> dict[str, Any]:
    """The run for a machine: the testee, its score, and how many cases came to each outcome and standing."""
    score = score_of((result.case.verdict, result.outcome) for result in results)
    return {
        "testee": msgspec.to_builtins(hello),
        "cases": len(results),
        "outcomes": {outcome: sum(result.outcome == outcome for result in results) for outcome in OUTCOMES},
        "standings": dict(sorted(Counter(standing(result, listed) for result in results).items())),
        "right": sum(result.outcome in RIGHT for result in results),
        "score": {
            verdict: {
                "right": score.right[verdict],
                "supported": score.supported[verdict],
                "unsupported": score.unsupported[verdict],
                "percent": score.percent(verdict),
            }
            for verdict in get_args(Verdict)
        },
    }


def junit_text(hello: Hello, results: Sequence[CaseResult], listed: Mapping[str, ExpectedFailure]) -> bytes:
    """The run as JUnit XML: a test a case; failures that the list expects are skipped with their reason."""
    suite = ElementTree.Element("testsuite", name=f"binlog-forge {hello.name} {hello.version}", tests=str(len(results)))
    failures = skipped = 0
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname=result.case.server, name=result.case.id)
        word = standing(result, listed)
        if word in BAD:
            failures += 1
            message = f"{result.outcome}: {result.message or _WORDS[word]}"
            failure = ElementTree.SubElement(case, "failure", message=_plain(message), type=result.outcome)
            failure.text = _plain(f"{result.case.title}\n{message}")
        elif word == "expected":
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=_plain(listed[result.case.id].reason))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _plain(text: str) -> str:
    """Text that XML can hold."""
    return "".join(letter if letter >= " " or letter in "\t\n" else f"\\x{ord(letter):02x}" for letter in text)
