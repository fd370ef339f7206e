"""The interface of decoders; ``forge.check.decoders`` has those that are known.

A decoder turns a file into items, each with the place of the event it belongs to: the file offset, and the event's
number inside a compressed transaction (0 if it is not inside one).  Cells are shown in the form
that the decoder has; :meth:`Decoder.normalise` turns *our* cell into the form which that decoder should show, so that
a comparison finds true differences and not matters of style.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Literal

from forge.decode.cells import Cell, Kind, MappedTable
from forge.decode.reference import Place, Reference
from forge.errors import ForgeError


class _NotShown(Enum):
    NOT_SHOWN = "not shown"


#: A cell that this decoder has no form for: it is left out of the comparison and counted.
NOT_SHOWN: Final = _NotShown.NOT_SHOWN

#: Text, bytes, or None for NULL.
Form = str | bytes | None
Expected = Form | Literal[_NotShown.NOT_SHOWN]
ExpectedKey = str | None | Literal[_NotShown.NOT_SHOWN]
#: An image: form by column number (from 1); absent columns are not in it.
Image = Mapping[int, Form]


@dataclass(frozen=True, slots=True)
class DecodedTable:
    """A table map as a decoder shows it.  ``columns`` has one description per column, None if it shows none."""

    place: Place
    name: str
    columns: tuple[str, ...] | None = None
    primary_key: str | None = None


@dataclass(frozen=True, slots=True)
class DecodedRow:
    place: Place
    database: str
    table: str
    kind: Kind
    before: Image | None
    after: Image | None


@dataclass(frozen=True, slots=True)
class DecodedStatement:
    """What an event says beside rows, as :meth:`forge.events.layout.Body.statement` has it."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The decoder leaves out the rest of an event, says so, and goes on after it."""

    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """The decoder shows the rows of an event with those of the next row event."""

    place: Place


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that a decoder gave."""

    text: str


Item = DecodedTable | DecodedRow | DecodedStatement | Deferred | Gap | Warned

#: ``too_long``: it printed more than is read of it, and was stopped; nothing is known of the rest.
Ending = Literal["refused", "unsupported", "crashed", "timeout", "too_long"]


class DecodingEnded(ForgeError):
    """A decoder did not get to the end of the file."""

    def __init__(self, ending: Ending, message: str) -> None:
        self.ending: Ending = ending
        super().__init__(message)


class Decoder(ABC):
    """One decoder.  ``capabilities`` are sentences on what its form cannot show."""

    name: str
    capabilities: ClassVar[tuple[str, ...]] = ()
    #: Several files are read faster by :meth:`decode_files`.
    reads_many: ClassVar[bool] = False

    @abstractmethod
    def available(self) -> str | None:
        """None if the decoder can run on this machine, else the reason why not."""

    @abstractmethod
    def version(self) -> str:
        """Its version, e.g. ``9.7.4``.  Only asked for if it is available."""

    @abstractmethod
    def decode(self, data: bytes) -> Iterable[Item]:
        """The items of a file, in file order.  Raises DecodingEnded where the decoder gives up."""

    def decode_known(self, data: bytes, reference: Reference) -> Iterable[Item]:
        """As :meth:`decode`, of a file whose canonical decode is ``reference``."""
        return self.decode(data)

    def decode_files(self, files: Sequence[bytes]) -> Iterator[Iterable[Item]]:
        """The items of each of several files that are right, as :meth:`decode` gives them; a program may read many of
        them in one call.
        """
        return (self.decode(data) for data in files)

    @abstractmethod
    def normalise(self, cell: Cell) -> Expected:
        """How the decoder should show a canonical cell.  May raise ForgeError for a cell without value."""

    def table_name(self, mapped: MappedTable) -> str:
        """How the decoder should name the table."""
        return mapped.full_name

    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        """How the decoder should describe the columns; None where they cannot be compared."""
        return None

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        """How the decoder should describe the primary key; None if it should show none."""
        return NOT_SHOWN
