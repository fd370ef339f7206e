"""The rows of one event: found and changed, one by one or in the order of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forge.decode.cells import RowChange
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.replay.replica_table import Undo
from forge.replay.row_changes import RowChanges
from forge.replay.row_event import EventForm, ShortRow, local_image
from forge.replay.row_lookup import RowFinder
from forge.replay.stops import PASSED_OVER, StopError
from forge.servers.facts.applier import Applier
from forge.values.json.diff import apply_diffs

_JSON_PREFIX = 4


def take_back(undo: Undo, length: int) -> None:
    """Take back the changes beyond the first ``length``."""
    while len(undo) > length:
        table, number, before = undo.pop()
        table.restore(number, before)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of an event: its number, its images by the replica's columns, what the event has of it."""

    number: int
    before: dict[int, bytes | None]
    change: RowChange


class Stopped(Exception):
    """The applier stops at a row (0: the event) of a table."""

    def __init__(self, error: StopError, at: tuple[int, str], kind: str = "insert") -> None:
        super().__init__(str(error))
        self.error, self.at, self.kind = error, at, kind


class EventWork:
    """The rows of one event."""

    def __init__(
        self, applier: Applier, form: EventForm, changes: RowChanges, undo: Undo | None, size: int, *,
        idempotent: bool, notes: Counter[tuple[str, str, str]],
    ) -> None:  # fmt: skip
        self.applier, self.form, self.changes, self.undo = applier, form, changes, undo
        self.idempotent, self.notes = idempotent, notes
        self.behind = size
        assert form.lookup is not None or form.kind == "insert"
        self.finder = None if form.lookup is None else RowFinder(form.table, form.lookup, self.applier)

    def insert(self, rows: Iterable[RowChange]) -> None:
        """Store the rows."""
        for row in rows:
            self.guarded(row.row, lambda row=row: self._insert(row))  # type: ignore[misc]

    def _insert(self, row: RowChange) -> None:
        assert row.after is not None
        self._spend(row)
        image = local_image(self.form, row.after, self.behind, self.applier)
        if self.form.table.table.engine != "BLACKHOLE":
            self.changes.insert(image, self.undo, idempotent=self.idempotent)

    def change_one_by_one(self, rows: Iterable[RowChange]) -> None:
        """Find and change each row in the event's order."""
        for row in rows:
            self.guarded(row.row, lambda row=row: self._change(row))  # type: ignore[misc]

    def _change(self, row: RowChange) -> None:
        found = self._found(self._before(row))
        if found is not None:
            self._apply(found, row)

    def _found(self, before: dict[int, bytes | None]) -> int | None:
        lookup, finder = self.form.lookup, self.finder
        assert lookup is not None
        assert finder is not None
        if lookup.by == "all":
            return None
        if lookup.by == "nothing":
            raise self._missing(lookup.rule, "end_of_file")
        looked_for = self.changes.before_record(before) if self.applier.looks_up == "row" else before
        number = finder.find(looked_for)
        if number is None:
            raise self._missing(lookup.rule, "not_found" if lookup.by == "key" else "end_of_file")
        return number

    def _before(self, row: RowChange) -> dict[int, bytes | None]:
        assert row.before is not None
        self._spend(row)
        return self.changes.full_image(local_image(self.form, row.before, self.behind, self.applier))

    def _spend(self, row: RowChange) -> None:
        """Count off the bytes of a row."""
        for image in (row.before, row.after):
            if image is not None:
                self.behind -= (len(image) + 7) // 8 + sum(len(cell.raw or b"") for cell in image)

    def _missing(self, rule: str, handler: str) -> StopError:
        return StopError(1032, f"Can't find record in '{self.form.table.table.name}'", rule, handler)

    def change_hashed(self, rows: Iterable[RowChange]) -> None:
        """Find all rows of the event, and change them in the order of the table (Hash_slave_rows)."""
        lookup, finder = self.form.lookup, self.finder
        assert lookup is not None
        assert finder is not None
        waiting: dict[tuple[bytes | None, ...], list[_Row]] = {}
        images: dict[tuple[bytes | None, ...], dict[int, bytes | None]] = {}
        for row in rows:
            self.guarded(row.row, lambda row=row: self._wait(row, waiting, images))  # type: ignore[misc]
        meant: dict[int, list[_Row]] = {}
        for entry, image in images.items():
            meant.update(dict.fromkeys(finder.candidates(image), waiting[entry]))
        changed = 0
        count = sum(map(len, waiting.values()))
        missing, several = count > len(meant), count > 1
        for number in self.form.table.ordered(meant):
            if meant[number]:
                one = meant[number].pop(0)
                changed += 1
                try:
                    done = self.guarded(one.number, lambda number=number, one=one: self._apply(number, one.change))  # type: ignore[misc]
                except Stopped:
                    if lookup.by_key and missing:
                        raise UnsupportedError("which row stops a hash scan over a key first is not known") from None
                    raise
                if not done and lookup.by_key and several:
                    raise UnsupportedError("in which order a hash scan over a key changes rows is not known")
        left = [one for ones in waiting.values() for one in ones]
        if self.idempotent and left and changed < len(meant):
            # 9.7 scans once more for a row that is missing, and may change rows that it has no order for.
            raise UnsupportedError("equal rows, in a hash scan that misses another one, in IDEMPOTENT mode")
        if changed and left and self.form.kind == "update":
            self._refuse_chains(left)
        for one in left:
            self.guarded(one.number, self._raise_missing)

    def _raise_missing(self) -> None:
        assert self.form.lookup is not None
        raise self._missing(self.form.lookup.rule, "end_of_file")

    def _refuse_chains(self, left: list[_Row]) -> None:
        """Raises UnsupportedError if a row that was not found is there now: the scan may or may not meet it."""
        assert self.finder is not None
        if any(self.finder.candidates(one.before) for one in left):
            raise UnsupportedError("rows of an event that become each other, in a hash scan, are not measured")

    def _wait(
        self,
        row: RowChange,
        waiting: dict[tuple[bytes | None, ...], list[_Row]],
        images: dict[tuple[bytes | None, ...], dict[int, bytes | None]],
    ) -> None:
        assert self.form.lookup is not None
        before = self._before(row)
        entry = tuple(before[column] for column in self.form.lookup.columns)
        images[entry] = before
        waiting.setdefault(entry, []).append(_Row(row.row, before, row))

    def _apply(self, number: int, row: RowChange) -> None:
        if row.after is None:
            self.changes.delete(number, self.undo)
            return
        image = local_image(self.form, row.after, 0, self.applier)
        for cell in row.after:
            place = self.form.places[cell.number - 1]
            if cell.partial and cell.raw is not None and place is not None:
                old = self.form.table.rows[number][place]
                try:
                    document = None if old is None else apply_diffs(old[_JSON_PREFIX:], cell.diffs())
                except FormatError:
                    document = None
                if document is None:
                    column = self.form.table.columns[place].name
                    text = f"Could not apply JSON diff in table {self.form.table.table.name}, column {column}."
                    raise StopError(3648, text, "partial JSON: the document has no such place", "none")
                image[place] = len(document).to_bytes(_JSON_PREFIX, "little") + document
        self.changes.update(number, image, self.undo)

    def guarded(self, number: int, step: Callable[[], None]) -> bool:
        """Do a row's work; False if IDEMPOTENT passes over it.  Raises Stopped where the server stops."""
        at = number, self.form.table.name
        mark = 0 if self.undo is None else len(self.undo)
        try:
            step()
        except StopError as error:
            if self.undo is not None:
                take_back(self.undo, mark)
            ends = self.form.lookup is not None and self.form.lookup.ends
            if ends or not (self.idempotent and error.code in PASSED_OVER):
                raise Stopped(error, at, self.form.kind) from None
            self.notes[self.form.table.name, self.form.kind, f"R7: error {error.code} passed over"] += 1
            return False
        except ShortRow as short:
            code = self.applier.short_row_error
            words = {
                1105: "Unknown error",
                1030: 'Got error 171 "The event was corrupt, leading to illegal data being read" from storage engine'
                f" {self.form.table.table.engine}",
            }
            raise Stopped(StopError(code, words[code], short.rule, "corrupt"), at, self.form.kind) from None
        except (FormatError, UnsupportedError):
            raise
        except ScenarioError as error:
            raise UnsupportedError(str(error)) from None
        return True
