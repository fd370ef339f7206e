"""The answers of a testee on one file laid beside what a correct reader gets of it: where they differ."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any, Literal

import msgspec

from forge.check.compare.differences import Difference, ImageName
from forge.conform.forms import NOT_COMPARED, Forms
from forge.conform.kit.protocol import CellAnswer, EventAnswer, Frame, Level, RowAnswer
from forge.conform.kit.reading import ExpectedLog
from forge.decode.reference import Place

#: How a reading ended: by the testee's own word, or because it died, or was stopped.
Ended = Literal["ok", "refused", "unsupported", "crashed", "timeout"]

_SHOWN_LENGTH = 160
#: Differences of a file that are told.
_MOST_DIFFERENCES = 1000


@dataclass(slots=True)
class Reading:
    """The answers to one request, in their order, and how it ended."""

    frames: list[Frame] = field(default_factory=list)
    events: list[EventAnswer] = field(default_factory=list)
    rows: list[RowAnswer] = field(default_factory=list)
    gaps: dict[Place, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    ended: Ended = "ok"
    message: str | None = None
    #: Places of the testee's code that it reached first with this file, if it was asked for them and can say it.
    coverage: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """``rows`` and ``cells`` count what was compared, ``not_shown`` the cells that the testee has no form for.

    Of cells whose bytes are no value, ``as_bytes`` are shown as these bytes or not at all, ``invented`` as values;
    ``invention`` is the first of these.  ``level`` is what the testee was asked for.  With ``until``, only what lies
    before that offset of the file is compared.
    """

    expected: ExpectedLog
    forms: Forms
    reading: Reading
    level: Level = "rows"
    until: int | None = None
    rows: int = 0
    cells: int = 0
    not_shown: int = 0
    as_bytes: int = 0
    invented: int = 0
    invention: Difference | None = None
    #: Of values that differ, how many are of a kind, and would be right in a form of it (Forms.fitting).
    fitting: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def asked_for(self) -> Sequence[Mapping[str, Any]]:
        """What there is to show at the level."""
        return self.expected.rows if self.level == "rows" else self.expected.events

    @property
    def given(self) -> Sequence[RowAnswer | EventAnswer | Frame]:
        """What is shown at the level."""
        reading = self.reading
        return reading.rows if self.level == "rows" else reading.events if self.level == "events" else reading.frames

    def differences(self) -> list[Difference]:
        """All of them in their order, as far as they are not too many to tell."""
        return list(islice(self._differences(), _MOST_DIFFERENCES))

    def reads_on(self) -> Difference | None:
        """That it reads on where a correct reader stops, if it does."""
        at = self.expected.stops_at
        if at is None or self.reading.ended != "ok":
            return None
        return Difference("ending", f"it reads on behind {at}, where a correct reader stops", offset=at)

    def is_short_of(self, at: int) -> bool:
        """Whether it does not show all that lies before an offset; of rows, those of transactions that end before it:
        a reader may keep rows back until their transaction is whole.
        """
        ends = (event["offset"] for event in self.expected.events if event["offset"] < at and _ends_transaction(event))
        whole = max(ends, default=-1) + 1
        for expected, given, end in (
            (self.expected.rows if self.level == "rows" else (), self.reading.rows, whole),
            (self.expected.events if self.level == "frames" else (), self.reading.frames, at),
        ):
            before = [item for item in expected if item["offset"] < end and _place(item) not in self.reading.gaps]
            if len([item for item in given if item.offset is None or item.offset < at]) < len(before):
                return True
        return False

    def _is_before(self, offset: int | None) -> bool:
        return self.until is None or (offset is not None and offset < self.until)

    def _is_behind_stop(self, offset: int | None) -> bool:
        """Whether nothing says what is right at an offset."""
        stop = self.expected.stops_at
        return stop is not None and (offset is None or offset >= stop)

    def _differences(self) -> Iterator[Difference]:
        yield from self._frames()
        yield from self._events()
        yield from self._rows()

    def _frames(self) -> Iterator[Difference]:
        if not self.reading.frames and self.level != "frames":
            return
        inner = any(frame.inner for frame in self.reading.frames)
        events = [event for event in self.expected.events if inner or not event.get("inner")]
        for event, frame in zip_longest(events, self.reading.frames):
            if not self._is_before(frame.offset if event is None else event["offset"]):
                return
            if frame is None:
                if self.reading.ended == "ok":
                    yield _of_event("missing", event, "it does not show the event")
                return
            if event is None:
                if not self._is_behind_stop(frame.offset):
                    yield Difference("rows", f"it shows an event at {frame.offset}, where none is", offset=frame.offset)
                return
            yield from self._fields(event, _outside(event), msgspec.to_builtins(frame))

    def _events(self) -> Iterator[Difference]:
        by_place = {_place(event): event for event in self.expected.events}
        if self.level == "events" and by_place and not self.reading.events and self.reading.ended == "ok":
            yield _of_event("missing", self.expected.events[0], "it shows no event")
        for answer in self.reading.events:
            if not self._is_before(answer.offset):
                return
            event = by_place.get((answer.offset, answer.inner))
            if event is None:
                if not self._is_behind_stop(answer.offset):
                    yield Difference(
                        "rows", f"it shows an event at {answer.offset}, where none is", offset=answer.offset
                    )
                return
            given: dict[str, Any] = {} if answer.type is msgspec.UNSET else {"type": answer.type}
            yield from self._fields(event, {"type": event["type"], **event["fields"]}, given | answer.fields)

    def _fields(
        self, event: Mapping[str, Any], right: Mapping[str, Any], given: Mapping[str, Any]
    ) -> Iterator[Difference]:
        for name, value in given.items():
            if name not in right:
                yield _of_event("statement", event, f"it shows a field {name!r}, which {event['type']} does not have")
            elif value != right[name]:
                sentence = f"{name} is {shown(right[name])}, it shows {shown(value)}"
                yield _of_event("statement", event, sentence, shown(right[name]), shown(value), name)

    def _rows(self) -> Iterator[Difference]:
        """The rows in their order.  A row that is missing or one too many hides none behind it."""
        answers = deque(self.reading.rows)
        for row in self.expected.rows:
            place = _place(row)
            if not self._is_before(row["offset"]):
                return
            while answers and answers[0].offset is not None and _answered(answers[0]) < place:
                yield self._surplus(answers.popleft())
            has_gap = place in self.reading.gaps
            if answers and (_answered(answers[0]) == place if answers[0].offset is not None else not has_gap):
                yield from self._row(row, answers.popleft())
            elif not has_gap and self.level == "rows":
                if not answers and self.reading.ended != "ok":
                    return
                yield _of_row("row", row, "it does not show the row")
        for answer in answers:
            if self.until is None and not self._is_behind_stop(answer.offset):
                yield self._surplus(answer)

    def _surplus(self, answer: RowAnswer) -> Difference:
        at = answer.offset
        if any(row["offset"] == at for row in self.expected.rows):
            return Difference("rows", f"it shows one row too many in the event at {at}", offset=at)
        where = "" if at is None else f" at {at}"
        return Difference(
            "rows", f"it shows a row of {shown(answer.database)}.{shown(answer.table)}{where}, where none is", offset=at
        )

    def _row(self, row: Mapping[str, Any], answer: RowAnswer) -> Iterator[Difference]:
        self.rows += 1
        if answer.kind != row["kind"]:
            yield _of_row("row", row, f"it is a row of an {row['kind']}, it shows one of {answer.kind}")
        for name in ("database", "table"):
            right, given = row[name], getattr(answer, name)
            if isinstance(right, str) and given != right:
                yield _of_row("table", row, f"the {name} is {shown(right)}, it shows {shown(given)}")
        images: tuple[ImageName, ...] = ("before", "after")
        for image in images:
            yield from self._image(row, image, row[image], getattr(answer, image))

    def _image(
        self,
        row: Mapping[str, Any],
        image: ImageName,
        cells: Sequence[Mapping[str, Any]] | None,
        answers: Sequence[CellAnswer] | None,
    ) -> Iterator[Difference]:
        if cells is None or answers is None:
            if (cells is None) != (answers is None):
                there = "has no" if cells is None else "has its"
                yield _of_row("presence", row, f"the row {there} {image} image, it shows otherwise", image=image)
            return
        given = {answer.column: answer for answer in answers}
        present = {cell["column"] for cell in cells}
        for cell in cells:
            number = cell["column"]
            answer = given.get(number)
            if answer is None:
                yield _of_row("presence", row, "the image has the column, it does not show it", image=image, cell=cell)
                continue
            yield from self._cell(row, image, cell, answer)
        for number, answer in given.items():
            is_null = not isinstance(answer.raw, str) and answer.value in (None, msgspec.UNSET)
            if number not in present and not (is_null and self.forms.absent_is_null):
                sentence = f"the image does not have column {number}, it shows {'NULL' if is_null else 'a value'}"
                yield _of_row("presence", row, sentence, image=image)

    def _cell(
        self, row: Mapping[str, Any], image: ImageName, cell: Mapping[str, Any], answer: CellAnswer
    ) -> Iterator[Difference]:
        has_bytes, given = answer.raw is not msgspec.UNSET, answer.value
        if given is msgspec.UNSET and not (has_bytes and answer.raw is not None):
            given = None
        if "broken" in (cell.get("value") or ()):
            if given in (None, msgspec.UNSET) or (isinstance(given, dict) and "broken" in given):
                self.as_bytes += 1
            else:
                self.invented += 1
                found = _of_value(row, image, cell, "the bytes are no value:", cell["value"], given)
                self.invention = self.invention or found
        right = self.forms.expected(cell)
        if right is NOT_COMPARED and not has_bytes:
            self.not_shown += 1
            return
        self.cells += 1
        if has_bytes and answer.raw != cell["raw"]:
            yield _of_value(row, image, cell, "the bytes are", cell["raw"], answer.raw)
        elif given is not msgspec.UNSET and not self.forms.agree(cell, given):
            self.fitting.update(self.forms.fitting(cell, given))
            yield _of_value(row, image, cell, "the value is", right, given)


def shown(value: Any) -> str:
    """A value in a sentence."""
    text = _escaped(json.dumps(value, ensure_ascii=False, default=lambda raw: json.loads(bytes(raw))))
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}... ({len(text)} characters)"


def _escaped(text: str) -> str:
    """Text that cannot break a line or drive a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def _place(item: Mapping[str, Any]) -> Place:
    return item["offset"], item.get("inner", 0)


def _answered(answer: RowAnswer) -> Place:
    return answer.offset or 0, answer.inner


def _outside(event: Mapping[str, Any]) -> dict[str, Any]:
    names = ("offset", "type_code", "event_size", "log_pos", "timestamp", "server_id")
    return {name: event[name] for name in names} | {
        "inner": event.get("inner", 0),
        "checksum": event["checksum"]["valid"],
    }


def _of_event(
    what: Literal["missing", "statement"],
    event: Mapping[str, Any],
    sentence: str,
    expected: str | None = None,
    found: str | None = None,
    field: str | None = None,
) -> Difference:
    where = f"event {event['index']} ({event['type']}) at {event['offset']}: "
    return Difference(
        "rows" if what == "missing" else "statement",
        where + sentence,
        event["index"],
        event["offset"],
        expected=expected,
        found=found,
        field=field,
    )


def _of_value(
    row: Mapping[str, Any], image: ImageName, cell: Mapping[str, Any], what: str, right: Any, given: Any
) -> Difference:
    sentence = f"{what} {shown(right)}, it shows {shown(given)}"
    return _of_row("value", row, sentence, image=image, cell=cell, expected=shown(right), found=shown(given))


def _of_row(
    what: Literal["row", "table", "presence", "value"],
    row: Mapping[str, Any],
    sentence: str,
    *,
    image: ImageName | None = None,
    cell: Mapping[str, Any] | None = None,
    expected: str | None = None,
    found: str | None = None,
) -> Difference:
    table = _escaped(f"{row['database']}.{row['table']}")
    where = f"{table}, event {row['event']} at {row['offset']}, row {row['row']}"
    if image is not None:
        where += f", {image} image"
    if cell is not None:
        where += f", column {cell['column']}" + (_escaped(f" {cell['name']}") if "name" in cell else "")
    return Difference(
        what,
        f"{where}: {sentence}",
        row["event"],
        row["offset"],
        table,
        row["row"],
        image,
        None if cell is None else cell["column"],
        None if cell is None else cell.get("name"),
        expected,
        found,
        None if cell is None else cell.get("text"),
        None if cell is None else cell["raw"],
    )


def _ends_transaction(event: Mapping[str, Any]) -> bool:
    if event["type"] == "QUERY":
        return event["fields"].get("query") in ("COMMIT", "ROLLBACK")
    return event["type"] in ("XID", "XA_PREPARE")
