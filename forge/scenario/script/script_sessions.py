"""What a script's statements do to the sessions of its clients: transactions, XA, prepared statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forge.engine.requests.sql_rows import Unknown, named_variables, table_name
from forge.errors import UnsupportedError
from forge.located import Place
from forge.plan.sql_modes import sql_mode
from forge.scenario.script.script_clients import Client, Transactions
from forge.scenario.script.script_settings import SettingsOfScript
from forge.servers import ServerLine, server_line
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import Modes, Token
from forge.sql.parse.names import table_ref
from forge.values.literals import hexadecimal, quoted

#: User variables that a query gives values.
_GIVEN = re.compile(r"\bINTO\s+((?:@[\w.$`]+\s*,?\s*)+)|(@[\w.$`]+)\s*:=", re.IGNORECASE)


class Sent(NamedTuple):
    """A statement: its text as typed and as the server reads it, and its place."""

    sql: str
    read: str
    place: Place
    #: Places in the text are places of the script.
    exact: bool = True


class Sessions:
    """The sessions of a script's clients on a server line."""

    def __init__(self) -> None:
        self.transactions = Transactions()
        self.settings = SettingsOfScript.of(self.transactions)
        self.line: ServerLine = server_line("mysql-9.7")

    @property
    def client(self) -> Client:
        return self.transactions.client

    @property
    def modes(self) -> Modes:
        return sql_mode(self.client.settings.get("sql_mode"), self.line).names

    def cursor(self, one: Sent) -> Cursor:
        """A cursor over what the server reads of a statement."""
        return Cursor(one.read, self.line.grammar, self.modes)

    def use(self, one: Sent) -> None:
        cursor = self.cursor(one)
        cursor.advance()
        self.client.database = cursor.name("database")

    # Transactions.

    def begin(self, one: Sent) -> None:
        if re.match(r"\s*START\s+(?!TRANSACTION)", one.read, re.IGNORECASE):
            return  # START REPLICA
        self.transactions.commit_open()
        self.client.open, self.client.locked = [], []

    def commit(self, one: Sent) -> None:
        self._finish(one, "commit")

    def rollback(self, one: Sent) -> None:
        cursor = self.cursor(one)
        cursor.advance()
        cursor.accept("WORK")
        if not cursor.accept("TO"):
            self._finish(one, "rollback")
        elif self.client.open:
            cursor.accept("SAVEPOINT")
            self.transactions.add({"rollback_to": cursor.name("savepoint")}, one.place)

    def _finish(self, one: Sent, end: str) -> None:
        if self.client.gtid is not None and self.line.knows("gtid") and not (self.client.open or self.client.sent):
            raise UnsupportedError(
                "an empty transaction with a GTID is not supported yet", expected="a statement in it"
            )
        self.transactions.end(self.client, end, one.place)
        if re.search(r"\bAND\s+CHAIN\b", one.read, re.IGNORECASE):
            self.client.open = []

    def savepoint(self, one: Sent) -> None:
        cursor = self.cursor(one)
        word = cursor.advance().text.upper()
        if word == "RELEASE":
            cursor.expect("SAVEPOINT")
        if self.client.open is not None or not self.client.autocommit:
            kind = "release_savepoint" if word == "RELEASE" else "savepoint"
            self.transactions.add({kind: cursor.name("savepoint")}, one.place)

    def xa(self, one: Sent) -> None:
        cursor = self.cursor(one)
        cursor.advance()
        word = cursor.expect_any("START", "BEGIN", "END", "PREPARE", "COMMIT", "ROLLBACK", "RECOVER")
        if word == "RECOVER":
            return
        name = _xa_name(cursor)
        client = self.client
        if word in ("START", "BEGIN"):
            self.transactions.commit_open()
            client.open, client.xa = [], name
        elif word == "PREPARE":
            if client.xa is None or not (client.open or client.sent):
                raise UnsupportedError(
                    "XA PREPARE of a transaction without rows is not supported", expected="a statement"
                )
            client.xa = {**client.xa, "end": "prepared"}
            self.transactions.end(client, "commit", one.place)
        elif word != "END" and client.xa is not None and client.open is not None:
            if word == "COMMIT":
                client.xa = {**client.xa, "one_phase": True}
            self.transactions.end(client, word.lower(), one.place)
        elif word != "END":
            self.transactions.emit([], [one.place], {f"xa_{word.lower()}": name})

    def asks(self, one: Sent) -> None:
        """A query: nothing but the user variables that it gives values, which are not known."""
        if "@" in one.read:
            for name in named_variables(" ".join(map(" ".join, _GIVEN.findall(one.read)))):
                self.client.variables[name] = Unknown()
                self.client.untold.discard(name)

    def unlock(self, one: Sent) -> None:
        """UNLOCK TABLES ends a transaction if tables were locked."""
        if self.client.locked:
            self.transactions.commit_open()
        self.client.locked = []

    def lock(self, one: Sent) -> None:
        """LOCK TABLES ends a transaction; what is locked for WRITE stands in the log with each statement."""
        self.transactions.commit_open()
        cursor = self.cursor(one)
        cursor.advance()
        if not cursor.accept_any("TABLES", "TABLE"):
            return
        self.client.locked = []
        more = True
        while more:
            name = table_name(table_ref(cursor))
            if cursor.accept("AS") or not cursor.token.is_word("READ", "LOW_PRIORITY", "WRITE"):
                cursor.name("table")
            cursor.accept("LOW_PRIORITY")
            if cursor.accept_any("READ", "WRITE") == "WRITE":
                self.client.locked.append(name)
            else:
                cursor.accept("LOCAL")
            more = cursor.accept_mark(",")

    def prepare(self, one: Sent) -> None:
        cursor = self.cursor(one)
        cursor.advance()
        name = cursor.name("statement").lower()
        cursor.expect("FROM")
        self.client.prepared[name] = self.text(cursor)

    def text(self, cursor: Cursor) -> str:
        """A statement in quotes, or in a user variable."""
        if not cursor.accept_mark("@"):
            return cursor.string("a statement")
        name = cursor.advance().text.lower()
        text = self.client.variables.get(name)
        if not isinstance(text, str):
            raise SqlError(f"@{name} holds no statement", cursor.previous_start, expected="a text that SET gave it")
        return text

    def with_parameters(self, text: str, cursor: Cursor) -> str:
        """The statement as the server logs it: with the values in the places of the question marks."""
        values: list[str] = []
        while not values or cursor.accept_mark(","):
            cursor.expect_mark("@")
            value = self.client.variables.get(cursor.advance().text.lower())
            if isinstance(value, dict):
                value = bytes.fromhex(value["hex"])
            written = "NULL" if value is None else quoted(value) if isinstance(value, str) else str(value)
            values.append(hexadecimal(value) if isinstance(value, bytes) else written)
        parts, end = [], 0
        marks = [token for token in tokens_of(Cursor(text, self.line.grammar, self.modes)) if token.is_mark("?")]
        if len(marks) != len(values):
            raise SqlError(
                f"the statement has {len(marks)} parameters", cursor.previous_start, expected="as many values"
            )
        for token, value in zip(marks, values, strict=True):
            parts += [text[end : token.start], value]
            end = token.end
        return "".join(parts) + text[end:]


def tokens_of(cursor: Cursor) -> Iterator[Token]:
    while not cursor.at_end():
        yield cursor.advance()


def _xa_name(cursor: Cursor) -> dict[str, Any]:
    parts: list[Any] = []
    while not parts or cursor.accept_mark(","):
        token = cursor.advance()
        if token.kind == "hex":
            parts.append({"hex": token.text if len(token.text) % 2 == 0 else f"0{token.text}"})
        elif token.kind == "number" and len(parts) == 2:
            parts.append(int(token.text))
        elif token.kind == "string":
            parts.append(token.text)
        else:
            raise SqlError(f"unexpected {token.shown()}", token.start, expected="the identifier of an XA transaction")
    return dict(zip(("gtrid", "bqual", "format_id"), parts, strict=False))


def check_body(cursor: Cursor, one: Sent) -> None:
    """The body of a trigger or routine is whole.  Raises SqlError where DELIMITER was forgotten."""
    words = [token.text.upper() for token in tokens_of(cursor) if token.kind == "word"]
    if "BEGIN" in words and "END" not in words[-2:] and len(one.read) < 65536:
        raise SqlError(
            "the END of the body is missing", len(one.read), expected="`DELIMITER //` in front of the statement"
        )
