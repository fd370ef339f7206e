"""Numbers of AUTO_INCREMENT, as statements reserve and use them."""

from __future__ import annotations

from msgspec import Struct

from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.context import DmlContext
from forge.errors import UnsupportedError
from forge.plan.tables import is_transactional

#: handler::update_auto_increment reserves 1, 2, 4 ... values at a time where the number of rows is not known.
_MAX_RESERVED_BITS = 16
#: More numbers than any statement takes.
_NO_END = 1 << 32


class Numbering(Struct):
    """AUTO_INCREMENT during one INSERT of ``rows`` rows.

    A statement reserves values for all of its rows when it first needs one, so explicit values between generated ones
    leave gaps (handler::update_auto_increment, ha_innobase::get_auto_increment; held against MySQL 9.7 by random
    statements).  ``rows`` is 1 where the number is not known before (SELECT).  ``following`` is the table's counter.
    """

    following: int
    rows: int
    #: Other engines than InnoDB give one number after the other.
    reserves: bool = True
    #: auto_increment_increment and auto_increment_offset.
    increment: int = 1
    offset: int = 1
    #: InnoDB has given a number since the table was opened: it knows its offset, and 0 as a value of its own counts as
    #: one (NO_AUTO_VALUE_ON_ZERO; recorded on MySQL 9.7 and MariaDB 11.8).
    has_numbered: bool = False
    #: The engine keeps the rows, with their numbers.
    keeps_rows: bool = True
    is_lost: bool = False
    #: The first number that was generated, and the first that was stored.
    first: int | None = None
    first_stored: int | None = None
    _next: int = 0
    _reserved_to: int = 0
    _reservations: int = 0
    _left: int = 0
    _last: int = 0

    def generated(self) -> int:
        """The value for a row that gives none.  Raises UnsupportedError where it is not known."""
        if self.is_lost:
            raise UnsupportedError(
                "the next AUTO_INCREMENT value after EXCHANGE PARTITION is not known", expected="a value in the row"
            )
        if self._next >= self._reserved_to:
            wanted = self.rows if not self._reservations else 1 << min(self._reservations, _MAX_RESERVED_BITS)
            wanted = wanted if self.reserves else 1
            self._left = self._left or wanted
            self._next = self._from(self.following)
            self._reserved_to = self._next + self._left * self.increment
            self._last = self._behind(self.following, self._left) if self.reserves else self._next + 1
            self.following = max(self.following, self._last)
            self._reservations += 1
        value = self._next
        self._next += self.increment
        self.has_numbered = True
        self.first = value if self.first is None else self.first
        if value >= self._last:
            # Storing it moves the counter on, as that of a row which brings its own.
            self.following = max(self.following, self._behind(value, 1))
        self._stored()
        return value

    def given(self, value: int, *, counts: bool = True) -> None:
        """A row brings its own value; it ``counts`` unless InnoDB refuses the row as a duplicate (REPLACE's do)."""
        self.skip_to(value)
        if counts and value >= (0 if self.has_numbered and self.reserves else 1) and value >= self._last:
            self.following = max(self.following, self._behind(value, 1) if self.reserves else value + 1)
        self._stored()

    def _from(self, number: int) -> int:
        """The first number of the series from there on (compute_next_insert_id; without steps it has no offset)."""
        if self.increment == 1:
            return number
        steps = -(-(number - self.offset) // self.increment)
        return self.offset + max(steps, 0) * self.increment

    def _behind(self, number: int, count: int) -> int:
        """What InnoDB's counter is after ``count`` numbers from there on (innobase_next_autoinc)."""
        offset = 0 if self.offset > self.increment else self.offset
        return abs(number - offset) // self.increment * self.increment + count * self.increment + offset

    def skip_to(self, value: int) -> None:
        """The statement's next value is behind that of a row (handler::adjust_next_insert_id_after_explicit_value)."""
        if value > 0 and self._next and value >= self._next:
            self._next = self._from(value + 1)

    def mark(self) -> int:
        """The statement's next value, for :meth:`reset`."""
        return self._next

    def reset(self, mark: int, generated: int) -> None:
        """The value ``generated`` for a row that was not stored (0: none) serves the next row."""
        self._next = mark or generated
        if generated and not self.reserves and self.following == generated + 1:
            self.following = self._reserved_to = self._last = generated

    def _stored(self) -> None:
        if self._left:
            self._left -= 1


def numbering_of(state: TableState, insert: Insert | Replace, rows: int, context: DmlContext) -> Numbering:
    """The numbers of a statement of so many rows; 1 where the server does not know how many there are."""
    if state.table.engine == "BLACKHOLE":
        # It sees no number that a row has had, and reserves without end.
        return Numbering(1, _NO_END, True, *context.numbers, keeps_rows=False)
    # Partitions give back what a statement has reserved and not used.
    reserves = is_transactional(state.table) and state.table.partition is None
    rows = 1 if insert.select is not None else rows
    numbering = Numbering(state.next_auto_increment, rows, reserves, *context.numbers)
    numbering.has_numbered, numbering.is_lost = state.has_numbered, state.number_is_lost
    return numbering
