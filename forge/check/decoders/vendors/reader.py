"""What both vendors' readers have in common: how they are run, and what they print for a correct cell, quirks included.

Where a reader prints something else for such a cell, that is a difference.  Recorded on mysqlbinlog 9.7.4 and
mariadb-binlog of 10.11.19 and 11.8.9 (corpora/recordings/metadata); sql/log_event.cc, log_event_print_value().
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from forge.binlog.reader import MAGIC, frames
from forge.binlog.window import LogSource, LogWindow, window_of
from forge.check.decoder import NOT_SHOWN, Decoder, DecodingEnded, Expected, ExpectedKey, Form, Item, Warned
from forge.check.decoders.vendors.many import Family, run_alone, run_on_files
from forge.check.decoders.vendors.program import Printed, find_program, program_version, servers_home
from forge.check.decoders.vendors.pseudo_sql import TextReader
from forge.decode.cells import Cell, MappedTable
from forge.events.plain import to_text
from forge.events.registry import event_name
from forge.vendors.cell_forms import is_printed, partial_form, right_form, type_form
from forge.vendors.column_forms import Flavour, column_texts, primary_key_text
from forge.vendors.quoting import unescape

_UNREAD = re.compile(r"Could not read entry at offset (\d+)")
#: Files of LOAD DATA go to the folder of the call.  A reader leaves them where it puts them, and gives up where a
#: thousand of one number lie.
OPTIONS = (
    "-vv", "--base64-output=DECODE-ROWS", "--verify-binlog-checksum", "--print-table-metadata", "--local-load=.",
)  # fmt: skip


class CommandLineReader(Decoder):
    """What both vendors' readers share."""

    reads_many = True
    program: ClassVar[str]
    #: Event types that it ends at: those of the other vendor alone, and old ones that it has given up.
    unread_types: frozenset[int]

    def __init__(self, name: str, build: str, flavour: Flavour) -> None:
        self.name = name
        self.build = build
        self.flavour: Flavour = flavour

    def command(self) -> tuple[str, ...] | None:
        return find_program(self.program, self.build)

    def available(self) -> str | None:
        if self.command() is None:
            return f"no {self.build}.run in {servers_home()}, and no {self.program} on PATH"
        return None

    def version(self) -> str:
        command = self.command()
        try:
            return program_version(command) if command else "unknown"
        except DecodingEnded:
            return "unknown"

    def decode(self, data: bytes) -> Iterator[Item]:
        yield from self._items(data, run_alone(self._call(), data, self.unread_types))

    def complaints(self, data: bytes) -> list[str]:
        """The errors that the program prints of a file.  Raises DecodingEnded if it is not here, or does not end."""
        printed = run_alone(self._call(), data, self.unread_types)
        return [line for line in self.error_lines(printed) if line.startswith("ERROR")]

    def _call(self) -> list[str]:
        """The program and its options.  Raises DecodingEnded if it is not here."""
        command = self.command()
        if command is None:
            raise DecodingEnded("refused", str(self.available()))
        return [*command, "--no-defaults", *OPTIONS]

    def decode_files(self, files: Sequence[bytes]) -> Iterator[Iterable[Item]]:
        """As :meth:`decode`, with many files in one call of the program."""
        command = self.command()
        if command is None:
            yield from super().decode_files(files)
            return
        family: Family = "mysql" if self.flavour == "mysql" else "mariadb"
        outcomes = run_on_files([*command, "--no-defaults", *OPTIONS], files, family, self.unread_types)
        for data, outcome in zip(files, outcomes, strict=True):
            yield self._items(data, outcome)

    def _items(self, source: LogSource, printed: Printed | DecodingEnded) -> Iterator[Item]:
        """The items of a file out of what the program printed of it."""
        if isinstance(printed, DecodingEnded):
            raise printed
        types, torn = _types(window_of(source))
        reader = TextReader(self.read_value, frozenset(types))
        yield from reader.read(printed.out)
        for line in self.error_lines(printed):
            if not line.startswith("ERROR"):
                yield Warned(line)
        if printed.code:
            raise self.ending(printed, reader, types | torn)

    def error_lines(self, printed: Printed) -> list[str]:
        """The lines of standard error, without bells and without the folder that the program lies in."""
        text = to_text(printed.err).replace("\a", "")
        text = re.sub(rf"\S*/{self.program}\b", self.program, text)
        return [line.strip() for line in text.splitlines() if line.strip()]

    def ending(self, printed: Printed, reader: TextReader, types: Mapping[int, int]) -> DecodingEnded:
        """Why the program ended with a code other than 0; ``types`` are those of the file's events by offset."""
        errors = [line for line in self.error_lines(printed) if line.startswith("ERROR")]
        if not errors and reader.invalid_type is not None:
            problem = f"column type {reader.invalid_type}: it ends with code {printed.code}, without a message"
            return DecodingEnded("unsupported", problem)
        message = "; ".join(errors) or "no message"
        unread = _UNREAD.search(message)
        if unread is not None and (code := types.get(int(unread[1]), 0)) in self.unread_types:
            return DecodingEnded("unsupported", f"{event_name(code)} events: {message}")
        return DecodingEnded("refused", f"code {printed.code} after the event at {reader.announced[0]}: {message}")

    def read_value(self, type_name: str, printed: bytes) -> Form:
        """A printed value: bytes for the string types, text for all others, None for NULL."""
        if printed == b"NULL":
            return None
        quoted = len(printed) >= 2 and printed[:1] == b"'" and printed[-1:] == b"'"
        if not quoted:
            return to_text(printed.strip())
        value = self.unquote(printed[1:-1])
        textual = type_name.partition("(")[0] in ("TIME", "DATE", "DATETIME", "TIMESTAMP", "JSON")
        return to_text(value) if textual else value

    def unquote(self, text: bytes) -> bytes:
        return unescape(text)

    def normalise(self, cell: Cell) -> Expected:
        family = "mysql" if self.flavour == "mysql" else "mariadb"
        if cell.raw is None:
            return None
        if not is_printed(cell.column, family):
            return NOT_SHOWN
        # A reader of the text drops the line breaks between the arguments of the functions.
        text = partial_form(cell, "") if cell.partial else right_form(cell.column, family)(cell.raw)
        form = type_form(cell.column)
        return NOT_SHOWN if form is None else self.read_value(form[0], text)

    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        return column_texts(mapped, self.flavour)

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        text = primary_key_text(mapped, self.flavour)
        return NOT_SHOWN if text == "" else text


def _types(window: LogWindow) -> tuple[dict[int, int], dict[int, int]]:
    """The types of the whole events by offset, and that of an event behind them that is not whole."""
    types: dict[int, int] = {}
    end = len(MAGIC)
    for frame in frames(window):
        types[frame.offset] = frame.type_code
        end = frame.offset + len(frame.raw)
    code = window.data[end - window.start :][4:5]
    return types, {end: code[0]} if code else {}
