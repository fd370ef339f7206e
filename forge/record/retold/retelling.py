"""From a log to the scenario whose build is the log.

Group by group, the statements that may have made it are run as the engine runs those of a scenario, and what it
compiles to is compared with the log.  A group of which no statement gives the very bytes is said as its events.  What
is left after that is in ``session.edits``, so that every log has a scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from forge.binlog.listing.disassemble import disassemble
from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.plan.facts import Facts
from forge.record.retold.exploring import REFUSALS, Exploration, file_of
from forge.record.retold.log_edits import edits_between
from forge.record.retold.log_groups import (
    is_placed,
)
from forge.record.retold.log_parts import Part, listed_parts
from forge.record.retold.log_script import script_text, statements_of_plan
from forge.record.statuses import statuses_of
from forge.scenario.matrix import base_scenario
from forge.scenario.planning import plan as planned

#: After so many attempts all groups that are not the log's are said as events.
_MOST_ATTEMPTS = 16


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An event that no statement gives: its number and offset, and why."""

    index: int
    offset: int
    event: str
    reason: str

    def __str__(self) -> str:
        return f"event {self.index} at {self.offset} ({self.event}): {self.reason}"


@dataclass(slots=True)
class Retold:
    """A scenario's tree, and how near its build is to the log."""

    tree: dict[str, Any]
    identical: bool
    #: Groups of the log, and how many of them are said as statements.
    groups: int
    said: int
    obstacles: list[Obstacle] = field(default_factory=list)
    #: The same as a SQL script, if that was asked for, and why it is none, if it is not.
    script: str | None = None
    problem: str | None = None


def retold(
    data: bytes,
    *,
    name: str,
    file: str,
    settings: Mapping[str, Any] | None = None,
    schema: str | None = None,
    as_script: bool = False,
) -> Retold:
    """The scenario of a log; ``schema`` is a SQL script with the definitions of tables that were there before.

    Raises FormatError for what is no binary log, ScenarioError for settings that a session cannot have.
    """
    telling = _Telling(Exploration(data, name, file, dict(settings or {}), schema))
    try:
        told = telling.told()
        if not told.identical:
            told = telling.as_edits("the scenario compiles to something else")
    except REFUSALS as error:
        told = telling.as_edits(str(error))
    if as_script:
        telling.say_as_script(told)
    return told


class _Telling:
    def __init__(self, log: Exploration) -> None:
        self.log = log

    def told(self) -> Retold:
        """The scenario, after as many attempts as it needs."""
        for attempt in range(_MOST_ATTEMPTS):
            entries, existing, numbers = self.log.explored()
            tree = self.log.tree(entries, existing)
            try:
                built, wrong = self._compared(tree, numbers)
            except REFUSALS as error:
                built, wrong = None, {self._culprit(tree, numbers): str(error)}
            wrong = {number: reason for number, reason in wrong.items() if number not in self.log.reasons}
            if not wrong:
                break
            for number, reason in wrong.items():
                self.log.refused[number] = self.log.refused.get(number, 0) + 1
                self.log.differences.setdefault(number, reason)
                if attempt >= _MOST_ATTEMPTS - 6:
                    self.log.reasons[number] = reason
        return self._finished(tree, built)

    def _compared(self, tree: dict[str, Any], numbers: list[int]) -> tuple[bytes, dict[int, str]]:
        """The file that the tree makes, and which steps are not the log's."""
        facts = self.log.facts()
        plan = self.log.plan(tree, facts)
        statuses = statuses_of(plan, [self.log.data])
        if statuses:
            facts = msgspec.structs.replace(facts, statuses=statuses)
            plan = self.log.plan(tree, facts)
        tree["session"]["facts"] = msgspec.to_builtins(facts)
        [built] = write_files(plan, compile_files(plan))
        parts, _ = listed_parts(built, read_events(built, strict=False))
        steps = [part for part in parts if part.kind in ("group", "event")]
        wrong: dict[int, str] = {}
        following: dict[int, str] = {}
        for number, (ours, theirs) in enumerate(zip(steps, self.log.steps, strict=False)):
            reason, follows = _difference(ours, theirs)
            if reason is not None:
                (following if follows else wrong)[number] = reason
                if ours.shape != theirs.shape and len(steps) != len(self.log.steps):
                    break
        # A number that follows from what is before it may be right once that is.
        first = min(following, default=-1)
        return built, wrong if first < 0 or (wrong and min(wrong) < first) else {first: following[first], **wrong}

    def _culprit(self, tree: dict[str, Any], numbers: list[int]) -> int:
        """The number of the first step with which the entries so far do not compile."""
        entries, facts = tree["transactions"], self.log.facts()
        good, bad = 0, len(entries)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                compile_files(self.log.plan({**tree, "transactions": entries[:middle]}, facts))
                good = middle
            except REFUSALS:
                bad = middle
        return next((number for number in numbers[good:] if number >= 0), len(self.log.steps) - 1)

    def _finished(self, tree: dict[str, Any], built: bytes | None) -> Retold:
        told = self._retold(tree, identical=built == self.log.data)
        if built is not None and built != self.log.data:
            tree["session"]["edits"] = edits_between(list(disassemble(built)), self.log.documents)
            tree["verdict"] = "accept"
            plan = self.log.plan(tree, msgspec.convert(tree["session"]["facts"], Facts))
            told.identical = write_files(plan, compile_files(plan)) == [self.log.data]
        return told

    def _retold(self, tree: dict[str, Any], *, identical: bool) -> Retold:
        groups = [number for number, part in enumerate(self.log.steps) if part.kind == "group"]
        said = sum(number not in self.log.reasons for number in groups)
        obstacles = [
            Obstacle(
                part.placed[0].index, part.placed[0].offset, part.placed[0].event.type_name, self.log.reasons[number]
            )
            for number, part in enumerate(self.log.steps)
            if number in self.log.reasons
        ]
        return Retold(tree, identical, len(groups), said, obstacles)

    def as_edits(self, reason: str) -> Retold:
        """The scenario of which nothing happens, edited to the log: for logs that no session writes as they are."""
        kept = {
            name: self.log.session[name] for name in ("log_name", "first_file", "checksum") if name in self.log.session
        }
        tree: dict[str, Any] = {**self.log.head, "session": {**kept, "ends_with": "nothing"}, "verdict": "accept"}
        plan = self.log.plan({**tree, "transactions": []}, Facts())
        [built] = write_files(plan, compile_files(plan))
        tree["session"]["edits"] = edits_between(list(disassemble(built)), self.log.documents)
        self.log.reasons = dict.fromkeys(range(len(self.log.steps)), reason) | self.log.reasons
        told = self._retold(tree, identical=False)
        plan = self.log.plan({**tree, "transactions": []}, Facts())
        told.identical = write_files(plan, compile_files(plan)) == [self.log.data]
        return told

    def say_as_script(self, told: Retold) -> None:
        """The same as SQL, with what SQL does not say in comments at its head."""
        tree = {name: value for name, value in told.tree.items() if name not in ("transactions", "verdict")}
        entries = [entry for entry in told.tree.get("transactions", []) if not is_placed(entry)]
        tree["session"] = {name: value for name, value in tree["session"].items() if name not in ("edits", "facts")}
        facts = self.log.facts(placed=False)
        sql = statements_of_plan(self.log.plan({**tree, "transactions": entries}, facts))
        raw = {id(self.log.steps[number]) for number in self.log.reasons}
        kept = file_of(part for part in self.log.parts if id(part) not in raw)
        try:
            for _ in range(2):
                tree["session"]["facts"] = msgspec.to_builtins(facts)
                told.script = script_text(tree, sql)
                plan = planned(base_scenario(told.script))
                facts = (
                    msgspec.structs.replace(facts, statuses=statuses_of(plan, [kept])) if not facts.statuses else facts
                )
            [built] = write_files(plan, compile_files(plan))
            if built != self.log.data:
                tree["session"]["edits"] = edits_between(list(disassemble(built)), self.log.documents)
                told.script = script_text({**tree, "verdict": "accept"}, sql)
                plan = planned(base_scenario(told.script))
                told.identical = write_files(plan, compile_files(plan)) == [self.log.data]
        except REFUSALS as error:
            told.identical, told.problem = False, str(error)


#: Fields that edits may change in a group which is said as statements all the same.
_EDITABLE = frozenset(("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID"))
_FIELDS = frozenset((
    "timestamp", "server_id", "flags", "event_size", "log_pos", "checksum", "table_flags", "row_flags", "thread_id",
    "error_code", "exec_time", "status_variables", "level", "database",
))  # fmt: skip

#: Numbers that count on from group to group.
_FOLLOWING = frozenset(("table_id", "xid", "value"))


def _difference(ours: Part, theirs: Part) -> tuple[str | None, bool]:
    """What a group of the built file has otherwise, which is more than an edit of a few fields; and whether that may
    follow from the groups before it.
    """
    if ours.shape != theirs.shape:
        return f"compiles to {', '.join(map(str, ours.shape))}", False
    for one, other in zip(ours.documents, theirs.documents, strict=True):
        names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        wrong = [name for name in names if name not in _FIELDS]
        if wrong and one.get("event") not in _EDITABLE:
            return f"{one.get('event')}: {', '.join(wrong)}", set(wrong) <= _FOLLOWING
    return None, False
