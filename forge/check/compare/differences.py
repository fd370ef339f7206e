"""Where a decoder's items differ from the reference, each said in one sentence.

The items of a decoder are laid beside the reference event by event: every item carries the place of its event.
What a decoder cannot show is left out and counted, never taken as agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Literal

from forge.check.decoder import (
    NOT_SHOWN,
    DecodedRow,
    DecodedStatement,
    DecodedTable,
    Decoder,
    DecodingEnded,
    Deferred,
    Expected,
    Form,
    Gap,
    Image,
    Item,
)
from forge.decode.cells import Cell, MappedTable, RowChange
from forge.decode.reference import Place, Reference
from forge.errors import ForgeError, FormatError, counted

What = Literal["value", "presence", "rows", "row", "table", "columns", "primary_key", "statement", "ending"]
ImageName = Literal["before", "after"]

#: Rows of a decoder that are kept until they are compared.
_MOST_KEPT = 1 << 14
#: Characters of a value in a sentence.
_SHOWN_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a decoder differs.  Rows and columns count from 1; ``raw`` is the cell's bytes as hex.

    ``expected`` is what the decoder should show (:meth:`Decoder.normalise`), ``found`` what it does show;
    ``reference`` is the canonical text of the cell.  ``field`` is the event's field that differs, if no row does.
    """

    what: What
    sentence: str
    event_index: int | None = None
    offset: int | None = None
    table: str | None = None
    row: int | None = None
    image: ImageName | None = None
    column: int | None = None
    column_name: str | None = None
    expected: str | None = None
    found: str | None = None
    reference: str | None = None
    raw: str | None = None
    field: str | None = None


@dataclass(slots=True)
class Counts:
    """What was compared: rows, cells, cells that the decoder has no form for; of cells whose bytes are no value, those
    that it shows as these bytes, and as something else.
    """

    rows: int = 0
    cells: int = 0
    cells_not_shown: int = 0
    cells_as_bytes: int = 0
    cells_invented: int = 0

    def add(self, other: Counts) -> None:
        """Count what the other has counted."""
        self.rows += other.rows
        self.cells += other.cells
        self.cells_not_shown += other.cells_not_shown
        self.cells_as_bytes += other.cells_as_bytes
        self.cells_invented += other.cells_invented


@dataclass(slots=True)
class Decoding:
    """The items of a decoder, by the place of their event, and how it ended."""

    tables: dict[Place, DecodedTable] = field(default_factory=dict)
    rows: dict[Place, list[DecodedRow]] = field(default_factory=dict)
    statements: dict[Place, str] = field(default_factory=dict)
    gaps: dict[Place, str] = field(default_factory=dict)
    deferred: set[Place] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    ended: DecodingEnded | None = None
    #: Of a decoder of many rows: what was compared of an event, and agrees, before the rows that are kept.
    agreed: dict[Place, Counts] = field(default_factory=dict)

    @classmethod
    def collect(cls, items: Iterable[Item]) -> Decoding:
        """All items."""
        decoding = cls()
        decoding.read(items, lambda row: None)
        return decoding

    def read(self, items: Iterable[Item], agreeing: Callable[[DecodedRow], Counts | None]) -> None:
        """Take the items.  Behind the first some 10,000 rows, those that are ``agreeing`` are counted and let go."""
        kept = 0
        try:
            for item in items:
                if isinstance(item, DecodedTable):
                    self.tables[item.place] = item
                elif isinstance(item, DecodedRow):
                    if kept >= _MOST_KEPT and item.place not in self.rows and (counts := agreeing(item)) is not None:
                        self.agreed.setdefault(item.place, Counts()).add(counts)
                        continue
                    self.rows.setdefault(item.place, []).append(item)
                    kept += 1
                elif isinstance(item, DecodedStatement):
                    self.statements[item.place] = item.text
                elif isinstance(item, Gap):
                    self.gaps[item.place] = item.what
                elif isinstance(item, Deferred):
                    self.deferred.add(item.place)
                else:
                    self.warnings.append(item.text)
        except DecodingEnded as error:
            self.ended = error

    def reached(self, place: Place) -> bool:
        """Whether the decoder had its chance with the event at ``place``."""
        return self.ended is None or place <= self.last

    @property
    def last(self) -> Place:
        """The last event that it showed anything of."""
        return max([*self.tables, *self.rows, *self.agreed, *self.gaps], default=(-1, 0))


@dataclass(slots=True)
class Comparison:
    """``counts`` says what :meth:`differences` has compared so far, and what it could not."""

    reference: Reference
    other: Decoder
    decoding: Decoding
    counts: Counts = field(default_factory=Counts)
    #: Where :meth:`agreeing` is: the places with rows that it has not passed, the place whose rows come, and these.
    _ahead: Iterator[Place] | None = None
    _place: Place | None = None
    _ours: Iterator[RowChange] = field(default_factory=lambda: iter(()))

    def agreeing(self, row: DecodedRow) -> Counts | None:
        """What was compared of the next row of the decoder, if it is what it should be.

        None if not, and where rows do not come in the order of the file.
        """
        if row.place != self._place:
            self._place = row.place
            self._ours = self._rows_of(self._shown_at(row.place))
        change = next(self._ours, None)
        if change is None:
            return None
        before = self.counts
        self.counts = Counts(rows=1)
        differs = next(self._row(change, row), None) is not None
        found, self.counts = self.counts, before
        return None if differs else found

    def _shown_at(self, place: Place) -> list[Place]:
        """The places of the rows that the decoder shows with those of ``place``; none if that was passed."""
        self._ahead = iter(self.reference.rows) if self._ahead is None else self._ahead
        pending = []
        for ahead in self._ahead:
            pending.append(ahead)
            if ahead == place:
                return pending
            if ahead not in self.decoding.deferred:
                pending = []
        return []

    def _rows_of(self, places: Iterable[Place]) -> Iterator[RowChange]:
        return chain.from_iterable(self.reference.rows[place] for place in places)

    def differences(self) -> Iterator[Difference]:
        """All of them in file order; lazily, since the first is the one that is wanted."""
        pending: list[Place] = []
        for place, index in self.reference.events.items():
            if not self.decoding.reached(place):
                break
            if place in self.reference.tables:
                yield from self._table(index, self.reference.tables[place], self.decoding.tables.get(place))
                continue
            pending.append(place)
            if place not in self.decoding.deferred:
                yield from self._rows(place, pending)
                pending = []
        yield from self._statements()
        yield from self._surplus()

    def _statements(self) -> Iterator[Difference]:
        """What is said beside rows, where the decoder shows it."""
        for place, (index, text) in self.reference.statements.items():
            shown = self.decoding.statements.get(place)
            if shown is not None and shown != text:
                sentence = f"event {index} at {place[0]} is {_quoted(text)}, {self.other.name} shows {_quoted(shown)}"
                yield Difference("statement", sentence, index, place[0], expected=text, found=shown)

    def _surplus(self) -> Iterator[Difference]:
        """What the decoder shows where the reference has nothing."""
        problem = self.reference.problem
        for place in sorted({*self.decoding.tables, *self.decoding.rows} - set(self.reference.events)):
            if problem is not None and place >= self.reference.problem_place:
                break
            subject = "a table map" if place in self.decoding.tables else counted(len(self.decoding.rows[place]), "row")
            sentence = f"at {place[0]}: {self.other.name} shows {subject}, forge nothing"
            yield Difference("rows", sentence, offset=place[0])
        if isinstance(problem, FormatError) and self.decoding.ended is None:
            sentence = f"forge refuses the file ({problem}), {self.other.name} reads it to the end"
            yield Difference("ending", sentence, problem.event_index, problem.offset)

    def _table(self, index: int, mapped: MappedTable, table: DecodedTable | None) -> Iterator[Difference]:
        place = f"event {index} at {mapped.offset}, TABLE_MAP of {mapped.full_name}"

        def difference(
            what: What, subject: str, expected: str | None, shown: str | None, column: int | None = None
        ) -> Difference:
            ours, theirs = ("nothing" if text is None else _quoted(text) for text in (expected, shown))
            sentence = f"{place}: {subject} should be {ours}, {self.other.name} shows {theirs}"
            return Difference(
                what, sentence, index, mapped.offset, mapped.full_name, column=column, expected=expected, found=shown
            )

        name = self.other.table_name(mapped)
        if table is None:
            sentence = f"{place}: {self.other.name} does not show the table"
            yield Difference("table", sentence, index, mapped.offset, mapped.full_name, expected=name)
            return
        if table.name != name:
            yield difference("table", "the table's name", name, table.name)
        columns = self.other.columns(mapped)
        if columns is not None:
            for number, (expected, shown) in enumerate(zip_longest(columns, table.columns or ()), start=1):
                untold = expected is None and number <= len(columns)
                if not untold and expected != shown:
                    yield difference("columns", f"column {number}", expected, shown, number)
        key = self.other.primary_key(mapped)
        if key is not NOT_SHOWN and key != table.primary_key:
            yield difference("primary_key", "the primary key", key, table.primary_key)

    def _rows(self, place: Place, places: list[Place]) -> Iterator[Difference]:
        """``places``: this event's, after those of events before it whose rows the decoder shows here."""
        theirs, agreed = self.decoding.rows.get(place, []), self.decoding.agreed.get(place, Counts())
        self.counts.add(agreed)
        for change, row in zip(
            islice(self._rows_of(places), agreed.rows, None) if theirs else (), theirs, strict=False
        ):
            self.counts.rows += 1
            yield from self._row(change, row)
        expected = sum(map(self.reference.rows.count, places))
        shown = agreed.rows + len(theirs)
        stopped = place in self.decoding.gaps or (self.decoding.ended is not None and place == self.decoding.last)
        broken = self.reference.problem is not None and place == self.reference.problem_place
        if shown == expected or (shown < expected and stopped) or broken:
            return
        first = next(islice(self._rows_of(places), min(shown, expected - 1), None))
        where = f"event {first.event_index} at {first.offset} ({first.mapped.full_name})"
        sentence = f"{where}: there should be {counted(expected, 'row')}, {self.other.name} shows {shown}"
        yield Difference(
            "rows", sentence, first.event_index, first.offset, first.mapped.full_name, first.row,
            expected=str(expected), found=str(shown),
        )  # fmt: skip

    def _row(self, change: RowChange, row: DecodedRow) -> Iterator[Difference]:
        place = f"event {change.event_index} at {change.offset} ({change.mapped.full_name}), row {change.row}"
        expected = f"{change.kind} {change.database}.{change.table}"
        shown = f"{row.kind} {row.database}.{row.table}"
        if expected != shown:
            sentence = f"{place} is {_quoted(expected)}, {self.other.name} shows {_quoted(shown)}"
            yield Difference(
                "row", sentence, change.event_index, change.offset, change.mapped.full_name, change.row,
                expected=expected, found=shown,
            )  # fmt: skip
            return
        yield from self._image(f"{place}, before image", change, "before", change.before, row.before)
        yield from self._image(f"{place}, after image", change, "after", change.after, row.after)

    def _image(
        self, place: str, change: RowChange, image: ImageName, ours: tuple[Cell, ...] | None, theirs: Image | None
    ) -> Iterator[Difference]:
        cells = {cell.number: cell for cell in ours or ()}
        shown = theirs or {}
        for number in sorted({*cells, *shown}):
            cell = cells.get(number)
            if cell is None:
                sentence = f"{place}, column {number} is absent, {self.other.name} shows {_quoted(shown[number])}"
                yield _cell_difference("presence", sentence, change, image, number, found=_text(shown[number]))
            elif number not in shown:
                sentence = f"{place}, {_label(cell)} is {_quoted(canonical(cell))}, {self.other.name} does not show it"
                yield _cell_difference("presence", sentence, change, image, number, cell)
            else:
                yield from self._cell(place, change, image, cell, shown[number])

    def _cell(self, place: str, change: RowChange, image: ImageName, cell: Cell, form: Form) -> Iterator[Difference]:
        try:
            cell.text()
        except ForgeError:
            # Nothing can be said of how others should show it, but that it is no value.
            same = form == cell.raw
            self.counts.cells_not_shown += 1
            self.counts.cells_as_bytes += same
            self.counts.cells_invented += not same
            return
        expected = self._expected(cell)
        if expected is NOT_SHOWN:
            self.counts.cells_not_shown += 1
            return
        self.counts.cells += 1
        if expected == form:
            return
        ours = canonical(cell)
        should = "" if ours == expected else f" and should be shown as {_quoted(expected)}"
        raw = "" if cell.raw is None else f"; its bytes are {_spaced(cell.raw)}"
        sentence = f"{place}, {_label(cell)} is {_quoted(ours)}{should}, {self.other.name} shows {_quoted(form)}{raw}"
        yield _cell_difference(
            "value", sentence, change, image, cell.number, cell, expected=_text(expected), found=_text(form)
        )

    def _expected(self, cell: Cell) -> Expected:
        try:
            return self.other.normalise(cell)
        except ForgeError:
            return NOT_SHOWN


def _cell_difference(
    what: What,
    sentence: str,
    change: RowChange,
    image: ImageName,
    number: int,
    cell: Cell | None = None,
    *,
    expected: str | None = None,
    found: str | None = None,
) -> Difference:
    columns = change.mapped.columns or ()
    return Difference(
        what, sentence, change.event_index, change.offset, change.mapped.full_name, change.row, image, number,
        columns[number - 1].name if 0 < number <= len(columns) else None,
        expected, found,
        None if cell is None else _text(canonical(cell)),
        None if cell is None or cell.raw is None else cell.raw.hex(),
    )  # fmt: skip


def canonical(cell: Cell) -> Form:
    """The canonical form of a cell; its bytes if it has no value."""
    try:
        return cell.text()
    except ForgeError:
        return cell.raw


def _label(cell: Cell) -> str:
    name = f" `{cell.column.name}`" if cell.column.name is not None else ""
    return f"column {cell.number}{name} {cell.type_name}"


def _text(form: Form) -> str:
    """A form for a report: NULL, text, or hex."""
    if form is None:
        return "NULL"
    return f"0x{form.hex()}" if isinstance(form, bytes) else form


def _quoted(form: Form) -> str:
    """As :func:`_text`, but for a sentence: text in quotes, and not too long."""
    text = repr(form) if isinstance(form, str) else _text(form)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}... ({len(text)} characters)"


def _spaced(raw: bytes) -> str:
    return raw[:40].hex(" ") + (f"... ({len(raw)} bytes)" if len(raw) > 40 else "")
