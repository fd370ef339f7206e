"""The words that cases are tagged with, as data: ``tags.toml``.

*Features* (``event:XID``, ``type:ENUM``) are found by themselves (``forge.corpus.features``); *topics*, *thresholds*
and *rules* of the worklogs are what an author may write.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec

from forge.errors import nearest
from forge.servers import ServerLine, server_line


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule of a worklog in our words; the features in ``shown_by`` show it, each by itself."""

    means: str
    shown_by: list[str] = []


class FeatureGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Features of one kind; ``words`` maps each to what a server line needs to have it (the head of ``tags.toml``)."""

    title: str
    words: dict[str, str]


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All known tags."""

    features: dict[str, FeatureGroup]
    topics: dict[str, str]
    thresholds: dict[str, str]
    rules: dict[str, Rule]

    @property
    def authored(self) -> set[str]:
        """The tags that a scenario may have."""
        return {*self.topics, *self.thresholds, *self.rules}

    @property
    def all(self) -> set[str]:
        features_of_groups = {f"{group}:{word}" for group, features in self.features.items() for word in features.words}
        return features_of_groups | self.authored

    def has(self, feature: str, server: str) -> bool:
        """Whether servers of a line have a feature (``group:word``) at all."""
        group, _, word = feature.partition(":")
        needed = self.features[group].words[word]
        return any(_meets(server_line(server), alternative.split()) for alternative in needed.split("|"))

    def rules_shown_by(self, tags: Iterable[str]) -> set[str]:
        """The rules that a case with these tags shows."""
        of_case = set(tags)
        return {name for name, rule in self.rules.items() if name in of_case or of_case.intersection(rule.shown_by)}

    def unknown(self, tags: Iterable[str]) -> dict[str, str | None]:
        """Those of the tags that no scenario may have, each with the nearest one that it may."""
        words = self.authored
        return {tag: nearest(tag, words) for tag in tags if tag not in words}


def _meets(line: ServerLine, names: Iterable[str]) -> bool:
    return all(_has(line, name.lstrip("!")) != name.startswith("!") for name in names)


def _has(line: ServerLine, name: str) -> bool:
    return line.family == name if name in ("mysql", "mariadb") else line.knows(name)


@cache
def vocabulary() -> Vocabulary:
    text = files("forge.corpus").joinpath("tags.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Vocabulary)
