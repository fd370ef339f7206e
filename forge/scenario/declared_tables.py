"""The tables that a scenario declares, and the databases that it uses before it makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.located import Path
from forge.scenario.model import Scenario
from forge.scenario.places import Places, entries, statement_path, statements_of
from forge.scenario.table_model import TableDeclaration
from forge.scenario.table_text import table_text
from forge.servers import ServerLine
from forge.sql.ast.statements import CreateTable, DatabaseStatement
from forge.sql.errors import SqlError
from forge.sql.parse.statements import parse_create_table, parse_ddl
from forge.sql.version_comments import as_read

#: (place, text, statement)
DeclaredTable = tuple[Path, str, CreateTable]


def declared_tables(scenario: Scenario, places: Places, line: ServerLine) -> Iterator[DeclaredTable]:
    """The scenario's ``tables``; raises ScenarioError for the first that cannot be read."""
    for number, table in enumerate(scenario.tables):
        path = ("tables", number)
        with places.at(path):
            text = table_text(table) if isinstance(table, TableDeclaration) else table
        with places.sql(path, text):
            if number + 1 < len(scenario.tables) and text.count("(") > text.count(")"):
                raise SqlError(
                    "the statement ends inside its parentheses",
                    len(text),
                    expected="quotes around it: a YAML list in brackets splits at commas",
                )
            yield path, text, parse_create_table(as_read(text, line), line.grammar)


def first_database(tables: Iterable[DeclaredTable]) -> str:
    """The database that the first table with one names; empty if none does."""
    return next((statement.table.database for _, _, statement in tables if statement.table.database is not None), "")


def used_databases(
    scenario: Scenario, tables: Iterable[DeclaredTable], places: Places, line: ServerLine
) -> dict[str, Path]:
    """Databases to create, as the server keeps their names, with the entry that first names each."""
    databases: dict[str, Path] = {}
    created: set[str] = set()
    kept = str.lower if scenario.session.lower_case_table_names else str
    for path, _, table in tables:
        if table.table.database is not None:
            databases.setdefault(kept(table.table.database), path)
    for path, step in _statements(scenario):
        if step.ddl is None:
            continue
        with places.sql((*path, "ddl"), step.ddl):
            statement = parse_ddl(as_read(step.ddl, line), line.grammar)
        if isinstance(statement, DatabaseStatement):
            if statement.statement == "create_database" and statement.name:
                created.add(kept(statement.name))
        elif isinstance(statement, CreateTable) and statement.table.database is not None:
            name = kept(statement.table.database)
            if name not in created:
                databases.setdefault(name, (*path, "ddl"))
    for path, transaction in _entries(scenario):
        if isinstance(transaction, Transaction) and transaction.database is not None:
            name = kept(transaction.database)
            if name not in created:
                databases.setdefault(name, (*path, "database"))
    home = scenario.session.database
    if home is not None and kept(home) not in created:
        return {kept(home): ("session", "database"), **databases}
    return databases


def _statements(scenario: Scenario) -> Iterator[tuple[tuple[str | int, ...], Statement]]:
    for path, transaction in _entries(scenario):
        for index, statement in enumerate(statements_of(transaction)):
            yield statement_path(path, transaction, index), statement


def _entries(scenario: Scenario) -> Iterator[tuple[tuple[str | int, ...], list[Statement] | Transaction]]:
    yield from entries(scenario, "existing")
    yield from entries(scenario, "transactions")
