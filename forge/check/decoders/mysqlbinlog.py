"""MySQL's ``mysqlbinlog``: its pseudo-SQL of rows, read back (recorded on 9.7.4)."""

from __future__ import annotations

from forge.check.decoders.vendors.reader import CommandLineReader
from forge.decode.cells import MappedTable

#: Types of old servers that MySQL 8.4 took out of its readers (its FORMAT_DESCRIPTION gives them no post-header):
#: START_V3, what was LOAD DATA before 5.0, rows from before version 2.
_REMOVED = frozenset((1, 6, 7, 8, 10, 12, *range(20, 26)))


class Mysqlbinlog(CommandLineReader):
    program = "mysqlbinlog"
    unread_types = _REMOVED | frozenset(range(160, 256))
    capabilities = (
        "FLOAT has 6 significant digits",
        "ENUM is shown as its number, SET as its bits",
        "YEAR 0000 is shown as 1900",
        "BINARY(n) is shown without its trailing zero bytes",
        "integers are shown signed, with the unsigned value after negative ones",
        "VECTOR elements have 6 significant digits",
        "GEOMETRY is not shown, nor what follows it in the event",
        "the text of columns is not converted from their character sets",
    )

    def __init__(self) -> None:
        super().__init__("mysqlbinlog", "mysql97", "mysql")

    def table_name(self, mapped: MappedTable) -> str:
        # Not escaped, unlike in the rows.
        return f"`{mapped.body.database}`.`{mapped.body.table}`"
