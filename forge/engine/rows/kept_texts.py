"""Many short texts in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import overload


class KeptTexts(Sequence[str]):
    """Texts one behind the other, as UTF-8: what a text takes beside its bytes are eight for its end."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = array("Q", [0])

    def append(self, text: str) -> None:
        self._data += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._data))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        index = range(len(self))[place]
        return self._data[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")
