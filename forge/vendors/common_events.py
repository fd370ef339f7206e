"""Events that both vendors' programs print alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.incident import Incident
from forge.events.intvar import VARIABLES, Intvar
from forge.events.load_files import AppendBlock, BeginLoadQuery, DeleteFile
from forge.events.plain import to_bytes, to_text
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.stop import Stop
from forge.vendors.column_forms import Flavour
from forge.vendors.print_options import PrintOptions
from forge.vendors.printer import Printer
from forge.vendors.shown_events import ShownEvent

#: What EXECUTE_LOAD_QUERY does with rows that are there.
_REPLACE = 2

PrintBody = Callable[[ShownEvent, Any], Iterator[bytes]]


class CommonEvents(Printer):
    """``printers`` has what is printed of an event by the class of its body."""

    def __init__(self, options: PrintOptions, flavour: Flavour, complain: Callable[[str], object]) -> None:
        super().__init__(options, flavour, complain)
        #: LOAD DATA: file id to the name of its file.
        self.files: dict[int, bytes] = {}
        self.printers: dict[type, PrintBody] = {
            Intvar: self._intvar,
            Rand: self._rand,
            BeginLoadQuery: self._load_block,
            AppendBlock: self._load_block,
            DeleteFile: self._delete_file,
            ExecuteLoadQuery: self._execute_load,
            Rotate: self._rotate,
            Stop: lambda shown, body: iter([self.header(shown, b"\tStop\n")]),
            Incident: self._incident,
        }

    @abstractmethod
    def _query_header(self, shown: ShownEvent, body: Any, name: bytes) -> bytes:
        """The header line of a statement."""

    def _intvar(self, shown: ShownEvent, body: Intvar) -> Iterator[bytes]:
        name = VARIABLES.get(body.variable, "INVALID_INT").encode()
        yield self.header(shown, b"\tIntvar\n") + self.statement(b"SET %s=%d" % (name, body.value))

    def _rand(self, shown: ShownEvent, body: Rand) -> Iterator[bytes]:
        seeds = b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d" % (body.seed1, body.seed2)
        yield self.header(shown, b"\tRand\n") + self.statement(seeds)

    def _load_block(self, shown: ShownEvent, body: AppendBlock) -> Iterator[bytes]:
        begins = isinstance(body, BeginLoadQuery)
        if begins:
            self.files[body.file_id] = to_bytes(self._free_name(body.file_id))
        if self.options.local_load is not None and body.file_id in self.files:
            path = Path(to_text(self.files[body.file_id]))
            if path.parent.is_dir():
                with path.open("wb" if begins else "ab") as file:
                    file.write(body.block)
        name = b"Begin_load_query" if begins else b"Append_block"
        line = b"\n#%s: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.block))
        yield self.header(shown, line)

    def _free_name(self, file_id: int) -> str:
        """Where the file of a LOAD DATA goes; without --local-load it is only named."""
        folder = self.options.local_load
        names = (f"{folder or '/tmp'}/SQL_LOAD_MB-{file_id:x}-{number:x}" for number in range(1000))
        return next((name for name in names if folder is None or not Path(name).exists()), "")

    def _delete_file(self, shown: ShownEvent, body: DeleteFile) -> Iterator[bytes]:
        yield self.header(shown, b"\n#Delete_file: file_id=%d\n" % body.file_id)

    def _execute_load(self, shown: ShownEvent, body: ExecuteLoadQuery) -> Iterator[bytes]:
        text = to_bytes(body.query)
        name = self.files.pop(body.file_id, None)
        if name is None:
            self.warn(
                f"Ignoring Execute_load_query since there is no Begin_load_query event for file_id: {body.file_id}"
            )
            return
        yield self._query_header(shown, body, b"Execute_load_query")
        yield from self.settings(shown, text)
        duplicates = b" REPLACE" if body.duplicates == _REPLACE else b""
        yield text[: body.file_name_start] + b" LOCAL INFILE '" + name + b"'" + duplicates
        yield b" INTO" + text[body.file_name_end :] + b"\n" + self.statement(b"")
        if not self.options.short_form:
            yield b"# file_id: %d \n" % body.file_id

    def _rotate(self, shown: ShownEvent, body: Rotate) -> Iterator[bytes]:
        line = b"\tRotate to %s  pos: %d\n" % (to_bytes(body.next_file), body.position or 4)
        yield self.header(shown, line)

    def _incident(self, shown: ShownEvent, body: Incident) -> Iterator[bytes]:
        if self.options.short_form:
            return
        yield self.header(shown, b"\n# Incident: LOST_EVENTS\n")
        yield b"RELOAD DATABASE; # Shall generate syntax error\n"
