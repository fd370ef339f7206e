"""MariaDB's ``mariadb-binlog``: as mysqlbinlog, with differences (recorded on 10.11.19 and 11.8.9).

Strings are not escaped but for bytes below 0x20, so that ``a'b`` is printed ``'a'b'`` and the text ``\\x00`` looks
like a zero byte; GEOMETRY is printed as a string; a row event with MySQL's JSON or VECTOR ends the program.
"""

from __future__ import annotations

import re
from functools import cache

from forge.check.decoder import DecodingEnded
from forge.check.decoders.vendors.program import run_program
from forge.check.decoders.vendors.reader import CommandLineReader
from forge.decode.cells import MappedTable
from forge.vendors.column_forms import Flavour

#: Of MySQL's servers alone; what 11.8 has given up besides: START_V3, with which logs of MySQL 4 begin (recorded).
_OF_MYSQL = frozenset((36, 37, 39, 40, 41, 42))
_GIVEN_UP = {"maria118": frozenset((1,))}


class MariadbBinlog(CommandLineReader):
    program = "mariadb-binlog"
    capabilities = (
        "FLOAT has 6 significant digits",
        "ENUM is shown as its number, SET as its bits",
        "YEAR 0000 is shown as 1900",
        "BINARY(n) is shown without its trailing zero bytes",
        "integers are shown signed, with the unsigned value after negative ones",
        "quotes and backslashes in strings are not escaped, which makes \\x00 ambiguous",
        "values of COMPRESSED columns are shown as stored",
        "MySQL's JSON and VECTOR columns end the program",
        "the text of columns is not converted from their character sets",
    )

    def __init__(self, name: str, build: str, flavour: Flavour) -> None:
        super().__init__(name, build, flavour)
        self.unread_types = _OF_MYSQL | _GIVEN_UP.get(build, frozenset())

    def version(self) -> str:
        command = self.command()
        if command is None:
            return "unknown"
        version = super().version()
        # 10.11 tells only the version of the client program; the shell beside it tells the server's.
        return version if "MariaDB" in version else _shell_version(command) or version

    def table_name(self, mapped: MappedTable) -> str:
        names = (mapped.body.database, mapped.body.table)
        return ".".join("`" + name.replace("`", "``") + "`" for name in names)

    def unquote(self, text: bytes) -> bytes:
        return text


@cache
def _shell_version(command: tuple[str, ...]) -> str | None:
    shell = [*command[:-1], command[-1].removesuffix("-binlog")]
    try:
        printed = run_program([*shell, "--version"])
    except DecodingEnded:
        return None
    match = re.search(rb"[0-9]+\.[0-9]+\.[0-9]+-MariaDB", printed.out)
    return match[0].decode() if match else None
