"""YAML as data that remembers its lines.

The scalars are those of YAML 1.2's core schema and nothing else, so no text turns into something that was not
written: ``null``/``~``, ``true``/``false``, integers (decimal, ``0x``, ``0o``) and numbers with a point or an exponent,
which become :class:`decimal.Decimal` with every digit kept.  All other plain scalars are text: ``yes``, ``on``,
``10:30:00``, ``2024-02-29``, and also ``007``, which YAML 1.1 and 1.2 read differently.  ``!!binary`` gives bytes.
Keys of mappings are always text, and stand once.  Tags of one's own (``!decimal 1.50``) are an error unless the reader
asks for them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import yaml

from forge.errors import ScenarioError

try:
    from yaml import CSafeLoader as _Parser
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

#: Steps from the top of a document to a place in it: keys of mappings and indexes of sequences.
Path = Sequence[str | int]

_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z|0x[0-9a-fA-F]+\Z|0o[0-7]+\Z")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
#: The words that are no text, and what they are.
CORE_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "null"),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), "bool"),
}
#: Aliases can make a small file stand for a giant tree; a document may not grow beyond this many nodes by them.
_EXPANDED_NODES = 1_000_000
#: Deeper nesting than this is refused: what reads the tree recurses.
_DEPTH = 200
#: No server holds a number of more digits than this, and larger exponents would cost memory to write out.
_NUMBER_DIGITS = 4000


def is_number(text: str) -> bool:
    """Whether a plain scalar of that text is a number."""
    return _INT.match(text) is not None or _NUMBER.match(text) is not None


class Place(NamedTuple):
    """Where something stands: a file, or an option of the command line, the line, and of a script the column."""

    file: str | None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Tagged:
    """A scalar with a tag of one's own: ``!decimal 1.50`` is ``Tagged("decimal", "1.50")``."""

    tag: str
    text: str

    def __str__(self) -> str:
        return f"!{self.tag} {self.text}"


class _Entry:
    """One node of a document: its value, where it stands, and the entries inside it.

    ``key`` is the line (from 0) of the key that names the entry, or of the entry itself; ``first``, ``start`` and
    ``end`` are line and character indexes of the value.  ``size`` counts nodes with aliases expanded.
    """

    __slots__ = ("end", "first", "inside", "key", "size", "start", "style", "value")

    def __init__(self, event: Any) -> None:
        self.value: Any = None
        self.key: int = event.start_mark.line
        self.first: int = event.start_mark.line
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.style: str | None = None
        self.inside: dict[str, _Entry] | list[_Entry] | None = None
        self.size = 1


class Located:
    """A YAML document: its ``value`` and where each part of it stands.

    ``lines`` maps line numbers of the parsed text (index 0 is line 1) to those of the file a person edits, for text
    that came out of a template.
    """

    __slots__ = ("_lines", "_replaced", "_root", "_text", "file", "value")

    def __init__(self, root: _Entry | None, *, file: str | None, text: str, lines: Sequence[int] | None) -> None:
        self.value: Any = None if root is None else root.value
        self.file = file
        self._root = root
        self._text = text
        self._lines = lines
        #: Where the entries come from that do not stand in the text themselves.
        self._replaced: dict[tuple[str | int, ...], Place] = {}

    def replaced(self, path: Path, place: Place) -> None:
        """Say that the value at ``path``, and all inside it, comes from another place, such as an option."""
        self._replaced[tuple(path)] = place

    def place(self, path: Path) -> Place:
        """Where the entry at ``path`` comes from: file and line as :meth:`line` has it, or what replaced it."""
        for length in range(len(path), 0, -1):
            place = self._replaced.get(tuple(path[:length]))
            if place is not None:
                return place
        return Place(self.file, self.line(path))

    def line(self, path: Path) -> int | None:
        """The line of the entry at ``path``: of its key in a mapping, of its first character elsewhere.

        A path that leads nowhere gives the line of its longest beginning that exists.
        """
        entry, _ = self._find(path)
        return None if entry is None else _line_of(entry.key, self._lines)

    def place_at(self, path: Path, offset: int) -> Place:
        """Where character ``offset`` of the text at ``path`` stands, also in folded and block scalars."""
        return Place(self.file, self._line_at(path, offset))

    def _line_at(self, path: Path, offset: int) -> int | None:
        entry, whole = self._find(path)
        if entry is None or not whole or not isinstance(entry.value, str):
            return self.line(path)
        # YAML folds and indents: only the characters that are no white space keep their order and number.
        wanted = len("".join(entry.value[:offset].split()))
        source = self._text[entry.start : entry.end]
        position = source.find("\n") + 1 if entry.style in ("|", ">") else int(entry.style in ("'", '"'))
        while position < len(source) and (wanted or source[position].isspace()):
            wanted -= not source[position].isspace()
            position += 1
        return _line_of(entry.first + source.count("\n", 0, position), self._lines)

    def inside(self, step: str | int) -> Located:
        """The entry ``step`` of the document as a document of its own."""
        entry, whole = self._find((step,))
        return Located(entry if whole else None, file=self.file, text=self._text, lines=self._lines)

    def copy(self) -> Located:
        """A copy of the document whose value may be changed; it keeps the lines of the text."""
        copied = Located(self._root, file=self.file, text=self._text, lines=self._lines)
        copied.value = _copied(self.value)
        return copied

    def error(
        self, problem: str, path: Path, *, expected: str | None = None, suggestion: str | None = None
    ) -> ScenarioError:
        """An error at the entry at ``path``."""
        return ScenarioError(problem, expected=expected, suggestion=suggestion).at(*self.place(path))

    def _find(self, path: Path) -> tuple[_Entry | None, bool]:
        """The entry at ``path`` or at its longest beginning that exists, and whether it is the whole path's."""
        entry = self._root
        for step in path:
            inside = entry.inside if entry is not None else None
            child: _Entry | None = None
            if isinstance(inside, dict):
                child = inside.get(str(step))
            elif isinstance(inside, list) and isinstance(step, int) and 0 <= step < len(inside):
                child = inside[step]
            if child is None:
                return entry, False
            entry = child
        return entry, True


def _copied(value: Any) -> Any:
    """A deep copy of mappings and lists."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def load(
    text: str, *, file: str | None = None, lines: Sequence[int] | None = None, tags: Collection[str] = ()
) -> Located:
    """The one document in ``text``; an empty text has the value None.  Scalars with one of ``tags`` become Tagged.

    Raises ScenarioError (file, line) for bad YAML, duplicate keys, nesting or alias expansion beyond all use, and more
    than one document.
    """
    documents = load_documents(text, file=file, lines=lines, tags=tags)
    first = next(documents, None)
    if first is None:
        return Located(None, file=file, text=text, lines=lines)
    second = next(documents, None)
    if second is not None:
        raise ScenarioError(
            "a second YAML document begins here", file=file, line=second.line(()), expected="one document"
        )
    return first


def load_documents(
    text: str, *, file: str | None = None, lines: Sequence[int] | None = None, tags: Collection[str] = ()
) -> Iterator[Located]:
    """The documents of ``text``, separated by ``---``, one after the other.  Raises ScenarioError as :func:`load`."""
    try:
        parser = _Parser(text)
        try:
            while not parser.check_event(yaml.StreamEndEvent):
                if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                    yield Located(_Composition(parser, file, lines, tags).root(), file=file, text=text, lines=lines)
        finally:
            parser.dispose()
    except yaml.MarkedYAMLError as error:
        raise _bad_yaml(error, text, file, lines) from None
    except yaml.reader.ReaderError as error:
        character = chr(error.character) if isinstance(error.character, int) else str(error.character)
        line = _line_of(text.count("\n", 0, max(text.find(character), 0)), lines)
        problem = f"bad YAML: the character U+{ord(character[0]):04X} is not allowed"
        raise ScenarioError(problem, file=file, line=line) from None
    except UnicodeEncodeError as error:
        line = _line_of(text.count("\n", 0, error.start), lines)
        raise ScenarioError("bad YAML: half of a surrogate pair", file=file, line=line) from None


def _line_of(index: int, lines: Sequence[int] | None) -> int:
    if lines:
        return lines[min(index, len(lines) - 1)]
    return index + 1


def _bad_yaml(error: yaml.MarkedYAMLError, text: str, file: str | None, lines: Sequence[int] | None) -> ScenarioError:
    mark = error.problem_mark or error.context_mark
    problem = f"bad YAML: {error.problem or 'unreadable'}"
    # At the end of the text the parser stands behind its last line.
    last = max(len(text.splitlines()) - 1, 0)
    index = None if mark is None else min(mark.line, last)
    if error.context:
        problem += f", {error.context}"
        begins = None if error.context_mark is None else min(error.context_mark.line, last)
        if begins is not None and begins != index:
            problem += f" that begins on line {_line_of(begins, lines)}"
    return ScenarioError(problem, file=file, line=None if index is None else _line_of(index, lines))


class _Composition:
    """Builds one document's entries from parser events (PyYAML's own composer recurses without bound)."""

    def __init__(self, parser: Any, file: str | None, lines: Sequence[int] | None, tags: Collection[str]) -> None:
        self._parser = parser
        self._tags = tags
        self._file = file
        self._lines = lines
        #: Entries by anchor; None while the entry is still being built.
        self._anchors: dict[str, _Entry | None] = {}
        self._written = 0

    def root(self) -> _Entry:
        return self._entry(self._parser.get_event(), 0)

    def _entry(self, event: Any, depth: int) -> _Entry:
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        entry = _Entry(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if depth > _DEPTH:
            raise self._error(f"nested more than {_DEPTH} levels deep", event)
        self._written += 1
        if isinstance(event, yaml.ScalarEvent):
            entry.style = event.style
            entry.value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._sequence(entry, event, depth)
        else:
            self._mapping(entry, event, depth)
        if entry.size > _EXPANDED_NODES + 2 * self._written:
            raise self._error("aliases expand to too much data", event)
        if event.anchor is not None:
            self._anchors[event.anchor] = entry
        return entry

    def _repeated(self, event: yaml.AliasEvent) -> _Entry:
        if event.anchor not in self._anchors:
            raise self._error(f"the alias *{event.anchor} repeats nothing that stands before it", event)
        target = self._anchors[event.anchor]
        if target is None:
            raise self._error(f"the alias *{event.anchor} stands inside what it repeats", event)
        entry = _Entry(event)
        for name in ("value", "first", "start", "end", "style", "inside", "size"):
            setattr(entry, name, getattr(target, name))
        return entry

    def _sequence(self, entry: _Entry, event: Any, depth: int) -> None:
        self._untagged(event, "seq")
        entry.inside = inside = []
        while not isinstance(item := self._parser.get_event(), yaml.SequenceEndEvent):
            inside.append(self._entry(item, depth + 1))
        entry.value = [child.value for child in inside]
        entry.size += sum(child.size for child in inside)

    def _mapping(self, entry: _Entry, event: Any, depth: int) -> None:
        self._untagged(event, "map")
        entry.inside = inside = {}
        while not isinstance(key := self._parser.get_event(), yaml.MappingEndEvent):
            line: int = key.start_mark.line
            if not isinstance(key, yaml.ScalarEvent):
                raise self._error("a list, mapping or alias is used as a key", key, expected="text")
            if key.value in inside:
                raise self._error(f"{key.value!r} stands twice in this mapping", key)
            child = self._entry(self._parser.get_event(), depth + 1)
            child.key = line
            inside[key.value] = child
        entry.value = {name: child.value for name, child in inside.items()}
        entry.size += sum(child.size + 1 for child in inside.values())

    def _untagged(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", _TAG + kind):
            raise self._error(f"unknown tag {event.tag.replace(_TAG, '!!')}", event)

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        text: str = event.value
        kind = _kind(event)
        if kind == "str":
            return text
        if kind == "null" and CORE_WORDS.get(text) == "null":
            return None
        if kind == "bool" and CORE_WORDS.get(text) == "bool":
            return text.lower() == "true"
        if kind == "int" and _INT.match(text):
            if len(text) > _NUMBER_DIGITS:
                raise self._error(f"a number of more than {_NUMBER_DIGITS} digits", event)
            return int(text, 0)
        if kind == "float" and _NUMBER.match(text):
            return self._number(event)
        if kind == "binary":
            try:
                return base64.b64decode("".join(text.split()), validate=True)
            except (binascii.Error, ValueError):
                raise self._error("!!binary is not followed by base64", event) from None
        if kind in ("null", "bool", "int", "float"):
            raise self._error(f"{text!r} is no {kind}", event)
        if kind.startswith("!") and kind[1:] in self._tags:
            return Tagged(kind[1:], text)
        raise self._error(f"unknown tag {str(event.tag).replace(_TAG, '!!')}", event)

    def _number(self, event: yaml.ScalarEvent) -> Decimal:
        try:
            number = Decimal(event.value)
        except InvalidOperation:
            number = None
        if number is None or len(event.value) > _NUMBER_DIGITS or abs(number.adjusted()) > _NUMBER_DIGITS:
            raise self._error("a number of a size that no column holds", event)
        return number

    def _error(self, problem: str, event: Any, expected: str | None = None) -> ScenarioError:
        line = _line_of(event.start_mark.line, self._lines)
        return ScenarioError(problem, file=self._file, line=line, expected=expected)


def _kind(event: yaml.ScalarEvent) -> str:
    """What a scalar is: by its tag, or if it is plain by the core schema, or text."""
    text: str = event.value
    if event.tag not in (None, "!"):
        return str(event.tag).removeprefix(_TAG)
    if event.tag == "!" or not event.implicit[0]:
        return "str"
    word = CORE_WORDS.get(text)
    if word is None:
        word = "int" if _INT.match(text) else "float" if _NUMBER.match(text) else "str"
    return word
