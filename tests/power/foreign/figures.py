"""The figures of a foreign decoder: what is reached of what a binary log can reach, and what is left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.power.foreign.decoders import Part
from tests.power.foreign.left_out import left_out
from tests.power.foreign.sources import Source


def figures(decoder: str, parts: Iterable[Part], sources: Mapping[str, Source]) -> dict[str, Any]:
    """Counts, in all and by reason; ``missed`` has the parts that no log reaches though one could, by file and
    function: their first line with its text, and what they count."""
    reasons = left_out(decoder, sources)
    hit = counted = every = 0
    out = Counter[str]()
    missed: dict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for part in sorted(parts, key=lambda one: (one.file, one.first, one.last)):
        every += part.count
        reason = next(filter(None, map(reasons[part.file].get, range(part.first, part.last + 1))), None)
        if reason is not None and not part.is_reached:
            out[reason] += part.count
            continue
        counted += part.count
        hit += part.count * part.is_reached
        if not part.is_reached and part.count:
            source = sources[part.file]
            text = source.lines[part.first - 1].strip()
            missed[f"{part.file}: {source.function_at(part.first)}"].append((part.first, text, part.count))
    return {
        "every": every, "counted": counted, "hit": hit, "left out": dict(out.most_common()), "missed": dict(missed),
    }  # fmt: skip
