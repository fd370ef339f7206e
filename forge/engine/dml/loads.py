"""LOAD DATA: what it does to a table's rows, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forge.charsets import Collation, charset, collation, default_collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.inserts import insert_rows
from forge.engine.dml.load_file import LineReader, file_text
from forge.engine.requests.cells import literal_of
from forge.engine.requests.rows import Insert, LoadData, Replace
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import as_literal, check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.statement_text import LoadFile, StatementText, UserVariable
from forge.plan.statements import RowsStatement
from forge.sql.expressions import Expression, Field, Operand, parse_expression
from forge.sql.write import identifier, qualified
from forge.values.literals import quoted


class Assignment(Struct, frozen=True):
    """One column of the clause: ``sql`` as sent, and its value: a literal, an expression, or one for each line."""

    column: ColumnDefinition
    index: int
    sql: str
    literal: Any = None
    expression: Expression | None = None
    values: Sequence[Any] | None = None
    is_default: bool = False

    @property
    def text(self) -> str:
        return f"{identifier(self.column.name)}={self.sql}"


def assignments(state: TableState, load: LoadData, context: DmlContext) -> list[Assignment]:
    """The clause.  Raises ScenarioError for what a server would refuse."""
    assigned: list[Assignment] = []
    for name, cell in (load.set or {}).items():
        with context.place("load_data", "set", name):
            index = column_index(state, name)
            column = state.columns[index]
            if column.generated is not None:
                raise ScenarioError(f"column {column.name!r} is generated", expected="no value for it")
            if any(assignment.index == index for assignment in assigned):
                raise ScenarioError(f"column {column.name!r} is set twice")
            assigned.append(_assignment(column, index, cell, context))
    return assigned


def _assignment(column: ColumnDefinition, index: int, cell: Any, context: DmlContext) -> Assignment:
    if isinstance(cell, Mapping) and "sql" in cell:
        if set(cell) - {"sql", "values"} or not isinstance(cell["sql"], str) or not cell["sql"].strip():
            raise ScenarioError(f"{cell!r} is not an expression", expected="{sql: text}, perhaps with `values`")
        sql = cell["sql"].strip()
        if "values" in cell:
            if not isinstance(cell["values"], list):
                raise ScenarioError("`values` is not a list", expected="a cell for each line of the file")
            return Assignment(column, index, sql, values=cell["values"])
        if sql.upper() == "DEFAULT":
            return Assignment(column, index, sql, is_default=True)
        try:
            expression = parse_expression(sql, context.references.line.grammar, in_statement=True)
        except UnsupportedError as error:
            raise error.replace(expected="`values` beside it: a list of what it gives for each line") from None
        return Assignment(column, index, sql, expression=expression)
    literal = literal_of(cell)
    sql = (
        "NULL" if literal is None else taken(context.wire(column), literal, clips=context.clips or context.ignores).sql
    )
    return Assignment(column, index, sql, literal=literal)


def set_cells(
    clause: Sequence[Assignment], number: int, row: Mapping[str, str | None], state: TableState, context: DmlContext
) -> dict[str, Any]:
    """What the clause gives columns in line ``number`` (from 0), whose fields are ``row``: by column or variable."""
    cells: dict[str, Any] = {}
    for assignment in clause:
        if assignment.is_default:
            continue
        if assignment.values is not None:
            if number >= len(assignment.values):
                raise ScenarioError(f"`values` of {assignment.column.name!r} has no value for line {number + 1}")
            cells[assignment.column.name] = literal_of(assignment.values[number])
        elif assignment.expression is not None:
            value = assignment.expression.evaluate(_Operands(row, state, context))
            cells[assignment.column.name] = None if value is None else as_literal(assignment.column, value)
        else:
            cells[assignment.column.name] = assignment.literal
    return cells


class _Operands(dict[str, Operand]):
    """What an expression asks for: columns that the line gives, and variables."""

    def __init__(self, row: Mapping[str, str | None], state: TableState, context: DmlContext) -> None:
        super().__init__()
        self.row = {name.lower(): value for name, value in row.items()}
        self.state = state
        self.context = context

    def __missing__(self, name: str) -> Operand:
        if name == "@@now":
            return self.context.time.local
        if name not in self.row:
            subject = f"variable {name}" if name.startswith("@") else f"column {name!r}"
            raise UnsupportedError(
                f"{subject} is not among the fields of a line", expected="`values` beside the expression"
            )
        value = self.row[name]
        if value is None:
            return None
        if name.startswith("@"):
            return Field(value)
        column = self.state.columns[column_index(self.state, name)]
        check_reads([column], self.context.time.offset)
        return column.operand(
            taken(self.context.wire(column), value, clips=self.context.clips or self.context.ignores).value
        )


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
        format=load,
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
    parts = ["LOAD DATA LOCAL INFILE" if file.local else "LOAD DATA INFILE"]
    parts.append(quoted(file.path))
    parts += [load.duplicates.upper()] if load.duplicates != "error" else []
    parts.append(f"INTO TABLE {qualified(state.table.database, state.table.name)}")
    parts += [f"CHARACTER SET {load.character_set}"] if load.character_set is not None else []
    fields = [f"TERMINATED BY {quoted(load.fields_terminated_by)}"] if load.fields_terminated_by != "\t" else []
    if load.enclosed_by or load.optionally_enclosed:
        fields.append(("OPTIONALLY " if load.optionally_enclosed else "") + f"ENCLOSED BY {quoted(load.enclosed_by)}")
    fields += [f"ESCAPED BY {quoted(load.escaped_by)}"] if load.escaped_by != "\\" else []
    lines = [f"STARTING BY {quoted(load.lines_starting_by)}"] if load.lines_starting_by else []
    lines += [f"TERMINATED BY {quoted(load.lines_terminated_by)}"] if load.lines_terminated_by != "\n" else []
    parts += ["FIELDS", *fields] if fields else []
    parts += ["LINES", *lines] if lines else []
    parts += [f"IGNORE {load.ignore_lines} LINES"] if load.ignore_lines else []
    names = (f"@{identifier(name[1:])}" if name.startswith("@") else identifier(name) for name in file.columns)
    parts += [f"({', '.join(names)})"] if load.columns is not None else []
    parts += [f"SET {', '.join(file.sets)}"] if file.sets else []
    return " ".join(parts)
