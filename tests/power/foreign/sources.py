"""The functions and blocks of Go, Rust and Java sources, found by how their formatters indent them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_GO = re.compile(r"func (?:\((?:\w+ )?\*?(?P<type>\w+)(?:\[.*?\])?\) )?(?P<name>\w+)[(\[]")
_RUST = re.compile(r"\s*(?:pub(?:\([a-z ]+\))? )?(?:const |unsafe |async )*fn (?P<name>\w+)")
_RUST_TYPE = re.compile(r"impl(?:<.*?>)? (?:.* for )?&?(?:'\w+ )?(?:\w+::)*(?P<type>\w+)")
_JAVA = re.compile(r"\s+(?:@\w+ )?[\w<>\[\], .?]+[ >\]](?P<name>(?!(?:if|for|while|switch|catch)\b)\w+)\s*\(")
_NO_TYPE = re.compile(r"\s+(?:return|else|throw|new|assert|case)\b")
_JAVA_CONSTRUCTOR = re.compile(r"\s+(?:public|private|protected) (?P<name>\w+)\s*\(")
_STATIC = re.compile(r"\s+static (?P<name>)\{")


#: What closes a block and begins no other.
_CLOSING = frozenset(("}", "},", ")", ");", "})", "});", "})?;", ")?;"))


@dataclass(frozen=True, slots=True)
class Function:
    """``lines``: its lines, from 1; ``name`` has the type that it belongs to before a point, except in Java."""

    name: str
    lines: range


@dataclass(frozen=True)
class Source:
    """A source file.  ``name`` is its path from the folder of the decoder."""

    name: str
    path: Path

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text("utf-8", "replace").splitlines()

    @cached_property
    def functions(self) -> list[Function]:
        """The functions in their order; one inside another comes behind it."""
        return list(_functions(self.lines, self.path.suffix))

    def function_at(self, line: int) -> str:
        """The name of the innermost function that a line is in; ``-`` outside of all."""
        last = bisect_right([one.lines.start for one in self.functions], line)
        return next((one.name for one in reversed(self.functions[:last]) if line in one.lines), "-")

    def blocks(self, function: str, text: str) -> list[range]:
        """The lines of the blocks of a function that begin with a line of this text."""
        places = self.functions if function != "-" else [Function("-", range(1, len(self.lines) + 1))]
        return [
            block_at(self.lines, line)
            for one in places if one.name == function
            for line in one.lines if self.lines[line - 1].strip() == text
        ]  # fmt: skip


def block_at(lines: Sequence[str], first: int) -> range:
    """The lines of a statement, with all that is indented deeper below it, and what closes it; ``first`` counts
    from 1."""
    indent = _indent(lines[first - 1])
    last = first
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    closes = last < len(lines) and last > first and lines[last].strip() in _CLOSING
    return range(first, last + 1 + closes)


def _functions(lines: Sequence[str], suffix: str) -> Iterator[Function]:
    owner = ""
    for number, line in enumerate(lines, 1):
        if suffix == ".rs" and (found := _RUST_TYPE.match(line)):
            owner = found["type"]
        elif suffix == ".rs" and line == "}":
            owner = ""
        begins = _begin(line, suffix)
        if begins is None:
            continue
        end = _end(lines, number)
        if end is not None:
            of = owner if suffix == ".rs" else begins.groupdict().get("type") or ""
            yield Function(".".join(filter(None, (of, begins["name"] or "static"))), range(number, end + 1))


def _begin(line: str, suffix: str) -> re.Match[str] | None:
    if suffix == ".go":
        return _GO.match(line)
    if suffix == ".rs":
        return _RUST.match(line)
    if "=" in line.split("(")[0] or line.strip().endswith(";") or _NO_TYPE.match(line):
        return None
    return _JAVA_CONSTRUCTOR.match(line) or _JAVA.match(line) or _STATIC.match(line)


def _end(lines: Sequence[str], first: int) -> int | None:
    """The line of the brace that closes what begins at a line; None for what has no body."""
    indent = _indent(lines[first - 1])
    if lines[first - 1].rstrip().endswith("}"):
        return first
    for number in range(first, len(lines)):
        line = lines[number]
        if not line.strip() or _indent(line) > indent:
            continue
        if _indent(line) < indent or not line.strip().startswith(("}", ")", "where", "{")):
            return None
        if line.strip().startswith("}"):
            return number + 1
    return None


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
