"""The settings that a vendor's text prints in front of statements, taken back: the inverse of SessionLines."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from forge.charsets import default_collation
from forge.charsets.collations import known_collations
from forge.errors import ForgeError
from forge.events.plain import to_text
from forge.vendors.session_lines import MARIADB_FLAGS

_BITS = {name: (bit, inverted) for bit, name, inverted in MARIADB_FLAGS}
_ASSIGNED = re.compile(rb"@@session\.(\w+)=('(?:[^'])*'|[-\w.]+)", re.IGNORECASE)
_USE = re.compile(rb"use `((?:[^`]|``)*)`", re.DOTALL)
_TIMESTAMP = re.compile(rb"SET TIMESTAMP=(\d+)(?:\.(\d{6}))?")
_VERSIONED = re.compile(rb"/\*!(\d{5,6}) (SET @@session\..*)\*/", re.DOTALL)
_CHARSET = re.compile(rb"(?:# Ignored \(Unknown charset\) )?SET @@session\.character_set_client=(\w+),.*")


@dataclass(slots=True)
class SaidSettings:
    """What the text said last; ``of_event`` is what it says in front of one statement."""

    mariadb: bool
    last: dict[str, Any] = field(default_factory=dict)
    of_event: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        """A statement begins."""
        self.of_event = {}

    def take(self, statement: bytes) -> bool:
        """Whether a statement is a setting, which is noted."""
        if (use := _USE.fullmatch(statement)) is not None:
            self._say("database", to_text(use[1].replace(b"``", b"`")))
        elif (moment := _TIMESTAMP.fullmatch(statement)) is not None:
            self.of_event["timestamp"] = int(moment[1])
            if moment[2]:
                self.of_event["fraction"] = int(moment[2])
        elif statement.startswith(rb"/*!\C "):
            pass
        elif (versioned := _VERSIONED.fullmatch(statement)) is not None:
            return self._assign(versioned[2])
        else:
            return self._assign(statement)
        return True

    def _assign(self, statement: bytes) -> bool:
        if _CHARSET.fullmatch(statement) is not None:
            self._charsets(statement)
            return True
        if not statement.startswith(b"SET @@session."):
            return False
        assigned = _ASSIGNED.findall(statement)
        values = {name.decode().lower(): value for name, value in assigned}
        if values.keys() & _BITS.keys() and set(values) <= _BITS.keys() and not self._is_of_mysql(values):
            bits = {_BITS[name][0]: (value != b"0") != _BITS[name][1] for name, value in values.items()}
            flags = self.last.get("flags2", 0)
            for bit, on in bits.items():
                flags = flags | bit if on else flags & ~bit
            self._say("flags2", flags)
            return True
        if "auto_increment_increment" in values:
            pair = (int(values["auto_increment_increment"]), int(values.get("auto_increment_offset", b"1")))
            self._say("auto_increment", pair)
            return True
        return bool(values) and all(self._one(name, value) for name, value in values.items())

    def _is_of_mysql(self, values: dict[str, bytes]) -> bool:
        return not self.mariadb and set(values) == {"explicit_defaults_for_timestamp"}

    def _one(self, name: str, value: bytes) -> bool:
        take = _TAKEN.get(name)
        if take is not None:
            self._say(*take(value))
        return take is not None or name == "pseudo_thread_id"

    def _say(self, name: str, value: Any) -> None:
        self.last[name] = self.of_event[name] = value

    def _charsets(self, statement: bytes) -> None:
        values = [value for _, value in _ASSIGNED.findall(statement)]
        client = values[0].decode()
        others = tuple(int(value) for value in values[1:3])
        if client.isdigit():
            self._say("charset", [(int(client), *others)])
            return
        # MariaDB names the character set of the client: its collation is mostly the default one.
        named = [one.id for one in known_collations() if one.charset == client]
        likely = [number for number in others if number in named]
        with suppress(ForgeError):
            likely.append(default_collation(client, "mariadb-10.11").id)
        self._say("charset", [(number, *others) for number in dict.fromkeys([*likely, *named])])


def _number(name: str) -> Callable[[bytes], tuple[str, int]]:
    return lambda value: (name, 0 if value == b"DEFAULT" else int(value))


def _text(name: str) -> Callable[[bytes], tuple[str, str]]:
    return lambda value: (name, to_text(value.strip(b"'")))


#: What the text assigns one by one, and the status variable that says it.
_TAKEN: dict[str, Callable[[bytes], tuple[str, Any]]] = {
    "sql_mode": _number("sql_mode"),
    "time_zone": _text("time_zone"),
    "lc_time_names": _number("lc_time_names"),
    "collation_database": _number("charset_database"),
    "explicit_defaults_for_timestamp": _number("explicit_defaults_for_timestamp"),
    "default_collation_for_utf8mb4": _number("default_collation_for_utf8mb4"),
    "sql_require_primary_key": _number("sql_require_primary_key"),
    "default_table_encryption": _number("default_table_encryption"),
    "character_set_collations": _text("character_set_collations"),
}
