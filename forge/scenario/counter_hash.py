"""Pseudo-random numbers that are a function of a counter: there is no state to seed, so any one costs the same.

The function is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
2014): a bijection of 64 bits in which every bit of the input changes about half of those of the output.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

_MASK = (1 << 64) - 1
#: 2^64 / golden ratio, odd: consecutive multiples of it are spread evenly.
_STEP = 0x9E3779B97F4A7C15
_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_LETTER_OF = bytes(_LETTERS[byte % len(_LETTERS)] for byte in range(256))


def key_of(*words: object) -> int:
    """64 bits that depend on all of the words."""
    joined = "\0".join(map(str, words))
    return int.from_bytes(hashlib.blake2b(joined.encode(), digest_size=8).digest(), "big")


def drawn(key: int, counter: int) -> int:
    """The number, of 64 bits, that a key has for a counter."""
    number = (key + counter * _STEP) & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31


def below(number: int, limit: int) -> int:
    """A whole number from 0 to ``limit`` - 1 made of a drawn one."""
    if limit <= _MASK:
        # Not all are equally likely, but their chances differ by less than limit / 2^64.
        return number * limit >> 64
    width = limit.bit_length() + 64
    return int.from_bytes(drawn_bytes(number, width // 8 + 1), "big") % limit


def drawn_bytes(number: int, length: int) -> bytes:
    """As many bytes made of a drawn number."""
    return hashlib.shake_128(number.to_bytes(8, "big")).digest(length)


def drawn_letters(number: int, length: int) -> str:
    """As many lower-case letters and digits made of a drawn number (a, b, c and d are 1 in 32, others 1 in 37)."""
    return drawn_bytes(number, length).translate(_LETTER_OF).decode("ascii")


class CounterRandom(random.Random):
    """``random.Random`` whose numbers are those of a key (``seed``), one counter after the other."""

    def seed(self, a: Any = 0, version: int = 2) -> None:
        """Go on with the numbers of the key ``a``, which takes no time."""
        self._key: int = a or 0
        self._counter = 0
        # The base class makes numbers of a normal distribution in pairs, and keeps the second.
        self.gauss_next = None

    def random(self) -> float:
        return (self.getrandbits(64) >> 11) * 2.0**-53

    def getrandbits(self, k: int) -> int:
        number = 0
        for _ in range(-(-k // 64)):
            number = number << 64 | drawn(self._key, self._counter)
            self._counter += 1
        return number >> -k % 64
