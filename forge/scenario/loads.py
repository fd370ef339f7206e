"""LOAD DATA: what it does to a table's rows, and its text."""

from __future__ import annotations

from dataclasses import replace

from forge.charsets import charset, collation
from forge.compile.statements import LoadFile, RowsStatement
from forge.errors import ScenarioError, UnsupportedError
from forge.scenario.cells import Circumstances
from forge.scenario.inserts import insert_rows
from forge.scenario.load_file import LineReader, file_text
from forge.scenario.load_model import LoadData
from forge.scenario.sqltext import identifier, table_sql
from forge.scenario.state import TableState
from forge.scenario.statement_model import Insert, Replace, Statement
from forge.values.literals import quoted

#: Types whose fields are not what literals of SQL are.
_NOT_LOADED = ("BIT", "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
               "GEOMETRYCOLLECTION", "VECTOR")  # fmt: skip


def load_rows(state: TableState, load: LoadData, at: Circumstances) -> RowsStatement:
    """Run a LOAD DATA.  Raises ScenarioError where a server would refuse it."""
    duplicates = "ignore" if load.local and load.duplicates == "error" else load.duplicates
    visible = [column.name for column in state.columns if column.column.visible]
    columns = visible if load.columns is None else load.columns
    for name in columns:
        if name.startswith("@"):
            raise UnsupportedError(f"user variables ({name}) among the columns are not supported")
        kind = next((column.type.name for column in state.columns if column.name.lower() == name.lower()), "")
        if kind in _NOT_LOADED:
            raise UnsupportedError(f"column {name!r}: LOAD DATA of {kind} is not supported")
    content, rows = _content(load, at)
    cells = [_cells(number, row, columns, ignores=duplicates == "ignore") for number, row in enumerate(rows, start=1)]
    file = LoadFile(
        name=load.file or f"{state.table.name}.txt",
        content=content,
        columns=tuple(columns),
        local=load.local,
        duplicates=duplicates,
        charset=load.character_set,
        fields_terminated=load.fields_terminated_by,
        enclosed=load.enclosed_by,
        optionally=load.optionally_enclosed,
        escaped=load.escaped_by,
        lines_starting=load.lines_starting_by,
        lines_terminated=load.lines_terminated_by,
        ignored_lines=load.ignore_lines,
    )
    at = replace(at, place=lambda *_, place=at.place: place("load_data"))
    done = RowsStatement("insert", state.table, (), "", line=at.line)
    if cells:
        declared = [{name: {"value": cell} for name, cell in row.items()} for row in cells]
        if duplicates == "replace":
            new = Statement(replace=Replace(into=load.into, rows=declared))  # type: ignore[arg-type]
            done = insert_rows(state, new, "replace", at, rows_known=False)
        else:
            new = Statement(insert=Insert(into=load.into, rows=declared, ignore=duplicates == "ignore"))  # type: ignore[arg-type]
            done = insert_rows(state, new, "insert", at, rows_known=False)
    return replace(
        done,
        load=file,
        sql=_sql(state, load, file),
        assigned=None if load.columns is None else done.assigned,
    )


def _content(load: LoadData, at: Circumstances) -> tuple[bytes, list[list[str | None]]]:
    """The file's bytes, and its lines."""
    if load.character_set is not None:
        known = charset(load.character_set)
    else:
        # character_set_database
        database = at.catalog.databases.get(at.current_database)
        if database is None:
            raise ScenarioError("no database is current", expected="session.database, or character_set")
        known = charset(collation(database, at.catalog.server).charset)
    if load.hex is not None:
        try:
            content = bytes.fromhex(load.hex)
        except ValueError:
            raise ScenarioError("hex is not hexadecimal", expected="pairs of digits") from None
    else:
        content = known.encode(load.text if load.text is not None else file_text(load))
    return content, list(LineReader(known.decode(content), load).lines())


def _cells(number: int, row: list[str | None], columns: list[str], *, ignores: bool) -> dict[str, str | None]:
    if len(row) != len(columns):
        if ignores and len(row) > len(columns):
            return dict(zip(columns, row, strict=False))
        kind = UnsupportedError if ignores else ScenarioError
        raise kind(f"line {number} has {len(row)} fields", expected=f"{len(columns)}, as many as columns")
    return dict(zip(columns, row, strict=True))


def _sql(state: TableState, load: LoadData, file: LoadFile) -> str:
    """The statement as a client sends it; what is as servers have it by default is left out."""
    parts = ["LOAD DATA LOCAL INFILE" if file.local else "LOAD DATA INFILE"]
    parts.append(quoted(file.name if file.local else f"./{file.name}"))
    parts += [load.duplicates.upper()] if load.duplicates != "error" else []
    parts.append(f"INTO TABLE {table_sql(state.table)}")
    parts += [f"CHARACTER SET {file.charset}"] if file.charset is not None else []
    fields = [f"TERMINATED BY {quoted(file.fields_terminated)}"] if file.fields_terminated != "\t" else []
    if file.enclosed or file.optionally:
        fields.append(("OPTIONALLY " if file.optionally else "") + f"ENCLOSED BY {quoted(file.enclosed)}")
    fields += [f"ESCAPED BY {quoted(file.escaped)}"] if file.escaped != "\\" else []
    lines = [f"STARTING BY {quoted(file.lines_starting)}"] if file.lines_starting else []
    lines += [f"TERMINATED BY {quoted(file.lines_terminated)}"] if file.lines_terminated != "\n" else []
    parts += ["FIELDS", *fields] if fields else []
    parts += ["LINES", *lines] if lines else []
    parts += [f"IGNORE {file.ignored_lines} LINES"] if file.ignored_lines else []
    parts += [f"({', '.join(map(identifier, file.columns))})"] if load.columns is not None else []
    return " ".join(parts)
