"""What a data definition statement runs in."""

from __future__ import annotations

from msgspec import Struct

from forge.engine.dictionary.catalog import Catalog, TableName
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.defaults import StatementTime
from forge.plan.definitions import DefinitionText
from forge.servers import ServerLine
from forge.sql.ast.definitions import TableRef
from forge.sql.reads.charsets import names_charset


class DdlContext(Struct, frozen=True):
    """The catalog that a statement changes, its text as the server logs it, and what the session knows."""

    catalog: Catalog
    sql: str
    current_database: str
    #: What CURRENT_TIMESTAMP is in the statement.
    time: StatementTime
    #: The session logs what is done to temporary tables.
    logs_temporary: bool = False
    #: CREATE TABLE ... SELECT is logged as its text.
    selects_as_text: bool = False

    @property
    def line(self) -> ServerLine:
        return self.catalog.line

    @property
    def text(self) -> DefinitionText:
        """The text as the server logs it, if it does not write another."""
        return DefinitionText(
            self.sql,
            self.current_database,
            names_charset=names_charset(self.sql),
            time=(self.time.second, self.time.microsecond),
        )

    def resolve(self, ref: TableRef) -> TableName:
        """The database and the table that the statement means by a name.  Raises SqlError."""
        return self.catalog.resolve(ref, self.current_database)

    def table(self, ref: TableRef) -> TableState:
        """The table that the statement names.  Raises SqlError."""
        return self.catalog.table(ref, self.current_database)
