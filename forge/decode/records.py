"""Rows as flat records, one a changed row: the canonical decode's values by the names of the columns.

What ``forge rows`` writes as CSV and as JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from forge.binlog.selection import full_name
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.events.columns import names_of_records

Images = Literal["after", "before", "both"]

#: What a record says of its row's event, in this order.
BESIDE = ("_operation", "_file", "_position", "_event", "_timestamp", "_server_id", "_gtid")
_OPERATIONS = {(False, True): "insert", (True, True): "update", (True, False): "delete"}
_NUMBERS = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "BIT", "FLOAT", "DOUBLE")


class RecordReader:
    """The records of one table of some files.

    ``names`` are the table's columns (``@1``, ``@2`` where the log has no names) by its last definition, known once it
    was met.  Where the columns change, a record has those of its own definition.
    """

    def __init__(self, table: str | None, columns: tuple[str, ...] | None, images: Images) -> None:
        self.table = table
        self.names: tuple[str, ...] | None = None
        self._columns = columns
        self._images = images
        self._seen: dict[str, None] = {}
        #: The columns of all definitions that were met, and whether a header has them already.
        self._met: dict[str, None] = {}
        self._has_header = False
        #: Whether the table is the first one that was met, and must stay the only one.
        self._found = False

    def meet(self, events: Iterable[dict[str, Any]]) -> None:
        """Look at definitions alone, before records are read.  Raises as :meth:`records`."""
        for event in events:
            if event["type"] == "TABLE_MAP":
                self._map(event)

    def fields(self) -> list[str]:
        """The keys of the table's columns, of all definitions that were met: the header of a table of records."""
        self._has_header = True
        chosen = list(self._met) if self._columns is None else self._columns
        if self._images != "both":
            return list(chosen)
        return [f"{half}.{name}" for half in ("before", "after") for name in chosen]

    def records(self, file: str, events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The records of one file's events (forge.decode.decode.canonical_events).

        A column that the image leaves out is not in the record; NULL is None, numbers are numbers where they are exact,
        bytes are ``0x`` and hex.  A row with one image shows that one.  Raises as canonical_events;
        ScenarioError for a column that is not there or no longer fits the header, or if no table was chosen and there
        are several; UnsupportedError for rows that cannot be told.
        """
        gtid = None
        for event in events:
            fields = event["fields"]
            if "gtid" in fields:
                gtid = fields["gtid"]
            elif event["type"] == "TABLE_MAP":
                self._map(event)
                self._check_columns()
            if "rows" not in event or full_name(event) != self.table:
                continue
            if "raw_rows" in event:
                raise UnsupportedError(event["note"])
            about = (file, event["offset"], event["index"], event["timestamp"], event["server_id"], gtid)
            for row in event["rows"]:
                operation = _OPERATIONS[row["before"] is not None, row["after"] is not None]
                yield self._cells(row) | dict(zip(BESIDE, (operation, *about), strict=True))

    def is_known(self) -> bool:
        """Whether the table was met."""
        return self.names is not None

    def check(self) -> None:
        """Raises ScenarioError if the table was not met, or has no column that was chosen."""
        if self.names is None:
            named = "no table" if self.table is None else f"no table {self.table!r}"
            raise ScenarioError(
                f"{named} is in the log",
                expected=", ".join(self._seen) or "a log with tables",
                suggestion=None if self.table is None else nearest(self.table, self._seen),
            )
        self._check_columns()

    def _map(self, event: dict[str, Any]) -> None:
        fields = event["fields"]
        name = full_name(fields)
        self._seen.setdefault(name)
        if self.table is None:
            self.table, self._found = name, True
        if name != self.table:
            if self._found:
                raise several_tables(self.table, name)
            return
        if "columns" not in fields:
            raise UnsupportedError(fields.get("note", f"the columns of {name} are not known"))
        self.names = names_of_records([column.get("name") for column in fields["columns"]])
        known = self._met.keys()
        if self._has_header and self._columns is None and not known >= set(self.names):
            raise ScenarioError(
                f"the columns of {name} change at event {event['index']}, offset {event['offset']}",
                expected="a file in the place of standard input, or JSON lines",
            )
        self._met |= dict.fromkeys(self.names)

    def _check_columns(self) -> None:
        for name in (self._columns or ()) if self._met else ():
            if name not in self._met:
                raise ScenarioError(
                    f"{self.table} has no column {name!r}",
                    expected=", ".join(self._met),
                    suggestion=nearest(name, self._met),
                )

    def _cells(self, row: dict[str, Any]) -> dict[str, Any]:
        chosen = (self.names or ()) if self._columns is None else self._columns
        if self._images == "both":
            values: dict[str, Any] = {}
            for half in ("before", "after"):
                values |= {f"{half}.{name}": value for name, value in self._image(row[half], chosen).items()}
            return values
        other = "before" if self._images == "after" else "after"
        return self._image(row[other] if row[self._images] is None else row[self._images], chosen)

    def _image(self, cells: list[dict[str, Any]] | None, chosen: tuple[str, ...]) -> dict[str, Any]:
        assert self.names is not None
        by_name = {self.names[cell["column"] - 1]: cell for cell in cells or ()}
        return {name: _value(by_name[name]) for name in chosen if name in by_name}


def several_tables(first: str, other: str) -> ScenarioError:
    """The error where the log has more than the one table that was not named."""
    return ScenarioError("the log has several tables", expected=f"one of them as --table: {first}, {other}, ...")


def _value(cell: dict[str, Any]) -> Any:
    if "value" in cell:
        value = cell["value"]
        if value is not None and cell["type"].startswith(_NUMBERS):
            return float(value) if cell["type"].startswith(("FLOAT", "DOUBLE")) else int(value)
        return value
    if "hex" in cell:
        return "0x" + cell["hex"]
    return cell["diffs"]
