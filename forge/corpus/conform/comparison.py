"""The answers of a testee on one file laid beside what a correct reader gets of it: the first difference."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal

import msgspec

from forge.check.canonical.reference import Place
from forge.check.compare.differences import Difference, ImageName
from forge.corpus.conform.forms import NOT_COMPARED, Forms
from forge.corpus.kit.protocol import CellAnswer, EventAnswer, Frame, RowAnswer
from forge.corpus.kit.reading import ExpectedLog
from forge.corpus.outcomes import Outcome, judged
from forge.errors import Verdict

#: How a reading ended: by the testee's own word, or because it died, or was stopped.
Ended = Literal["ok", "refused", "unsupported", "crashed", "timeout"]

_SHOWN_LENGTH = 160


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
    ``invention`` is the first of these.
    """

    expected: ExpectedLog
    forms: Forms
    reading: Reading
    rows: int = 0
    cells: int = 0
    not_shown: int = 0
    as_bytes: int = 0
    invented: int = 0
    invention: Difference | None = None

    def difference(self) -> Difference | None:
        """The first difference; None if there is none."""
        return next(self._differences(), None)

    def _differences(self) -> Iterator[Difference]:
        yield from self._frames()
        yield from self._events()
        yield from self._rows()
        if self.expected.stops_at is not None and self.reading.ended == "ok":
            at = self.expected.stops_at
            yield Difference("ending", f"it reads on behind {at}, where a correct reader stops", offset=at)

    def _frames(self) -> Iterator[Difference]:
        if not self.reading.frames:
            return
        inner = any(frame.inner for frame in self.reading.frames)
        events = [event for event in self.expected.events if inner or not event.get("inner")]
        for event, frame in zip_longest(events, self.reading.frames):
            if frame is None:
                if self.reading.ended == "ok":
                    yield _of_event("missing", event, "it does not show the event")
                return
            if event is None:
                if self.expected.stops_at is None or frame.offset < self.expected.stops_at:
                    yield Difference("rows", f"it shows an event at {frame.offset}, where none is", offset=frame.offset)
                return
            yield from self._fields(event, _outside(event), msgspec.to_builtins(frame))

    def _events(self) -> Iterator[Difference]:
        by_place = {_place(event): event for event in self.expected.events}
        for answer in self.reading.events:
            event = by_place.get((answer.offset, answer.inner))
            if event is None:
                if self.expected.stops_at is None or answer.offset < self.expected.stops_at:
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
        gaps = self.reading.gaps
        rows = [row for row in self.expected.rows if _place(row) not in gaps]
        answers = [answer for answer in self.reading.rows if (answer.offset, answer.inner) not in gaps]
        for row, answer in zip_longest(rows, answers):
            if answer is None:
                if self.reading.ended == "ok" and self._asked_for_rows():
                    yield _of_row("row", row, "it does not show the row")
                return
            if row is None:
                yield from self._surplus(answer)
                return
            if answer.offset is not None and (answer.offset, answer.inner) != _place(row):
                yield self._misplaced(row, answer)
                return
            yield from self._row(row, answer)

    def _asked_for_rows(self) -> bool:
        return not self.reading.frames and not self.reading.events

    def _surplus(self, answer: RowAnswer) -> Iterator[Difference]:
        stop, at = self.expected.stops_at, answer.offset
        if stop is not None and (at is None or at >= stop):
            return
        where = "" if at is None else f" at {at}"
        yield Difference("rows", f"it shows a row of {answer.database}.{answer.table}{where}, where none is", offset=at)

    def _misplaced(self, row: Mapping[str, Any], answer: RowAnswer) -> Difference:
        if answer.offset is not None and (answer.offset, answer.inner) > _place(row):
            return _of_row("row", row, "it does not show the row")
        return Difference("rows", f"it shows one row too many in the event at {answer.offset}", offset=answer.offset)

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
            yield _of_value(row, image, cell, "the value is", right, given)


def outcome_of(reading: Reading, difference: Difference | None, verdict: Verdict, *, marked: bool = False) -> Outcome:
    """The outcome of a reading, given what a correct reader does with the bytes; ``marked`` as in :func:`judged`."""
    stopped = reading.ended in ("refused", "unsupported")
    passes = difference is not None and difference.what == "ending"
    return judged(_did(reading, difference), verdict, stopped=stopped, marked=marked, passes=passes)


def _did(reading: Reading, difference: Difference | None) -> Outcome:
    if reading.ended in ("crashed", "timeout"):
        return reading.ended
    if difference is not None:
        return "disagree"
    if reading.ended != "ok":
        return reading.ended
    return "unsupported" if reading.gaps else "agree"


def shown(value: Any) -> str:
    """A value in a sentence."""
    text = json.dumps(value, ensure_ascii=False, default=lambda raw: json.loads(bytes(raw)))
    if not text.isprintable():
        text = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}... ({len(text)} characters)"


def _place(item: Mapping[str, Any]) -> Place:
    return item["offset"], item.get("inner", 0)


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
    where = f"{row['database']}.{row['table']}, event {row['event']} at {row['offset']}, row {row['row']}"
    if image is not None:
        where += f", {image} image"
    if cell is not None:
        where += f", column {cell['column']}" + (f" {cell['name']}" if "name" in cell else "")
    return Difference(
        what,
        f"{where}: {sentence}",
        row["event"],
        row["offset"],
        f"{row['database']}.{row['table']}",
        row["row"],
        image,
        None if cell is None else cell["column"],
        None if cell is None else cell.get("name"),
        expected,
        found,
        None if cell is None else cell.get("text"),
        None if cell is None else cell["raw"],
    )
