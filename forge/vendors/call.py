"""A call of a vendor's program: files and options in, text, messages and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from forge.binlog.opened import opened
from forge.binlog.window import LogWindow
from forge.events.plain import to_bytes
from forge.resources import missing_for_rows
from forge.vendors.column_forms import Flavour
from forge.vendors.mariadb_printer import MariadbPrinter
from forge.vendors.mysql_printer import MysqlPrinter
from forge.vendors.option_table import OptionError, OptionParser
from forge.vendors.print_options import PrintOptions
from forge.vendors.printer import Printer, PrintError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

_STDIN = "-"


class Call:
    """One call; ``arguments`` are the program's options, and ``complain`` takes its messages.

    Options that only the program itself has raise ScenarioError.
    """

    def __init__(
        self, flavour: Flavour, arguments: Sequence[str], complain: Callable[[bytes], object], *,
        safe: bool = False, keyring: Keyring | None = None,
    ) -> None:  # fmt: skip
        self.flavour: Flavour = flavour
        self.arguments = arguments
        self.safe = safe
        self.keyring = keyring
        self._complain = complain
        #: The exit code, once all is printed.
        self.code = 0

    def text(self, files: Sequence[str]) -> Iterator[bytes]:
        """What the program prints of the files."""
        try:
            options, more = OptionParser("mysql" if self.flavour == "mysql" else "mariadb").parse(self.arguments)
        except OptionError as error:
            self._say(str(error))
            self.code = error.code
            return
        options.safe = self.safe
        if options.short_form and self.flavour == "mysql":
            self._say("WARNING: --short-form is deprecated and will be removed in a future version\n")
        with closing(self._printer(options)) as printer:
            yield from self._printed(printer, [*files, *more])

    def _say(self, message: str) -> None:
        self._complain(to_bytes(f"{message}\n"))

    def _printer(self, options: PrintOptions) -> Printer:
        printer: MysqlPrinter | MariadbPrinter
        if self.flavour == "mysql":
            printer = MysqlPrinter(options, self._say)
        else:
            printer = MariadbPrinter(options, self.flavour, self._say)
        if not missing_for_rows():
            # The kernel is of the extra `rows`; without it the printers print all.
            from forge.vendors.kernel.kernel_events import kernel_events

            printer.substitute = partial(kernel_events, printer)
        return printer

    def _printed(self, printer: Printer, files: Sequence[str]) -> Iterator[bytes]:
        yield printer.first_lines()
        for number, name in enumerate(files):
            printer.first_file, printer.last_file = not number, number == len(files) - 1
            try:
                yield from self._file(printer, name)
            except PrintError as error:
                printer.fail(error)
            if printer.failed or printer.stopped:
                break
        if not printer.failed:
            printer.end_calls()
        if not printer.failed or printer.ends_after_errors:
            yield printer.last_lines()
        self.code = int(printer.failed)

    def _file(self, printer: Printer, name: str) -> Iterator[bytes]:
        if name == _STDIN:
            yield from self._log(printer, sys.stdin.buffer)
            return
        try:
            file = Path(name).open("rb")  # noqa: SIM115
        except OSError as error:
            raise PrintError(printer.not_found(name, error)) from None
        with file:
            yield from self._log(printer, file)

    def _log(self, printer: Printer, file: BinaryIO) -> Iterator[bytes]:
        yield from printer.log(LogWindow(opened(file, self.keyring)))
