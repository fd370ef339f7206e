"""Scenario files: read, rendered, expanded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forge.binlog.reader import has_magic
from forge.binlog.window import refuse_device
from forge.errors import ScenarioError
from forge.scenario.matrix import Case, Settings, base_scenario, expand
from forge.scenario.model import Scenario

#: Larger files are no scenarios.
_MOST_BYTES = 64 << 20


def load_scenario(path: str | Path, settings: Settings | None = None) -> Scenario:
    """The scenario of a file, without its matrix.

    ``settings`` are parameters of the template and fields to replace (``{"session.row_image": "minimal"}``).
    Raises ScenarioError (file, line).
    """
    return base_scenario(read_text(path), file=str(path), settings=settings)


def load_cases(path: str | Path, settings: Settings | None = None) -> list[Scenario]:
    """The cases that a file's matrix expands to, named ``scenario[key=value,...]``.  Raises ScenarioError."""
    return [case.scenario for case in iterate_cases(path, settings)]


def iterate_cases(path: str | Path, settings: Settings | None = None) -> Iterator[Case]:
    """As :func:`load_cases`, one after the other, with the values chosen of the matrix."""
    return expand(read_text(path), file=str(path), settings=settings)


def read_text(path: str | Path) -> str:
    """The text of a scenario file.  Raises ScenarioError if it cannot be read or is not UTF-8."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            refuse_device(file, str(path))
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"cannot read the file: {error.strerror}", file=str(path)) from None
    except ValueError:
        raise ScenarioError("the name of the file has the character U+0000") from None
    if len(data) > _MOST_BYTES:
        raise ScenarioError(f"the file has more than {_MOST_BYTES} bytes", file=str(path))
    return decode_text(data, str(path))


def decode_text(data: bytes, file: str) -> str:
    """The bytes of the scenario ``file`` as text.  Raises ScenarioError if they are not UTF-8, or a binary log."""
    if has_magic(data):
        raise ScenarioError("this is a binary log", file=file, expected="a scenario")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError("the file is not UTF-8 text", file=file, line=line) from None
