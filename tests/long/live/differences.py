"""Where the two do not say the same of a case, and which of these are known."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from forge.errors import FormatError
from forge.events.layout import Body
from forge.plan.session import Session
from forge.record.contents_difference import first_contents_difference
from tests.long.live.ours import CaseOutcome, Logged
from tests.long.live.theirs import Answers

#: What a refused statement leaves, which a scenario cannot say: the rows before the one that is refused, in tables of
#: these engines, and a gap in the numbers.
_LEAVES_TRACES = re.compile(r"ENGINE *= *(MyISAM|MEMORY|Aria)|AUTO_INCREMENT|SERIAL", re.IGNORECASE)
_KEEPS_NOTHING = re.compile(r"ENGINE *= *BLACKHOLE", re.IGNORECASE)
KNOWN = Path(__file__).parent / "known.toml"
Kind = Literal["refused", "accepted", "bytes", "rows"]


@dataclass(frozen=True, slots=True)
class Difference:
    """``refused``: only we refuse the statement; ``accepted``: only the server does; ``bytes``: the events differ;
    ``rows``: SELECT gives other rows than the decode.  ``before`` are the statements it needs.
    """

    kind: Kind
    server: str
    sql_mode: str | None
    before: tuple[str, ...]
    sql: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        before = "".join(f"    {line}\n" for line in self.before)
        mode = "" if self.sql_mode is None else f" sql_mode={self.sql_mode!r}"
        said = f"    ours:   {self.ours}\n    theirs: {self.theirs}"
        return f"{self.kind} {self.server}{mode}\n{before}  > {self.sql}\n{said}"


def differences(server: str, session: Session, cases: Sequence[CaseOutcome], answers: Answers) -> Iterator[Difference]:
    """The first of each case: what follows it may come from it.  What this version names as unsupported is none."""
    for number, case in enumerate(cases):
        end = _end(number, case, answers)
        # Where a text stands behind it too, what was logged may be of either.
        behind = {one.text or one.sql for one in case.outcomes[end:]}
        before: list[str] = []
        seen: Counter[str] = Counter()
        for index, one in enumerate(case.outcomes[: end + 1]):
            error = answers.errors.get((number, index))
            found: tuple[Kind, str, str] | None = None
            if not one.sql:
                continue
            if one.refused is not None:
                if error is None and not one.unsupported:
                    found = "refused", one.refused, "taken"
            elif error is not None:
                found = "accepted", "taken", error
            elif one.logged != (logged := _logged(answers, one.text, seen)) and one.text not in behind:
                found = "bytes", *_apart(one.logged, logged)
            if found is not None:
                yield Difference(found[0], server, session.sql_mode, tuple(before), one.sql, found[1], found[2])
                break
            if one.refused is None:
                before.append(one.sql)
        else:
            if end == len(case.outcomes):
                yield from _of_rows(server, session, number, case, answers, before)


def _end(number: int, case: CaseOutcome, answers: Answers) -> int:
    """The statement behind which tables may differ: refused, it has left traces, or the server has run it."""
    leaves_traces = _LEAVES_TRACES.search(case.outcomes[0].sql)
    for index, one in enumerate(case.outcomes):
        is_taken = one.unsupported and (number, index) not in answers.errors
        if one.sql and one.refused is not None and (leaves_traces or is_taken):
            return index
    return len(case.outcomes)


def _logged(answers: Answers, text: str, seen: Counter[str]) -> Logged:
    """What the server logged of a text that it has been sent so often before."""
    every = answers.logged.get(text, ())
    seen[text] += 1
    return every[seen[text] - 1] if seen[text] <= len(every) else ()


def _of_rows(
    server: str, session: Session, number: int, case: CaseOutcome, answers: Answers, before: list[str]
) -> Iterator[Difference]:
    if case.plan is None or number not in answers.contents or _KEEPS_NOTHING.search(case.outcomes[0].sql):
        return
    try:
        found = first_contents_difference(case.plan, answers.contents[number], case.logs)
    except FormatError:
        if session.row_image == "full":
            raise
        # Where images do not tell all cells, and no key tells rows apart, a row that was taken for another is missed.
        return
    if found is not None:
        yield Difference(
            "rows", server, session.sql_mode, tuple(before), f"table {found.table}", found.decoded, found.selected
        )


def _apart(ours: Logged, theirs: Logged) -> tuple[str, str]:
    """The first bodies that differ."""
    if len(ours) != len(theirs):
        return _types(ours), _types(theirs)
    one, other = next((a, b) for a, b in zip(ours, theirs, strict=True) if a != b)
    if type(one) is not type(other):
        return one.type_name, other.type_name
    names = [field.name for field in fields(cast(Any, one))]
    names = [name for name in names if getattr(one, name) != getattr(other, name)]
    return _fields(one, names), _fields(other, names)


def _types(logged: Logged) -> str:
    return " ".join(body.type_name for body in logged) or "no event"


def _fields(body: Body, names: Sequence[str]) -> str:
    return " ".join((body.type_name, *(f"{name}={_shown(getattr(body, name))}" for name in names)))


def _shown(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


@dataclass(frozen=True, slots=True)
class Known:
    """A difference that stays: patterns of its parts, each a regular expression or None, and why."""

    reason: str
    kind: str | None = None
    server: str | None = None
    sql: str | None = None
    ours: str | None = None
    theirs: str | None = None

    def covers(self, difference: Difference) -> bool:
        """Whether the difference is this one."""
        text = "\n".join((*difference.before, difference.sql))
        return all(
            pattern is None or re.search(pattern, found, re.IGNORECASE | re.DOTALL)
            for pattern, found in (
                (self.kind, difference.kind), (self.server, difference.server), (self.sql, text),
                (self.ours, difference.ours), (self.theirs, difference.theirs),
            )
        )  # fmt: skip


@cache
def known_differences() -> tuple[Known, ...]:
    """The list of known.toml."""
    return tuple(Known(**entry) for entry in tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("difference", ()))
