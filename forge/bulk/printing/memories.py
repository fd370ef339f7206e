"""Memories that the kernel is handed, without NumPy: they grow where Python adds to them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

from forge.bulk.printing import words

#: Bytes behind a memory that wide loads and stores may reach.
SLACK: Final = 64
_LARGEST: Final = (1 << 63) - 1


class Memory:
    """Bytes at an address; ``size`` is all of them but the slack."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.data = bytearray(size + SLACK)
        self.used = 0
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.data))

    def grown(self, least: int) -> Memory:
        """Another one of at least so many bytes that begins with the same."""
        more = Memory(max(2 * self.size, least))
        more.data[: self.used] = self.data[: self.used]
        more.used = self.used
        return more


class Words:
    """The table of words, and the memories that it names."""

    def __init__(self, sizes: dict[int, int]) -> None:
        self.numbers = array("q", bytes(words.WORD * words.COUNT))
        #: Where it is, and its bytes.
        self.address, _ = self.numbers.buffer_info()
        self.size = words.WORD * words.COUNT
        self._memories: dict[int, Memory] = {}
        for place, size in sizes.items():
            self.set(place, Memory(size))

    def __getitem__(self, place: int) -> int:
        return self.numbers[place]

    def __setitem__(self, place: int, number: int) -> None:
        self.numbers[place] = min(number, _LARGEST)

    def memory(self, place: int) -> Memory:
        return self._memories[place]

    def set(self, place: int, memory: Memory) -> None:
        self._memories[place] = memory
        # Of a table of ids the size tells how many there are.
        size = memory.size + (0 if place == words.IDS else SLACK)
        self.numbers[place], self.numbers[place + 1] = memory.address, size

    def add(self, place: int, data: bytes) -> int:
        """Add bytes to a memory: where they are."""
        memory = self._memories[place]
        if memory.used + len(data) > memory.size:
            memory = memory.grown(memory.used + len(data))
            self.set(place, memory)
        begin = memory.used
        memory.data[begin : begin + len(data)] = data
        memory.used += len(data)
        return begin

    def add_record(self, place: int, numbers: Sequence[int]) -> int:
        """Add a record of words, all of which are as long: its number."""
        return self.add(place, array("q", numbers).tobytes()) // (words.WORD * len(numbers))

    def fill(self, place: int, numbers: Iterable[int]) -> None:
        """Have other words in a memory."""
        data = array("q", numbers).tobytes()
        memory = self._memories[place]
        memory.data[: len(data)] = data
        memory.used = len(data)

    def word(self, place: int, number: int) -> int:
        """A word of a memory."""
        data = self._memories[place].data
        return int.from_bytes(data[words.WORD * number : words.WORD * (number + 1)], "little", signed=True)

    def set_word(self, place: int, number: int, value: int) -> None:
        data = self._memories[place].data
        data[words.WORD * number : words.WORD * (number + 1)] = value.to_bytes(words.WORD, "little", signed=True)

    def taken(self, place: int, count: int) -> bytes:
        """The first bytes of a memory."""
        return bytes(memoryview(self._memories[place].data)[:count])
