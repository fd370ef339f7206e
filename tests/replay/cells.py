"""Cells of ``corpora/replays``: what real replicas made of logs whose tables differ from theirs.

A file is a group of cells, a line of JSON each.  A cell says what the source and the replica have before, what the
source does, and for each server line what a replica of it was like afterwards.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from forge.resources import corpora_dir

#: The source's clock stands still, in UTC: 2024-01-02 03:04:05.
CLOCK = 1_704_164_645
#: In front of the name of a variable that is not of the session.
GLOBAL = "GLOBAL "
#: A row of the end state: a text for each column, as the client shows it; bytes that are no UTF-8 as ``\\xNN``.
EndRow = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a replica had at the end."""

    #: Number and text of the applier's error; 0 and nothing if it applied everything, -2 if it stopped without one.
    error: int
    text: str
    #: The rows of ``x.t``, in order; none if there is no such table.
    end: tuple[EndRow, ...]
    #: Rows fetched through each index; ``-`` is access without one: a scan, or by position.
    fetched: Mapping[str, int] | None = None
    #: The rows of other tables.
    ends: Mapping[str, tuple[EndRow, ...]] | None = None

    @property
    def outcome(self) -> tuple[object, ...]:
        """What counts: the number of the error and the rows, in no order."""
        others = {name: in_order(rows) for name, rows in (self.ends or {}).items()}
        return self.error, in_order(self.end), tuple(sorted(others.items()))


@dataclass(frozen=True, slots=True)
class Cell:
    """A source's table, a replica's, what is in them, what the source does, and what replicas made of it.

    ``src`` and ``rep`` are what stands between the parentheses of ``CREATE TABLE x.t``, or a list of statements.
    """

    group: str
    name: str
    src: str | tuple[str, ...]
    rep: str | tuple[str, ...]
    #: Rows of the source and of the replica before: what follows VALUES.
    rows: tuple[str, ...]
    rrows: tuple[str, ...]
    dml: tuple[str, ...]
    image: Literal["minimal", "noblob", "full"]
    #: The replica's ``replica_type_conversions`` and ``replica_exec_mode``, by whatever name its line has them.
    conv: str
    mode: str
    #: Variables of the source's session (``GLOBAL name`` is a global one), and global ones of the replica.
    session: Mapping[str, str | int] = field(default_factory=dict)
    settings: Mapping[str, str | int] = field(default_factory=dict)
    #: The line that the source is of, if it is not the replica's.
    source: str = ""
    #: The replica's lines that the cell is for, if not for all.
    lines: tuple[str, ...] = ()
    #: Other tables of the replica that are looked at in the end.
    tables: tuple[str, ...] = ()
    #: By line of the replica.
    results: Mapping[str, Result] = field(default_factory=dict)
    #: By line of the source: a log that ``forge build`` does not make so, as zlib's bytes in base64.
    logs: Mapping[str, str] = field(default_factory=dict)

    def created(self, side: Literal["src", "rep"]) -> tuple[str, ...]:
        """The statements that make the tables of a side."""
        said = self.src if side == "src" else self.rep
        return (f"CREATE TABLE x.t ({said})",) if isinstance(said, str) else said

    def log(self, source: str) -> bytes | None:
        """The kept log of a source of that line."""
        kept = self.logs.get(source)
        return None if kept is None else zlib.decompress(base64.b64decode(kept))


def packed(log: bytes) -> str:
    """A log as :attr:`Cell.logs` keeps it."""
    return base64.b64encode(zlib.compress(log, 9)).decode("ascii")


def in_order(rows: Iterable[EndRow]) -> tuple[EndRow, ...]:
    """Rows in the order in which they are kept: column by column, NULL first, shorter texts before longer ones."""
    return tuple(sorted(rows, key=lambda row: [(cell is not None, len(cell or ""), cell or "") for cell in row]))


def replays_dir() -> Path:
    """Where the files are."""
    return corpora_dir() / "replays"


def read_cells(paths: Iterable[Path] | None = None) -> Iterator[Cell]:
    """The cells of these files, or of all."""
    for path in sorted(replays_dir().glob("*.jsonl")) if paths is None else paths:
        for line in path.read_text("utf-8").splitlines():
            yield cell_of(json.loads(line))


def cell_of(told: Mapping[str, Any]) -> Cell:
    """A cell from its JSON."""
    made: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    made["results"] = {line: _result(said) for line, said in told.get("results", {}).items()}
    return Cell(**made)


def _result(said: Mapping[str, Any]) -> Result:
    ends = said.get("ends")
    return Result(
        said["error"], said["text"], _rows(said["end"]), said.get("fetched"),
        None if ends is None else {name: _rows(rows) for name, rows in ends.items()},
    )  # fmt: skip


def _rows(rows: Iterable[Iterable[str | None]]) -> tuple[EndRow, ...]:
    return tuple(tuple(row) for row in rows)


def line_of(cell: Cell) -> str:
    """A cell as a line of JSON, without what is as always."""
    told = {name: value for name, value in asdict(cell).items() if value or name in _ALWAYS}
    told["results"] = {
        line: {name: value for name, value in result.items() if value is not None}
        for line, result in asdict(cell)["results"].items()
    }
    return json.dumps(told, ensure_ascii=False) + "\n"


#: Fields that every line has.
_ALWAYS = frozenset(one.name for one in fields(Cell)[: [one.name for one in fields(Cell)].index("session")])


def write_cells(path: Path, cells: Iterable[Cell]) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(line_of, cells)), "utf-8")


def source_variables(cell: Cell, line: str) -> dict[str, str | int | None]:
    """What the source's session sets before the cell's statements; None is the default."""
    image = {} if line == "mysql-5.5" else {"binlog_row_image": cell.image}
    return {"sql_mode": None, "timestamp": CLOCK, **image, **cell.session}


def assigned(variables: Mapping[str, str | int | None]) -> str:
    """Variables and their values, as SET has them."""
    return ", ".join(f"{name} = {_literal(value)}" for name, value in variables.items())


def _literal(value: str | int | None) -> str:
    if value is None:
        return "DEFAULT"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
