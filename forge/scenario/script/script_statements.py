"""A SQL script as a scenario: each statement as what a scenario says of it, with its text as typed.

What the script cannot say stands in comments, which are YAML: ``-- forge: server: mariadb-11.8`` at its head gives
fields of the scenario, ``-- forge: connection: b`` in front of a statement names the client that sends it from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from forge.engine.dictionary.json_cells import TAGS
from forge.engine.requests.sql_rows import RowsOfScript, Saved, database_of, named_variables, plain_rows, table_name
from forge.engine.requests.statements import KINDS, Statement
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.located import Located, Place, load
from forge.scenario.script.script_functions import ChangingFunctions
from forge.scenario.script.script_load import load_request, path_inside
from forge.scenario.script.script_sessions import Sent, Sessions, check_body
from forge.scenario.script.script_tree import ScriptDocument, place_inside
from forge.servers import server_line
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import shown
from forge.sql.parse.changes import parse_rows_change, parse_target
from forge.sql.script import Included, ScriptStatement, statements
from forge.sql.version_comments import as_logged, read_text

#: Statements that log nothing.
SILENT = (
    "SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "HELP", "DO", "WITH", "TABLE", "VALUES", "KILL", "CHECKSUM",
    "HANDLER", "CHECK", "DEALLOCATE", "CACHE", "GET", "SIGNAL", "PURGE",
)  # fmt: skip
_DEFINITIONS = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH")
#: Objects whose statements are logged as they are typed.
_AS_TYPED = ("USER", "ROLE", "PROCEDURE", "FUNCTION", "EVENT", "SERVER", "TABLESPACE", "PACKAGE", "AGGREGATE")
_OBJECTS = (*_AS_TYPED, "TABLE", "TABLES", "VIEW", "TRIGGER", "DATABASE", "SCHEMA", "INDEX", "SEQUENCE")
#: Schemas whose changes no log shows.
_UNLOGGED = ("performance_schema", "information_schema", "sys")
#: Statements whose text holds others.
_BODIES = ("TRIGGER", "PROCEDURE", "FUNCTION", "EVENT")
_REFUSED = ("CALL", "RESET", "CHANGE", "IMPORT", "BINLOG", "STOP", "INSTALL", "UNINSTALL", "CLONE", "RESTART")
_HOLDS_OTHERS = re.compile(rf"\s*(?:CREATE|ALTER)\b.{{0,300}}?\b(?:{'|'.join(_BODIES)}|PACKAGE)\b", re.I | re.DOTALL)
_FIRST_WORD = re.compile(r"[\s(]*([A-Za-z]+)")
_FIRST_OF_TEXT = re.compile(r"(?:\s+|(?:--(?=\s)|\#)[^\n]*(?:\n|\Z)|/\*(?!M?!).*?\*/)*", re.DOTALL)
_VERB = re.compile(r"(?:/\*M?!\d*\s*)?([A-Za-z]+)(?=[\s;(*]|\Z)(?!\s*:)")
#: What a comment may say of the statement behind it, beside what the entry of a statement has.
HINTS = ("connection", "rows", "affects", "statements", "logged")
_OF_STATEMENT = tuple(name for name in Statement.__struct_fields__ if name not in (*KINDS, "query"))


def is_script(text: str, file: str | None) -> bool:
    """Whether a scenario's text is a SQL script: by the name of its file, or by its first word."""
    if file is not None and FilePath(file).suffix.lower() == ".sql":
        return True
    first = _FIRST_OF_TEXT.match(text)
    word = _VERB.match(text, first.end() if first else 0)
    return word is not None and word[1].upper() in _WORDS


def script_document(text: str, file: str | None, server: str | None = None) -> ScriptDocument:
    """The scenario that a script says to a server line (None: what its head names).

    Raises ScenarioError (file, line, column) for what it cannot say.
    """
    return _Script(text, file, server).document()


class _Script(Sessions):
    def __init__(self, text: str, file: str | None, server: str | None) -> None:
        self.file = file
        self.script = text
        self.server = server
        super().__init__()
        self.head: Located | None = None
        self.reading: list[FilePath] = []
        #: A trigger was made: from then on their bodies run.
        self.has_triggers = False
        self.functions = ChangingFunctions()

    def document(self) -> ScriptDocument:
        if self.file is not None and FilePath(self.file).is_file():
            self.reading.append(FilePath(self.file).resolve())
        self._read(self.script, self.file)
        if self.head is None:
            self._begin_with([])
        assert self.head is not None
        self.transactions.end_all()
        name = FilePath(self.file).stem if self.file is not None else "script"
        value = {"scenario": name, **(self.head.value or {})}
        if "volume" in value:
            self._make_tables(value)
        else:
            value["transactions"] = self.transactions.entries
        return ScriptDocument(self.head, value, self.transactions.places)

    def _make_tables(self, value: dict[str, Any]) -> None:
        """The tables of a volume: what the script creates.  Raises ScenarioError for a script that does more."""
        transactions = self.transactions
        tables: list[str] = []
        for number, entry in enumerate(transactions.entries):
            place = transactions.places[("transactions", number)]
            statements = entry["statements"] if isinstance(entry, dict) else entry
            if isinstance(entry, dict) and "database" in entry:
                value["session"] = {**(value.get("session") or {}), "database": entry["database"]}
            words = [str(one.get("ddl", "")).upper().split()[:2] for one in statements]
            if words == [["CREATE", "TABLE"]]:
                transactions.places[("tables", len(tables))] = place
                tables.append(statements[0]["ddl"])
            elif words != [["CREATE", "DATABASE"]] and "set" not in statements[0]:
                problem = "a script with a volume creates its tables, and no more"
                raise ScenarioError(problem, expected="CREATE TABLE").at(*place)
        value["tables"] = tables

    def _read(self, text: str, file: str | None) -> None:
        try:
            for one in statements(text):
                place = Place(file, one.place.line, one.place.column)
                if self.head is None:
                    self._begin_with(list(one.told))
                    told = Located(None, file=file, text="", lines=None)
                else:
                    told = _yaml(one.told, file)
                with self._at(place):
                    if isinstance(one, Included):
                        self._include(one, file)
                    else:
                        self._run(one.sql, place, told)
        except SqlError as error:
            line = text.count("\n", 0, error.offset) + 1
            raise error.at(file, line, error.offset - text.rfind("\n", 0, error.offset)) from None

    def _include(self, one: Included, file: str | None) -> None:
        from forge.scenario.file_texts import read_text as read_file

        path = path_inside(one.file, file)
        if path in self.reading:
            raise ScenarioError(f"source {one.file} reads a script that is being read", expected="another file")
        self.reading.append(path)
        self._read(read_file(path), str(FilePath(file or "").parent / one.file))
        self.reading.pop()

    def _begin_with(self, told: list[Any]) -> None:
        """The fields that comments at the head of the script give."""
        self.head = head = _yaml(told, self.file)
        if head.value is not None and not isinstance(head.value, dict):
            raise head.error("the comments at the script's head are no mapping", (), expected="-- forge: server: LINE")
        fields = head.value or {}
        try:
            self.line = server_line(str(self.server or fields.get("server") or self.line.name))
        except ScenarioError as error:
            raise error.at(
                *(head.place(("server",)) if self.server is None else (f"--server {self.server}", None))
            ) from None
        session = fields.get("session")
        if isinstance(session, dict):
            self.transactions.settings = {key: value for key, value in session.items() if key in self.settings.kinds}
            self.client.settings |= self.transactions.settings
        connection = fields.pop("connection", None)
        if connection is not None:
            self.transactions.turn_to(str(connection))

    @contextmanager
    def _at(self, place: Place, sql: str = "") -> Iterator[None]:
        """Errors of the block stand at a place of the script; those of a text, inside of that."""
        try:
            yield
        except SqlError as error:
            raise error.at(*(place_inside(place, sql, error.offset) if sql else place)) from None
        except ScenarioError as error:
            raise error.at(*place) from None
        except RecursionError:
            raise ScenarioError("the statement is nested too deeply", expected="fewer levels").at(*place) from None

    # Statements.

    def _run(self, sql: str, place: Place, told: Located, *, exact: bool = True) -> None:
        words = told.value or {}
        if words:
            self._check_words(told)
            if "connection" in words:
                self.transactions.turn_to(str(words["connection"]))
        with self._at(place, sql if exact else ""):
            read = read_text(sql, self.line)[0] if "/*" in sql else sql
            one = Sent(sql, read, place, exact)
            if exact and ";" in sql and not _HOLDS_OTHERS.match(read):
                parts = [part for part in statements(sql) if isinstance(part, ScriptStatement)]
                if len(parts) > 1:
                    for part in parts:
                        offset = part.place.column - 1 + sum(map(len, sql.splitlines(True)[: part.place.line - 1]))
                        self._run(part.sql, place_inside(place, sql, offset), told)
                    return
            if "statements" in words:
                for text in words["statements"]:
                    self._run(str(text), place, _NOTHING, exact=False)
            elif "rows" in words or "affects" in words:
                self._hinted(one, words)
            else:
                self._handle(one)
        extra = {name: words[name] for name in words if name in _OF_STATEMENT}
        if "logged" in words and self.transactions.last is not None:
            extra["logged"] = {**self.transactions.last.pop("logged", {"sent": sql}), **words["logged"], "sent": sql}
            self.transactions.last.pop("ddl", None)
        if extra and self.transactions.last is not None:
            self.transactions.last |= extra
            if extra.keys() & {"further", "locks"}:
                self.transactions.last.pop("triggers", None)

    def _check_words(self, told: Located) -> None:
        if not isinstance(told.value, dict):
            raise told.error("the comment is no mapping", (), expected="-- forge: rows: [[1, a], ...]")
        for key, value in told.value.items():
            if key not in (*HINTS, *_OF_STATEMENT):
                known = (*HINTS, *_OF_STATEMENT)
                suggestion = nearest(key, known)
                raise told.error(
                    f"{key!r} is not known in front of a statement",
                    (key,),
                    expected=", ".join(known),
                    suggestion=suggestion,
                )
            if key in ("rows", "affects", "statements") and not isinstance(value, list):
                raise told.error(f"{key} is no list", (key,), expected=f"{key}: [...]")
            if key == "logged" and not isinstance(value, dict):
                raise told.error("logged is no mapping", (key,), expected="logged: {text: ...}")

    def _handle(self, one: Sent) -> None:
        first = _FIRST_WORD.match(one.read)
        if first is None:
            token = self.cursor(one).token
            if token.kind == "end":
                return
            word, start = token.text.upper(), token.start
        else:
            word, start = first[1].upper(), first.start(1)
        if word not in _DEFINITIONS:
            self.functions.check(one.read)
        if word in _HANDLERS:
            _HANDLERS[word](self, one)
        elif word in SILENT:
            self.asks(one)
        else:
            suggestion = nearest(word, _WORDS)
            raise SqlError(f"unexpected {shown(word)}", start, expected="a statement", suggestion=suggestion)

    def _rows(self, one: Sent) -> None:
        plain = plain_rows(one.read)
        if plain is not None:
            self._add_rows(plain, one)
            return
        try:
            change = parse_rows_change(one.read, self.line.grammar, self.modes)
            if (database_of(change) or "").lower() in _UNLOGGED:
                return
            request = RowsOfScript(self.client.variables).request(change)
        except UnsupportedError as error:
            raise _with_hint(error, one) from None
        self._add_rows(request, one)

    def _add_rows(self, request: dict[str, Any], one: Sent) -> None:
        client = self.client
        variables = client.untold & named_variables(one.read)
        if variables:
            client.untold -= variables
            known = {name: client.variables[name] for name in sorted(variables)}
            request["user_variables"] = {name: value for name, value in known.items() if not isinstance(value, Saved)}
        if self.has_triggers:
            request["triggers"] = "run"
        if client.locked:
            request["under_lock"] = list(client.locked)
        self.transactions.add({**request, "query": one.sql}, one.place)

    def _hinted(self, one: Sent, words: dict[str, Any]) -> None:
        """A statement whose rows a comment gives."""
        verb, table, columns = parse_target(one.read, self.line.grammar, self.modes)
        name = table_name(table)
        if verb in ("INSERT", "REPLACE"):
            request: dict[str, Any] = {"into": name, "rows": words.get("rows", [])}
            if columns:
                request["columns"] = list(columns)
        else:
            given: dict[str, Any] = {"affects": words.get("affects", [])}
            if "rows" in words:
                given["rows"] = words["rows"]
            elif verb == "UPDATE":
                change = parse_rows_change(one.read, self.line.grammar, self.modes)
                given["set"] = RowsOfScript(self.client.variables).request(change)["update"]["set"]
            request = {"table" if verb == "UPDATE" else "from": name, **given}
        self._add_rows({verb.lower(): request}, one)

    def _load(self, one: Sent) -> None:
        request = load_request(self.cursor(one), one.place.file, RowsOfScript(self.client.variables))
        self.transactions.add(request, one.place)

    def _definition(self, one: Sent) -> None:
        cursor = self.cursor(one) if len(one.read) < 65536 else Cursor(one.read[:65536], self.line.grammar, self.modes)
        tokens = [cursor.following(n) for n in range(16)]
        words = [token.text.upper() for token in tokens if token.kind == "word"]
        object_word = next((word for word in words[1:] if word in _OBJECTS), "")
        self.has_triggers |= object_word == "TRIGGER"
        if object_word in _BODIES:
            check_body(cursor, one)
            self.functions.add(one.read)
        if len(tokens) > 2 and any(token.text.lower() in _UNLOGGED for token in tokens[1:4]):
            return
        if words[0] == "FLUSH" and words[1:] in (["LOGS"], ["BINARY", "LOGS"]):
            self.transactions.alone({"flush": "binary_logs"}, one.place)
        elif words[0] == "FLUSH" and "LOCK" in words:
            self.transactions.commit_open()
        elif object_word in _AS_TYPED:
            self._as_typed(one)
        elif "TEMPORARY" in words[1:4] and self.client.open is not None:
            self.transactions.add({"ddl": one.sql}, one.place)
        else:
            self.transactions.alone({"ddl": one.sql}, one.place)

    def _as_typed(self, one: Sent) -> None:
        logged = as_logged(one.sql, self.line)
        self.transactions.alone(
            {"logged": {"text": logged, **({"sent": one.sql} if logged != one.sql else {})}}, one.place
        )

    def _set(self, one: Sent) -> None:
        cursor = self.cursor(one)
        following = cursor.following()
        if following.is_word("PASSWORD", "DEFAULT"):
            self._as_typed(one)
        elif not (following.is_word("TRANSACTION", "ROLE", "STATEMENT") or cursor.following(2).is_word("TRANSACTION")):
            self.settings.set(one.read, one.place, self.line, self.modes)

    def _execute(self, one: Sent) -> None:
        cursor = self.cursor(one)
        cursor.advance()
        if cursor.accept("IMMEDIATE"):
            text = self.text(cursor)
        else:
            name = cursor.name("statement").lower()
            found = self.client.prepared.get(name)
            if found is None:
                raise SqlError(f"no statement {name!r} is prepared", cursor.previous_start)
            text = found
        if cursor.accept("USING"):
            text = self.with_parameters(text, cursor)
        self._run(text, one.place, _NOTHING, exact=False)

    def _refuse(self, one: Sent) -> None:
        word = one.read.split(None, 1)[0].upper()
        raise SqlError(
            f"{word} is not run here", 0, expected="`-- forge: statements: [INSERT ..., ...]` with what it does instead"
        )


_NOTHING = Located(None, file=None, text="", lines=None)


def _yaml(told: Any, file: str | None) -> Located:
    """What comments say."""
    if not told:
        return Located(None, file=file, text="", lines=None)
    lines = [place.line for place, words in told for _ in range(words.count("\n") + 1)]
    return load("\n".join(words for _, words in told), file=file, lines=lines, tags=TAGS)


def _with_hint(error: UnsupportedError, one: Sent) -> UnsupportedError:
    """The error of a statement that a comment could tell the rows of."""
    if error.expected is not None and "forge:" in error.expected:
        return error
    is_insert = one.read.lstrip()[:1].upper() in ("I", "R")
    hint = "-- forge: rows: [[1, a], ...]" if is_insert else "-- forge: affects: [1, 2]"
    return error.replace(
        expected=f"{error.expected + ', or ' if error.expected else ''}`{hint}` in front of the statement"
    )


_HANDLERS: dict[str, Callable[[_Script, Sent], None]] = {
    **dict.fromkeys(("INSERT", "REPLACE", "UPDATE", "DELETE"), _Script._rows),
    **dict.fromkeys(_DEFINITIONS, _Script._definition),
    **dict.fromkeys(("GRANT", "REVOKE"), _Script._as_typed),
    "LOCK": Sessions.lock,
    "UNLOCK": Sessions.unlock,
    **dict.fromkeys(("SAVEPOINT", "RELEASE"), Sessions.savepoint),
    "USE": Sessions.use,
    "BEGIN": Sessions.begin,
    "START": Sessions.begin,
    "COMMIT": Sessions.commit,
    "ROLLBACK": Sessions.rollback,
    "SET": _Script._set,
    "PREPARE": Sessions.prepare,
    "EXECUTE": _Script._execute,
    "LOAD": _Script._load,
    "XA": Sessions.xa,
    **dict.fromkeys(_REFUSED, _Script._refuse),
}
#: The words that begin statements.
STATEMENTS = tuple(sorted((*_HANDLERS, *SILENT)))
_WORDS = frozenset((*STATEMENTS, "DELIMITER"))
