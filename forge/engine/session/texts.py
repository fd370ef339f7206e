"""What the texts of a session's statements read, kept from one to the next: user variables, LAST_INSERT_ID()."""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext, Place
from forge.engine.session.connection import Client
from forge.engine.session.user_variables import setting_sql, user_variable
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.statement_choice import is_text, logs_temporary
from forge.plan.statement_text import UserVariable
from forge.plan.statements import RowsStatement, SessionContext
from forge.servers import ServerLine
from forge.sql.ast.statements import CreateTable
from forge.sql.reads.reads import Reads, reads_of

#: Other names of LAST_INSERT_ID().
_LAST_INSERT_ID = frozenset(("identity", "last_insert_id"))


class SessionText:
    """The texts of a client's statements, with the state that they can read."""

    def __init__(
        self, client: Client, catalog: Catalog, line: ServerLine, logged_as: Literal["rows", "text"] | None = None
    ) -> None:
        self.client = client
        self.session = client.settings
        self.catalog = catalog
        self.line = line
        #: How the scenario says that the statement is logged, unless the session is in row format.
        self.logged_as = None if client.settings.binlog_format == "row" else logged_as

    def logs_temporary(self) -> bool:
        """Whether the session logs statements on temporary tables."""
        return logs_temporary(self.session, self.line)

    def selects_as_text(self, statement: CreateTable, sql: str) -> bool:
        """Whether CREATE TABLE ... SELECT is logged as its text."""
        binlog_format = self.session.binlog_format
        if self.logged_as is not None:
            return self.logged_as == "text"
        if binlog_format != "mixed" or statement.select is None:
            return binlog_format == "statement"
        source = self.catalog.find(self.catalog.name_of(statement.select.table, self.client.database))
        temporary = statement.temporary or (source is not None and source.table.temporary)
        numbered = any(column.auto_increment for column in statement.columns)
        unsafe = numbered or not reads_of(sql).words.isdisjoint(("LIMIT", "IGNORE", "REPLACE"))
        return not unsafe and (self.logs_temporary() or not temporary)

    def finished(self, declared: Statement, statement: RowsStatement, context: DmlContext) -> RowsStatement:
        """The statement with all that its text reads, and whether it is logged as text.

        Raises ScenarioError (at ``context.place(field)``) for text that reads what the scenario does not tell.
        """
        place = context.place
        settings = [self._set(name, value, place) for name, value in (declared.user_variables or {}).items()]
        if declared.rand_seeds is not None:
            settings.append("SET rand_seed1 = {}, rand_seed2 = {}".format(*declared.rand_seeds))
        reads = Reads()
        load = statement.text.load
        sql = f"SET {', '.join(load.sets)}" if load is not None and load.sets else declared.query or _select(declared)
        if sql is not None:
            with place("query"):
                reads = _reads(sql, lenient=self.session.binlog_format == "row")
        names = {(database or context.current_database, name) for database, name in reads.tables}
        tables = [state.table for state in map(context.catalog.find, names) if state is not None]
        statement = self._with_reads(statement, declared, reads)
        if any(table.temporary for table in tables):
            statement = replace(statement, opened=replace(statement.opened, reads_temporary=True))
        if settings:
            statement = replace(statement, context=replace(statement.context, settings=tuple(settings)))
        with place("query"):
            chosen = is_text(statement, self.session, self.line)
            statement = replace(statement, as_text=chosen if self.logged_as is None else self.logged_as == "text")
            if statement.as_text and statement.table.row_end is not None:
                problem = f"a statement on the system-versioned table {statement.table.full_name} as its text"
                raise UnsupportedError(f"{problem} is not supported yet", expected="binlog_format: row")
            if statement.as_text:
                statement = replace(statement, context=self._with_state(statement, declared, reads))
        if load is not None:
            self.client.variables |= {variable.name: variable for variable in load.variables}
        self._leave(statement, reads)
        return statement

    def _set(self, name: str, declared: Any, place: Place) -> str:
        with place("user_variables", name):
            variable = user_variable(name, declared, self.line.name)
        self.client.variables[variable.name] = variable
        self.client.unknown.discard(variable.name)
        return setting_sql(variable, self.line.name)

    def _with_reads(self, statement: RowsStatement, declared: Statement, reads: Reads) -> RowsStatement:
        text = statement.text
        columns = set(text.reads)
        if declared.query is not None:
            # A column that is set and read stands in the text twice.
            assigned = text.assigned or frozenset()
            others = {part.table.name.lower() for part in statement.parts()} - {statement.table.name.lower()}
            columns = {
                index
                for index, column in enumerate(statement.table.columns)
                if reads.mentions(column.name, others) > (1 if index in assigned else 0)
            }
        calls = reads.calls if _evaluates_late(statement) else reads.calls - reads.late_calls
        clauses = replace(
            text.clauses,
            limits="LIMIT" in reads.words,
            ignores=text.clauses.ignores or (statement.kind == "update" and "IGNORE" in reads.words),
            selects=text.clauses.selects or (statement.kind == "insert" and "SELECT" in reads.words),
            reads_tables="FROM" in reads.words,
        )
        return replace(
            statement,
            text=replace(
                text,
                reads=frozenset(columns),
                calls=reads.calls,
                system_variables=reads.system_variables,
                clauses=clauses,
            ),
            evaluation=replace(
                statement.evaluation,
                calls=calls,
            ),
        )

    def _with_state(self, statement: RowsStatement, declared: Statement, reads: Reads) -> SessionContext:
        """What the events before the text have to tell.  Raises ScenarioError."""
        evaluated = statement.evaluated_calls
        asks = any(call.name == "LAST_INSERT_ID" and call.is_empty for call in evaluated)
        asks = asks or bool(reads.system_variables & _LAST_INSERT_ID)
        if asks and self.client.last_insert_id is None:
            raise ScenarioError(
                "what LAST_INSERT_ID() gives is not known after LAST_INSERT_ID(expression)",
                expected="LAST_INSERT_ID of a number, or SET column = LAST_INSERT_ID(...)",
            )
        seeds = None
        if reads.calls_without_arguments("RAND"):
            seeds = declared.rand_seeds
            if seeds is None:
                raise ScenarioError("the query calls RAND()", expected="`rand_seeds: [seed1, seed2]` beside it")
        names = self._read_names(statement, declared, reads)
        for name in names:
            if name in self.client.unknown:
                raise ScenarioError(
                    f"what @{name} holds is not known: a statement assigned to it",
                    expected="its value in `user_variables`",
                )
        load = statement.text.load
        if load is not None:
            taken = {name[1:].lower() for name in load.columns if name.startswith("@")}
            # MariaDB tells what they were before, if they were anything.
            earlier = self.client.variables if self.line.texts.logs_unread_variables else ()
            names = tuple(name for name in names if name not in taken or name in earlier)
        return replace(
            statement.context,
            last_insert_id=self.client.last_insert_id if asks else None,
            rand_seeds=seeds,
            user_variables=tuple(self.client.variables.get(name, UserVariable(name, None)) for name in names),
        )

    def _read_names(self, statement: RowsStatement, declared: Statement, reads: Reads) -> tuple[str, ...]:
        """The variables that are logged before the text: those that it names.

        MySQL leaves those of SET out where no row is found, MariaDB those that the statement has made.
        """
        if declared.told_variables is not None:
            return tuple(name.lower() for name in declared.told_variables)
        if self.line.texts.logs_unread_variables:
            new = {target.name for target in reads.targets} - self.client.variables.keys() - self.client.unknown
            return tuple(name for name in reads.variables + reads.assigned if name not in new)
        return reads.variables + (reads.assigned if _evaluates_late(statement) else ())

    def _leave(self, statement: RowsStatement, reads: Reads) -> None:
        """What the statement leaves behind in user variables and LAST_INSERT_ID()."""
        updates = statement.kind == "update"
        for target in reads.targets:
            times = statement.search.matched if updates else 1
            if updates and not times:
                continue
            before = self.client.variables.get(target.name)
            value: Any = target.literal
            if target.step is not None:
                value = None
                if before is not None and isinstance(before.value, int) and target.name not in self.client.unknown:
                    value = before.value + target.step * times
            if not target.known or (target.step is not None and value is None):
                self.client.unknown.add(target.name)
                continue
            self.client.unknown.discard(target.name)
            self.client.variables[target.name] = user_variable(target.name, value, self.line.name)
        evaluation = statement.evaluation
        if evaluation.numbers.stored is not None:
            self.client.last_insert_id = evaluation.numbers.stored
        elif any(call.name == "LAST_INSERT_ID" and not call.is_empty for call in evaluation.calls):
            self.client.last_insert_id = _last_insert_id(statement, reads.last_insert)


def _evaluates_late(statement: RowsStatement) -> bool:
    """Whether SET, or ON DUPLICATE KEY UPDATE, is evaluated for any row."""
    found_duplicate = statement.evaluation.duplicate is not None
    return found_duplicate or (statement.kind == "update" and statement.search.matched > 0)


def _last_insert_id(statement: RowsStatement, source: str | int | None) -> int | None:
    """What LAST_INSERT_ID(expression) was given last; None where that is not known."""
    if not isinstance(source, str):
        return source
    index = next((i for i, column in enumerate(statement.table.columns) if column.name.lower() == source.lower()), None)
    changes = statement.changes
    row = changes[-1].after if changes and changes[-1].before is not None else None
    value = None if index is None or row is None else row[index]
    return value if isinstance(value, int) else None


def _select(declared: Statement) -> str | None:
    new = declared.insert or declared.replace
    return None if new is None else new.select


def _reads(sql: str, *, lenient: bool) -> Reads:
    """What the text reads; if ``lenient``, nothing where the text is no SQL that we know."""
    if not lenient:
        return reads_of(sql)
    try:
        return reads_of(sql)
    except ScenarioError:
        return Reads()
