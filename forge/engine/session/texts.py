"""What the texts of a session's statements read, kept from one to the next: user variables, LAST_INSERT_ID()."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from forge.compile.query.mixed_format import is_text, logs_temporary, needs_rows
from forge.engine.dictionary.catalog import Catalog
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import Circumstances, Place
from forge.engine.session.user_variables import setting_sql, user_variable
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.engines import is_transactional
from forge.plan.statements import Call, RowsStatement, UserVariable
from forge.scenario.model import Scenario
from forge.servers import server_line
from forge.sql.ast.statements import CreateTable
from forge.sql.expressions import Field
from forge.sql.reads.conditionals import evaluated_parts
from forge.sql.reads.reads import Reads, reads_of

#: Other names of LAST_INSERT_ID().
_LAST_INSERT_ID = frozenset(("identity", "last_insert_id"))


class SessionText:
    """The state of a session that its statements' texts can read."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.line = server_line(scenario.server)
        self.begin()

    def begin(self) -> None:
        """A new session."""
        self.variables: dict[str, UserVariable] = {}
        #: Variables whose values are not known: a statement computed them.
        self.unknown: set[str] = set()
        #: What LAST_INSERT_ID() gives; None: not known.
        self.last_insert_id: int | None = 0
        #: MIXED has logged rows while there were temporary tables, and goes on until there are none (MariaDB).
        self.keeps_rows = False

    def logs_temporary(self, catalog: Catalog) -> bool:
        """Whether the session now logs statements on temporary tables."""
        self.keeps_rows &= bool(catalog.temporary)
        return logs_temporary(self.scenario.session, self.line) and not self.keeps_rows

    def selects_as_text(self, statement: CreateTable, sql: str, catalog: Catalog, current: str) -> bool:
        """Whether CREATE TABLE ... SELECT is logged as its text."""
        binlog_format = self.scenario.session.binlog_format
        if binlog_format != "mixed" or statement.select is None:
            return binlog_format == "statement"
        source = catalog.find((statement.select.table.database or current, statement.select.table.name))
        temporary = statement.temporary or (source is not None and source.table.temporary)
        words = reads_of(sql).words
        numbered = any(column.auto_increment for column in statement.columns)
        unsafe = numbered or not words.isdisjoint(("LIMIT", "IGNORE", "REPLACE"))
        logs = self.logs_temporary(catalog)
        self.keeps_rows |= unsafe and logs and (statement.temporary or bool(catalog.temporary))
        return not unsafe and not self.keeps_rows and (logs or not temporary)

    def finished(self, declared: Statement, done: RowsStatement, at: Circumstances) -> RowsStatement:
        """The statement with all that its text reads, and whether it is logged as text.

        Raises ScenarioError (at ``at.place(field)``) for text that reads what the scenario does not tell.
        """
        place = at.place
        settings = [self._set(name, value, place) for name, value in (declared.user_variables or {}).items()]
        if declared.rand_seeds is not None:
            settings.append("SET rand_seed1 = {}, rand_seed2 = {}".format(*declared.rand_seeds))
        text = self.scenario.session.binlog_format != "row"
        reads = Reads()
        sql = declared.query or _select(declared)
        if done.load is not None and done.load.sets:
            sql = f"SET {', '.join(done.load.sets)}"
        if sql is not None:
            with place("query"):
                reads = _reads(sql, lenient=not text)
        named = {(database or at.current_database, name) for database, name in reads.tables}
        tables = [state.table for state in map(at.catalog.find, named) if state is not None]
        context = replace(
            done.context,
            reads_temporary=any(table.temporary for table in tables),
            reads_irrevocable=any(not (table.temporary or is_transactional(table)) for table in tables),
        )
        done = replace(done, context=context)
        done = self._with_reads(done, declared, reads, tuple(settings))
        with place("query"):
            done = replace(done, as_text=self._is_text(done, at.catalog))
            if done.as_text:
                done = self._with_state(done, declared, reads)
        if done.load is not None:
            self.variables |= {variable.name: variable for variable in done.load.variables}
        self._leave(done, reads)
        return done

    def _is_text(self, done: RowsStatement, catalog: Catalog) -> bool:
        known = is_text(done, self.scenario.session, self.line)
        if not self.logs_temporary(catalog):
            return known and not self.keeps_rows
        mixed = self.scenario.session.binlog_format == "mixed"
        self.keeps_rows = mixed and needs_rows(done, self.line) and bool(catalog.temporary)
        return known

    def _set(self, name: str, declared: Any, place: Place) -> str:
        with place("user_variables", name):
            variable, sql = user_variable(name, declared, self.scenario.server)
        self.variables[variable.name] = variable
        self.unknown.discard(variable.name)
        return setting_sql(variable.name, sql)

    def _with_reads(
        self, done: RowsStatement, declared: Statement, reads: Reads, settings: tuple[str, ...]
    ) -> RowsStatement:
        columns = set(done.context.reads)
        if declared.query is not None:
            # A column that is set and read stands in the text twice.
            assigned = done.assigned or frozenset()
            columns = {
                index
                for index, column in enumerate(done.table.columns)
                if reads.named.get(column.name.lower(), 0) > (1 if index in assigned else 0)
            }
        selects = done.context.selects or (done.kind == "insert" and "SELECT" in reads.words)
        sure = reads.calls - reads.late_calls - reads.row_calls
        late = reads.late_calls if _evaluates_late(done) else frozenset[Call]()
        calls = reads.calls - self._unread_calls(reads)
        starts_late = bool(done.changes) and done.changes[0].before is not None
        context = replace(
            done.context,
            reads=frozenset(columns),
            calls=reads.calls,
            evaluated_calls=(sure | reads.row_calls | late) & calls,
            first_calls=(sure | (late if starts_late else frozenset())) & calls,
            system_variables=reads.system_variables,
            limited="LIMIT" in reads.words,
            selects=selects,
            reads_tables="FROM" in reads.words,
            ignores=done.context.ignores or (done.kind == "update" and "IGNORE" in reads.words),
            settings=settings,
        )
        return replace(done, context=context)

    def _with_state(self, done: RowsStatement, declared: Statement, reads: Reads) -> RowsStatement:
        """What the events before the text have to tell.  Raises ScenarioError."""
        evaluated = done.context.evaluated_calls | (done.context.trigger_calls if done.context.fires else frozenset())
        asks = any(call.name == "LAST_INSERT_ID" and call.is_empty for call in evaluated)
        asks = asks or bool(reads.system_variables & _LAST_INSERT_ID)
        if asks and self.last_insert_id is None:
            raise ScenarioError(
                "what LAST_INSERT_ID() gives is not known after LAST_INSERT_ID(expression)",
                expected="LAST_INSERT_ID of a number, or SET column = LAST_INSERT_ID(...)",
            )
        seeds = None
        if reads.calls_without_arguments("RAND"):
            seeds = declared.rand_seeds
            if seeds is None:
                raise ScenarioError("the query calls RAND()", expected="`rand_seeds: [seed1, seed2]` beside it")
        names = self._read_names(done, reads)
        for name in names:
            if name in self.unknown:
                raise ScenarioError(
                    f"what @{name} holds is not known: a statement assigned to it", expected="`user_variables` with it"
                )
        if done.load is not None:
            taken = {name[1:].lower() for name in done.load.columns if name.startswith("@")}
            # MariaDB tells what they were before, if they were anything.
            known = self.variables if self.line.logs_unread_variables else ()
            names = tuple(name for name in names if name not in taken or name in known)
        context = replace(
            done.context,
            last_insert_id=self.last_insert_id if asks else None,
            rand_seeds=seeds,
            user_variables=tuple(self.variables.get(name, UserVariable(name, None)) for name in names),
        )
        return replace(done, context=context)

    def _read_names(self, done: RowsStatement, reads: Reads) -> tuple[str, ...]:
        """The variables that are told before the text.

        MySQL tells those that are evaluated before they are assigned, and SET is not where no row is found; MariaDB
        those that are named, if the statement did not make them.
        """
        if self.line.logs_unread_variables:
            made = {one.name for one in reads.targets} - self.variables.keys() - self.unknown
            return tuple(name for name in reads.variables + reads.assigned if name not in made)
        names = reads.variables + (reads.assigned if _evaluates_late(done) else ())
        unread = self._unread_variables(reads) & set(names)
        return tuple(name for name in names if name not in reads.shadowed and name not in unread)

    def _unread_variables(self, reads: Reads) -> set[str]:
        """The variables that stand only in branches which are not evaluated."""
        unread = {name for one in reads.conditionals for name in one.variables} - reads.sure_variables
        for one in reads.conditionals:
            if not one.variables & unread:
                continue
            asked = evaluated_parts(one, self._operands(), self.line.family)
            if asked is None:
                names = ", ".join(f"@{name}" for name in sorted(one.variables & unread))
                raise UnsupportedError(f"whether {names} is read in {one.sql} is not computed here")
            unread -= asked
        return unread

    def _unread_calls(self, reads: Reads) -> frozenset[Call]:
        """The functions that stand only in branches which are not evaluated."""
        unread = {name for one in reads.conditionals for name in one.calls} - reads.sure_calls
        for one in reads.conditionals:
            if not one.calls & unread:
                continue
            asked = evaluated_parts(one, self._operands(), self.line.family)
            if asked is None or "@@now" in asked:
                # Whether NOW() was asked for by the one or the other is all the same in most of them.
                unread -= one.calls
        return frozenset(call for call in reads.calls if call.name in unread)

    def _operands(self) -> dict[str, Any]:
        """The variables as expressions compute with them; those that are not known are left out."""
        return {
            name: Field(variable.value) if isinstance(variable.value, str) else variable.value
            for name, variable in self.variables.items()
            if name not in self.unknown and isinstance(variable.value, (int, Decimal, str, type(None)))
        }

    def _leave(self, done: RowsStatement, reads: Reads) -> None:
        """What the statement leaves behind in user variables and LAST_INSERT_ID()."""
        updates = done.kind == "update"
        for one in reads.targets:
            times = done.context.matched if updates else 1
            if updates and not times:
                continue
            before = self.variables.get(one.name)
            value: Any = one.literal
            if one.step is not None:
                value = None
                if before is not None and isinstance(before.value, int) and one.name not in self.unknown:
                    value = before.value + one.step * times
            if not one.known or (one.step is not None and value is None):
                self.unknown.add(one.name)
                continue
            self.unknown.discard(one.name)
            self.variables[one.name] = user_variable(one.name, value, self.scenario.server)[0]
        if done.context.stored_id is not None:
            self.last_insert_id = done.context.stored_id
        elif any(call.name == "LAST_INSERT_ID" and not call.is_empty for call in done.context.evaluated_calls):
            self.last_insert_id = _last_insert_id(done, reads.last_insert)


def _evaluates_late(done: RowsStatement) -> bool:
    """Whether SET, or ON DUPLICATE KEY UPDATE, is evaluated for any row."""
    return done.context.met or (done.kind == "update" and done.context.matched > 0)


def _last_insert_id(done: RowsStatement, source: str | int | None) -> int | None:
    """What LAST_INSERT_ID(expression) was given last; None where that is not known."""
    if not isinstance(source, str):
        return source
    index = next((i for i, column in enumerate(done.table.columns) if column.name.lower() == source.lower()), None)
    row = done.changes[-1].after if done.changes and done.changes[-1].before is not None else None
    value = None if index is None or row is None else row[index]
    return value if isinstance(value, int) else None


def _select(declared: Statement) -> str | None:
    new = declared.insert or declared.replace
    return None if new is None else new.select


def _reads(sql: str, *, lenient: bool) -> Reads:
    """In row format the text is not taken apart where it need not be."""
    if not lenient:
        return reads_of(sql)
    try:
        return reads_of(sql)
    except ScenarioError:
        return Reads()
