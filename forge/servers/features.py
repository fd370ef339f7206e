"""What came when: the table of features, by which older lines refuse and older consumers are judged.

``features.toml`` says for each feature the first release of MySQL and of MariaDB that has it, and what a consumer that
lacks it does with a log that uses it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from forge.servers.shipped import shipped

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
    #: The setting of a replica without which it does not mind.
    setting: str | None = None
    #: A regular expression that definitions with the feature fit, as forge.sql.reads.features prepares them.
    statement: str | None = None
    #: The same for definitions and statements that change rows.
    query: str | None = None
    on_mysql: Reaction | None = None
    on_mariadb: Reaction | None = None

    def is_in(self, family: Family, version: Release) -> bool:
        """Whether that release has the feature."""
        since, until = self.since(family), self.until(family)
        if since is None or version < release(since):
            return False
        return until is None or version < release(until)

    def since(self, family: Family) -> str | None:
        """The first release of the family that has it; None if no release has."""
        return self.mysql if family == "mysql" else self.mariadb

    def until(self, family: Family) -> str | None:
        """The first release of the family without it again; MariaDB never removed a feature."""
        return self.mysql_until if family == "mysql" else None

    def reaction(self, family: Family) -> Reaction:
        """What a consumer of that family does if it lacks the feature."""
        special = self.on_mysql if family == "mysql" else self.on_mariadb
        return special or Reaction(self.effect, self.reason)

    def history(self, family: Family) -> str:
        """Since when it exists, of that family first: ``MySQL 8.0.20 or later``."""
        for other in sorted(TITLES, key=lambda title: title != family):
            since, until = self.since(other), self.until(other)
            if since is not None:
                return f"{TITLES[other]} {since}" + (" or later" if until is None else f", before {until}")
        return "no server has it"


@cache
def release(text: str) -> Release:
    """``10.11.18-MariaDB-log`` as (10, 11, 18); all zero if it does not start with a version."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return (0, 0, 0) if match is None else (int(match[1]), int(match[2]), int(match[3]))


@cache
def features() -> dict[str, Feature]:
    """All features by name, in the order of the table."""
    return msgspec.convert(shipped("features.toml"), dict[str, Feature])


def feature(name: str) -> Feature:
    """The feature of that name.  Raises KeyError: names are written in code, not by users."""
    return features()[name]
