"""The store of a server's dictionary: databases, tables, temporary tables, and objects that are no tables."""

from __future__ import annotations

from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.table_state import TableState
from forge.errors import ScenarioError, nearest
from forge.servers import ServerLine, server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import TableRef
from forge.sql.errors import SqlError
from forge.sql.parse.names import lone_name
from forge.sql.reads.triggers import Trigger

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})

#: (database, table)
TableName = tuple[str, str]
#: (kind, database, name)
ObjectName = tuple[str, str, str]


class Catalog:
    """What exists on the server.

    Names of tables and databases are case-sensitive, as on Linux, unless it keeps them in lower case.
    """

    def __init__(self, server: str, *, lowers_names: bool = False) -> None:
        self.server = server
        #: lower_case_table_names=1.
        self.lowers_names = lowers_names
        #: What the session's modes make of values; None for the server's own modes.
        self.dialect: Dialect | None = None
        #: Values that do not fit are clipped: the session is without strict mode.
        self.clips = False
        #: Tables without a key get an invisible one (sql_generate_invisible_primary_key).
        self.generates_keys = False
        #: CHECK constraints refuse rows (MariaDB: check_constraint_checks).
        self.checks_constraints = True
        #: TIMESTAMP columns are as their definitions say (explicit_defaults_for_timestamp).
        self.explicit_timestamps = True
        #: Engine of a table whose definition names none (default_storage_engine).
        self.default_engine = INNODB
        self.foreign_key_checks = True
        #: Collation of a new database that names none (collation_server).
        self.new_collation = server_line(server).ddl.default_collation
        #: Default collation by database.
        self.databases: dict[str, int] = {}
        self.tables: dict[TableName, TableState] = {}
        #: The session's temporary tables, oldest first; each hides the one of its name in ``tables``.
        self.temporary: dict[TableName, TableState] = {}
        #: Views, triggers and sequences, with the table of a trigger.
        self.objects: dict[ObjectName, TableName | None] = {}
        #: Triggers by their names in ``objects``, which has those that are there.
        self.triggers: dict[ObjectName, Trigger] = {}
        #: How many definitions every table name has had.
        self._versions: dict[TableName, int] = {}

    @property
    def line(self) -> ServerLine:
        return server_line(self.server)

    def resolve(self, ref: TableRef, current_database: str) -> TableName:
        """The database and the table that a name means, whether there is such a table or not.

        Raises SqlError (a place in the statement) where it names no database, or one that does not exist.
        """
        database = ref.database or current_database
        if not database:
            expected = "database.table, or session.database"
            raise SqlError(f"table {ref.name!r} names no database", ref.offset, expected=expected)
        if database.lower() in SYSTEM_DATABASES:
            raise SqlError(f"{database!r} is a system database", ref.offset, expected="another name")
        return self.check_database(database, ref.offset), self.kept_name(ref.name)

    def name_of(self, ref: TableRef, current_database: str) -> TableName:
        """As :meth:`resolve`, whether there is such a database or not."""
        return self.kept_name(ref.database or current_database), self.kept_name(ref.name)

    def kept_name(self, name: str) -> str:
        """The name of a database or a table as the server keeps it."""
        return name.lower() if self.lowers_names else name

    def check_database(self, name: str, offset: int = 0) -> str:
        """The database as it is kept.  Raises SqlError with the nearest name if there is none."""
        kept = self.kept_name(name)
        if kept not in self.databases:
            raise SqlError(f"there is no database {name!r}", offset, suggestion=nearest(kept, self.databases))
        return kept

    def table(self, ref: TableRef, current_database: str) -> TableState:
        """The table that a name means.  Raises SqlError with the nearest name if there is none."""
        name = self.resolve(ref, current_database)
        state = self.find(name)
        if state is None:
            names = {".".join(other) for other in self.tables}
            shown = ".".join(name)
            raise SqlError(f"there is no table {shown}", ref.offset, suggestion=nearest(shown, names))
        return state

    def known(self, ref: TableRef, current_database: str) -> TableState | None:
        """As :meth:`table`, None if there is none."""
        return self.find(self.name_of(ref, current_database))

    def find(self, name: TableName) -> TableState | None:
        """The table of that name, a temporary one before all others; None if there is none."""
        return self.temporary.get(name) or self.tables.get(name)

    def check_free(self, name: TableName, offset: int, *, temporary: bool = False) -> None:
        """Raises SqlError where a new table cannot have that name."""
        if name in self.shelf(temporary=temporary):
            raise SqlError(f"table {'.'.join(name)} exists already", offset)
        if not temporary and ("view", *name) in self.objects:
            raise SqlError(f"{'.'.join(name)} is a view", offset, expected="another name")

    def put(self, old: TableName, state: TableState, *, moves: bool) -> None:
        """A table has a new definition; one that ``moves`` is made now."""
        name = (state.table.database, state.table.name)
        shelf = self.shelf(temporary=state.table.temporary)
        if moves:
            del shelf[old]
            shelf[name] = state
            return
        entries = [(name, state) if other == old else (other, kept) for other, kept in shelf.items()]
        shelf.clear()
        shelf.update(entries)

    def shelf(self, *, temporary: bool) -> dict[TableName, TableState]:
        """The temporary tables, or the others."""
        return self.temporary if temporary else self.tables

    def states(self) -> list[TableState]:
        """All tables, the temporary ones last."""
        return [*self.tables.values(), *self.temporary.values()]

    def live_triggers(self) -> list[Trigger]:
        """The triggers in the order of their creation."""
        return [trigger for name, trigger in self.triggers.items() if self.objects.get(name) in self.tables]

    def has_object(self, name: ObjectName) -> bool:
        """Whether there is such an object; a trigger goes with its table."""
        if name not in self.objects:
            return False
        table = self.objects[name]
        return table is None or table in self.tables

    def next_version(self, name: TableName) -> int:
        """The number of a new definition of the table."""
        version = self._versions.get(name, -1) + 1
        self._versions[name] = version
        return version

    def drop_database(self, name: str) -> None:
        """A database goes with everything inside it."""
        del self.databases[name]
        self.objects = {key: table for key, table in self.objects.items() if key[1] != name}
        self.tables = {key: table for key, table in self.tables.items() if key[0] != name}


def declared_name(text: str) -> TableRef:
    """What ``shop.orders`` or ``orders`` names, with or without backticks.  Raises ScenarioError."""
    parts = lone_name(text)
    if parts is None:
        raise ScenarioError(f"{text!r} is not the name of a table", expected="database.table")
    return TableRef(*parts, 0)
