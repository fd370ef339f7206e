"""A SQL script as a scenario: each statement as what a scenario says of it, with its text as typed.

What the script cannot say stands in comments, which are YAML: ``-- forge: server: mariadb-11.8`` at its head gives
fields of the scenario, ``-- forge: connection: b`` in front of a statement names the client that sends it from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from forge.errors import ScenarioError, UnsupportedError
from forge.located import Located, load
from forge.scenario.script.script_clients import Client, Transactions
from forge.scenario.script.script_rows import RowsOfScript
from forge.scenario.script.script_settings import SettingsOfScript
from forge.scenario.script.script_tree import ScriptDocument
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.parse.changes import parse_rows_change
from forge.sql.script import Included, Place, ScriptStatement, statements

#: Words that begin statements, apart from those that are looked at one by one.
_SILENT = ("SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "HELP", "DO", "WITH", "TABLE", "VALUES", "KILL", "CHECKSUM")
_DEFINITIONS = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH")
#: Objects whose statements are logged as they are typed.
_AS_TYPED = ("USER", "ROLE", "PROCEDURE", "FUNCTION", "EVENT", "SERVER", "TABLESPACE", "PACKAGE", "AGGREGATE")
_COMMITS = ("LOCK", "UNLOCK")


def is_script(text: str, file: str | None) -> bool:
    """Whether a scenario's text is a SQL script: by the name of its file, or by its first word."""
    if file is not None and FilePath(file).suffix.lower() == ".sql":
        return True
    first = re.compile(r"(?:\s+|(?:--(?=\s)|\#)[^\n]*(?:\n|\Z)|/\*(?!!).*?\*/)*", re.DOTALL).match(text)
    rest = text[first.end() if first else 0 :]
    word = re.match(r"(?:/\*!\d*\s*)?([A-Za-z]+)\b(?!\s*:)", rest)
    return word is not None and word[1].upper() in _WORDS


def script_document(text: str, file: str | None) -> ScriptDocument:
    """The scenario that a script says.  Raises ScenarioError (file, line) for what it cannot say."""
    return _Script(text, file).document()


class _Script:
    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        self.text = text
        self.transactions = Transactions()
        self.settings = SettingsOfScript(self.transactions)
        self.head: Located | None = None

    @property
    def client(self) -> Client:
        return self.transactions.client

    def document(self) -> ScriptDocument:
        self._read(self.text, self.file)
        self.transactions.end_all()
        head = self.head if self.head is not None else load("{}", file=self.file)
        name = FilePath(self.file).stem if self.file is not None else "script"
        value = {"scenario": name, **(head.value or {}), "transactions": self.transactions.entries}
        return ScriptDocument(head, value, self.transactions.places)

    def _read(self, text: str, file: str | None) -> None:
        told: list[tuple[Place, str]] = []
        try:
            for one in statements(text):
                if isinstance(one, Included):
                    with self._at(one.place.line):
                        raise UnsupportedError("source is not read yet", expected="one script")
                told.extend(one.told)
                if self.head is None and not self.transactions.entries:
                    self.head = self._head(told)
                elif one.told:
                    self._listen(one.told)
                with self._at(one.place.line, one.sql):
                    self._statement(one)
        except SqlError as error:
            raise error.at(file, text.count("\n", 0, error.offset) + 1) from None

    def _head(self, told: list[tuple[Place, str]]) -> Located:
        """The fields that comments at the head of the script give."""
        lines = [place.line for place, _ in told]
        head = load("\n".join(words for _, words in told), file=self.file, lines=lines or None)
        if head.value is not None and not isinstance(head.value, dict):
            raise head.error("the comments at the script's head are no mapping", (), expected="-- forge: server: LINE")
        connection = (head.value or {}).pop("connection", None)
        if connection is not None:
            self.transactions.turn_to(str(connection))
        return head

    def _listen(self, told: tuple[tuple[Place, str], ...]) -> None:
        """What comments in front of a statement say of it."""
        words = load("\n".join(words for _, words in told), file=self.file, lines=[place.line for place, _ in told])
        for key, value in (words.value or {}).items():
            if key != "connection":
                raise words.error(f"{key!r} is not known here", (key,), expected="connection")
            self.transactions.turn_to(str(value))

    @contextmanager
    def _at(self, line: int, sql: str = "") -> Iterator[None]:
        """Errors of the block stand at a line of the script."""
        try:
            yield
        except SqlError as error:
            raise error.at(self.file, line + sql.count("\n", 0, error.offset)) from None
        except ScenarioError as error:
            raise error.at(self.file, line) from None

    # Statements.

    def _statement(self, one: ScriptStatement) -> None:
        cursor = Cursor(one.sql)
        first = cursor.token
        word = first.text.upper() if first.kind == "word" else ""
        if word in _HANDLERS:
            _HANDLERS[word](self, one, cursor)
        elif word in _SILENT:
            return
        else:
            raise SqlError(f"unexpected {first.shown()}", first.start, expected="a statement")

    def _rows(self, one: ScriptStatement, cursor: Cursor) -> None:
        change = parse_rows_change(one.sql)
        self.transactions.add({**RowsOfScript(self.client.variables).request(change), "query": one.sql}, one.place.line)

    def _definition(self, one: ScriptStatement, cursor: Cursor) -> None:
        words = [cursor.following(n).text.upper() for n in range(12) if cursor.following(n).kind == "word"]
        if words[0] == "FLUSH" and (words[1:] in (["LOGS"], ["BINARY", "LOGS"])):
            self.transactions.alone({"flush": "binary_logs"}, one.place.line)
        elif words[0] == "FLUSH" and "LOCK" in words:
            return
        elif any(word in _AS_TYPED for word in words[1:8]) and "TABLE" not in words[1:3] and "VIEW" not in words:
            self.transactions.alone({"logged": {"text": one.sql}}, one.place.line)
        else:
            self.transactions.alone({"ddl": one.sql}, one.place.line)

    def _as_typed(self, one: ScriptStatement, cursor: Cursor) -> None:
        self.transactions.alone({"logged": {"text": one.sql}}, one.place.line)

    def _use(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        self.client.database = cursor.name("database")

    # Transactions.

    def _begin(self, one: ScriptStatement, cursor: Cursor) -> None:
        self.transactions.commit_open()
        self.client.open, self.client.begins = [], one.place.line

    def _commit(self, one: ScriptStatement, cursor: Cursor) -> None:
        self._finish(one, "commit")

    def _rollback(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        cursor.accept("WORK")
        if cursor.accept("TO"):
            cursor.accept("SAVEPOINT")
            self.transactions.add({"rollback_to": cursor.name("savepoint")}, one.place.line)
        else:
            self._finish(one, "rollback")

    def _finish(self, one: ScriptStatement, end: str) -> None:
        if self.client.open is not None:
            self.transactions.end(self.client, end)
        if re.search(r"\bAND\s+CHAIN\b", one.sql, re.IGNORECASE):
            self.client.open = []

    def _savepoint(self, one: ScriptStatement, cursor: Cursor) -> None:
        word = cursor.advance().text.upper()
        if word == "RELEASE":
            cursor.expect("SAVEPOINT")
        if self.client.open is not None:
            kind = "release_savepoint" if word == "RELEASE" else "savepoint"
            self.transactions.add({kind: cursor.name("savepoint")}, one.place.line)

    def _ends_open(self, one: ScriptStatement, cursor: Cursor) -> None:
        """LOCK TABLES ends a transaction."""
        self.transactions.commit_open()

    # SET.

    def _set(self, one: ScriptStatement, cursor: Cursor) -> None:
        following = cursor.following()
        if following.is_word("PASSWORD", "DEFAULT"):
            self._as_typed(one, cursor)
        elif not (following.is_word("TRANSACTION", "ROLE") or cursor.following(2).is_word("TRANSACTION")):
            self.settings.set(one.sql, one.place.line)

    def _prepare(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        name = cursor.name("statement").lower()
        cursor.expect("FROM")
        if cursor.token.kind != "string":
            raise SqlError("PREPARE from a variable is not supported yet", cursor.token.start, expected="a text")
        self.client.prepared[name] = cursor.string("a statement")

    def _execute(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        cursor.accept("IMMEDIATE")
        text = cursor.string("a statement") if cursor.token.kind == "string" else None
        if text is None:
            name = cursor.name("statement").lower()
            text = self.client.prepared.get(name)
            if text is None:
                raise SqlError(f"no statement {name!r} is prepared", cursor.previous_start)
        if cursor.accept("USING"):
            raise SqlError("EXECUTE ... USING is not supported yet", cursor.previous_start, expected="literals")
        self._statement(ScriptStatement(text, one.place))

    def _nothing(self, one: ScriptStatement, cursor: Cursor) -> None:
        """What a log shows nothing of."""

    def _refused(self, one: ScriptStatement, cursor: Cursor) -> None:
        raise SqlError(f"{cursor.token.text.upper()} is not supported in scripts yet", 0)


_HANDLERS: dict[str, Callable[[_Script, ScriptStatement, Cursor], None]] = {
    **dict.fromkeys(("INSERT", "REPLACE", "UPDATE", "DELETE"), _Script._rows),
    **dict.fromkeys(_DEFINITIONS, _Script._definition),
    **dict.fromkeys(("GRANT", "REVOKE"), _Script._as_typed),
    **dict.fromkeys(_COMMITS, _Script._ends_open),
    **dict.fromkeys(("SAVEPOINT", "RELEASE"), _Script._savepoint),
    "USE": _Script._use,
    "BEGIN": _Script._begin,
    "START": _Script._begin,
    "COMMIT": _Script._commit,
    "ROLLBACK": _Script._rollback,
    "SET": _Script._set,
    "PREPARE": _Script._prepare,
    "EXECUTE": _Script._execute,
    "DEALLOCATE": _Script._nothing,
    **dict.fromkeys(("LOAD", "XA", "CALL", "RESET", "CHANGE", "HANDLER", "IMPORT", "BINLOG"), _Script._refused),
}
_WORDS = frozenset((*_HANDLERS, *_SILENT, "DELIMITER"))
