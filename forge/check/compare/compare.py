"""What decoders make of a file, each in one verdict; a disagreement comes with its first difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from forge.check.compare.differences import Comparison, Decoding, Difference
from forge.check.decoder import Decoder, Ending, Item
from forge.decode.reference import Reference, read_reference
from forge.errors import UnsupportedError, counted

#: ``refused``: the decoder ended with an error of its own; ``unsupported``: there is something that it (or forge)
#: says it does not know; ``crashed``: a signal, or output without end; ``too_long``: more output than is read of it;
#: ``not_here``: not on this machine.
Outcome = Literal["agree", "disagree", "refused", "unsupported", "crashed", "timeout", "too_long", "not_here"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one decoder makes of one file.

    ``ended`` is set if the decoder did not get to the end of the file, also where a difference outweighs that.
    ``rows`` and ``cells`` were compared; ``cells_not_shown`` were not, because the decoder has no form for them.
    Of those whose bytes are no value, it shows ``cells_as_bytes`` as these bytes, and ``cells_invented`` as values.
    """

    decoder: str
    version: str | None
    outcome: Outcome
    message: str | None = None
    difference: Difference | None = None
    warnings: tuple[str, ...] = ()
    rows: int = 0
    cells: int = 0
    cells_not_shown: int = 0
    ended: Ending | None = None
    cells_as_bytes: int = 0
    cells_invented: int = 0


def check(data: bytes, decoders: Sequence[Decoder]) -> list[Verdict]:
    """The verdict of every decoder on a file, in the order given.  Raises nothing for any bytes."""
    reference = read_reference(data)
    return [check_one(reference, data, decoder) for decoder in decoders]


def check_one(reference: Reference, data: bytes, decoder: Decoder) -> Verdict:
    """The verdict of one decoder on a file whose canonical decode is ``reference``.  Raises nothing for any bytes."""
    missing = decoder.available()
    if missing is not None:
        return Verdict(decoder.name, None, "not_here", missing)
    return compare(reference, decoder, decoder.decode_known(data, reference))


def check_files(references: Sequence[Reference], files: Sequence[bytes], decoder: Decoder) -> Iterator[Verdict]:
    """As :func:`check_one`, of several files that are right: a program reads many of them in one call."""
    if decoder.available() is not None:
        yield from (check_one(reference, data, decoder) for reference, data in zip(references, files, strict=True))
        return
    for reference, items in zip(references, decoder.decode_files(files), strict=True):
        yield compare(reference, decoder, items)


def compare(reference: Reference, other: Decoder, items: Iterable[Item]) -> Verdict:
    """The verdict on the items of one decoder.

    A difference outweighs how the decoder ended.  A file that both refuse is ``refused``, with the decoder's words.
    """
    comparison = Comparison(reference, other, Decoding())
    decoding = comparison.decoding
    decoding.read(items, comparison.agreeing)
    difference = next(comparison.differences(), None)
    outcome, message = _outcome(comparison, difference)
    return Verdict(
        other.name,
        other.version(),
        outcome,
        message,
        difference,
        tuple(decoding.warnings),
        comparison.counts.rows,
        comparison.counts.cells,
        comparison.counts.cells_not_shown,
        None if decoding.ended is None else decoding.ended.ending,
        comparison.counts.cells_as_bytes,
        comparison.counts.cells_invented,
    )


def _outcome(comparison: Comparison, difference: Difference | None) -> tuple[Outcome, str]:
    decoding, problem = comparison.decoding, comparison.reference.problem
    if difference is not None:
        return "disagree", difference.sentence
    if decoding.ended is not None:
        return decoding.ended.ending, str(decoding.ended)
    if isinstance(problem, UnsupportedError):
        where = f"the event at {comparison.reference.problem_place[0]}"
        return "unsupported", f"forge does not read the rows of {where}: {problem.problem}"
    if decoding.gaps:
        (offset, _), gap = next(iter(decoding.gaps.items()))
        more = f", and {len(decoding.gaps) - 1} more" if len(decoding.gaps) > 1 else ""
        return "unsupported", f"{gap} in the event at {offset}{more}"
    counts = comparison.counts
    message = f"{counted(counts.rows, 'row')}, {counted(counts.cells, 'cell')}"
    if counts.cells_not_shown:
        message += f"; {counted(counts.cells_not_shown, 'cell')} without a form there"
    return "agree", message


def count_outcomes(verdicts: Sequence[Verdict]) -> dict[Outcome, int]:
    """How many decoders came to each outcome, in the order of OUTCOMES."""
    return {outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in OUTCOMES}


def mistaken(verdicts: Sequence[Verdict], reference: Reference) -> list[Verdict]:
    """The verdicts of decoders that are wrong: they differ, crash, do not end, or refuse a file that is right."""
    wrong = {"disagree", "crashed", "timeout"} | ({"refused"} if reference.problem is None else set())
    return [verdict for verdict in verdicts if verdict.outcome in wrong]


def explain(difference: Difference) -> str:
    """A difference over several lines, for a report."""
    lines = [difference.sentence]
    for label, value in (
        ("canonical", difference.reference),
        ("should show", difference.expected),
        ("shows", difference.found),
        ("bytes", difference.raw),
    ):
        if value is not None:
            lines.append(f"  {label:<12} {value}")
    return "\n".join(lines)
