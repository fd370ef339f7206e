"""What the kernel of forge.bulk.printing learns from the printer: the texts of events, as it meets them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from forge.bulk.printing import words
from forge.bulk.printing.memories import Memory, Words
from forge.bulk.printing.texts import fixed_texts
from forge.decode.cells import MappedTable
from forge.events.plain import to_bytes
from forge.events.query import Query
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.vendors.kernel.kernel_columns import RowForm, Step, row_form
from forge.vendors.mysql_filters import ends_group, starts_group
from forge.vendors.mysql_forms import partitions_line
from forge.vendors.printer import Printer
from forge.vendors.shown_events import ShownEvent
from forge.vendors.table_lines import table_texts

#: Bytes of each text that the kernel makes before it is taken: few enough to stay in the processor's cache.
TEXT: Final = 1 << 19
_LARGEST_TEXT: Final = 1 << 25
#: Bytes of the longest statement that is learned, of all texts around it and a table, and how many are known.
_LONG_STATEMENT, _LONG_TEXT, _MOST_STATEMENTS = 1 << 9, 1 << 12, 32
#: Seconds for which a time zone holds, if it does at both ends.
_QUARTER: Final = 900
_NONE: Final = -1
_MOST_IDS: Final = 64
_ID_WORDS: Final = 2


class Knowledge:
    """The table of words of one printer, and what stands in it."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self.words = Words({
            words.BUFFER: 0, words.TEXTS: 1 << 14, words.IDS: _MOST_IDS * _ID_WORDS * words.WORD, words.MAPS: 1 << 10,
            words.LAYOUTS: 1 << 10, words.STEPS: 1 << 12, words.MAPPED: 2 * words.MOST_MAPPED * words.WORD,
            words.SHAPES: _MOST_STATEMENTS * words.SHAPE_WORDS * words.WORD,
            words.ZONES: words.ZONE_COUNT * words.ZONE_WORDS * words.WORD, words.CLOCK: 64, words.HEAD: TEXT,
            words.BODY: TEXT, words.BLOCK: TEXT, words.SCRATCH: 1 << 20, words.STACK: 1 << 13,
            words.HELD_HEADS: TEXT,
        })  # fmt: skip
        self.words.add(words.TEXTS, fixed_texts())
        self.words.fill(words.IDS, [_NONE] * _MOST_IDS * _ID_WORDS)
        #: By the numbers that the kernel has for them.
        self.tables: list[MappedTable] = []
        self._slots: dict[bytes, int] = {}
        self._slot_of: dict[int, int] = {}
        self._ids: dict[int, int] = {}
        self._zones = 0
        #: The session for which statements were learned.
        self._session: Any = None

    def grow(self) -> bool:
        """More room for the text of a large row or event; whether it may have more."""
        for place in (words.BODY, words.BLOCK):
            size = self.words.memory(place).size
            if size >= _LARGEST_TEXT:
                return False
            self.words.set(place, Memory(4 * size))
        return True

    def learn_zone(self, second: int) -> None:
        """The time zone that holds in a second."""
        begin = second - second % _QUARTER
        first, last, here = (time.localtime(one) for one in (begin, begin + _QUARTER - 1, second))
        same = (first.tm_gmtoff, first.tm_zone) == (last.tm_gmtoff, last.tm_zone)
        since, until = (begin, begin + _QUARTER) if same else (second, second + 1)
        name = time.strftime("%Z", here).encode()
        record = (since, until, here.tm_gmtoff, *self._text(name))
        for place, number in enumerate(record):
            self.words.set_word(words.ZONES, self._zones * words.ZONE_WORDS + place, number)
        self._zones = (self._zones + 1) % words.ZONE_COUNT

    def _text(self, text: bytes) -> tuple[int, int]:
        """Where a text is, and its bytes."""
        return self.words.add(words.TEXTS, text), len(text)

    def learn_map(self, event: ShownEvent | None) -> bool:
        """The table that an event maps; whether it maps one."""
        if event is None or not isinstance(event.body, TableMap):
            return False
        known = event.bytes_of_body[6:]
        slot = self._slots.get(known)
        if slot is None:
            slot = self._slots[known] = self._add_map(self._printer.mapped_table(event, event.body), known)
        self._bind(event.body.table_id, slot)
        return True

    def number_of(self, mapped: MappedTable) -> int:
        """The number of a table, which the printer may have mapped."""
        slot = self._slot_of.get(id(mapped))
        return self._add_map(mapped, b"") if slot is None else slot

    def _add_map(self, mapped: MappedTable, known: bytes) -> int:
        """The number of a table; ``known`` are the bytes of its TABLE_MAP behind the id."""
        options, flavour = self._printer.options, self._printer.flavour
        before, behind = table_texts(mapped, options, flavour, tells_key=False)
        keyed = table_texts(mapped, options, flavour, tells_key=True)[1]
        usable = len(before) + len(behind) + len(keyed) <= _LONG_TEXT
        record: list[int] = []
        for text in (known, *((before, behind, keyed) if usable else (b"",) * 3)):
            record += self._text(text)
        self._slot_of[id(mapped)] = len(self.tables)
        self.tables.append(mapped)
        return self.words.add_record(words.MAPS, [*record, _NONE, int(usable)])

    def _bind(self, table_id: int, slot: int) -> None:
        """Where the table of that id is looked for."""
        self._ids[table_id] = slot
        entries = self.words.memory(words.IDS).size // (_ID_WORDS * words.WORD)
        if 2 * len(self._ids) <= entries:
            self._put_id(table_id, slot, entries)
            return
        entries *= 4
        self.words.set(words.IDS, Memory(_ID_WORDS * words.WORD * entries))
        self.words.fill(words.IDS, [_NONE] * entries * _ID_WORDS)
        for known, number in self._ids.items():
            self._put_id(known, number, entries)

    def _put_id(self, table_id: int, slot: int, entries: int) -> None:
        at = (table_id * 0x9E3779B1 >> 7) & (entries - 1)
        while self.words.word(words.IDS, _ID_WORDS * at) not in (_NONE, table_id):
            at = (at + 1) & (entries - 1)
        for place, number in enumerate((table_id, slot)):
            self.words.set_word(words.IDS, _ID_WORDS * at + place, number)

    def learn_layout(self, event: ShownEvent | None) -> bool:
        """What stands before the rows of an event of a table that is mapped, and how rows like them are printed."""
        if event is None or not isinstance(event.body, ROWS_BODIES):
            return False
        body, data = event.body, event.bytes_of_body
        slot = self.mapped()[body.table_id]
        header = data[8 : len(data) - len(body.rows)]
        form = row_form(body, self.tables[slot], self._printer.family, commented=self._printer.options.verbose > 1)
        partitions = partitions_line(getattr(body, "extra", b"")) if self._printer.family == "mysql" else b""
        if form is not None and len(form.prefix) + len(partitions) > _LONG_TEXT:
            form = None
        self._add_layout(slot, event.type_code, header, form, partitions)
        return True

    def mapped(self) -> dict[int, int]:
        """The ids of the tables that are mapped, and the tables' numbers."""
        table = self.words
        places = range(table[words.MAPPED_COUNT])
        return {table.word(words.MAPPED, 2 * place): table.word(words.MAPPED, 2 * place + 1) for place in places}

    def map(self, numbers: dict[int, int]) -> None:
        """Have these tables mapped."""
        self.words[words.MAPPED_COUNT] = len(numbers)
        self.words.fill(words.MAPPED, [number for pair in numbers.items() for number in pair])

    def _add_layout(self, slot: int, code: int, header: bytes, form: RowForm | None, partitions: bytes) -> None:
        first = slot * words.MAP_WORDS + words.FIRST
        prefix = b"" if form is None else form.prefix
        record = [
            code, *self._text(header), self.words.word(words.MAPS, first), int(form is not None), *self._text(prefix),
            *self._text(partitions),
        ]  # fmt: skip
        for steps in (None, None) if form is None else (form.before, form.after):
            record += (0, -1) if steps is None else (self._add_steps(steps), len(steps))
        self.words.set_word(words.MAPS, first, self.words.add_record(words.LAYOUTS, record))

    def _add_steps(self, steps: Sequence[Step]) -> int:
        """The number of the first."""
        numbers = [
            self.words.add_record(words.STEPS, [*kind, *self._text(behind), *self._text(null), 0])
            for kind, behind, null in steps
        ]
        return numbers[0]

    def check_session(self) -> Any:
        """What was said of the session; statements that were learned in another are forgotten."""
        session = self._printer.session
        state = (
            session.database, session.thread_id, session.flags2, session.sql_mode, session.auto_increment,
            session.charset, tuple(session.once.items()), session.delimiter,
        )  # fmt: skip
        if state != self._session:
            self._session = state
            self.words[words.QUERIES] = 0
            self.words.memory(words.SHAPES).used = 0
        return state

    def can_learn(self, event: ShownEvent) -> bool:
        """Whether the event is a statement that begins or ends a transaction."""
        usual = self._printer.family == "mysql" and isinstance(event.body, Query)
        if not usual or len(event.raw) > _LONG_STATEMENT:
            return False
        assert isinstance(event.body, Query)
        text = to_bytes(event.body.query)
        return (starts_group(text) or ends_group(text)) and self.words[words.QUERIES] < _MOST_STATEMENTS

    def learn_statement(self, event: ShownEvent, printed: bytes) -> None:
        """The text of a statement, which did not change the session."""
        body = event.body
        assert isinstance(body, Query)
        head = b"\tQuery\tthread_id=%d\texec_time=%d" % (body.thread_id, body.exec_time)
        at, behind, rest = printed.partition(head)
        fore, clock, hind = rest.partition(b"SET TIMESTAMP=%d" % event.event.timestamp)
        usual = at == self._printer.at(event) + self._printer.header_line(event) and behind and clock
        if not usual or not fore.endswith(b"\n") or len(rest) > _LONG_TEXT:
            return
        effect = words.ENDS_IT if ends_group(to_bytes(body.query)) else words.STARTS
        texts = [*self._text(event.bytes_of_body[8:]), event.event.flags, *self._text(fore), *self._text(hind)]
        self.words.add_record(words.SHAPES, [*texts, effect])
        self.words[words.QUERIES] += 1
