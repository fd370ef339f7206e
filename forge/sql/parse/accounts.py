"""Grammar of statements on accounts of MySQL, and the texts that servers log of them (recorded on 9.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from forge.engine.ddl.objects import Account, AccountUse, Here, ObjectStatement, Piece
from forge.plan.passwords import Password, escaped
from forge.sql.tokens import Cursor, SqlError, SqlUnsupported

_PRIVILEGES = (
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "SHUTDOWN", "PROCESS", "FILE", "GRANT OPTION",
    "REFERENCES", "INDEX", "ALTER", "SHOW DATABASES", "SUPER", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE",
    "REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE",
    "CREATE USER", "EVENT", "TRIGGER", "CREATE TABLESPACE", "CREATE ROLE", "DROP ROLE",
)  # fmt: skip
_LIMITS = ("MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS")
#: What follows the users, in the order in which servers write it (sql/sql_rewrite.cc).
_SLOTS = (
    "role", "require", "limits", "expire", "lock", "history", "reuse", "current", "failed", "lock time", "comment",
)  # fmt: skip
#: Options that have to be written in this order, before all others.
_FIRST = ("role", "require", "limits")
CURRENT = Account("", "", is_current=True)


def user(cursor: Cursor) -> tuple[str, str]:
    """``user@host``; a user without a host is at '%'."""
    name = cursor.advance().text
    if not cursor.accept_mark("@"):
        return name, "%"
    return name, cursor.advance().text.lower()


def _account(cursor: Cursor) -> Account:
    """A user, or the session's own."""
    if cursor.accept("CURRENT_USER") or (cursor.token.is_word("USER") and cursor.following().is_mark("(")):
        cursor.accept("USER")
        if cursor.accept_mark("("):
            cursor.expect_mark(")")
        return CURRENT
    return Account(*user(cursor))


def _accounts(cursor: Cursor) -> list[Account]:
    found = [_account(cursor)]
    while cursor.accept_mark(","):
        found.append(_account(cursor))
    return found


def create_user(cursor: Cursor, verb: str, start: int) -> ObjectStatement:
    """What follows CREATE, ALTER or DROP USER.  Raises SqlError and SqlUnsupported."""
    condition = ""
    if cursor.accept("IF", "NOT", "EXISTS") if verb == "CREATE" else cursor.accept("IF", "EXISTS"):
        condition = "IF NOT EXISTS " if verb == "CREATE" else "IF EXISTS "
    pieces: list[Piece] = [f"{verb} USER {condition}"]
    uses: list[AccountUse] = []
    invoker = False
    while True:
        invoker |= cursor.token.is_word("USER")
        account = _account(cursor)
        uses.append(AccountUse(account, "new" if verb == "CREATE" else "known"))
        if verb == "ALTER" and cursor.token.is_word("DEFAULT"):
            # As it was sent (recorded).
            cursor.rest()
            return ObjectStatement("account", "alter", offset=start, accounts=tuple(uses), exists=bool(condition))
        pieces += [account, *_authentication(cursor, verb, account)]
        if not cursor.accept_mark(","):
            break
        pieces.append(",")
    slots: dict[str, str] = {}
    while not cursor.at("end"):
        offset = cursor.token.start
        name, text = _option(cursor)
        if name in _FIRST and any(known not in _FIRST[: _FIRST.index(name) + 1] for known in slots):
            raise SqlError(f"{name.upper()} comes before other options", offset)
        slots[name] = f"{slots[name]} {text}" if name in slots else text
    pieces += [f" {slots[name]}" for name in _SLOTS if name in slots]
    passwords = any(isinstance(piece, Password) and piece.clear for piece in pieces)
    return ObjectStatement(
        "account",
        "create" if verb == "CREATE" else "alter",
        pieces=tuple(pieces),
        offset=start,
        accounts=tuple(uses),
        exists=bool(condition),
        invoker=invoker and any(isinstance(piece, Password) for piece in pieces),
        zone=passwords,
        fraction=passwords,
    )


def _authentication(cursor: Cursor, verb: str, account: Account) -> Iterator[Piece]:
    """IDENTIFIED ... of one user."""
    offset = cursor.token.start
    if cursor.accept("DISCARD", "OLD", "PASSWORD"):
        yield " DISCARD OLD PASSWORD"
        return
    if not cursor.accept("IDENTIFIED"):
        if verb == "CREATE":
            yield Password("", "")
        return
    plugin = ""
    if cursor.accept("WITH"):
        plugin = cursor.advance().text.lower()
    if cursor.accept("AS"):
        yield f" IDENTIFIED WITH '{plugin}' AS '{escaped(cursor.string('a hash'))}'"
        return
    clear = ""
    if cursor.accept("BY"):
        if cursor.accept("RANDOM", "PASSWORD"):
            raise SqlUnsupported("RANDOM PASSWORD is not supported: nobody knows it", offset)
        clear = cursor.string("a password")
        yield Password(plugin, clear, given=True)
    else:
        yield Password(plugin, "")
    if cursor.token.is_word("AND", "REPLACE", "INITIAL"):
        raise SqlUnsupported(f"IDENTIFIED ... {cursor.token.text.upper()} is not supported yet", cursor.token.start)
    if cursor.accept("RETAIN", "CURRENT", "PASSWORD"):
        yield " RETAIN CURRENT PASSWORD"


def _option(cursor: Cursor) -> tuple[str, str]:
    """One option behind the users: its place in the text, and the text."""
    if cursor.accept("DEFAULT", "ROLE"):
        if cursor.accept("NONE") or cursor.accept("ALL"):
            cursor.wrong("roles")
        roles = [user(cursor)]
        while cursor.accept_mark(","):
            roles.append(user(cursor))
        return "role", "DEFAULT ROLE " + ",".join(f"`{name}`@`{host}`" for name, host in roles)
    if cursor.accept("REQUIRE"):
        return "require", f"REQUIRE {_required(cursor)}"
    if cursor.accept("WITH"):
        return "limits", f"WITH {_limits(cursor)}"
    if cursor.accept("ACCOUNT"):
        return "lock", f"ACCOUNT {cursor.accept_any('LOCK', 'UNLOCK') or cursor.wrong('LOCK or UNLOCK')}"
    if word := cursor.accept_any("COMMENT", "ATTRIBUTE"):
        return "comment", f"{word} '{escaped(cursor.string('a text'))}'"
    if word := cursor.accept_any("FAILED_LOGIN_ATTEMPTS", "PASSWORD_LOCK_TIME"):
        unbounded = word == "PASSWORD_LOCK_TIME" and cursor.accept("UNBOUNDED")
        value = "UNBOUNDED" if unbounded else str(cursor.integer("a number"))
        return "failed" if word == "FAILED_LOGIN_ATTEMPTS" else "lock time", f"{word} {value}"
    cursor.expect("PASSWORD")
    return _password_option(cursor)


def _password_option(cursor: Cursor) -> tuple[str, str]:
    if cursor.accept("EXPIRE"):
        if cursor.accept("INTERVAL"):
            days = cursor.integer("days")
            cursor.expect("DAY")
            return "expire", f"PASSWORD EXPIRE INTERVAL {days} DAY"
        word = cursor.accept_any("NEVER", "DEFAULT")
        return "expire", f"PASSWORD EXPIRE {word}" if word else "PASSWORD EXPIRE"
    if cursor.accept("HISTORY"):
        return "history", f"PASSWORD HISTORY {'DEFAULT' if cursor.accept('DEFAULT') else cursor.integer('a number')}"
    if cursor.accept("REUSE", "INTERVAL"):
        if cursor.accept("DEFAULT"):
            return "reuse", "PASSWORD REUSE INTERVAL DEFAULT"
        days = cursor.integer("days")
        cursor.expect("DAY")
        return "reuse", f"PASSWORD REUSE INTERVAL {days} DAY"
    cursor.expect("REQUIRE", "CURRENT")
    word = cursor.accept_any("DEFAULT", "OPTIONAL")
    return "current", f"PASSWORD REQUIRE CURRENT {word}" if word else "PASSWORD REQUIRE CURRENT"


def _required(cursor: Cursor) -> str:
    word = cursor.accept_any("NONE", "SSL", "X509")
    if word:
        return word
    found: dict[str, str] = {}
    while word := cursor.accept_any("SUBJECT", "ISSUER", "CIPHER"):
        found[word] = f"{word} '{escaped(cursor.string('a text'))}'"
        cursor.accept("AND")
    return " ".join(found[word] for word in ("SUBJECT", "ISSUER", "CIPHER") if word in found) or cursor.wrong("SSL")


def _limits(cursor: Cursor) -> str:
    found: dict[str, str] = {}
    while word := cursor.accept_any(*_LIMITS):
        found[word] = f"{word} {cursor.integer('a number')}"
    return " ".join(found[word] for word in _LIMITS if word in found) or cursor.wrong("a limit", _LIMITS)


def set_statement(cursor: Cursor, start: int) -> ObjectStatement:
    """SET PASSWORD, which is logged as ALTER USER, and SET DEFAULT ROLE.  Raises SqlError and SqlUnsupported."""
    if cursor.accept("DEFAULT", "ROLE"):
        cursor.rest()
        return ObjectStatement("account", "other", offset=start)
    if not cursor.accept("PASSWORD"):
        raise SqlUnsupported(f"SET {cursor.token.text.upper()} is not supported", start)
    account = _account(cursor) if cursor.accept("FOR") else CURRENT
    if cursor.accept("TO"):
        raise SqlUnsupported("RANDOM PASSWORD is not supported: nobody knows it", start)
    cursor.expect_mark("=")
    clear = cursor.string("a password")
    retain = " RETAIN CURRENT PASSWORD" if cursor.accept("RETAIN", "CURRENT", "PASSWORD") else ""
    pieces = ("ALTER USER ", account, Password("", clear, given=True), retain)
    stored = bool(clear)
    uses = (AccountUse(account, "known"),)
    return ObjectStatement("account", "alter", pieces=pieces, offset=start, zone=stored, fraction=stored, accounts=uses)


def named_accounts(cursor: Cursor, verb: Literal["create", "drop"], start: int) -> ObjectStatement:
    """DROP USER, CREATE and DROP ROLE behind these words, which are logged as they were sent.  Raises SqlError."""
    exists = cursor.accept("IF", "EXISTS") or cursor.accept("IF", "NOT", "EXISTS")
    uses = tuple(AccountUse(account, "new" if verb == "create" else "gone") for account in _accounts(cursor))
    cursor.rest()
    return ObjectStatement("account", verb, offset=start, accounts=uses, exists=exists)


def rename_user(cursor: Cursor, start: int) -> ObjectStatement:
    """RENAME USER behind these words.  Raises SqlError."""
    uses: list[AccountUse] = []
    while not uses or cursor.accept_mark(","):
        uses.append(AccountUse(_account(cursor), "gone"))
        cursor.expect("TO")
        uses.append(AccountUse(_account(cursor), "new"))
    return ObjectStatement("account", "other", offset=start, accounts=tuple(uses))


def grant_or_revoke(cursor: Cursor, verb: str, start: int) -> ObjectStatement:
    """GRANT and REVOKE of privileges and of roles.  Raises SqlError and SqlUnsupported."""
    if verb == "REVOKE":
        return _revoke(cursor, start)
    if not _names_privileges(cursor):
        roles = _accounts(cursor)
        cursor.expect("TO")
        uses = tuple(AccountUse(account, "known") for account in (*roles, *_accounts(cursor)))
        cursor.rest()
        return ObjectStatement("account", "other", offset=start, accounts=uses)
    if cursor.accept("PROXY", "ON"):
        account = _account(cursor)
        cursor.expect("TO")
        head: list[Piece] = ["GRANT PROXY ON ", account]
        databases: tuple[str, ...] = ()
    else:
        privileges = _privileges(cursor, start)
        kind, database, name = _granted_on(cursor, start)
        cursor.expect("TO")
        own = database is None and not name.startswith("*")
        databases = (database,) if database is not None else ("",) if own else ()
        head = [f"GRANT {privileges} ON {kind}", *(["*.*"] if database is None and not own else [])]
        if database is not None:
            head.append(f"`{database}`.{name}")
        elif own:
            head += [Here(), name if name.startswith(".") else f".{name}"]
    users = _accounts(cursor)
    for number, account in enumerate(users):
        head += [",", account] if number else [" TO ", account]
    option = " WITH GRANT OPTION" if cursor.accept("WITH", "GRANT", "OPTION") else ""
    if "GRANT OPTION" in str(head[0]):
        option = " WITH GRANT OPTION"
    if cursor.token.is_word("AS"):
        raise SqlUnsupported("GRANT ... AS is not supported yet", cursor.token.start)
    uses = tuple(AccountUse(account, "known") for account in users)
    return ObjectStatement(
        "account",
        "other",
        pieces=(*head, option),
        offset=start,
        invoker=True,
        databases=databases,
        accounts=uses,
    )


def _names_privileges(cursor: Cursor) -> bool:
    """Whether ON stands among the next words: a role is granted without."""
    return any(cursor.following(number).is_word("ON") for number in range(cursor.left))


def _revoke(cursor: Cursor, start: int) -> ObjectStatement:
    """REVOKE is logged as it was sent."""
    cursor.accept("IF", "EXISTS")
    everything = cursor.token.is_word("ALL") and not _names_privileges(cursor)
    if everything or not _names_privileges(cursor):
        uses, forgiving = _revoked_from(cursor)
        return ObjectStatement("account", "other", offset=start, invoker=everything, accounts=uses, exists=forgiving)
    databases: tuple[str, ...] = ()
    if not cursor.accept("PROXY", "ON"):
        _privileges(cursor, start)
        _, database, name = _granted_on(cursor, start)
        if database is not None:
            databases = (database,)
        elif not name.startswith("*"):
            databases = ("",)
    uses, forgiving = _revoked_from(cursor)
    return ObjectStatement(
        "account",
        "other",
        offset=start,
        invoker=True,
        databases=databases,
        accounts=uses,
        exists=forgiving,
    )


def _revoked_from(cursor: Cursor) -> tuple[tuple[AccountUse, ...], bool]:
    """The accounts behind FROM, and whether any may be missing."""
    while not cursor.accept("FROM"):
        cursor.advance()
    uses = tuple(AccountUse(account, "known") for account in _accounts(cursor))
    return uses, cursor.accept("IGNORE", "UNKNOWN", "USER")


def _privileges(cursor: Cursor, start: int) -> str:
    """The privileges up to ON, as servers write them: static ones in an order of their own, then dynamic ones."""
    found: dict[str, list[str]] = {}
    # The columns of all privileges are one list, in which each privilege finds its own.
    listed: dict[str, None] = {}
    while not cursor.accept("ON"):
        words = [cursor.advance().text.upper()]
        while cursor.at("word") and not cursor.token.is_word("ON"):
            words.append(cursor.advance().text.upper())
        name = " ".join(words)
        name = "ALL" if name == "ALL PRIVILEGES" else name
        if name not in ("ALL", *_PRIVILEGES) and not re.fullmatch(r"[A-Z0-9]+(_[A-Z0-9]+)+", name) and name != "USAGE":
            raise SqlUnsupported(f"the privilege {name} is not supported yet", start)
        columns: list[str] = []
        if cursor.accept_mark("("):
            columns = cursor.names("column")
            cursor.expect_mark(")")
        listed |= dict.fromkeys(columns)
        found[name] = columns
        cursor.accept_mark(",")
    rank = {name: place for place, name in enumerate(_PRIVILEGES)}
    ordered = sorted(found, key=lambda name: rank.get(name, -1 if name in ("ALL", "USAGE") else len(rank)))
    texts = []
    for name in ordered:
        named = ", ".join(f"`{column}`" for column in listed if column in found[name])
        texts.append(("ALL PRIVILEGES" if name == "ALL" else name) + (f" ({named})" if named else ""))
    return ", ".join(texts)


def _granted_on(cursor: Cursor, start: int) -> tuple[str, str | None, str]:
    """(kind with a space, database, name) of what privileges are on; no database: ``*.*``, or the current one."""
    cursor.accept("TABLE")
    word = cursor.accept_any("PROCEDURE", "FUNCTION", "LIBRARY")
    kind = f"{word} " if word else ""
    if cursor.accept_mark("*"):
        if not cursor.accept_mark("."):
            return kind, None, ".*"
        cursor.expect_mark("*")
        return kind, None, "*.*"
    first = cursor.name("database")
    if not cursor.accept_mark("."):
        return kind, None, f"`{first}`"
    if cursor.accept_mark("*"):
        return kind, first, "*"
    return kind, first, f"`{cursor.name('table')}`"
