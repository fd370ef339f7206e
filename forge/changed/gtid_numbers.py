"""The GTIDs and sequence numbers of logs: the set that they make, and where numbers do not follow one another."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.bulk.reading.listed import Listed
from forge.changed.looked_at import bytes_at
from forge.errors import FormatError
from forge.events.event import decode_event_strictly
from forge.events.format import HEADER_SIZE, FormatContext, checksummed
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import Surroundings
from forge.events.mariadb_gtid import MariadbGtid

Numbers = npt.NDArray[Any]
#: Breaks that are kept.
_KEPT = 1000
#: Places in the body of GTID and ANONYMOUS_GTID, behind the flags: the UUID, the number, the clock's type and numbers.
_UUID, _NUMBER, _CLOCK, _SEQUENCE, _CLOCK_END = 1, 17, 25, 34, 42
_LOGICAL_CLOCK = 2


@dataclass(slots=True)
class Break:
    """A number that does not follow the one before."""

    file: str
    offset: int
    of: str
    expected: int
    found: int


@dataclass(slots=True)
class GtidNumbers:
    """What has been met so far."""

    #: Runs of numbers by source, in the order of the logs.
    runs: dict[str, list[list[int]]] = field(default_factory=dict)
    anonymous: int = 0
    broken: int = 0
    breaks: list[Break] = field(default_factory=list)
    _last: dict[str, int] = field(default_factory=dict)
    _file: str = ""

    def begin_file(self, name: str) -> None:
        """Sequence numbers begin anew."""
        self._file = name
        self._last.pop("sequence_number", None)

    def take(self, listed: Listed, gtids: Numbers) -> None:
        """The GTID events of a list."""
        if not len(gtids):
            return
        types = listed.events.types[gtids]
        of_mysql = gtids[np.isin(types, (Gtid.type_code, AnonymousGtid.type_code))]
        self._take_mysql(listed, of_mysql)
        self._take_mariadb(listed, gtids[types == MariadbGtid.type_code])
        for index in gtids[types == GtidTagged.type_code].tolist():
            begin, size = int(listed.events.begins[index]), int(listed.events.sizes[index])
            raw = listed.buffer[begin : begin + size].tobytes()
            source, _, number = (
                gtid_of(raw, checksummed(listed.format, bool(listed.events.tails[index]))) or ""
            ).rpartition(":")
            if number.isdigit():
                self._note(source, np.array([int(number)]), np.array([listed.events.places[index]]))

    def _take_mysql(self, listed: Listed, events: Numbers) -> None:
        if not len(events):
            return
        bodies = listed.events.begins[events].astype(np.int64) + HEADER_SIZE
        places = listed.events.places[events]
        named = listed.events.types[events] == Gtid.type_code
        self.anonymous += int((~named).sum())
        sources = bytes_at(listed.buffer, bodies[named] + _UUID, 16)
        numbers = bytes_at(listed.buffer, bodies[named] + _NUMBER, 8).view("<i8").ravel()
        if len(numbers):
            different, which = np.unique(sources.view("V16").ravel(), return_inverse=True)
            for place, source in enumerate(different):
                of_it = which == place
                self._note(str(uuid.UUID(bytes=bytes(source))), numbers[of_it], places[named][of_it])
        long = listed.events.sizes[events] - listed.events.tails[events] >= HEADER_SIZE + _CLOCK_END
        bodies, places = bodies[long], places[long]
        clocked = listed.buffer[bodies + _CLOCK] == _LOGICAL_CLOCK if len(bodies) else np.zeros(0, bool)
        sequence = bytes_at(listed.buffer, bodies[clocked] + _SEQUENCE, 8).view("<i8").ravel()
        self._breaks("sequence_number", sequence, places[clocked])

    def _take_mariadb(self, listed: Listed, events: Numbers) -> None:
        if not len(events):
            return
        begins = listed.events.begins[events].astype(np.int64)
        numbers = bytes_at(listed.buffer, begins + HEADER_SIZE, 8).view("<u8").ravel().astype(np.int64)
        domains = bytes_at(listed.buffer, begins + HEADER_SIZE + 8, 4).view("<u4").ravel()
        servers = bytes_at(listed.buffer, begins + 5, 4).view("<u4").ravel()
        places = listed.events.places[events]
        for domain in np.unique(domains).tolist():
            of_domain = domains == domain
            self._breaks(f"domain {domain}", numbers[of_domain], places[of_domain])
            for server in np.unique(servers[of_domain]).tolist():
                self._add(f"{domain}-{server}", numbers[of_domain & (servers == server)])

    def _note(self, source: str, numbers: Numbers, places: Numbers) -> None:
        self._breaks(source, numbers, places)
        self._add(source, numbers)

    def _add(self, source: str, numbers: Numbers) -> None:
        runs = self.runs.setdefault(source, [])
        numbers = np.unique(numbers)
        cuts = np.flatnonzero(np.diff(numbers) != 1)
        firsts, lasts = np.r_[0, cuts + 1], np.r_[cuts, len(numbers) - 1]
        for first, last in zip(numbers[firsts].tolist(), numbers[lasts].tolist(), strict=True):
            if runs and runs[-1][0] <= first <= runs[-1][1] + 1:
                runs[-1][1] = max(last, runs[-1][1])
            else:
                runs.append([first, last])
        if len(runs) > _KEPT:
            self.runs[source] = _joined(runs)

    def _breaks(self, of: str, numbers: Numbers, places: Numbers) -> None:
        """Note where a number is not the one before and one."""
        if not len(numbers):
            return
        before = np.r_[self._last.get(of, int(numbers[0]) - 1), numbers[:-1]]
        self._last[of] = int(numbers[-1])
        wrong = np.flatnonzero(numbers != before + 1)
        self.broken += len(wrong)
        for index in wrong[: _KEPT - len(self.breaks)].tolist():
            at = int(places[index])
            self.breaks.append(Break(self._file, at, of, int(before[index]) + 1, int(numbers[index])))

    def text(self) -> str:
        """The set as MySQL prints it; of MariaDB the numbers of each domain and server."""
        parts = []
        for source, runs in self.runs.items():
            texts = [f"{first}-{last}" if last > first else str(first) for first, last in _joined(runs)]
            parts.append(f"{source}:{':'.join(texts)}")
        return ",".join(parts)


def _joined(runs: list[list[int]]) -> list[list[int]]:
    joined: list[list[int]] = []
    for first, last in sorted(runs):
        if joined and first <= joined[-1][1] + 1:
            joined[-1][1] = max(last, joined[-1][1])
        else:
            joined.append([first, last])
    return joined


def gtid_of(raw: bytes, format: FormatContext) -> str | None:
    """The GTID that a transaction's first event tells."""
    if raw[4] not in (Gtid.type_code, GtidTagged.type_code, MariadbGtid.type_code):
        return None
    try:
        event = decode_event_strictly(raw, 0, format)
    except FormatError:
        return None
    gtid = event.body.canonical(Surroundings(event.server_id)).get("gtid")
    return None if gtid is None else str(gtid)
