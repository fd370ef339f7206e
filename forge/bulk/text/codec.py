"""Any character set, value by value through its codec."""

from __future__ import annotations

import numpy as np

from forge.bulk.plan import Spans, Wire
from forge.bulk.text.form import LAST_OFFSET, TextForm, Texts, located, spliced
from forge.charsets import Charset
from forge.errors import FormatError, ScenarioError


class CodecForm(TextForm):
    """What ``forge.charsets`` makes of each value."""

    def __init__(self, charset: Charset) -> None:
        self._charset = charset

    def read(self, spans: Spans) -> Texts:
        rows = len(spans.ends) - 1
        return self._decoded(
            spans, Texts(np.zeros(rows + 1, np.int32), spans.data[:0], np.arange(rows, dtype=np.int32))
        )

    def write(self, texts: Wire, most: int) -> Wire:
        values, _, lengths = located(texts)
        rows = len(lengths)
        nothing = Wire(values[:0], np.zeros(rows, np.int64), np.zeros(rows, np.int32), np.arange(rows, dtype=np.int32))
        return self._encoded(texts, nothing, most)

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
