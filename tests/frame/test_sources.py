"""Rules for the sources that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: ``*+``, ``++``, ``?+``, ``{2}+`` and ``(?>``; not ``/*+``, which opens an optimizer hint.
_POSSESSIVE = re.compile(r"(?<![\\/])\*\+|(?<!\\)(?:\+\+|\?\+|\}\+)|\(\?>")


def _patterns_that_old_pythons_get_wrong(source: str) -> Iterator[str]:
    """String constants with a possessive quantifier or an atomic group."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if _POSSESSIVE.search(text):
                yield text


def test_no_pattern_is_possessive_or_atomic() -> None:
    """``re`` gets these wrong before Python 3.11.5: they end in the middle of what they repeat."""
    offenders = [
        f"{path.relative_to(ROOT)}: {text!r}"
        for path in sorted((ROOT / "forge").rglob("*.py"))
        for text in _patterns_that_old_pythons_get_wrong(path.read_text())
    ]
    assert offenders == []


def test_a_possessive_or_atomic_pattern_is_recognised() -> None:
    patterns = ["(?:ab)*+", "a++", "a?+", "a{2}+", "(?>a|ab)", r"\++", r"\*+", "/*+ hint */", "a+"]
    wrong = [text for text in patterns if list(_patterns_that_old_pythons_get_wrong(repr(text)))]
    assert wrong == ["(?:ab)*+", "a++", "a?+", "a{2}+", "(?>a|ab)"]
