"""The options of the vendors' programs as they are spelled, and what they say (mysys/my_getopt.cc)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from forge.errors import ScenarioError
from forge.vendors.print_options import PrintOptions


class OptionError(Exception):
    """Options that the program refuses, with its message and its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Option:
    """``kind``: how many arguments it has, and of what kind; ``field`` is that of PrintOptions."""

    kind: str
    field: str


def _options(*families: dict[str, str]) -> dict[str, _Option]:
    return {
        name: _Option(kind, name.replace("-", "_"))
        for family in families
        for kind, names in family.items()
        for name in names.split()
    }


_BOTH = {
    "count": "verbose",
    "flag": "print-table-metadata hexdump short-form disable-log-bin verify-binlog-checksum force-if-open force-read",
    "text": "database set-charset local-load",
    "base64": "base64-output",
    "number": "offset stop-position",
    "position": "start-position",
    "time": "start-datetime stop-datetime",
    "rewrite": "rewrite-db",
}
_MYSQL = {
    "flag": "idempotent require-row-format skip-gtids",
    "text": "include-gtids exclude-gtids",
    "number": "server-id",
}
_MARIADB = {
    "flag": "skip-annotate-row-events print-row-count print-row-event-positions gtid-strict-mode",
    "text": "table",
    "ids": "do-domain-ids ignore-domain-ids do-server-ids ignore-server-ids server-id",
}
_OPTIONS = {"mysql": _options(_BOTH, _MYSQL), "mariadb": _options(_BOTH, _MARIADB)}
_LETTERS = {
    "v": "verbose", "H": "hexdump", "s": "short-form", "d": "database", "T": "table", "o": "offset",
    "D": "disable-log-bin", "i": "idempotent", "j": "start-position", "l": "local-load", "c": "verify-binlog-checksum",
    "F": "force-if-open", "f": "force-read",
}  # fmt: skip
#: What the programs have besides: other sources of logs, and other targets.
_ELSEWHERE = frozenset((
    "read-from-remote-server", "read-from-remote-master", "read-from-remote-source", "raw", "host", "port", "user",
    "password", "socket", "protocol", "to-last-log", "stop-never", "result-file", "flashback",
))  # fmt: skip
_WITHOUT_ARGUMENT = frozenset(("flag", "count"))
_SUFFIXES = {suffix: 1 << 10 * power for power, suffix in enumerate("KMGTPE", start=1)}
_TIME = re.compile(r"(\d{2,4})\D(\d{1,2})\D(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?:\.\d*)?)?")


class OptionParser:
    """The options of one call."""

    _BASE64: ClassVar[dict[str, str]] = {
        "never": "never", "auto": "auto", "decode-rows": "decode-rows", "unspec": "auto",
    }  # fmt: skip

    def __init__(self, family: str) -> None:
        self.family = family
        self.program = "mysqlbinlog" if family == "mysql" else "mariadb-binlog"
        self.options = _OPTIONS[family]
        self.values = PrintOptions()

    def parse(self, arguments: Sequence[str]) -> tuple[PrintOptions, list[str]]:
        """What the arguments say, and the files among them.  Raises OptionError; ScenarioError for what only the
        program itself does.
        """
        files: list[str] = []
        rest = iter(arguments)
        for argument in rest:
            if argument == "--":
                files += rest
            elif argument.startswith("--"):
                self._long(argument[2:], rest)
            elif argument.startswith("-") and len(argument) > 1:
                self._short(argument[1:], rest)
            else:
                files.append(argument)
        return self.values, files

    def _long(self, text: str, rest: Iterator[str]) -> None:
        given, equals, value = text.partition("=")
        name, enabled = self._named(given)
        option = self.options[name]
        if option.kind == "flag":
            on = value.lower() not in ("0", "off", "false") if equals else True
            setattr(self.values, option.field, on == enabled)
        elif option.kind == "count":
            if equals:
                raise self._refused(f"option '--{name}' cannot take an argument", 4)
            self.values.verbose += 1
        else:
            self._set(option, name, value if equals else self._next(f"--{name}", rest))

    def _short(self, letters: str, rest: Iterator[str]) -> None:
        for at, letter in enumerate(letters):
            name = _LETTERS.get(letter, "")
            option = self.options.get(name)
            if option is None:
                raise self._unknown(f"unknown option '-{letter}'")
            if option.kind not in _WITHOUT_ARGUMENT:
                value = letters[at + 1 :]
                self._set(option, name, value or self._next(f"-{letter}", rest))
                return
            self._long(name, rest)

    def _named(self, given: str) -> tuple[str, bool]:
        """The option of that name, or of a beginning of it, and whether it is switched on."""
        name = given.replace("_", "-")
        for prefix, enabled in (("", True), ("skip-", False), ("disable-", False), ("enable-", True)):
            if name.startswith(prefix):
                wanted = name.removeprefix(prefix)
                found = [one for one in self.options if one.startswith(wanted)]
                if wanted in self.options or len(found) == 1:
                    return (wanted if wanted in self.options else found[0]), enabled
        if name in _ELSEWHERE:
            raise ScenarioError(f"--{name} is not done here", expected=f"{self.program} itself")
        raise self._unknown(f"unknown option '--{given}'")

    def _set(self, option: _Option, name: str, value: str) -> None:
        known: dict[str, Callable[[str, str], Any]] = {
            "text": lambda _, text: text,
            "number": self._number,
            "position": self._number,
            "base64": self._base64,
            "time": self._time,
            "ids": lambda _, text: frozenset(int(one) for one in text.split(",")),
        }
        if option.kind == "rewrite":
            old, _, new = value.partition("->")
            self.values.rewrite_db[old.strip()] = new.strip()
            return
        if option.kind == "ids":
            self._refuse_second_rule(name)
        # mariadb-binlog takes the one as another name of the other.
        field = "do_server_ids" if (name, option.kind) == ("server-id", "ids") else option.field
        setattr(self.values, field, known[option.kind](name, value))
        if name == "stop-datetime":
            self.values.stop_datetime_text = value

    def _refuse_second_rule(self, name: str) -> None:
        """Raises OptionError where ids are both taken and left out."""
        what = "domain" if "domain" in name else "server"
        rule, other = ("ignore", "do") if name.startswith("ignore") else ("do", "ignore")
        if getattr(self.values, f"{other}_{what}_ids"):
            problem = f"Cannot create {rule} filtering rule for {what} id because {other} rule already exists"
            raise OptionError(f"ERROR: {problem}", 1)

    def _base64(self, name: str, text: str) -> str:
        if text.lower() not in self._BASE64:
            raise OptionError(
                f"Unknown option to base64-output: {text}\nAlternatives are: 'NEVER','AUTO','UNSPEC','DECODE-ROWS'", 1
            )
        return self._BASE64[text.lower()]

    def _number(self, name: str, text: str) -> int:
        match = re.match(r"(\d+)([KMGTPE]?)\Z", text, re.IGNORECASE)
        if match is None:
            raise self._refused(f"Error while setting value '{text}' to '{name}'", 9)
        return int(match[1]) * _SUFFIXES.get(match[2].upper(), 1)

    def _time(self, name: str, text: str) -> int:
        match = _TIME.match(text)
        if match is None:
            raise OptionError(f"ERROR: Incorrect date and time argument: {text}", 1)
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        year += 0 if year > 99 else 2000 if year < 70 else 1900
        return int(time.mktime((year, month, day, hour, minute, second, 0, 0, -1)))

    def _next(self, shown: str, rest: Iterator[str]) -> str:
        value = next(rest, None)
        if value is None:
            raise self._refused(f"option '{shown}' requires an argument", 5)
        return value

    def _unknown(self, problem: str) -> OptionError:
        stop = "." if self.family == "mysql" else ""
        mark = "[ERROR] " if self.family == "mysql" else ""
        return OptionError(f"{self.program}: {mark}{problem}{stop}", 2)

    def _refused(self, problem: str, code: int) -> OptionError:
        if self.family == "mysql":
            return OptionError(f"mysqlbinlog: [ERROR] mysqlbinlog: {problem}.", code)
        return OptionError(f"mariadb-binlog: {problem}", code)
