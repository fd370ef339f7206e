"""What the texts of a session's statements read, kept from one to the next: user variables, LAST_INSERT_ID()."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forge.compile.mixed_format import is_text, logs_temporary
from forge.compile.statements import Call, RowsStatement, UserVariable
from forge.errors import ScenarioError, UnsupportedError
from forge.scenario.catalog import Catalog
from forge.scenario.cells import Circumstances, Place
from forge.scenario.model import Scenario
from forge.scenario.sql_reads import Reads, reads_of
from forge.scenario.statement_model import Statement
from forge.scenario.user_variables import setting_sql, user_variable
from forge.servers import server_line

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
        self.last_insert_id = 0
        #: MIXED has logged rows while there were temporary tables, and goes on until there are none (MariaDB).
        self.keeps_rows = False

    def logs_temporary(self, catalog: Catalog) -> bool:
        """Whether the session now logs statements on temporary tables."""
        self.keeps_rows &= bool(catalog.temporary)
        return logs_temporary(self.scenario.session, self.line) and not self.keeps_rows

    def finished(
        self, declared: Statement, done: RowsStatement, at: Circumstances, *, follows_changes: bool, in_xa: bool
    ) -> RowsStatement:
        """The statement with all that its text reads, and whether it is logged as text.

        ``follows_changes``: the transaction has changes of transactional tables already; ``in_xa``: it is one of XA.
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
        hidden = {(database or at.current_database, name) for database, name in reads.tables}
        context = replace(
            done.context,
            follows_changes=follows_changes,
            in_xa=in_xa,
            reads_temporary=not hidden.isdisjoint(at.catalog.temporary),
        )
        done = replace(done, context=context)
        done = self._with_reads(done, declared, reads, tuple(settings))
        with place("query"):
            done = replace(done, as_text=self._is_text(done, at.catalog))
            if done.as_text:
                done = self._with_state(done, declared, reads)
        if done.load is not None:
            self.variables |= {variable.name: variable for variable in done.load.variables}
        if done.context.stored_id is not None:
            self.last_insert_id = done.context.stored_id
        return done

    def _is_text(self, done: RowsStatement, catalog: Catalog) -> bool:
        known = is_text(done, self.scenario.session, self.line)
        if not self.logs_temporary(catalog):
            return known and not self.keeps_rows
        mixed = self.scenario.session.binlog_format == "mixed"
        self.keeps_rows = mixed and not known and not done.context.impossible and bool(catalog.temporary)
        return known

    def _set(self, name: str, declared: Any, place: Place) -> str:
        with place("user_variables", name):
            variable, sql = user_variable(name, declared, self.scenario.server)
        self.variables[variable.name] = variable
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
        updates = done.kind == "update"
        late = reads.late_calls if done.context.updated or (updates and done.context.matched) else frozenset[Call]()
        starts_late = bool(done.changes) and done.changes[0].before is not None
        context = replace(
            done.context,
            reads=frozenset(columns),
            calls=reads.calls,
            evaluated_calls=sure | reads.row_calls | late,
            first_calls=sure | (late if starts_late else frozenset()),
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
        if any(call.name == "LAST_INSERT_ID" and not call.is_empty for call in reads.calls):
            raise UnsupportedError("LAST_INSERT_ID(expression) is not supported", expected="LAST_INSERT_ID()")
        asks = reads.calls_without_arguments("LAST_INSERT_ID") or reads.system_variables & _LAST_INSERT_ID
        seeds = None
        if reads.calls_without_arguments("RAND"):
            seeds = declared.rand_seeds
            if seeds is None:
                raise ScenarioError("the query calls RAND()", expected="`rand_seeds: [seed1, seed2]` beside it")
        # MySQL logs what was evaluated, and SET is not where no row is found.
        evaluated = done.context.updated or (done.kind == "update" and done.context.matched > 0)
        names = reads.variables + (reads.assigned if evaluated or self.line.logs_unread_variables else ())
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
