"""The columns of a table: which generator each has, which rows they refer to, and which of them updates set."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from forge.bulk.generating.default_generators import NUMBERS, default_column, default_updates, key_column
from forge.errors import ScenarioError, UnsupportedError, about, nearest
from forge.plan.tables import Key, Table
from forge.scenario.volume_model import VolumeColumn, VolumeTable


@dataclass(frozen=True, slots=True)
class Reference:
    """A column that has what ``column`` (lower-case) of table ``parent`` has in the row that its row refers to.

    ``key``: columns with the same one refer to the same row; None: to the row that theirs is inside of.
    """

    parent: int
    column: str
    key: str | None
    zipf: float | None


def columns_of(
    table: Table, declared: VolumeTable, definitions: Sequence[Table], owner: int | None, later: Collection[str]
) -> tuple[dict[str, VolumeColumn], dict[str, Reference]]:
    """The generators of all columns and the references, by lower-case name; ``later``: of columns that are added.

    Raises ScenarioError for what cannot be, UnsupportedError for columns whose values are not made.
    """
    names = {column.name.lower(): column.name for column in table.columns}
    columns: dict[str, VolumeColumn] = {}
    for name, column in declared.columns.items():
        if name.lower() not in names and name.lower() not in later:
            raise ScenarioError(f"there is no column {name!r}", suggestion=nearest(name, list(names.values())))
        columns[name.lower()] = column
    for each in table.columns:
        if each.generated:
            raise UnsupportedError(f"column {each.name!r}: generated columns are not supported by forge generate")
    references = _references(table, columns, definitions, owner)
    if owner is not None and all(reference.key is not None for reference in references.values()):
        raise ScenarioError(
            f"no column refers to {definitions[owner].full_name}, which its rows are inside of",
            expected=f"a foreign key, or a column with `reference: {definitions[owner].full_name}`",
        )
    for key in table.keys:
        if key.kind != "index":
            _make_distinct(table, key, columns, references, inside=owner is not None)
    for each in table.columns:
        name = each.name.lower()
        with about(f"column {each.name!r}"):
            if name not in columns and name not in references:
                columns[name] = default_column(table, each)
            if name in columns and columns[name].nulls and not each.nullable:
                raise ScenarioError("it is NOT NULL", expected="no `nulls`")
            columns.setdefault(name, VolumeColumn(value=None))
    return columns, references


def _references(
    table: Table, columns: Mapping[str, VolumeColumn], definitions: Sequence[Table], owner: int | None
) -> dict[str, Reference]:
    """The columns of foreign keys, those that are declared to refer, and those whose names say so."""
    found: dict[str, Reference] = {}
    numbers = {(each.database.lower(), each.name.lower()): index for index, each in enumerate(definitions)}
    for foreign in table.foreign_keys:
        parent = numbers.get((foreign.parent[0].lower(), foreign.parent[1].lower()))
        mine = [table.columns[index].name.lower() for index in foreign.columns]
        given = [columns[name] for name in mine if name in columns]
        if parent is None or any(column.reference is None for column in given):
            continue
        zipf = next((column.zipf for column in given if column.zipf is not None), None)
        for name, column in zip(mine, foreign.parent_columns, strict=True):
            found.setdefault(name, Reference(parent, column.lower(), _key(parent, owner, foreign.name), zipf))
    for name, declared in columns.items():
        if declared.reference is not None and name not in found:
            with about(f"column {name!r}"):
                parent, column = _named(declared.reference, table, definitions)
            found[name] = Reference(parent, column, _key(parent, owner, name), declared.zipf)
    foreign_columns = {index for foreign in table.foreign_keys for index in foreign.columns}
    for index, each in enumerate(table.columns):
        name = each.name.lower()
        if name in found or name in columns or index in foreign_columns or each.type.name not in NUMBERS:
            continue
        guessed = _by_name(name, table, definitions)
        if guessed is not None:
            found[name] = Reference(*guessed, _key(guessed[0], owner, name), None)
    return found


def _key(parent: int, owner: int | None, name: str) -> str | None:
    return None if parent == owner else name


def _only_key(table: Table) -> str | None:
    """The column that is the table's primary key by itself."""
    key = table.primary_key
    if key is None or len(key.parts) != 1 or key.parts[0].expression is not None:
        return None
    return table.columns[key.parts[0].column].name.lower()


def _named(reference: str, table: Table, definitions: Sequence[Table]) -> tuple[int, str]:
    """``database.table``, ``table``, or one of them with ``.column``."""
    word = reference.lower()
    for index, each in enumerate(definitions):
        names = [each.full_name.lower()]
        names += [each.name.lower()] if each.database == table.database else []
        for name in names:
            if word == name:
                column = _only_key(each)
                if column is None:
                    raise ScenarioError(
                        f"{each.full_name} has no primary key of one column", expected=f"{reference}.COLUMN"
                    )
                return index, column
            if word.startswith(name + ".") and word[len(name) + 1 :] in {c.name.lower() for c in each.columns}:
                return index, word[len(name) + 1 :]
    known = [each.full_name for each in definitions]
    raise ScenarioError(f"reference {reference!r} is no table of the scenario", suggestion=nearest(reference, known))


def _by_name(name: str, table: Table, definitions: Sequence[Table]) -> tuple[int, str] | None:
    """The table that ``order_id`` or ``orderId`` speaks of."""
    stem = name.removesuffix("id").removesuffix("_")
    if stem == name or not stem:
        return None
    wanted = {stem, stem + "s", stem + "es", stem.removesuffix("y") + "ies"}
    for index, each in enumerate(definitions):
        if each.database == table.database and each.name.lower() in wanted and each is not table:
            column = _only_key(each)
            return None if column is None else (index, column)
    return None


def _is_distinct(column: VolumeColumn) -> bool:
    template = column.template or ""
    return column.sequence is not None or column.uuid or "{row}" in template or "{hex}" in template


def _make_distinct(
    table: Table, key: Key, columns: dict[str, VolumeColumn], references: Mapping[str, Reference], *, inside: bool
) -> None:
    """See to it that no two rows have the same key.  Raises ScenarioError."""
    parts = [part.column for part in key.parts if part.expression is None]
    names = [table.columns[index].name.lower() for index in parts]
    owned = any(name in references and references[name].key is None for name in names)
    given = [columns[name] for name in names if name in columns and name not in references]
    if any(_is_distinct(column) or (owned and column.position is not None) for column in given):
        return
    free = [index for index, name in zip(parts, names, strict=True) if name not in columns and name not in references]
    index, made = key_column(table, key, free, inside=inside and owned)
    columns[table.columns[index].name.lower()] = made


def updated_columns(
    table: Table,
    declared: Sequence[str] | None,
    columns: Mapping[str, VolumeColumn],
    references: Mapping[str, Reference],
) -> frozenset[str]:
    """The columns (lower-case) that updates set; none if the table has none for it.  Raises ScenarioError."""
    names = {column.name.lower(): index for index, column in enumerate(table.columns)}
    keyed = {part.column for key in table.keys if key.kind != "index" for part in key.parts}
    if declared is None:
        chosen = [name.lower() for name in default_updates(table, dict(columns)) if name.lower() not in references]
    else:
        chosen = [name.lower() for name in declared]
    for name in chosen:
        if name not in names:
            raise ScenarioError(f"there is no column {name!r} to update", suggestion=nearest(name, list(names)))
        if names[name] in keyed or name in references:
            raise ScenarioError(f"column {name!r} is in a key: updates do not change keys")
        if columns[name].sequence is not None:
            raise ScenarioError(f"column {name!r} is a sequence, which updates do not change")
    if not chosen:
        return frozenset()
    return frozenset(chosen) | {name for name, column in columns.items() if column.moment == "change"}
