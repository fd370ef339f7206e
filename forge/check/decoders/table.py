"""Decoders behind one interface, and the table of those that are known.

A decoder turns a file into items, each with the place of the event it belongs to: the file offset, and the event's
number inside a compressed transaction (0 if it is not inside one).  Cells are shown in the form
that the decoder has; :meth:`Decoder.normalise` turns *our* cell into the form which that decoder should show, so that
a comparison finds true differences and not matters of style.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Literal

from forge.check.canonical.cells import Cell, Kind, MappedTable
from forge.check.canonical.reference import Place
from forge.errors import ForgeError, ScenarioError, nearest


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
    """A table map as a decoder shows it.  ``columns`` has a description a column, None if it gives none."""

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
    """What an event says beside rows, as forge.check.canonical.statements writes it."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The decoder leaves out the rest of an event, says so, and goes on after it."""

    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """The rows of an event are shown with those of the next row event."""

    place: Place


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that a decoder gave."""

    text: str


Item = DecodedTable | DecodedRow | DecodedStatement | Deferred | Gap | Warned

Ending = Literal["refused", "unsupported", "crashed", "timeout"]


class DecodingEnded(ForgeError):
    """A decoder did not get to the end of the file."""

    def __init__(self, ending: Ending, message: str) -> None:
        self.ending: Ending = ending
        super().__init__(message)


class Decoder(ABC):
    """One decoder.  ``capabilities`` are sentences on what its form cannot show."""

    name: str
    capabilities: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def available(self) -> str | None:
        """None if it can run here, else why not."""

    @abstractmethod
    def version(self) -> str:
        """Its version, e.g. ``9.7.4``.  Only asked for if it is available."""

    @abstractmethod
    def decode(self, data: bytes) -> Iterable[Item]:
        """The items of a file, in file order.  Raises DecodingEnded where the decoder gives up."""

    @abstractmethod
    def normalise(self, cell: Cell) -> Expected:
        """The form in which this decoder should show our cell.  May raise ForgeError for a cell without value."""

    def table_name(self, mapped: MappedTable) -> str:
        """How the decoder should name the table."""
        return mapped.full_name

    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        """How it should describe the columns; None where no comparison is possible."""
        return None

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        """How it should describe the primary key, None if it should show none."""
        return NOT_SHOWN


def available_decoders() -> list[Decoder]:
    """Every known decoder, ours first; :meth:`Decoder.available` says of each whether it can run here."""
    from forge.check.decoders.forge_decoder import ForgeDecoder
    from forge.check.decoders.mariadb_binlog import MariadbBinlog
    from forge.check.decoders.mysqlbinlog import Mysqlbinlog
    from forge.check.decoders.python_mysql_replication import PythonMysqlReplication

    return [
        ForgeDecoder(),
        PythonMysqlReplication(),
        Mysqlbinlog(),
        MariadbBinlog("mariadb-binlog-10.11", "maria1011", "mariadb-10.11"),
        MariadbBinlog("mariadb-binlog-11.8", "maria118", "mariadb-11.8"),
    ]


def decoder(name: str) -> Decoder:
    """The decoder of that name; ``mariadb-binlog`` is the newest one that is here.

    Raises ScenarioError for an unknown name.
    """
    known = {found.name: found for found in available_decoders()}
    if name == "mariadb-binlog":
        newest_first = [found for key, found in reversed(known.items()) if key.startswith(name)]
        return next((found for found in newest_first if found.available() is None), newest_first[0])
    if name not in known:
        raise ScenarioError(
            f"unknown decoder {name!r}", expected=f"one of {', '.join(known)}", suggestion=nearest(name, known)
        )
    return known[name]
