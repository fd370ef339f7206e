"""The tree of a script, with the places of its statements."""

from __future__ import annotations

from typing import Any

from forge.located import Located, Path, Place

#: Steps to an entry of the tree.
Steps = tuple[str | int, ...]


class ScriptDocument(Located):
    """The tree of a script: its head as YAML, and the transactions with the places of their statements."""

    __slots__ = ("_head", "_places")

    def __init__(self, head: Located, value: dict[str, Any], places: dict[Steps, Place]) -> None:
        super().__init__(None, file=head.file, text="", lines=None)
        self.value = value
        self._head = head
        self._places = places

    def place(self, path: Path) -> Place:
        """The place of the statement that the path leads into, else that of the head."""
        for length in range(len(path), 1, -1):
            place = self._places.get(tuple(path[:length]))
            if place is not None:
                return place
        return super().place(path)

    def line(self, path: Path) -> int | None:
        """The line of the statement that the path leads into, else that of the head."""
        for length in range(len(path), 1, -1):
            place = self._places.get(tuple(path[:length]))
            if place is not None:
                return place.line
        return self._head.line(path)

    def place_at(self, path: Path, offset: int) -> Place:
        """A place in a statement's text, or in a part of it, which stand in the script as they are."""
        text: Any = self.value
        statement: Any = {}
        for step in path:
            text = text[step]
            if isinstance(text, dict) and "query" in text:
                statement = text
        place = self.place(path)
        whole = statement.get("query", text)
        if not isinstance(text, str) or not isinstance(whole, str):
            return place
        return place_inside(place, whole, max(whole.find(text), 0) + offset)

    def copy(self) -> Located:
        """As :meth:`Located.copy`; the transactions are not copied, as nothing changes them."""
        value = {key: value if key == "transactions" else _copied(value) for key, value in self.value.items()}
        return ScriptDocument(self._head, value, self._places)


def place_inside(place: Place, text: str, offset: int) -> Place:
    """The place of a character of a text that begins at ``place``."""
    if place.line is None or place.column is None:
        return place
    lines = text.count("\n", 0, offset)
    column = offset - text.rfind("\n", 0, offset) if lines else place.column + offset
    return Place(place.file, place.line + lines, column)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value
