"""Generated columns of dates and times whose expression gives a text."""

from __future__ import annotations

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.errors import ScenarioError
from forge.servers import server_line
from forge.sql.errors import SqlUnsupported


def check_generated_moments(definition: Definition) -> None:
    """Raises SqlUnsupported for one that is stored or in a key: MariaDB refuses those whose fraction depends on
    the mode (1901), which it tells by the text, by the type and by its digits.
    """
    if not server_line(definition.server).grammar.opens_literal_defaults:
        return
    keyed = {part.column.lower() for key in definition.keys for part in key.parts}
    for column in definition.columns:
        is_kept = column.column.generated == "stored" or column.name.lower() in keyed
        if is_kept and column.type_facts.is_temporal and _gives_text(column):
            problem = f"generated column {column.name!r} reads a {column.type.name} of a text, and is kept"
            raise SqlUnsupported(
                f"{problem}, which is not supported yet",
                column.offset,
                expected="a virtual column without a key, or CAST",
            )


def _gives_text(column: ColumnDefinition) -> bool:
    if column.generated is None or column.generated.columns():
        return False
    try:
        return isinstance(column.generated.evaluate({}), str)
    except ScenarioError:
        return False
