"""Statements that are in a log as text: what they are, and how a session of utf8mb4 says them again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from forge.binlog.logged import LoggedEvent
from forge.charsets import charset, find_collation
from forge.errors import ForgeError, UnsupportedError
from forge.events.event import SUPPRESS_USE
from forge.events.intvar import VARIABLES, Intvar
from forge.events.layout import Body
from forge.events.plain import to_bytes
from forge.events.query import QueryFields
from forge.events.rand import Rand
from forge.events.user_var import REAL, STRING, UserVar
from forge.servers import ServerLine
from forge.sql.write import identifier
from forge.values.literals import hexadecimal

_BEGINS = re.compile(r"\s*(?:BEGIN|START\s+TRANSACTION)\s*(?:/\*.*\*/)?\s*;?\s*", re.IGNORECASE)
_ENDS = re.compile(r"\s*(COMMIT|ROLLBACK)\s*(?:/\*.*\*/)?\s*;?\s*", re.IGNORECASE)
_SAVEPOINT = re.compile(
    r"\s*(SAVEPOINT|ROLLBACK\s+TO(?:\s+SAVEPOINT)?|RELEASE\s+SAVEPOINT)\s+(.*)", re.IGNORECASE | re.DOTALL
)
_XA = re.compile(r"\s*XA\s+(?:START|BEGIN|END|PREPARE|COMMIT|ROLLBACK)\b", re.IGNORECASE)
_TRIGGER = re.compile(
    r"\s*(?:/\*!\d+\s*)?(CREATE|DROP)\b[^(]*?\bTRIGGER\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:`[^`]+`\.|\w+\.)?(`[^`]+`|\w+)",
    re.IGNORECASE | re.DOTALL,
)
_DROPS = re.compile(r"\s*DROP\s+(?:TABLE|DATABASE|SCHEMA)\b", re.IGNORECASE)
_UTF8 = frozenset(("utf8mb4", "utf8mb3", "binary"))
#: Bits of the status variable flags2, and whether a set bit makes the setting false.
_FLAGS = {"sql_auto_is_null": (1 << 14, False), "foreign_key_checks": (1 << 26, True), "unique_checks": (1 << 27, True)}
#: Status variables with a number that a setting takes as it is.
_NUMBERS = {"sql_mode": "sql_mode", "lc_time_names": "lc_time_names", "charset_database": "collation_database"}


def is_beginning(text: str) -> bool:
    """Whether the text begins a transaction."""
    return _BEGINS.fullmatch(text) is not None


def ending(text: str) -> str | None:
    """COMMIT or ROLLBACK, if the text is that."""
    found = _ENDS.fullmatch(text)
    return None if found is None else found[1].upper()


def without_transaction(text: str) -> str:
    """A CREATE TABLE without the words with which MySQL logs one that rows of a SELECT follow."""
    before, words, behind = text.rpartition(") START TRANSACTION")
    return f"{before}){behind}" if words and text.upper().startswith("CREATE") else text


def savepoint_of(text: str) -> tuple[str, str] | None:
    """What is done with a savepoint, and its name as it is written."""
    found = _SAVEPOINT.fullmatch(text)
    return None if found is None else (" ".join(found[1].upper().split()), found[2].strip().rstrip(";"))


class LoggedTexts:
    """The statements of a log that are written, with the settings that they ran in."""

    def __init__(self, line: ServerLine) -> None:
        self._line = line
        #: What events before a statement say of it.
        self._before: list[str] = []
        #: Triggers by name: the rows that they would change are in the log.
        self._triggers: dict[str, str] = {}
        self._is_changed = False

    @staticmethod
    def is_xa(text: str) -> bool:
        """Whether the text is about an XA transaction."""
        return _XA.match(text) is not None

    def note(self, body: Body) -> None:
        """An event that may say something of the next statement."""
        if isinstance(body, Intvar) and body.variable in VARIABLES:
            self._before.append(f"SET {VARIABLES[body.variable]} = {body.value};\n")
        elif isinstance(body, Rand):
            self._before.append(f"SET rand_seed1 = {body.seed1}, rand_seed2 = {body.seed2};\n")
        elif isinstance(body, UserVar):
            self._before.append(f"SET @{identifier(body.name)} := {_value(body)};\n")

    def forget(self) -> None:
        """The statement is not written."""
        self._before = []

    def written(self, logged: LoggedEvent, body: QueryFields) -> str:
        """The statement, with what sets its circumstances.  Raises ForgeError for a text that cannot be read."""
        text = without_transaction(_text(body).strip())
        before, self._before = "".join(self._before), []
        statement = before + self._settings(logged, body) + _ended(text)
        self._is_changed = True
        trigger = _TRIGGER.match(text)
        if trigger is not None:
            name = trigger[2].strip("`").lower()
            if trigger[1].upper() == "CREATE":
                self._triggers[name] = statement
                return f"-- The trigger {name} is made at the end: the rows that it changes are in the log.\n\n"
            if self._triggers.pop(name, None) is not None:
                return f"-- The trigger {name} is gone again.\n\n"
        if _DROPS.match(text):
            words = set(re.findall(r"\w+", text))
            for name, made in list(self._triggers.items()):
                if words & set(re.findall(r"\bON\s+(?:`?\w+`?\.)?`?(\w+)`?", made, re.IGNORECASE)):
                    del self._triggers[name]
        return statement + "\n"

    def restored(self, settings: str) -> Iterator[str]:
        """The settings of the session again, if a statement had others."""
        if self._is_changed:
            self._is_changed = False
            yield f"SET TIMESTAMP = DEFAULT, foreign_key_checks = 1, unique_checks = 1;\n{settings}"

    def deferred(self) -> Iterator[str]:
        """What is written at the end."""
        yield from self._triggers.values()

    def _settings(self, logged: LoggedEvent, body: QueryFields) -> str:
        status = dict(body.status_variables)
        fraction = f".{status['microseconds']:06}" if status.get("microseconds") else ""
        fraction = f".{status['hrnow']:06}" if status.get("hrnow") else fraction
        sets = [f"TIMESTAMP = {logged.event.timestamp}{fraction}"]
        sets += [f"{name} = {status[variable]}" for variable, name in _NUMBERS.items() if variable in status]
        if "flags2" in status:
            sets += [f"{n} = {int(bool(status['flags2'] & bit) != off)}" for n, (bit, off) in _FLAGS.items()]
        if "charset" in status:
            sets += [f"collation_connection = {status['charset'][1]}", f"collation_server = {status['charset'][2]}"]
        if "auto_increment" in status:
            step, start = status["auto_increment"]
            sets += [f"auto_increment_increment = {step}", f"auto_increment_offset = {start}"]
        if status.get("time_zone"):
            sets.append(f"time_zone = '{status['time_zone']}'")
        database = getattr(body, "database", "")
        use = f"USE {identifier(database)};\n" if database and not logged.event.flags & SUPPRESS_USE else ""
        return f"{use}SET SESSION {', '.join(sets)};\n"


def client_text(body: QueryFields) -> str:
    """The text, whatever character set the client had; bytes that are not of it are surrogate escapes."""
    client = dict(body.status_variables).get("charset", (0,))[0]
    found = find_collation(client) if client else None
    if found is not None and found.charset not in _UTF8:
        with suppress(ForgeError):
            return charset(found.charset).decode(to_bytes(body.text()))
    return body.text()


def _text(body: QueryFields) -> str:
    """The same.  Raises UnsupportedError for a text with bytes that are not of its character set."""
    text = client_text(body)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnsupportedError("a text with bytes that are not of its character set") from None
    return text


def _ended(text: str) -> str:
    """The statement with its delimiter."""
    text = text.strip()
    if ";" not in text.rstrip(";"):
        text = text.rstrip(";")
        return f"{text}\n;\n" if "--" in text or "#" in text else f"{text};\n"
    mark = next(mark for mark in ("//", "$$", "%%", "@@@", "||||") if mark not in text)
    return f"DELIMITER {mark}\n{text}\n{mark}\nDELIMITER ;\n"


def _value(body: UserVar) -> str:
    """The literal of a user variable; a type that no literal has as its bytes."""
    if body.value is None:
        return "NULL"
    kind, collation, data = body.value
    number = body.number()
    if number is not None:
        return f"{number}e0" if kind == REAL and "e" not in number else number
    found = find_collation(collation) if kind == STRING else None
    if found is None or found.charset == "binary":
        return hexadecimal(data)
    return f"_{found.charset} {hexadecimal(data)} COLLATE {found.name}"
