"""From a scenario to the compiler's input: every row, every statement, every table at the end."""

from __future__ import annotations

from forge.engine.dictionary.catalog import SYSTEM_DATABASES
from forge.engine.dictionary.table_state import TableContents
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.engine.session.session import Session
from forge.engine.session.settings import wrong_settings
from forge.errors import ScenarioError
from forge.plan.plan import Plan
from forge.plan.requirements import session_features
from forge.plan.session import on_line
from forge.scenario.convert import checked
from forge.scenario.declared_tables import DeclaredTable, declared_tables, first_database, used_databases
from forge.scenario.generators import Generators
from forge.scenario.model import Scenario
from forge.scenario.places import Entry, Places, entries, statement_path, statements_of
from forge.servers import server_line
from forge.sql.ast.statements import DatabaseStatement
from forge.sql.write import identifier

#: What a scenario says of the log itself, or of more than one client.
_TELLS_OF_LOG = ("logged", "flush", "restart", "event", "connection", "gtid", "xa", "xa_commit", "xa_rollback")


def plan(scenario: Scenario) -> Plan:
    """The compiler's input for a scenario.

    Groups are, in order: CREATE DATABASE for every database that the scenario does not create itself, CREATE TABLE
    for every entry of ``tables``, the transactions.  Those that change no row are replayed, and not logged; nor is what
    the scenario says to exist.

    Raises ScenarioError (file, line, what was expected, nearest word) for what a server would refuse, and
    UnsupportedError for what this version cannot make.
    """
    scenario = checked(scenario)
    places = Places(scenario)
    session = opened(scenario, places)
    for path, entry in entries(scenario, "transactions"):
        run_entry(session, Entry(places, path), entry)
    return finished(session, scenario)


def opened(scenario: Scenario, places: Places) -> Session:
    """The session of a checked scenario, before its transactions.  Raises as :func:`plan`."""
    session = _session(scenario, places)
    tables = list(declared_tables(scenario, places, session.line))
    _create_databases(session, scenario, tables, places)
    session.home = session.catalog.kept_name(scenario.session.database or first_database(tables))
    session.use_home()
    for path, text, statement in tables:
        with places.sql(path, text):
            session.define(statement, text, places.line(path))
    for path, entry in entries(scenario, "existing"):
        with places.at(path):
            _check_existing(entry)
        run_entry(session, Entry(places, path), entry)
    if scenario.existing is not False:
        session.journal.keep_out_of_log()
    return session


def run_entry(session: Session, place: Entry, entry: list[Statement] | Transaction) -> None:
    """Run a transaction of a scenario.  Raises as :func:`plan`."""
    if isinstance(entry, list) and not entry:
        with place.at():
            raise ScenarioError("the transaction is empty", expected="at least one statement")
    transaction = Transaction(statements=entry) if isinstance(entry, list) else entry
    numbers = range(len(transaction.statements))
    paths = [Entry(place.places, statement_path(place.path, entry, number)) for number in numbers]
    session.run(transaction, place, paths)


def finished(session: Session, scenario: Scenario) -> Plan:
    """What has happened in the session, which ends with it.  Raises as :func:`plan`."""
    session.end()
    return _plan(session, scenario)


def _session(scenario: Scenario, places: Places) -> Session:
    """The session that the scenario runs in.  Raises ScenarioError for settings that no server takes."""
    settings = scenario.session
    with places.at(("server",)):
        line = server_line(scenario.server)
    for setting, feature in session_features(settings, line):
        with places.at(("session", setting)):
            line.require(feature)
    for path, error in wrong_settings(settings, line):
        with places.at(path):
            raise error
    with places.at(("session", "timestamp")):
        return Session(on_line(settings, line), scenario.server, Generators(scenario.seed))


def _create_databases(session: Session, scenario: Scenario, tables: list[DeclaredTable], places: Places) -> None:
    """CREATE DATABASE for every database that is used before the scenario creates it."""
    for name, path in used_databases(scenario, tables, places, session.line).items():
        with places.at(path):
            if name.lower() in SYSTEM_DATABASES:
                raise ScenarioError(f"{name!r} is a system database", expected="another name")
            sql = f"CREATE DATABASE {identifier(name)}"
            session.define(DatabaseStatement("create_database", name, 0), sql, None)


def _check_existing(entry: list[Statement] | Transaction) -> None:
    """Raises ScenarioError for an entry of ``existing`` that says how something is logged."""
    others = {
        field
        for struct in (*statements_of(entry), *((entry,) if isinstance(entry, Transaction) else ()))
        for field in _TELLS_OF_LOG
        if getattr(struct, field, None) not in (None, "", False)
    }
    if others or (isinstance(entry, Transaction) and entry.end == "open"):
        raise ScenarioError(
            f"{min(others, default='end: open')} has no place before the log begins",
            expected="data definition, and transactions that change rows and end",
        )


def _has_source(session: Session) -> bool:
    """Whether a part of the log comes from another server."""
    changed = (circumstances.session for circumstances in session.journal.circumstances.values())
    return any(settings is not None and settings.source is not None for settings in (session.initial, *changed))


def _plan(session: Session, scenario: Scenario) -> Plan:
    journal = session.journal
    tables = {table.name: table for table in session.catalog.tables.values()}
    return Plan(
        name=scenario.scenario,
        server=scenario.server,
        session=scenario.session,
        groups=tuple(journal.groups),
        existing=journal.existing,
        file_steps=tuple(journal.file_steps),
        event_steps=tuple(journal.event_steps),
        reconnects=tuple(journal.reconnects),
        circumstances=journal.circumstances,
        turns=tuple(journal.turns) if session.several or _has_source(session) else (),
        contents=TableContents(tables),
        tables={name: table.table for name, table in tables.items()},
        unopened=frozenset(name for name, table in tables.items() if table.lost_rows),
    )
