"""The numbers and times of a volume's transactions and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from forge.bulk.generating.draws import even_ranks
from forge.bulk.generating.epochs import Definitions
from forge.bulk.generating.lives import Moments, Numbers
from forge.bulk.generating.volume_calendar import SECOND, Calendar
from forge.bulk.writing.layout import Stamps
from forge.bulk.writing.templates import STAMPS
from forge.compile.files.compilation import LOGS
from forge.compile.files.log import SessionLog
from forge.compile.files.session_files import SessionFiles
from forge.events.event import Event
from forge.plan.facts import Facts, FileFacts
from forge.plan.grouping.groups import LoggedGroup
from forge.scenario.counter_hash import key_of


@dataclass(frozen=True)
class VolumeNumbers:
    """``closed``: the second in which each file ends and the next one begins; ``sessions``: how many there are."""

    definitions: Definitions
    calendar: Calendar
    closed: Sequence[int]
    sessions: int
    seed: int

    @property
    def started(self) -> int:
        """The second in which the log begins."""
        return self.calendar.start // SECOND

    def log(self) -> SessionLog:
        """The log of the session, before its first group."""
        definitions = self.definitions
        groups = len(definitions.logged)
        first, *later = self.closed
        facts = Facts(
            opened=self.started,
            closed=first,
            timestamps=[[self.started]] * groups,
            commit_timestamps=[self.started * SECOND] * groups,
            later_files=[
                FileFacts(opened=opened, closed=closed) for opened, closed in zip(self.closed, later, strict=False)
            ],
        )
        return self._log(facts)

    def files(self, log: SessionLog, file: int, groups: int) -> SessionFiles:
        """The files of the log, up to the file with that many groups before it."""
        files = SessionFiles(log)
        files.logged = groups
        log.file, log.rotated = file, file > 0
        return files

    def _log(self, facts: Facts) -> SessionLog:
        definitions = self.definitions
        session = msgspec.structs.replace(definitions.plan.session, facts=facts)
        return LOGS[definitions.line.family](
            msgspec.structs.replace(definitions.plan, session=session), definitions.line
        )

    def definition(self, group: LoggedGroup, number: int, sequence: int, xid: int, micro: int) -> list[Event]:
        """The events of a data definition statement that is the log's group ``number`` and the file's ``sequence``."""
        facts = Facts(
            timestamps=[[micro // SECOND]], commit_timestamps=[micro], first_gno=1 + number, executed_from=1, xids=[xid]
        )
        log = self._log(facts)
        order = getattr(log, "order", None)
        if order is not None:
            order.sequence_number = sequence - 1
        return list(log.group(0, group))

    def stamps(
        self, moments: Moments, last_committed: Numbers, first_group: int, first_sequence: int, xid: int, threads: int
    ) -> Stamps:
        """A column for each transaction: the first is the log's group ``first_group``, the file's ``first_sequence``.

        ``last_committed``: what each depends on; ``xid``: that of group 0; ``threads``: the first session's connection.
        """
        count = len(moments)
        micros = self.calendar.times(moments)
        groups = np.arange(first_group, first_group + count)
        sequence = np.arange(first_sequence, first_sequence + count)
        stamps = np.zeros((len(STAMPS), count), np.uint64)
        for name in ("time_0", "time_1", "time_2", "time_3"):
            stamps[STAMPS.index(name)] = micros // SECOND
        stamps[STAMPS.index("gno")] = groups + 1
        stamps[STAMPS.index("last_committed")] = last_committed
        stamps[STAMPS.index("sequence_number")] = sequence
        stamps[STAMPS.index("commit_timestamp")] = micros
        stamps[STAMPS.index("xid")] = groups + xid
        key = np.uint64(key_of(self.seed, "session"))
        stamps[STAMPS.index("thread_id")] = threads + np.asarray(even_ranks(key, moments, self.sessions))
        return stamps
