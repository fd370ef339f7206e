"""LOAD DATA: what it does to a table's rows, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forge.charsets import Collation, charset, collation, default_collation
from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.inserts import insert_rows
from forge.engine.dml.load_file import LineReader, file_text
from forge.engine.dml.load_set import assignments, set_cells
from forge.engine.requests.rows import Insert, LoadData, Replace
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.statement_text import LoadFile, LoadFormat, StatementText, UserVariable
from forge.plan.statements import RowsStatement
from forge.sql.write import identifier, qualified
from forge.values.literals import quoted


def load_rows(state: TableState, load: LoadData, context: DmlContext) -> RowsStatement:
    """Run a LOAD DATA.  Raises ScenarioError where a server would refuse it."""
    duplicates = "ignore" if load.local and load.duplicates == "error" else load.duplicates
    visible = [column.name for column in state.columns if column.column.visible]
    columns = visible if load.columns is None else load.columns
    clause = assignments(state, load, context)
    bits = _check_columns(state, columns)
    ignores = duplicates == "ignore"
    content, rows, looked_at = _content(load, len(columns), context, ignores=ignores)
    fields = [_cells(number, row, columns, state, ignores=ignores) for number, row in enumerate(rows, start=1)]
    file = LoadFile(
        name=load.file or f"{state.table.name}.txt",
        content=content,
        columns=tuple(columns),
        sets=tuple(assignment.text for assignment in clause),
        looked_at=_first_looks(state, fields, looked_at),
        variables=_variables(fields, columns, load, context),
        local=load.local,
        duplicates=duplicates,
        format=LoadFormat(
            charset=load.character_set,
            fields_terminated=load.fields_terminated_by,
            enclosed=load.enclosed_by,
            optionally=load.optionally_enclosed,
            escaped=load.escaped_by,
            lines_starting=load.lines_starting_by,
            lines_terminated=load.lines_terminated_by,
            ignored_lines=load.ignore_lines,
        ),
    )
    context = replace(context, place=lambda *_, place=context.place: place("load_data"))
    result = RowsStatement("insert", state.table, (), StatementText(line=context.line))
    if fields:
        declared: list[dict[str, Any] | list[Any]] = []
        for number, row in enumerate(fields):
            cells: dict[str, Any] = {name: cell for name, cell in row.items() if not name.startswith("@")}
            cells |= {name: {"hex": (cells[name] or "").encode().hex()} for name in bits if cells.get(name) is not None}
            cells |= set_cells(clause, number, row, state, context)
            declared.append({name: cell if name in bits else {"value": cell} for name, cell in cells.items()})
        new: Insert | Replace = Insert(into=load.into, rows=declared, ignore=ignores)
        if duplicates == "replace":
            new = Replace(into=load.into, rows=declared)
        result = insert_rows(state, Statement(load_data=load), new, context, rows_known=False)
    assigned = None if load.columns is None else result.text.assigned
    return replace(result, text=replace(result.text, source=_sql(state, load, file), assigned=assigned, load=file))


def _first_looks(
    state: TableState, fields: Sequence[Mapping[str, str | None]], looked_at: Sequence[int]
) -> tuple[int, int]:
    """Bytes that were looked at for the first line, and for the first line without a number of AUTO_INCREMENT."""
    if not fields or state.auto_increment is None:
        return (looked_at[0], 0) if looked_at else (0, 0)
    name = state.columns[state.auto_increment].name.lower()
    cells = [{key.lower(): value for key, value in row.items()}.get(name) for row in fields]
    first = next((index for index, cell in enumerate(cells) if cell is None or not cell.strip("0. ")), 0)
    return looked_at[0], looked_at[first]


def _check_columns(state: TableState, columns: Sequence[str]) -> list[str]:
    """The BIT columns, whose fields are bytes.  Raises UnsupportedError for types whose fields are not text."""
    bits = []
    for name in columns:
        for column in state.columns:
            if column.name.lower() != name.lower():
                continue
            if not column.type_facts.loadable:
                raise UnsupportedError(f"column {name!r}: LOAD DATA of {column.type.name} is not supported")
            bits += [name] if column.type_facts.kind == "bit" else []
    return bits


def _variables(
    fields: Sequence[Mapping[str, str | None]], columns: Sequence[str], load: LoadData, context: DmlContext
) -> tuple[UserVariable, ...]:
    """What the variables among the columns hold after the last line."""
    names = [name for name in columns if name.startswith("@")]
    if not names or not fields:
        return ()
    text_collation = _collation(load, context)
    variables: dict[str, UserVariable] = {}
    for name in names:
        value = fields[-1].get(name)
        text = None if value is None else charset(text_collation.charset).encode(value)
        number = None if text is None else text_collation.id
        variables[name[1:].lower()] = UserVariable(name[1:].lower(), text, collation=number)
    return tuple(variables.values())


def _collation(load: LoadData, context: DmlContext) -> Collation:
    """Of the file's text: character_set_database, if the statement says none."""
    if load.character_set is not None:
        return default_collation(load.character_set, context.catalog.server)
    database = context.catalog.databases.get(context.current_database)
    if database is None:
        raise ScenarioError("no database is current", expected="session.database, or character_set")
    return collation(database, context.catalog.server)


def _content(
    load: LoadData, width: int, context: DmlContext, *, ignores: bool
) -> tuple[bytes, list[list[str | None]], list[int]]:
    """The file's bytes, its lines of ``width`` fields, and how many bytes were looked at for each line."""
    text_charset = charset(_collation(load, context).charset)
    if load.hex is not None:
        try:
            content = bytes.fromhex(load.hex)
        except ValueError:
            raise ScenarioError("hex is not hexadecimal", expected="pairs of digits") from None
    else:
        content = text_charset.encode(load.text if load.text is not None else file_text(load))
    text = text_charset.decode(content)
    reader = LineReader(text, load, width)
    rows: list[list[str | None]] = []
    looked_at: list[int] = []
    behind = bytes_behind = 0
    for row in reader.lines():
        rows.append(row)
        bytes_behind += len(text_charset.encode(text[behind : reader.looked_at]))
        behind = min(reader.looked_at, len(text))
        looked_at.append(bytes_behind + (reader.looked_at > len(text)))
        if reader.is_cut and not ignores:
            raise ScenarioError(f"line {len(rows)} has more than {width} fields", expected="as many as columns")
    return content, rows, looked_at


def _missing(columns: Sequence[str], state: TableState) -> Iterator[tuple[str, str | None]]:
    """What columns get whose fields a line does not have: NULL where that is the default, else zero (recorded)."""
    for name in columns:
        if name.startswith("@"):
            yield name, None
            continue
        column = state.columns[column_index(state, name)]
        facts = column.column
        if facts.auto_increment or (facts.has_default and facts.default is None):
            continue
        if facts.nullable and not (facts.has_default or facts.default_now or facts.computed_default):
            continue
        if column.type_facts.takes_unsigned:
            yield name, "0"
        elif column.wire.collation is not None and not column.type_facts.has_members:
            yield name, ""
        else:
            raise UnsupportedError(f"a line has no field for {name!r}, and {column.type.name} has a default")


def _cells(
    number: int, row: list[str | None], columns: list[str], state: TableState, *, ignores: bool
) -> dict[str, str | None]:
    if ignores:
        return dict(zip(columns, row, strict=False)) | dict(_missing(columns[len(row) :], state))
    if len(row) != len(columns):
        raise ScenarioError(f"line {number} has {len(row)} fields", expected=f"{len(columns)}, as many as columns")
    return dict(zip(columns, row, strict=True))


def _sql(state: TableState, load: LoadData, file: LoadFile) -> str:
    """The statement as a client sends it; what is as servers have it by default is left out."""
    form = file.format
    parts = ["LOAD DATA LOCAL INFILE" if file.local else "LOAD DATA INFILE"]
    parts.append(quoted(file.path))
    parts += [load.duplicates.upper()] if load.duplicates != "error" else []
    parts.append(f"INTO TABLE {qualified(state.table.database, state.table.name)}")
    parts += [f"CHARACTER SET {form.charset}"] if form.charset is not None else []
    fields = [f"TERMINATED BY {quoted(form.fields_terminated)}"] if form.fields_terminated != "\t" else []
    if form.enclosed or form.optionally:
        fields.append(("OPTIONALLY " if form.optionally else "") + f"ENCLOSED BY {quoted(form.enclosed)}")
    fields += [f"ESCAPED BY {quoted(form.escaped)}"] if form.escaped != "\\" else []
    lines = [f"STARTING BY {quoted(form.lines_starting)}"] if form.lines_starting else []
    lines += [f"TERMINATED BY {quoted(form.lines_terminated)}"] if form.lines_terminated != "\n" else []
    parts += ["FIELDS", *fields] if fields else []
    parts += ["LINES", *lines] if lines else []
    parts += [f"IGNORE {form.ignored_lines} LINES"] if form.ignored_lines else []
    names = (f"@{identifier(name[1:])}" if name.startswith("@") else identifier(name) for name in file.columns)
    parts += [f"({', '.join(names)})"] if load.columns is not None else []
    parts += [f"SET {', '.join(file.sets)}"] if file.sets else []
    return " ".join(parts)
