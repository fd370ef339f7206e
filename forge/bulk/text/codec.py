"""Any character set through its codec: all values of a column at once where that can be, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from forge.bulk.plan import Bytes, Numbers, Spans, Wire
from forge.bulk.text.form import LAST_OFFSET, TextForm, Texts, are_ascii, located, spliced, too_long
from forge.charsets import Charset
from forge.errors import FormatError, ScenarioError

#: Characters that no usual text has.  In the sets whose characters begin with one byte they are that byte, which is no
#: part of a longer character.
_SEPARATORS: Final = range(1, 9)
_ASCII: Final = "".join(map(chr, range(0x80)))


class CodecForm(TextForm):
    """What ``forge.charsets`` makes of each value."""

    def __init__(self, charset: Charset) -> None:
        self._charset = charset

    def read(self, spans: Spans) -> Texts:
        ends, data, is_ascii = spans
        if is_ascii and self._keeps_ascii:
            return Texts(ends, data)
        made = self._at_once(data, ends, lambda raw: self._charset.decode(raw).encode())
        if made is not None:
            return Texts(*made)
        rows = len(ends) - 1
        return self._decoded(spans, Texts(np.zeros(rows + 1, np.int32), data[:0], np.arange(rows, dtype=np.int32)))

    def write(self, texts: Wire, most: int) -> Wire:
        if self._keeps_ascii and are_ascii(texts):
            return replace(texts, odd=too_long(texts, most))
        values, starts, lengths = located(texts)
        rows = len(lengths)
        ends = np.append(starts, starts[-1:] + lengths[-1:])
        made = self._at_once(values, ends, lambda raw: self._charset.encode(raw.decode()))
        if made is not None:
            return Wire(made[1], made[0][:-1].astype(np.int64), np.diff(made[0]), too_long(texts, most))
        nothing = Wire(values[:0], np.zeros(rows, np.int64), np.zeros(rows, np.int32), np.arange(rows, dtype=np.int32))
        return self._encoded(texts, nothing, most)

    @cached_property
    def _keeps_ascii(self) -> bool:
        """Whether ASCII is stored as it is."""
        with suppress(FormatError, ScenarioError):
            return self._charset.encode(_ASCII) == _ASCII.encode() and self._charset.decode(_ASCII.encode()) == _ASCII
        return False

    def _at_once(self, data: Bytes, ends: Any, convert: Callable[[bytes], bytes]) -> tuple[Numbers, Bytes] | None:
        """What ``convert`` makes of the values ``data[ends[i] : ends[i + 1]]``, likewise; None if it refuses one."""
        if self._charset.min_length > 1 or len(ends) < 2:
            return None
        plain = data[ends[0] : ends[-1]]
        raw = plain.tobytes()
        separator = next((byte for byte in _SEPARATORS if byte not in raw), None)
        if separator is None:
            return None
        try:
            made = convert(np.insert(plain, ends[1:] - ends[0], np.uint8(separator)).tobytes())
        except (FormatError, ScenarioError, UnicodeDecodeError):
            return None
        out = np.frombuffer(made, np.uint8)
        is_separator = out == separator
        places = np.flatnonzero(is_separator)
        if len(places) != len(ends) - 1 or len(out) > LAST_OFFSET:
            return None
        return np.append(np.int32(0), (places - np.arange(len(places))).astype(np.int32)), out[~is_separator]

    def _decoded(self, spans: Spans, texts: Texts) -> Texts:
        """The texts, with those of the rows that are odd there; odd are the values that are no text."""
        found: dict[int, bytes] = {}
        refused = []
        total = int(texts.ends[-1])
        for row in texts.odd.tolist():
            try:
                text = self._charset.decode(spans.data[spans.ends[row] : spans.ends[row + 1]].tobytes()).encode()
            except FormatError:
                text = None
            if text is None or total + len(text) > LAST_OFFSET:
                refused.append(row)
            else:
                found[row] = text
                total += len(text)
        ends, data = spliced(texts.ends, texts.data[: texts.ends[-1]], found) if found else texts[:2]
        return Texts(ends, data, np.array(refused, np.int32))

    def _encoded(self, texts: Wire, wire: Wire, most: int) -> Wire:
        """The values, with those of the rows that are odd there; odd are texts that have none or are too long."""
        values, begins, sizes = located(texts)
        data, starts, lengths = located(wire)
        made, refused, end = [], [], len(data)
        for row in wire.odd.tolist():
            try:
                text = values[begins[row] : begins[row] + sizes[row]].tobytes().decode()
                value = self._charset.encode(text) if len(text) <= most else None
            except (ScenarioError, UnicodeDecodeError):
                value = None
            if value is None:
                refused.append(row)
                continue
            starts[row], lengths[row] = end, len(value)
            made.append(value)
            end += len(value)
        if made:
            data = np.concatenate([data, np.frombuffer(b"".join(made), np.uint8)])
        return Wire(data, starts, lengths, np.array(refused, np.int32))
