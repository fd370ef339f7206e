"""The settings of the sessions that wrote a log, as BEGIN tells them: character sets, modes, time zones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.bulk.reading.listed import Listed
from forge.changed.looked_at import bytes_at, event_of
from forge.charsets import find_collation
from forge.errors import FormatError
from forge.events.format import HEADER_SIZE
from forge.events.query import Query

Numbers = npt.NDArray[Any]
#: Bytes of a BEGIN before what tells its circumstances (thread and execution time differ), and those looked at.
_DIFFERING, _LONGEST = 8, 512
#: Values that are kept of a setting, and different circumstances that are decoded.
_KEPT, _DECODED = 20, 4096
_CHARSETS = ("character_set_client", "collation_connection", "collation_server")


@dataclass(slots=True)
class SessionFacts:
    """How many transactions have each value of a setting."""

    values: dict[str, Counter[str]] = field(default_factory=dict)
    _known: dict[bytes, dict[str, str]] = field(default_factory=dict)

    def take(self, listed: Listed, begin_events: Numbers) -> None:
        """The BEGIN events of a list."""
        sizes = listed.events.sizes[begin_events] - listed.events.tails[begin_events]
        for size in np.unique(sizes[sizes <= _LONGEST]).tolist():
            of_size = begin_events[sizes == size]
            first = HEADER_SIZE + _DIFFERING
            rows = bytes_at(listed.buffer, listed.events.begins[of_size].astype(np.int64) + first, size - first)
            _, examples, counts = np.unique(
                rows.view(f"V{size - first}").ravel(), return_index=True, return_counts=True
            )
            for example, count in zip(examples.tolist(), counts.tolist(), strict=True):
                self._note(listed, int(of_size[example]), rows[example].tobytes(), count)

    def _note(self, listed: Listed, index: int, key: bytes, count: int) -> None:
        facts = self._known.get(key)
        if facts is None:
            if len(self._known) >= _DECODED:
                return
            facts = self._known[key] = _facts(listed, index)
        for name, value in facts.items():
            values = self.values.setdefault(name, Counter())
            if value in values or len(values) < _KEPT:
                values[value] += count


def _facts(listed: Listed, index: int) -> dict[str, str]:
    try:
        body = event_of(listed, index).body
    except FormatError:
        return {}
    if not isinstance(body, Query):
        return {}
    status = dict(body.status_variables)
    facts = {}
    for name, number in zip(_CHARSETS, status.get("charset", ()), strict=False):
        found = find_collation(number)
        shown = str(number) if found is None else found.charset if name == "character_set_client" else found.name
        facts[name] = shown
    for name in ("time_zone", "sql_mode"):
        if status.get(name) not in (None, ""):
            facts[name] = f"{status[name]:#x}" if name == "sql_mode" else str(status[name])
    return facts
