"""A SQL script as a scenario: each statement as what a scenario says of it, with its text as typed.

What the script cannot say stands in comments, which are YAML: ``-- forge: server: mariadb-11.8`` at its head gives
fields of the scenario, ``-- forge: connection: b`` in front of a statement names the client that sends it from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any

import yaml

from forge.errors import ScenarioError, UnsupportedError
from forge.located import Located, Path, Tagged, load
from forge.sql.ast.changes import Assignment, DeleteRows, InsertRows, RowChoice, RowsChange, Setting, Term
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, Variable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.parse.changes import parse_rows_change, parse_settings
from forge.sql.script import Included, Place, ScriptStatement, statements
from forge.sql.write import identifier

_YAML = "tag:yaml.org,2002"
_PLAIN_NAME = re.compile(r"[\w$]+")
#: Words that begin statements, apart from those that are looked at one by one.
_SILENT = ("SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "HELP", "DO", "WITH", "TABLE", "VALUES", "KILL", "CHECKSUM")
_DEFINITIONS = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH")
#: Objects whose statements are logged as they are typed.
_AS_TYPED = ("USER", "ROLE", "PROCEDURE", "FUNCTION", "EVENT", "SERVER", "TABLESPACE", "PACKAGE", "AGGREGATE")
_COMMITS = ("LOCK", "UNLOCK")
#: Fields of a scenario's ``set`` by the names of the system variables, where they differ.
_VARIABLES = {
    "binlog_row_image": "row_image",
    "binlog_row_value_options": "row_value_options",
    "binlog_row_metadata": "row_metadata",
    "binlog_rows_query_log_events": "rows_query",
    "binlog_annotate_row_events": "rows_query",
    "binlog_transaction_compression": "compression",
    "binlog_transaction_compression_level_zstd": "compression_level",
    "storage_engine": "default_storage_engine",
}
#: Variables that are no setting of a scenario and would change what is logged.
_REFUSED = ("sql_log_bin", "insert_id", "last_insert_id", "gtid_seq_no", "pseudo_thread_id", "rand_seed1", "rand_seed2")
_ONOFF = {"on": True, "off": False, "1": True, "0": False, "true": True, "false": False}
_LOWER = ("row_image", "row_metadata", "binlog_format")


def is_script(text: str, file: str | None) -> bool:
    """Whether a scenario's text is a SQL script: by the name of its file, or by its first word."""
    if file is not None and FilePath(file).suffix.lower() == ".sql":
        return True
    first = re.compile(r"(?:\s+|(?:--(?=\s)|\#)[^\n]*(?:\n|\Z)|/\*(?!!).*?\*/)*", re.DOTALL).match(text)
    rest = text[first.end() if first else 0 :]
    word = re.match(r"(?:/\*!\d*\s*)?([A-Za-z]+)\b(?!\s*:)", rest)
    return word is not None and word[1].upper() in _WORDS


class ScriptDocument(Located):
    """The tree of a script: its head as YAML, and the transactions with the lines of their statements."""

    __slots__ = ("_head", "_places")

    def __init__(self, head: Located, value: dict[str, Any], places: dict[tuple[str | int, ...], int]) -> None:
        super().__init__(None, file=head.file, text="", lines=None)
        self.value = value
        self._head = head
        self._places = places

    def line(self, path: Path) -> int | None:
        """The line of the statement that the path leads into, else that of the head."""
        for length in range(len(path), 1, -1):
            line = self._places.get(tuple(path[:length]))
            if line is not None:
                return line
        return self._head.line(path)

    def line_at(self, path: Path, offset: int) -> int | None:
        """The line of a place in a statement's text, which stands in the script as it is."""
        line, value = self.line(path), self.value
        for step in path:
            value = value[step]
        return line + value.count("\n", 0, offset) if line is not None and isinstance(value, str) else line

    def copy(self) -> Located:
        """As :meth:`Located.copy`; the transactions are not copied, as nothing changes them."""
        head = {key: value for key, value in self.value.items() if key != "transactions"}
        copied = {key: _copied(value) for key, value in head.items()}
        return ScriptDocument(self._head, {**copied, "transactions": self.value["transactions"]}, self._places)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def script_document(text: str, file: str | None) -> ScriptDocument:
    """The scenario that a script says.  Raises ScenarioError (file, line) for what it cannot say."""
    return _Script(text, file).document()


@dataclass(slots=True)
class _Client:
    """A client of the script: the transaction that it has open, and what it has set."""

    name: str
    autocommit: bool = True
    #: The statements of the open transaction, and the lines of all.
    open: list[dict[str, Any]] | None = None
    lines: list[int] = field(default_factory=list)
    sent: bool = False
    begins: int = 0
    database: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    gtid: str | None = None
    prepared: dict[str, str] = field(default_factory=dict)


class _Script:
    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        self.text = text
        self.entries: list[Any] = []
        self.places: dict[tuple[str | int, ...], int] = {}
        self.clients: dict[str, _Client] = {}
        self.client = self._client("")
        self.head: Located | None = None

    def _client(self, name: str) -> _Client:
        return self.clients.setdefault(name, _Client(name))

    def document(self) -> ScriptDocument:
        self._read(self.text, self.file)
        for client in self.clients.values():
            if client.open:
                self._end(client, "rollback")
        head = self.head if self.head is not None else load("{}", file=self.file)
        name = FilePath(self.file).stem if self.file is not None else "script"
        value = {"scenario": name, **(head.value or {}), "transactions": self.entries}
        return ScriptDocument(head, value, self.places)

    def _read(self, text: str, file: str | None) -> None:
        told: list[tuple[Place, str]] = []
        try:
            for one in statements(text):
                if isinstance(one, Included):
                    with self._at(one.place.line):
                        raise UnsupportedError("source is not read yet", expected="one script")
                told.extend(one.told)
                if self.head is None and not self.entries:
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
            self.client = self._client(str(connection))
        return head

    def _listen(self, told: tuple[tuple[Place, str], ...]) -> None:
        """What comments in front of a statement say of it."""
        words = load("\n".join(words for _, words in told), file=self.file, lines=[place.line for place, _ in told])
        for key, value in (words.value or {}).items():
            if key != "connection":
                raise words.error(f"{key!r} is not known here", (key,), expected="connection")
            if self.client.open is not None and self.client.name != str(value):
                self._leave(self.client)
            self.client = self._client(str(value))

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
        self._add({**self._request(change), "query": one.sql}, one.place.line)

    def _request(self, change: RowsChange) -> dict[str, Any]:
        if isinstance(change, InsertRows):
            return self._insert(change)
        if isinstance(change, DeleteRows):
            return {"delete": {"from": _table_name(change.table), **self._choice(change.choice, change.alias)}}
        if change.ignore:
            raise UnsupportedError("UPDATE IGNORE is not supported yet", expected="UPDATE")
        new = {_column(one, change.alias): self._assigned(one) for one in change.assignments}
        return {"update": {"table": _table_name(change.table), "set": new, **self._choice(change.choice, change.alias)}}

    def _insert(self, change: InsertRows) -> dict[str, Any]:
        if change.query is not None:
            raise UnsupportedError(f"{change.verb.upper()} ... SELECT is not supported yet", expected="VALUES")
        request: dict[str, Any] = {"into": _table_name(change.table)}
        names = None if change.columns is None else [column.name for column in change.columns]
        if names is None:
            request["rows"] = [[self._cell(cell) for cell in row] for row in change.rows]
            if any(cell is None for row in change.rows for cell in row):
                raise UnsupportedError("DEFAULT without a list of columns is not supported yet", expected="the columns")
        else:
            request["rows"] = [
                {name: self._cell(cell) for name, cell in zip(names, row, strict=False) if cell is not None}
                for row in change.rows
            ]
            if any(len(row) != len(names) for row in change.rows if row or names):
                raise ScenarioError("a row has another number of values than there are columns")
        if change.ignore:
            request["ignore"] = True
        if change.updates:
            request["on_duplicate_key_update"] = {
                one.column.name: self._updated(one, change.alias) for one in change.updates
            }
        return {change.verb: request}

    def _updated(self, one: Assignment, alias: str | None) -> Any:
        """What ON DUPLICATE KEY UPDATE gives a column."""
        tree = None if one.value is None else one.value.tree
        if isinstance(tree, Call) and tree.name == "VALUES" and isinstance(tree.arguments[0], ColumnName):
            return {"values": tree.arguments[0].name}
        if isinstance(tree, ColumnName) and alias is not None and tree.table == alias:
            return {"values": tree.name}
        return self._assigned(one)

    def _assigned(self, one: Assignment) -> Any:
        if one.value is None:
            raise UnsupportedError("DEFAULT in SET is not supported yet", expected="a value")
        return self._cell(one.value)

    def _cell(self, term: Term | None) -> Any:
        """A literal, or an expression that the engine computes."""
        if term is None:
            return None
        found, value = self._literal(term.tree)
        return value if found else {"sql": term.sql}

    def _literal(self, tree: Node) -> tuple[bool, Any]:
        """Whether an expression is a literal, and the cell that says it."""
        if isinstance(tree, Variable) and not tree.name.startswith("@@"):
            if tree.name[1:] not in self.client.variables:
                return True, None
            return True, self.client.variables[tree.name[1:]]
        if isinstance(tree, Call) and tree.name == "NEG" and isinstance(tree.arguments[0], Literal):
            number = tree.arguments[0].value
            return isinstance(number, int | Decimal), -number if isinstance(number, int | Decimal) else None
        if not isinstance(tree, Literal):
            return False, None
        if isinstance(tree.value, bool):
            return True, int(tree.value)
        return True, {"hex": tree.value.hex()} if isinstance(tree.value, bytes) else tree.value

    def _choice(self, choice: RowChoice, alias: str | None) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        if choice.where is not None:
            chosen["where"] = choice.where.sql
        if choice.limit is not None:
            chosen["limit"] = choice.limit
        return chosen

    def _definition(self, one: ScriptStatement, cursor: Cursor) -> None:
        words = [cursor.following(n).text.upper() for n in range(12) if cursor.following(n).kind == "word"]
        if words[0] == "FLUSH" and (words[1:] in (["LOGS"], ["BINARY", "LOGS"])):
            self._alone({"flush": "binary_logs"}, one)
        elif words[0] == "FLUSH" and "LOCK" in words:
            return
        elif any(word in _AS_TYPED for word in words[1:8]) and "TABLE" not in words[1:3] and "VIEW" not in words:
            self._alone({"logged": {"text": one.sql}}, one)
        else:
            self._alone({"ddl": one.sql}, one)

    def _as_typed(self, one: ScriptStatement, cursor: Cursor) -> None:
        self._alone({"logged": {"text": one.sql}}, one)

    def _use(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        self.client.database = cursor.name("database")

    # Transactions.

    def _begin(self, one: ScriptStatement, cursor: Cursor) -> None:
        self._commit_open()
        self.client.open, self.client.begins = [], one.place.line

    def _commit(self, one: ScriptStatement, cursor: Cursor) -> None:
        self._finish(one, "commit")

    def _rollback(self, one: ScriptStatement, cursor: Cursor) -> None:
        cursor.advance()
        cursor.accept("WORK")
        if cursor.accept("TO"):
            cursor.accept("SAVEPOINT")
            self._add({"rollback_to": cursor.name("savepoint")}, one.place.line)
        else:
            self._finish(one, "rollback")

    def _finish(self, one: ScriptStatement, end: str) -> None:
        if self.client.open is not None:
            self._end(self.client, end)
        if re.search(r"\bAND\s+CHAIN\b", one.sql, re.IGNORECASE):
            self.client.open = []

    def _savepoint(self, one: ScriptStatement, cursor: Cursor) -> None:
        word = cursor.advance().text.upper()
        if word == "RELEASE":
            cursor.expect("SAVEPOINT")
        if self.client.open is not None:
            kind = "release_savepoint" if word == "RELEASE" else "savepoint"
            self._add({kind: cursor.name("savepoint")}, one.place.line)

    def _ends_open(self, one: ScriptStatement, cursor: Cursor) -> None:
        """LOCK TABLES ends a transaction."""
        self._commit_open()

    def _commit_open(self) -> None:
        if self.client.open is not None:
            self._end(self.client, "commit")

    def _add(self, statement: dict[str, Any], line: int) -> None:
        """A statement of the open transaction, or of one by itself."""
        client = self.client
        if client.open is None and not client.autocommit:
            client.open = []
        if client.open is not None:
            client.open.append(statement)
            client.lines.append(line)
        else:
            self._emit([statement], [line], {})

    def _alone(self, statement: dict[str, Any], one: ScriptStatement) -> None:
        """A statement that commits what is open, and is a transaction of its own."""
        self._commit_open()
        self._emit([statement], [one.place.line], {})

    def _end(self, client: _Client, end: str) -> None:
        made, lines = client.open or [], client.lines
        client.open, client.lines = None, []
        if not made and not client.sent:
            return
        client.sent = False
        how = {"explicit": True} | ({"end": end} if end != "commit" else {})
        if made:
            self._emit(made, lines, how, client)

    def _leave(self, client: _Client) -> None:
        """Another client comes in between: what was sent stands here, the transaction stays open."""
        if client.open:
            self._emit(client.open, client.lines, {"end": "open"}, client)
            client.open, client.lines, client.sent = [], [], True

    def _emit(
        self, made: list[dict[str, Any]], lines: list[int], how: Mapping[str, Any], client: _Client | None = None
    ) -> None:
        client = client or self.client
        circumstances: dict[str, Any] = dict(how)
        if client.name:
            circumstances["connection"] = client.name
        if client.database is not None:
            circumstances["database"] = client.database
            client.database = None
        if client.gtid is not None:
            circumstances["gtid"], client.gtid = client.gtid, None
        number = len(self.entries)
        steps: tuple[str | int, ...] = ("transactions", number)
        self.places[steps] = lines[0]
        if circumstances:
            self.entries.append({"statements": made, **circumstances})
            steps = (*steps, "statements")
        else:
            self.entries.append(made)
        for index, line in enumerate(lines):
            self.places[(*steps, index)] = line

    # SET.

    def _set(self, one: ScriptStatement, cursor: Cursor) -> None:
        changes: dict[str, Any] = {}
        if cursor.following().is_word("TRANSACTION", "PASSWORD", "ROLE", "DEFAULT", "RESOURCE") or cursor.following(
            2
        ).is_word("TRANSACTION"):
            if cursor.following().is_word("PASSWORD", "DEFAULT"):
                self._as_typed(one, cursor)
            return
        for setting in parse_settings(one.sql):
            self._setting(setting, changes)
        if changes:
            self.client.settings |= changes
            if self.client.open is not None:
                self._add({"set": changes}, one.place.line)
            else:
                self._emit([{"set": changes}], [one.place.line], {})

    def _setting(self, setting: Setting, changes: dict[str, Any]) -> None:
        if setting.scope == "@":
            self.client.variables[setting.name] = self._value(setting)
        elif setting.name == "autocommit":
            value = self._value(setting)
            self.client.autocommit = str(value).lower() in ("1", "on", "none")
            if self.client.autocommit:
                self._commit_open()
        elif setting.name == "gtid_next":
            value = str(self._value(setting))
            self.client.gtid = None if value.upper() == "AUTOMATIC" else value
        elif setting.name in _REFUSED:
            raise SqlError(f"SET {setting.name} is not supported yet", setting.start)
        elif setting.name == "character set":
            raise SqlError("SET CHARACTER SET is not supported yet", setting.start, expected="SET NAMES")
        else:
            name = _VARIABLES.get(setting.name, setting.name)
            if name in _fields():
                changes[name] = self._taken(name, setting)

    def _taken(self, name: str, setting: Setting) -> Any:
        value = self._value(setting)
        if isinstance(value, _Saved):
            return value.value
        kind = _fields()[name]
        if kind == "bool" and value is not None:
            word = str(value).lower()
            if word not in _ONOFF:
                raise SqlError(f"{setting.name} is {value!r}", setting.start, expected="ON or OFF")
            return _ONOFF[word]
        if name in _LOWER and isinstance(value, str):
            return value.lower()
        return str(value) if kind == "str" and value is not None else value

    def _value(self, setting: Setting) -> Any:
        """What SET gives a variable: a literal, or the value of another variable."""
        if setting.value is None:
            return None
        tree = setting.value.tree
        if isinstance(tree, Variable) and tree.name.startswith("@@"):
            name = tree.name.removeprefix("@@").rpartition(".")[2]
            name = _VARIABLES.get(name, name)
            return _Saved(self.client.settings.get(name))
        found, value = self._literal(tree)
        if not found:
            raise SqlError(f"SET {setting.name} to an expression is not supported yet", setting.value.start)
        return value

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


@dataclass(frozen=True, slots=True)
class _Saved:
    """The value of a system variable that a user variable keeps; None is the server's default."""

    value: Any


def _fields() -> dict[str, str]:
    """The settings of ``set``, and of what kind their values are."""
    from forge.engine.requests.settings import SessionChange

    kinds = {}
    for name, hint in SessionChange.__annotations__.items():
        text = str(hint)
        kinds[name] = "bool" if "bool" in text else "int" if "int |" in text or "[int" in text else "str"
    return kinds


def _table_name(table: TableRef) -> str:
    return ".".join(_shown_name(part) for part in (table.database, table.name) if part is not None)


def _shown_name(name: str) -> str:
    """A name as an entry of a scenario has it: in backticks if something in it has a meaning there."""
    return name if _PLAIN_NAME.fullmatch(name) else identifier(name)


def _column(one: Assignment, alias: str | None) -> str:
    return one.column.name


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


class _Dumper(yaml.SafeDumper):
    """Numbers keep their digits, and no text is taken for anything else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(Decimal, lambda dumper, number: dumper.represent_scalar(f"{_YAML}:float", f"{number:f}"))
_Dumper.add_representer(Tagged, lambda dumper, one: dumper.represent_scalar(f"!{one.tag}", one.text))


def scenario_text(tree: Mapping[str, Any]) -> str:
    """A scenario's tree as YAML."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 120, "default_flow_style": None}
    return str(yaml.dump(dict(tree), Dumper=_Dumper, **options))
