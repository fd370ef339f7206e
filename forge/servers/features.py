"""What came when: the table of features, by which older lines refuse and older consumers are judged.

``features.toml`` says for each feature the first release of MySQL and of MariaDB that has it, and what a consumer that
lacks it does with a log that uses it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Family = Literal["mysql", "mariadb"]
Release = tuple[int, int, int]
#: A consumer passes over it, takes it for something else, or stops there.
Effect = Literal["ignore", "misread", "refuse"]

TITLES: dict[Family, str] = {"mysql": "MySQL", "mariadb": "MariaDB"}


class Reaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a consumer without the feature does, and why."""

    effect: Effect
    reason: str


class Feature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of the table; releases are text such as ``8.0.20``, None for never."""

    title: str
    effect: Effect
    reason: str
    source: str
    mysql: str | None = None
    mysql_until: str | None = None
    mariadb: str | None = None
    #: Who minds: everybody who reads the log, or only a replica that applies it.
    consumer: Literal["reader", "replica"] = "reader"
    #: A regular expression that statements with the feature fit, as :func:`features_of_statement` prepares them.
    statement: str | None = None
    on_mysql: Reaction | None = None
    on_mariadb: Reaction | None = None

    def is_in(self, family: Family, version: Release) -> bool:
        """Whether that release has the feature."""
        since = self.since(family)
        if since is None or version < release(since):
            return False
        return family == "mariadb" or self.mysql_until is None or version < release(self.mysql_until)

    def since(self, family: Family) -> str | None:
        return self.mysql if family == "mysql" else self.mariadb

    def reaction(self, family: Family) -> Reaction:
        """What a consumer of that family does if it lacks the feature."""
        special = self.on_mysql if family == "mysql" else self.on_mariadb
        return special or Reaction(self.effect, self.reason)

    def history(self, family: Family) -> str:
        """Since when it exists, of that family first: ``MySQL 8.0.20 or later``."""
        families: tuple[Family, Family] = ("mysql", "mariadb") if family == "mysql" else ("mariadb", "mysql")
        for one in families:
            since = self.since(one)
            if since is not None:
                until = f", before {self.mysql_until}" if one == "mysql" and self.mysql_until else " or later"
                return f"{TITLES[one]} {since}{until}"
        return "no server has it"


def release(text: str) -> Release:
    """``10.11.18-MariaDB-log`` as (10, 11, 18); all zero if it does not start with a version."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return (0, 0, 0) if match is None else (int(match[1]), int(match[2]), int(match[3]))


@cache
def features() -> dict[str, Feature]:
    """All features by name, in the order of the table."""
    text = files("forge.servers").joinpath("features.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Feature])


_DEFINITION = re.compile(r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/)*(?:create|alter|drop)\b", re.IGNORECASE)
#: Comments, text and names in quotes.
_QUOTED = re.compile(r"/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`", re.DOTALL)


def features_of_statement(text: str) -> Iterator[str]:
    """The names of the features that the words of a statement of data definition ask for."""
    if _DEFINITION.match(text) is None:
        return
    words = " ".join(_QUOTED.sub(lambda found: "" if found[0].startswith("/*") else "x", text).lower().split())
    for name, pattern in _statement_patterns().items():
        if pattern.search(words):
            yield name


@cache
def _statement_patterns() -> dict[str, re.Pattern[str]]:
    found = features().items()
    return {name: re.compile(feature.statement) for name, feature in found if feature.statement is not None}


def feature(name: str) -> Feature:
    """The feature of that name.  Raises KeyError: names are written in code, not by users."""
    return features()[name]
