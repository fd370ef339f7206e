"""The tree of a script, with the lines of its statements."""

from __future__ import annotations

from typing import Any

from forge.located import Located, Path


class ScriptDocument(Located):
    """The tree of a script: its head as YAML, and the transactions with the lines of their statements."""

    __slots__ = ("_head", "_places")

    def __init__(self, head: Located, value: dict[str, Any], places: dict[tuple[str | int, ...], int]) -> None:
        super().__init__(None, file=head.file, text="", lines=None)
        self.value = value
        self._head = head
        self._places = places

    def line(self, path: Path) -> int | None:
        """The line of the statement that the path leads into, else that of the head."""
        for length in range(len(path), 1, -1):
            line = self._places.get(tuple(path[:length]))
            if line is not None:
                return line
        return self._head.line(path)

    def line_at(self, path: Path, offset: int) -> int | None:
        """The line of a place in a statement's text, which stands in the script as it is."""
        line, value = self.line(path), self.value
        for step in path:
            value = value[step]
        return line + value.count("\n", 0, offset) if line is not None and isinstance(value, str) else line

    def copy(self) -> Located:
        """As :meth:`Located.copy`; the transactions are not copied, as nothing changes them."""
        head = {key: value for key, value in self.value.items() if key != "transactions"}
        copied = {key: _copied(value) for key, value in head.items()}
        return ScriptDocument(self._head, {**copied, "transactions": self.value["transactions"]}, self._places)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value
