"""Views, triggers, routines, events, accounts and the upkeep of tables: what their statements are logged as.

Servers write most of these statements anew, with the definer and names that they stand for (recorded on 9.7; of
MariaDB views and triggers, on servers without grant tables).  What the objects do is not followed: the rows that a
trigger changes are declared with the statement that fires it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from forge.engine.dictionary.triggers import trigger_of
from forge.engine.dictionary.view_columns import moments_of
from forge.plan.engines import is_defined_atomically
from forge.plan.passwords import HASHED, Password, escaped
from forge.plan.statements import DdlStatement
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import TableRef
from forge.sql.tokens import SqlError, SqlUnsupported

if TYPE_CHECKING:
    from forge.engine.dictionary.catalog import Catalog

ObjectKind = Literal[
    "view", "trigger", "procedure", "function", "event", "account", "upkeep",
    "tablespace", "reference system", "server", "sequence",
]  # fmt: skip
ObjectName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Definer:
    """An account in the text of a statement; ``account`` is None for the session's own."""

    account: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """A user in the text of a statement, in quotes; ``is_current``: the session's own."""

    user: str
    host: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class AccountUse:
    """What a statement does to an account: it has to be there, comes into being, or goes."""

    account: Account
    what: Literal["known", "new", "gone"]


@dataclass(frozen=True, slots=True)
class Here:
    """The current database in the text of a statement."""


#: Text of a statement that is written anew: as it is, a definer, a name, a user, a password, the current database.
Piece = str | Definer | TableRef | Account | Password | Here


@dataclass(frozen=True, slots=True)
class ObjectStatement:
    """A statement on objects; ``pieces`` are what is logged, none: the text as it was sent.

    ``exists``: IF [NOT] EXISTS; ``table`` is the trigger's; ``zone`` and ``fraction``: it reads the time so.
    """

    kind: ObjectKind
    verb: Literal["create", "alter", "drop", "other"]
    names: tuple[TableRef, ...] = ()
    pieces: tuple[Piece, ...] = ()
    offset: int = 0
    exists: bool = False
    replaces: bool = False
    table: TableRef | None = None
    zone: bool = False
    fraction: bool = False
    invoker: bool = False
    #: The SELECT of a view, and the names that it lists for its columns.
    body: str = ""
    columns: tuple[str, ...] = ()
    #: ALTER EVENT ... RENAME TO.
    renamed: TableRef | None = None
    #: The accounts that it names; with ``exists``, any may be missing, or there already.
    accounts: tuple[AccountUse, ...] = ()
    #: Databases that the text speaks of, beside those of the names.
    databases: tuple[str, ...] = ()
    #: OPTIMIZE TABLE makes the tables anew; LOCAL keeps a statement out of the log.
    remakes: bool = False
    repairs: bool = False
    local: bool = False


def apply_object(catalog: Catalog, statement: ObjectStatement, sql: str, current: str) -> DdlStatement:
    """Run the statement.  Raises SqlError for what a server would refuse, SqlUnsupported for what is not made yet."""
    line = server_line(catalog.server)
    if line.family == "mariadb" and statement.kind not in ("view", "trigger", "upkeep", "sequence"):
        what = "accounts" if statement.kind == "account" else f"{statement.kind}s"
        raise SqlUnsupported(f"{what} of MariaDB are not supported yet", statement.offset)
    known = _use_accounts(catalog, statement)
    texts = tuple(_texts(catalog, statement, current, line))
    done = DdlStatement(
        kind="other",
        sql="".join(text for text in texts if isinstance(text, str)) or sql,
        current_database=current,
        invoker=statement.invoker,
        zone=statement.zone,
        fraction=statement.fraction,
        replayed=sql,
        texts=texts if any(isinstance(text, Password) for text in texts) else (),
    )
    if statement.kind == "account":
        # Privileges taken from nobody touch no database (recorded).
        named = [database or current for database in statement.databases] if known else []
        if "" in named:
            raise SqlError("no database is named, and none is current", statement.offset)
        return replace(done, databases=("mysql", *named), atomic=True)
    if statement.kind == "sequence":
        return done
    if statement.kind in ("server", "tablespace", "reference system"):
        return _of_server(catalog, statement, done)
    if statement.kind == "upkeep":
        return _upkeep(catalog, statement, done, current)
    return _object(catalog, statement, done, current)


def _use_accounts(catalog: Catalog, statement: ObjectStatement) -> bool:
    """Enter what becomes of the accounts; whether one of those that have to be there is.

    Raises SqlError for one that has to be there and is not, or the other way round (errors 1396, 1410, 1141, 3523).
    """
    found = not statement.accounts
    # Before 5.7 GRANT of privileges makes accounts (NO_AUTO_CREATE_USER is no part of the default mode).
    makes = not server_line(catalog.server).strict and statement.verb == "other" and bool(statement.pieces)
    for use in statement.accounts:
        if use.account.is_current:
            found = True
            continue
        name = (use.account.user, use.account.host)
        if makes and use.what == "known":
            catalog.accounts.add(name)
        is_there = name in catalog.accounts
        found |= is_there or use.what == "new"
        if is_there == (use.what == "new") and not statement.exists:
            shown = f"the account {name[0]}@{name[1]}"
            raise SqlError(f"{shown} exists already" if is_there else f"there is no {shown[4:]}", statement.offset)
        if use.what == "new":
            catalog.accounts.add(name)
        elif use.what == "gone":
            catalog.accounts.discard(name)
    return found


def _object(catalog: Catalog, statement: ObjectStatement, done: DdlStatement, current: str) -> DdlStatement:
    names = [(statement.kind, catalog.database_of(ref, current), ref.name) for ref in statement.names]
    known = [_exists(catalog, name) for name in names]
    done = replace(done, databases=tuple(dict.fromkeys(name[1] for name in names)), atomic=True)
    if re.search(r"\b(?:RAND|FROM_UNIXTIME)\s*\(", statement.body, re.IGNORECASE) and _is_mariadb(catalog):
        # It logs the seeds before the view, 10.11 the time zone with it.
        raise SqlUnsupported("views of MariaDB with RAND or FROM_UNIXTIME are not supported yet", statement.offset)
    if statement.body and not _is_mariadb(catalog):
        ref = statement.names[0]
        moments = moments_of(catalog, statement.body, current, statement.columns, ref.offset)
        catalog.view_moments[names[0][1:]] = moments
        done = replace(done, zone=bool(moments))
    if statement.verb == "create":
        return _create(catalog, statement, names[0], done, current)
    for ref, found in zip(statement.names, known, strict=True):
        if not found and not statement.exists:
            raise SqlError(f"there is no {statement.kind} {ref.name!r}", ref.offset)
    if statement.verb == "alter" and statement.renamed is not None:
        new = (statement.kind, catalog.database_of(statement.renamed, current), statement.renamed.name)
        if _exists(catalog, new):
            raise SqlError(f"{statement.kind} {new[2]!r} exists already", statement.offset)
        catalog.objects[new] = catalog.objects.pop(names[0])
        return replace(done, databases=tuple(dict.fromkeys((names[0][1], new[1]))))
    if statement.verb == "alter":
        # ALTER PROCEDURE and FUNCTION name no database (recorded).
        return replace(done, databases=()) if statement.kind in ("procedure", "function") else done
    for name in names:
        catalog.objects.pop(name, None)
    if not any(known):
        databases = done.databases if statement.kind == "event" else ()
        return replace(done, databases=databases, no_effect=True)
    return done


def _of_server(catalog: Catalog, statement: ObjectStatement, done: DdlStatement) -> DdlStatement:
    """Tablespaces and reference systems are in no database; the others are not logged."""
    if statement.local:
        return replace(done, unlogged=True)
    name = (statement.kind, "", statement.names[0].name)
    known = name in catalog.objects
    if known == (statement.verb == "create"):
        if statement.exists:
            return replace(done, unlogged=True, no_effect=True)
        state = "exists already" if known else "does not exist"
        raise SqlError(f"{statement.kind} {name[2]} {state}", statement.offset)
    if statement.verb != "create":
        del catalog.objects[name]
    if statement.verb != "drop":
        new = statement.renamed.name if statement.renamed is not None else name[2]
        catalog.objects[(statement.kind, "", new)] = None
    encrypts = statement.kind == "tablespace" and statement.verb == "create"
    return replace(done, atomic=True, encrypts=encrypts)


def _create(
    catalog: Catalog, statement: ObjectStatement, name: ObjectName, done: DdlStatement, current: str
) -> DdlStatement:
    ref = statement.names[0]
    if statement.kind == "view" and name[1:] in catalog.tables:
        raise SqlError(f"{name[1]}.{name[2]} is a table", ref.offset, expected="another name")
    done = replace(done, fraction=statement.kind == "trigger")
    table = None
    if statement.table is not None:
        table = (catalog.database_of(statement.table, name[1]), statement.table.name)
        if table not in catalog.tables:
            raise SqlError(f"there is no table {'.'.join(table)}", statement.table.offset)
    if _exists(catalog, name):
        if statement.exists:
            return replace(done, no_effect=True)
        if not statement.replaces:
            raise SqlError(f"{statement.kind} {ref.name!r} exists already", ref.offset)
    catalog.objects[name] = table
    trigger = trigger_of(done.replayed or done.sql, table) if table is not None else None
    if trigger is not None:
        catalog.triggers[name] = trigger
    return done


def _is_mariadb(catalog: Catalog) -> bool:
    return server_line(catalog.server).family == "mariadb"


def _exists(catalog: Catalog, name: ObjectName) -> bool:
    """A trigger goes with its table."""
    if name not in catalog.objects:
        return False
    table = catalog.objects[name]
    return table is None or table in catalog.tables


def _upkeep(catalog: Catalog, statement: ObjectStatement, done: DdlStatement, current: str) -> DdlStatement:
    """ANALYZE, OPTIMIZE, REPAIR, FLUSH."""
    names = [(catalog.database_of(ref, current), ref.name) for ref in statement.names]
    # What is not there, or a view, is the concern of the statement's answer (recorded).
    states = [state for state in map(catalog.find, names) if state is not None]
    done = replace(done, touches_temporary=any(state.table.temporary for state in states))
    if statement.local:
        return replace(done, unlogged=True)
    if done.touches_temporary and statement.remakes:
        raise SqlUnsupported("OPTIMIZE TABLE of temporary tables is not supported yet", statement.offset)
    if statement.repairs and server_line(catalog.server).repair_remakes:
        tables = (state.table for state in states if state.table.partition is None)
        repaired = tuple(table for table in tables if is_defined_atomically(table))
        return replace(done, tables=repaired, method="metadata", asks_engine=False)
    remade = tuple(state.table for state in states if statement.remakes and is_defined_atomically(state.table))
    if not remade:
        return done
    databases = tuple(dict.fromkeys(table.database for table in remade))
    return replace(done, databases=databases, tables=remade, method="in_place")


def _texts(catalog: Catalog, statement: ObjectStatement, current: str, line: ServerLine) -> Iterator[str | Password]:
    """The text that is logged, and the passwords in it whose hashes are not known yet."""
    account = ""
    for piece in statement.pieces:
        if isinstance(piece, Password):
            plugin = piece.plugin or catalog.plugins.get(account, line.authentication_plugin)
            if account:
                catalog.plugins[account] = plugin
            yield f" IDENTIFIED WITH '{plugin}'"
            if piece.clear:
                if plugin not in HASHED:
                    raise SqlUnsupported(f"passwords of {plugin} are not supported yet", statement.offset)
                yield " AS '"
                yield replace(piece, plugin=plugin, number=catalog.passwords)
                yield "'"
                catalog.passwords += 1
            elif piece.given and statement.verb == "alter":
                yield " AS ''"
            continue
        text = _piece(piece, current, line)
        if isinstance(piece, Account):
            account = text
        catalog.passwords += text.startswith(" IDENTIFIED WITH") and not text.endswith("''")
        yield text


def _piece(piece: str | Definer | TableRef | Account | Here, current: str, line: ServerLine) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Here):
        return _quoted(current)
    if isinstance(piece, Account):
        return accounts_text([line.session_user if piece.is_current else (piece.user, piece.host)])
    if isinstance(piece, Definer):
        user, host = piece.account or line.session_user
        return _quoted(user) + (f"@{_quoted(host)}" if host or user else "")
    name = _quoted(piece.name)
    return name if piece.database in (None, current) else f"{_quoted(piece.database or '')}.{name}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def forget_database(objects: dict[ObjectName, tuple[str, str] | None], database: str) -> None:
    """DROP DATABASE takes everything inside it."""
    for name in [name for name in objects if name[1] == database]:
        del objects[name]


def accounts_text(accounts: Sequence[tuple[str, str]]) -> str:
    """``'u'@'%','v'@'localhost'``."""
    return ",".join(f"'{escaped(user)}'@'{escaped(host)}'" for user, host in accounts)
