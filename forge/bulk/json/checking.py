"""Which documents of a whole batch are well-formed: what writing their text would find, without the text.

The kernel refuses more than the reference does (opaque values, parts in another order than the server's): of what it
leaves, the text says.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json.text import KEPT, keys_end, length_behind
from forge.bulk.machine import inline, kernel, load8, load16, load32, load64, memory, signed, unsigned
from forge.bulk.plan import HIGH, Bytes, Numbers
from forge.bulk.text.utf8 import is_well_formed
from forge.values.json import binary

_LARGE_OBJECT, _LARGE_ARRAY, _LITERAL = binary.LARGE_OBJECT, binary.LARGE_ARRAY, binary.LITERAL
_INT16, _UINT16, _INT32, _UINT32 = binary.INT16, binary.UINT16, binary.INT32, binary.UINT32
_UINT64, _DOUBLE, _STRING = binary.UINT64, binary.DOUBLE, binary.STRING
_MAX_DEPTH = binary.MAX_DEPTH
#: Bytes behind a document that are read.
_BEHIND: Final = 8
_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_EXPONENT_AT, _INFINITE = np.uint64(52), np.uint64(0x7FF)


@inline
def _is_ascii(buffer: Any, begin: Any, end: Any) -> Any:
    seen = _ZERO
    at = begin
    while end - at >= 8:
        seen |= load64(buffer, at)
        at += 8
    if at < end:
        seen |= load64(buffer, at) & ((_ONE << (_EIGHT * unsigned(end - at))) - _ONE)
    return seen & HIGH == _ZERO


@inline
def _are_texts(buffer: Any, base: Any, count: Any, width: Any, heap: Any, floor: Any) -> Any:
    """Whether the keys of an object are UTF-8, which lie between ``heap`` and ``floor``."""
    if _is_ascii(buffer, heap, floor):
        return True
    for entry in range(base + 2 * width, base + 2 * width + count * (width + 2), width + 2):
        begin = base + signed(load16(buffer, entry) if width == 2 else load32(buffer, entry))
        if not is_well_formed(buffer, begin, begin + signed(load16(buffer, entry + width)), 4):
            return False
    return True


@inline
def _is_document(buffer: Any, begin: Any, end: Any, stack: Any) -> Any:
    """Whether these bytes are a document: the walk of forge.bulk.json.text."""
    code = signed(load8(buffer, begin))
    value = begin + 1
    stop = end
    floor = value
    base = value
    depth = entry = count = kind = 0
    inlined = False
    while True:
        # One value of type ``code`` at ``value``, not beyond ``stop``.
        behind = value
        if code == _STRING:
            size, behind = length_behind(buffer, value, stop)
            if size < 0:
                return False
            begin, behind = behind, behind + size
            if not _is_ascii(buffer, begin, behind) and not is_well_formed(buffer, begin, behind, 4):
                return False
        elif _INT16 <= code <= _UINT64:
            behind = value + (2 << ((code - _INT16) >> 1))
            if behind > stop:
                return False
        elif code <= _LARGE_ARRAY:
            width = 4 if code & 1 else 2
            if depth == _MAX_DEPTH or value + 2 * width > stop or (code & 1 and depth > 0 and not kind & 1):
                return False
            kept = KEPT * depth
            stack[kept] = base
            stack[kept + 1] = entry
            stack[kept + 2] = count
            stack[kept + 3] = kind
            stack[kept + 4] = stop
            depth += 1
            kind = code
            base = value
            entry = 0
            count = signed(load16(buffer, base) if width == 2 else load32(buffer, base))
            size = signed(load16(buffer, base + 2) if width == 2 else load32(buffer, base + 4))
            is_object = code <= _LARGE_OBJECT
            floor = base + 2 * width + count * (1 + width) + (count * (width + 2) if is_object else 0)
            if size > stop - base or floor > base + size:
                return False
            stop = base + size
            if is_object:
                heap = floor
                floor = keys_end(buffer, base, count, width, heap, stop)
                if floor < 0 or not _are_texts(buffer, base, count, width, heap, floor):
                    return False
            inlined = True  # its end is looked at when it closes
        elif code == _LITERAL:
            behind = value + 1
            if value >= stop or load8(buffer, value) > 2:
                return False
        elif code == _DOUBLE:
            behind = value + 8
            if behind > stop or (load64(buffer, value) >> _EXPONENT_AT) & _INFINITE == _INFINITE:
                return False
        else:
            return False
        if not inlined:
            floor = behind
        # What follows: the next entry of the innermost container, or its end.
        while depth > 0 and entry == count:
            floor = stop
            depth -= 1
            kept = KEPT * depth
            base = stack[kept]
            entry = stack[kept + 1]
            count = stack[kept + 2]
            kind = stack[kept + 3]
            stop = stack[kept + 4]
        if depth == 0:
            return floor == end
        width = 4 if kind & 1 else 2
        place = base + 2 * width + entry * (1 + width)
        if kind <= _LARGE_OBJECT:
            place += count * (width + 2)
        entry += 1
        code = signed(load8(buffer, place))
        value = place + 1
        inlined = _LITERAL <= code <= _UINT16 or (width == 4 and _INT32 <= code <= _UINT32)
        if not inlined:
            value = base + signed(load16(buffer, value) if width == 2 else load32(buffer, value))
            if value < floor or value >= stop:
                return False


@kernel
def _check(values: Any, starts: Any, lengths: Any, stack: Any, odd: Any) -> Any:
    buffer = memory(values)
    last = len(values) - _BEHIND
    found = 0
    for row in range(len(lengths)):
        begin = starts[row]
        end = begin + np.int64(lengths[row])
        if end > begin and (end > last or not _is_document(buffer, begin, end, stack)):
            odd[found] = row
            found += 1
    return found


def unchecked_documents(values: Bytes, starts: Any, lengths: Numbers) -> Numbers:
    """The rows (ascending) whose ``lengths[i]`` bytes from ``values[starts[i]]`` are perhaps no document.

    All others have a text (:func:`forge.bulk.json.text.documents_text`).  ``starts`` is int64.
    """
    values = values.view()
    values.flags.writeable = False  # Whoever made them: of one type, for which the kernel is compiled.
    odd = np.empty(len(lengths), np.int32)
    found = _check(values, starts, lengths, np.empty(KEPT * _MAX_DEPTH, np.int64), odd)
    return odd[:found]
