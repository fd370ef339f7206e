"""The options of a read, a write or a stream: text by name, in any case, as Spark hands them over."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, get_args

from forge.errors import ScenarioError, nearest

_UNITS = {"k": 10, "m": 20, "g": 30}


class Options:
    """The options that are given.  Every method raises ScenarioError for text that cannot be; None: it is not given."""

    def __init__(self, given: Mapping[str, str], known: Collection[str], of: str, *, passed: Collection[str] = ()):
        """Raises ScenarioError for one that is neither ``known`` nor ``passed`` over."""
        self.given = {name.lower(): value for name, value in given.items()}
        for name in self.given:
            if name not in known and name not in passed:
                raise ScenarioError(
                    f"unknown option {name!r} of {of}", expected=", ".join(known), suggestion=nearest(name, known)
                )

    def text(self, name: str) -> str | None:
        """The value as given."""
        return self.given.get(name)

    def word(self, name: str, literal: Any, default: str | None = None) -> Any:
        """One of the words of a Literal, in any case; the first one unless given."""
        words = get_args(literal)
        word = self.given.get(name, default or words[0]).lower()
        if word not in words:
            raise self._wrong(name, ", ".join(words), nearest(word, words))
        return word

    def flag(self, name: str, *, default: bool = True) -> bool:
        """``true`` or ``false``, in any case."""
        word = self.given.get(name, str(default)).lower()
        if word not in ("true", "false"):
            raise self._wrong(name, "true or false")
        return word == "true"

    def names(self, name: str) -> tuple[str, ...] | None:
        """Names between commas, or a JSON array of them."""
        text = self.given.get(name)
        if text is None:
            return None
        if not text.lstrip().startswith("["):
            return tuple(stripped for one in text.split(",") if (stripped := one.strip()))
        names = json_texts(text)
        if names is None:
            raise self._wrong(name, 'names between commas, or a JSON array: ["a", "b"]')
        return names

    def count(self, name: str) -> int | None:
        """A number from 1 on."""
        text = self.given.get(name)
        if text is not None and not _is_count(text.strip()):
            raise self._wrong(name, "a whole number from 1 on")
        return None if text is None else int(text)

    def size(self, name: str) -> int | None:
        """A number of bytes from 1 on; k, m and g are KiB, MiB and GiB, as Spark has them."""
        if name not in self.given:
            return None
        text = self.given[name].strip().lower().removesuffix("b").removesuffix("i")
        unit = _UNITS.get(text[-1:], 0)
        digits = text[:-1] if unit else text
        if not _is_count(digits):
            raise self._wrong(name, "bytes from 1 on, such as 67108864 or 64m")
        return int(digits) << unit

    def _wrong(self, name: str, expected: str, suggestion: str | None = None) -> ScenarioError:
        return ScenarioError(f"option {name}: {self.given[name]!r}", expected=expected, suggestion=suggestion)


def json_texts(text: str) -> tuple[str, ...] | None:
    """The texts of a JSON array; None for anything else."""
    try:
        texts = json.loads(text)
    except ValueError:
        return None
    return tuple(texts) if isinstance(texts, list) and all(isinstance(one, str) for one in texts) else None


def _is_count(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and int(digits) > 0
