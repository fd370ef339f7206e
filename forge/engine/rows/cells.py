"""The values of the cells that statements declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from forge.engine.dictionary.columns import ColumnDefinition, stored_bytes_of
from forge.engine.dictionary.json_cells import stored_times, with_types
from forge.engine.dictionary.literals import strict_value, taken, zero_value
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import ColumnPlace, Computed, is_expression, is_generator, literal_of
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import as_literal, omitted_value, stored_result
from forge.engine.rows.scope import Scope, Source
from forge.engine.rows.selects import read_query
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.located import Tagged
from forge.plan.tables import Row
from forge.sql.ast.expressions import ColumnName, walk
from forge.sql.expressions import Document, Moment, Operand, Unsigned, parse_expression
from forge.sql.expressions.evaluation import evaluate, number_of, text_of
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json.binary import decode_document, encode_document
from forge.values.text.column_charset import charset_of

NULL = Clipped(None, "NULL")
#: What nearly all cells are: a literal as it stands.
_PLAIN = (str, int, Decimal)


#: The table of a new row, and the row as far as it is known.
SoFar = Callable[[], tuple[TableState, Row]]


def cell_value(
    column: ColumnDefinition, cell: Any, place: ColumnPlace, row: int, context: DmlContext, so_far: SoFar | None = None
) -> Clipped:
    """The value of a declared cell (None for NULL), and its literal in SQL; ``row`` is for generators.

    Raises ScenarioError for what the column cannot hold.
    """
    try:
        check_takes_value(column, cell, context)
        if type(cell) in _PLAIN:
            return value_of_literal(column, cell, context)
        if isinstance(cell, Computed):
            return Clipped(stored_value(column, cell.value, context), "")
        if is_expression(cell):
            return _of_expression(column, cell["sql"].strip(), context, so_far)
        if is_generator(cell, json=column.holds_json):
            generated = context.generate(cell, place)
            literal = generated.literal(row)
            if generated.fits:
                literal = _cut_to_fit(column, literal)
        else:
            literal = literal_of(cell)
        return value_of_literal(column, literal, context)
    except ScenarioError as error:
        raise error.about(f"{place.table}.{column.name}") from None


def _of_expression(column: ColumnDefinition, sql: str, context: DmlContext, so_far: SoFar | None) -> Clipped:
    """What an expression gives; its columns are those of the row so far.  Raises UnsupportedError."""
    if sql.upper() == "DEFAULT":
        return Clipped(omitted_value(column, context.time, clips=context.clips or context.ignores), sql)
    tree = parse_expression(sql, context.references.line.grammar, in_statement=True).tree
    sources: list[Source] = []
    rows: list[Row] = []
    if so_far is not None and any(isinstance(part, ColumnName) for part in walk(tree)):
        state, row = so_far()
        sources, rows = [Source.of(state.table.name, state.columns, state.table.database)], [row]
    scope = Scope(sources, context, read_query)
    value = evaluate(scope.bound(tree), scope.cells(rows))
    return Clipped(stored_value(column, value, context), sql)


def stored_value(column: ColumnDefinition, value: Operand, context: DmlContext) -> Value | None:
    """What a column holds of an expression's result.  Raises ScenarioError for what it cannot hold."""
    facts = column.type_facts
    if value is None:
        return _null(column, context).value
    if isinstance(value, Unsigned):
        value = value.value
    if facts.is_json:
        return stored_result(column, value, clips=context.clips or context.ignores)
    if (facts.has_charset or facts.is_bytes) and not facts.has_members and isinstance(value, int | float | Decimal):
        value = text_of(value)
    if facts.is_number and isinstance(value, Moment | Document):
        value = number_of(value)
    if facts.is_integer and isinstance(value, float):
        # The nearest even number, as rint has it.
        value = round(value)
    return value_of_literal(column, as_literal(column, value), context).value


def check_takes_value(column: ColumnDefinition, cell: Any, context: DmlContext) -> None:
    """Raises ScenarioError for a value of a generated column, UnsupportedError where the server forgets it."""
    if column.column.system:
        raise ScenarioError("the server keeps the column by itself", expected="nothing for it")
    if column.generated is None:
        return
    if context.catalog.line.ddl.forgets_generated_values and (cell is None or context.clips or context.ignores):
        raise UnsupportedError("a value for a generated column, which the server forgets, is not supported yet")
    raise ScenarioError("a generated column takes no value", expected="nothing for it")


def value_of_literal(column: ColumnDefinition, literal: Any, context: DmlContext) -> Clipped:
    """The value of a literal, None is NULL.  Raises ScenarioError for what the column cannot hold."""
    if literal is None or (literal == "" and context.empty_is_null):
        return _null(column, context)
    return _taken(column, literal, context)


def _null(column: ColumnDefinition, context: DmlContext) -> Clipped:
    """NULL, which is the current time in a TIMESTAMP NOT NULL of MariaDB, in strict mode too, and of MySQL without
    explicit_defaults_for_timestamp.
    """
    facts = column.column
    if facts.nullable or not column.is_timestamp or not context.wire(column).dialect.null_is_now:
        return NULL
    return NULL._replace(value=context.time.cell(column))


def _taken(column: ColumnDefinition, literal: Any, context: DmlContext) -> Clipped:
    if column.type_facts.is_json:
        document = with_types(literal)
        try:
            cell = taken(context.wire(column), document, clips=context.clips)
        except UnsupportedError:
            if not context.has_text:
                raise
            # No SQL expression gives it by itself.
            cell = Clipped(strict_value(context.wire(column), column.codec, document), "")
        if cell.value is None:
            return cell
        document = decode_document(cell.value)
        stored = stored_times(document, context.wire(column).dialect)
        value = cell.value if stored == document else encode_document(stored)
        return cell._replace(value=value)
    if isinstance(literal, Tagged):
        raise ScenarioError(f"{literal} is possible only inside a JSON document", expected="a literal without a tag")
    if not context.ignores or context.clips:
        return taken(context.wire(column), literal, clips=context.clips)
    try:
        return taken(context.wire(column), literal, clips=False)
    except UnsupportedError:
        raise
    except ScenarioError as error:
        if column.type_facts.has_date:
            # NO_ZERO_DATE and NO_ZERO_IN_DATE still hold, and make other values than a session without them.
            raise UnsupportedError(f"INSERT IGNORE of an impossible date ({error.problem})") from None
        return taken(context.wire(column), literal, clips=True)


def not_null(column: ColumnDefinition, value: Value | None, table: str, *, clips: bool) -> Value | None:
    """The value that a NOT NULL column gets for NULL.  Raises ScenarioError where that is an error."""
    if value is not None or column.column.nullable:
        return value
    zero = zero_value(column.wire) if clips else None
    if zero is None:
        raise ScenarioError(f"{table}.{column.name} is NOT NULL", expected="a value")
    return zero


def _cut_to_fit(column: ColumnDefinition, literal: Any) -> Any:
    """Generated text as much of it as the column holds; characters that its set lacks become ``?``."""
    charset = charset_of(column.wire)
    if not isinstance(literal, str) or charset is None or column.type_facts.has_members:
        return literal
    text = literal
    if not _is_held(column, text):
        text = "".join(character if _is_held(column, character) else "?" for character in text)
    if column.type.length is not None:
        return text[: column.type.length]
    limit = (1 << 8 * column.wire.metadata[0]) - 1
    while len(stored_bytes_of(column, text)) > limit:
        text = text[:-1]
    return text


def _is_held(column: ColumnDefinition, text: str) -> bool:
    try:
        stored_bytes_of(column, text)
    except ScenarioError:
        return False
    return True


def set_by_trigger(
    state: TableState,
    kind: str,
    declared: Mapping[str, Any] | None,
    context: DmlContext,
    *,
    field: str = "set_by_trigger",
) -> dict[int, Clipped]:
    """The values that a BEFORE trigger gives columns (SET NEW.column), by index."""
    cells: dict[int, Clipped] = {}
    for name, cell in (declared or {}).items():
        with context.place(kind, field, name):
            index = column_index(state, name)
            column = state.columns[index]
            value = cell_value(column, cell, ColumnPlace(state.name, column.name), state.inserted, context)
            cells[index] = value._replace(value=not_null(column, value.value, state.name, clips=context.clips))
    return cells
