"""A source of chances, and one that is made of random numbers."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")
Width = Literal[32, 64]

#: Numbers at which formats tend to change.
_BORDERS = (0, 1, 2, 127, 128, 250, 251, 255, 256, 32767, 32768, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_REALS = (0.0, -0.0, 1.0, -1.0, 0.1, 1.5, -2.25, 1e-300, 1e300, 5e-324, 3.4028234663852886e38, 1.401298464324817e-45)


class Source(ABC):
    """What decides where there is a choice."""

    #: Whether a failing value is made smaller step by step: from an example there is no way to smaller ones.
    shrinks = False

    def plainest(self, items: Sequence[T]) -> T:
        """One of the items, the last of which is what a failing value is brought down to."""
        return self.one_of(items[::-1] if self.shrinks else items)

    @abstractmethod
    def integer(self, least: int, most: int) -> int:
        """An integer from ``least`` to ``most``, the ends among them."""

    @abstractmethod
    def one_of(self, items: Sequence[T]) -> T:
        """One of the items, of which there is at least one."""

    @abstractmethod
    def real(self, width: Width = 64, least: float | None = None) -> float:
        """A finite number of so many bits, not below ``least``."""

    @abstractmethod
    def binary(self, most: int, least: int = 0) -> bytes:
        """Bytes, at least ``least`` and at most ``most``."""

    @abstractmethod
    def text(self, most: int, alphabet: Sequence[str] | None = None) -> str:
        """At most ``most`` characters out of the alphabet, or any but surrogates."""

    def truth(self) -> bool:
        """True or False."""
        return self.one_of((False, True))

    def once_in(self, times: int) -> bool:
        """True one time out of so many."""
        return not self.integer(0, times - 1)

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """At most ``most`` of the items, each once, in any order."""
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(self.integer(0, min(most, len(left))))]

    def several(self, draw: Callable[[Source], T], least: int, most: int) -> list[T]:
        """As many things as that, drawn one after the other."""
        return [draw(self) for _ in range(self.integer(least, most))]


class RandomSource(Source):
    """Chances out of a seed: the same for ever, on every version of Python."""

    def __init__(self, seed: str) -> None:
        # Only the bits of the generator are used: what Python makes of them differs between its versions.
        self._bits = Random(seed).getrandbits

    def below(self, count: int) -> int:
        """A number from 0 to ``count`` - 1."""
        return (self._bits(32) * count) >> 32 if count < 1 << 16 else self._bits(count.bit_length() + 32) % count

    def integer(self, least: int, most: int) -> int:
        if most - least < 16:
            return least + self.below(most - least + 1)
        kind = self._bits(3)
        if kind == 0:
            return least if self._bits(1) else most
        if kind <= 2:
            number = _BORDERS[self.below(len(_BORDERS))]
            return min(max(-number if least < 0 and self._bits(1) else number, least), most)
        if kind == 3:
            return least + self.below(1 << self.below((most - least).bit_length()))
        return least + self.below(most - least + 1)

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def real(self, width: Width = 64, least: float | None = None) -> float:
        kind = self._bits(2)
        if kind == 0:
            number = self.one_of(_REALS)
        elif kind == 1:
            number = self.integer(-(10**9), 10**9) / self.one_of((1, 10, 100, 1024))
        else:
            number = struct.unpack("<d", self._bits(64).to_bytes(8, "little"))[0]
        if number != number or number in (float("inf"), float("-inf")):
            number = 0.0
        if width == 32:
            try:
                number = struct.unpack("<f", struct.pack("<f", number))[0]
            except OverflowError:
                number = 0.0
        return number if least is None or number >= least else abs(number)

    def binary(self, most: int, least: int = 0) -> bytes:
        size = least + self.below(most - least + 1)
        return self._bits(8 * size).to_bytes(size, "little") if size else b""

    def text(self, most: int, alphabet: Sequence[str] | None = None) -> str:
        size = self.below(most + 1)
        if alphabet is not None:
            return "".join([alphabet[self.below(len(alphabet))] for _ in range(size)])
        return "".join([self._character() for _ in range(size)])

    def _character(self) -> str:
        kind = self._bits(2)
        if kind < 2:
            return chr(32 + self.below(95))
        code = self.below(0x250) if kind == 2 else self.below(0x110000)
        return chr(code) if not 0xD800 <= code < 0xE000 else "\N{REPLACEMENT CHARACTER}"
