"""When rows are inserted, changed and deleted, as kernels over row numbers.

All time is one line of :data:`SPAN` moments.  Row ``e`` of a table has a slot on it, and a hashed place in the slot:
births come in the order of the rows.  Neighbours up to a hashed cut are inserted by one transaction.  Changes come in
groups of neighbours; each change stands a hashed delay behind the one before, the first behind the group's last birth.
Delays have an upper bound, so what happens in a range of moments follows from the births in it and shortly before it.

The rows of a table *inside* another are inserted and deleted with the row that owns them; they are in the order of
their owners.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import high_product, inline, kernel, signed

Moments = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
#: Transactions, and statements of them: a row has the fields of CHANGE.
Changes = npt.NDArray[np.void]

#: Moment, INSERT, UPDATE or DELETE, the first of ``count`` rows, their version, and the table that they are of.
CHANGE: Final = np.dtype([(name, np.int64) for name in ("moment", "kind", "first", "count", "version", "table")])

#: Moments of the whole time.
SPAN: Final = 1 << 50
#: Most rows of all tables: their slots are not empty, and products of two of them fit 63 bits.
MOST_ROWS: Final = 1 << 31
#: Versions of a row: 0 is what was inserted.
VERSIONS: Final = 32
MOST_UPDATES: Final = VERSIONS - 2

INSERT, UPDATE, DELETE = 0, 1, 2

# Places in the numbers of a table.
ROWS, OFFSET, SLOT, BLOCK, GROUP, DELAY, UPDATES, GUARDED, INSIDE = range(9)
#: Places in the keys of a table: hashes' keys, then thresholds; those of the updates come last.
BIRTH_KEY, CUT_KEY, COUNT_KEY, DELAY_KEY, END_KEY, OWNED_KEY, CUT, END, FIRST_UPDATE = range(9)

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Lives:
    """The lives of one table's rows.  ``numbers`` and ``keys`` are by the places above; ``owner``: of the table that
    its rows are inside of.
    """

    numbers: Numbers
    keys: Keys
    owner: Lives | None = None

    @property
    def rows(self) -> int:
        return int(self.numbers[ROWS])

    @property
    def arguments(self) -> tuple[Numbers, Keys, Numbers, Keys]:
        owner = self.owner or self
        return self.numbers, self.keys, owner.numbers, owner.keys

    def inside_of(self, owners: Numbers) -> Numbers:
        """The first row inside of each of these rows of the owner; that of the owner's end is the number of rows."""
        assert self.owner is not None
        return np.asarray(_firsts_inside(*self.arguments, np.ascontiguousarray(owners)))


@inline
def drawn(key: Any, counter: Any) -> Any:
    """The number that a key has for a counter, of 64 bits: as forge.scenario.counter_hash has it."""
    number = key + np.uint64(counter) * _STEP
    number = (number ^ (number >> np.uint64(30))) * _FIRST_FACTOR
    number = (number ^ (number >> np.uint64(27))) * _SECOND_FACTOR
    return number ^ (number >> np.uint64(31))


@inline
def below(number: Any, limit: Any) -> Any:
    """A whole number from 0 to ``limit`` - 1 made of a drawn one."""
    return signed(high_product(number, np.uint64(limit)))


@inline
def slot_moment(n: Any, k: Any, row: Any) -> Any:
    return n[OFFSET] + row * n[SLOT] + below(drawn(k[BIRTH_KEY], row), n[SLOT])


@inline
def begins(n: Any, k: Any, row: Any) -> Any:
    """Whether the row is the first of the transaction that inserts it."""
    return row % n[BLOCK] == 0 or drawn(k[CUT_KEY], row) < k[CUT]


@inline
def birth_moment(n: Any, k: Any, row: Any) -> Any:
    while not begins(n, k, row):
        row -= 1
    return slot_moment(n, k, row)


@inline
def first_inside(n: Any, k: Any, on: Any, owner: Any) -> Any:
    """The first row inside row ``owner``.  Every owner has an even part, from which a hashed piece goes to the one
    before it.
    """
    rows, owners = n[ROWS], on[ROWS]
    if owner <= 0 or owner >= owners:
        return np.int64(0) if owner <= 0 else rows
    first = owner * rows // owners
    spread = (owner + 1) * rows // owners - first
    return first + below(drawn(k[OWNED_KEY], owner), spread) if spread > 1 else first


@inline
def owner_of(n: Any, k: Any, on: Any, row: Any) -> Any:
    owner = ((row + 1) * on[ROWS] - 1) // n[ROWS]
    return owner if first_inside(n, k, on, owner) <= row else owner - 1


@inline
def is_ended(n: Any, k: Any, group: Any) -> Any:
    """Whether the rows of the group are deleted one day."""
    return drawn(k[END_KEY], group) < k[END] and group >= n[GUARDED]


@inline
def updates_of(n: Any, k: Any, group: Any) -> Any:
    number = drawn(k[COUNT_KEY], group)
    count = 0
    while count < n[UPDATES] and number < k[FIRST_UPDATE + count]:
        count += 1
    return count


@inline
def delay(n: Any, k: Any, group: Any, place: Any) -> Any:
    """How long change ``place`` (from 0) comes after the one before: short ones are more likely."""
    number = drawn(k[DELAY_KEY], group * VERSIONS + place)
    return 1 + below(number, below(number, below(number, n[DELAY])))


@inline
def base_moment(n: Any, k: Any, on: Any, ok: Any, group: Any) -> Any:
    """From when on the rows of a group change: all of them are there."""
    last = min((group + 1) * n[GROUP], n[ROWS]) - 1
    if n[INSIDE]:
        return slot_moment(on, ok, owner_of(n, k, on, last))
    return slot_moment(n, k, last)


@inline
def _latest_base(n: Any, on: Any, group: Any) -> Any:
    """A moment that :func:`base_moment` does not reach: the end of the last row's slot, or of its owner's."""
    last = min((group + 1) * n[GROUP], n[ROWS]) - 1
    owner = ((last + 1) * on[ROWS] - 1) // n[ROWS] if n[INSIDE] else last
    return on[OFFSET] + (owner + 1) * on[SLOT]


@inline
def updates_inside(n: Any, k: Any, on: Any, ok: Any, group: Any) -> Any:
    """Rows whose owner is deleted one day are not updated: it takes them along at a moment of its own."""
    if n[INSIDE] and is_ended(on, ok, owner_of(n, k, on, group) // on[GROUP]):
        return 0
    return updates_of(n, k, group)


@kernel
def _firsts_inside(n: Any, k: Any, on: Any, ok: Any, owners: Any) -> Any:
    out = np.empty(len(owners), np.int64)
    for place in range(len(owners)):
        out[place] = first_inside(n, k, on, owners[place])
    return out


@kernel
def owners_of(n: Any, k: Any, on: Any, ok: Any, rows: Any) -> Any:
    out = np.empty(len(rows), np.int64)
    for place in range(len(rows)):
        out[place] = owner_of(n, k, on, rows[place])
    return out


@kernel
def changes_of(n: Any, k: Any, on: Any, ok: Any, rows: Any, versions: Any) -> Any:
    """The moments at which the rows got these versions."""
    out = np.empty(len(rows), np.int64)
    for place in range(len(rows)):
        row = rows[place]
        if versions[place] == 0:
            out[place] = birth_moment(on, ok, owner_of(n, k, on, row)) if n[INSIDE] else birth_moment(n, k, row)
            continue
        group = row // n[GROUP]
        moment = base_moment(n, k, on, ok, group)
        for number in range(versions[place]):
            moment += delay(n, k, group, number)
        out[place] = moment
    return out


@kernel
def states_of(n: Any, k: Any, on: Any, ok: Any, first: Any, end: Any, until: Any) -> Any:
    """The version of each row from ``first`` to ``end`` at the moment ``until``; -1 if it is not there then."""
    out = np.empty(end - first, np.int64)
    for row in range(first, end):
        group = row // n[GROUP]
        owner = owner_of(n, k, on, row) if n[INSIDE] else row
        own_group = owner // on[GROUP]
        if birth_moment(on, ok, owner) >= until:
            out[row - first] = -1
            continue
        moment = base_moment(n, k, on, ok, group)
        count = updates_inside(n, k, on, ok, group)
        version = 0
        while version < count:
            moment += delay(n, k, group, version)
            if moment >= until:
                break
            version += 1
        if is_ended(on, ok, own_group) and _end_moment(on, ok, own_group) < until:
            version = -1
        out[row - first] = version
    return out


@inline
def _end_moment(n: Any, k: Any, group: Any) -> Any:
    """When the rows of a group, which are inside of none, are deleted."""
    last = min((group + 1) * n[GROUP], n[ROWS]) - 1
    moment = slot_moment(n, k, last)
    for number in range(updates_of(n, k, group) + 1):
        moment += delay(n, k, group, number)
    return moment


@kernel
def _inserts(n: Any, k: Any, begin: Any, end: Any, changes: Any) -> Any:
    """Transactions that insert rows from ``begin`` to ``end``; they are counted only if the array is empty."""
    found = 0
    slot = n[SLOT]
    row = max(begin - n[OFFSET], 0) // slot
    last = min((end - n[OFFSET]) // slot, n[ROWS] - 1) if end > n[OFFSET] else -1
    while row <= last:
        if not begins(n, k, row):
            row += 1
            continue
        moment = slot_moment(n, k, row)
        following = row + 1
        while following < n[ROWS] and not begins(n, k, following):
            following += 1
        if begin <= moment < end:
            if len(changes):
                change = changes[found]
                change.moment, change.kind, change.first, change.count = moment, INSERT, row, following - row
            found += 1
        row = following
    return found


@kernel
def _later(n: Any, k: Any, on: Any, ok: Any, begin: Any, end: Any, changes: Any, place: Any) -> Any:
    """Transactions that update and delete, in the same way, from ``place`` on."""
    found = place
    if (n[UPDATES] == 0 or k[FIRST_UPDATE] == np.uint64(0)) and (k[END] == np.uint64(0) or n[INSIDE]):
        return found
    # Groups whose last birth is early enough, and late enough for their last change to be in the range.
    reach = (n[UPDATES] + 1) * n[DELAY]
    early = max((begin - reach - on[OFFSET]) // on[SLOT], 0)
    late = min((end - on[OFFSET]) // on[SLOT], on[ROWS] - 1)
    if end <= on[OFFSET]:
        return found
    if n[INSIDE]:
        early, late = first_inside(n, k, on, early), first_inside(n, k, on, late + 1) - 1
    for group in range(early // n[GROUP], late // n[GROUP] + 1):
        ended = not n[INSIDE] and is_ended(n, k, group)
        most = updates_of(n, k, group) + (1 if ended else 0)
        # Most groups have had their changes long before: which is known without their moments.
        if most == 0 or _latest_base(n, on, group) + most * n[DELAY] < begin:
            continue
        count = updates_inside(n, k, on, ok, group)
        if count == 0 and not ended:
            continue
        first = group * n[GROUP]
        moment = base_moment(n, k, on, ok, group)
        for number in range(count + (1 if ended else 0)):
            moment += delay(n, k, group, number)
            if moment >= end:
                break
            if moment < begin:
                continue
            if len(changes):
                change = changes[found]
                change.moment, change.first, change.count = moment, first, min(n[GROUP], n[ROWS] - first)
                change.kind = UPDATE if number < count else DELETE
                change.version = number + 1 if number < count else count
            found += 1
    return found


_NOTHING = np.zeros(0, CHANGE)


def changes_between(lives: Lives, begin: int, end: int) -> Changes:
    """The transactions of a table's rows at the moments from ``begin`` to ``end``, in no order of time.

    Those that insert and delete rows of a table inside another are the owner's.
    """
    numbers, keys, *_ = lives.arguments
    inserts, later = _counted(lives, begin, end)
    made = np.zeros(inserts + later, CHANGE)
    if inserts:
        _inserts(numbers, keys, begin, end, made)
    if later:
        _later(*lives.arguments, begin, end, made, inserts)
    return made


def _counted(lives: Lives, begin: int, end: int) -> tuple[int, int]:
    """How many transactions insert, and how many update and delete."""
    inserts = 0 if lives.owner else _inserts(lives.numbers, lives.keys, begin, end, _NOTHING)
    return inserts, _later(*lives.arguments, begin, end, _NOTHING, 0)


def transactions_in(lives: Lives, begin: int, end: int) -> int:
    """How many transactions :func:`changes_between` gives."""
    return sum(_counted(lives, begin, end))


class Rows:
    """``numbers`` and ``versions`` of some rows of a table, which cells are asked for."""

    def __init__(self, lives: Lives, numbers: Numbers, versions: Numbers | None = None) -> None:
        self.lives = lives
        self.numbers = numbers
        self.versions = np.zeros(len(numbers), np.int64) if versions is None else versions
        #: The same rows as they were inserted.
        self.inserted = self if versions is None else Rows(lives, numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def counters(self) -> Numbers:
        """A number for each row and version."""
        return self.numbers * VERSIONS + self.versions

    @cached_property
    def moments(self) -> Moments:
        """When each row got its version."""
        return np.asarray(changes_of(*self.lives.arguments, self.numbers, self.versions))

    @cached_property
    def owners(self) -> Numbers:
        """The rows that these are inside of."""
        return np.asarray(owners_of(*self.lives.arguments, self.numbers))
