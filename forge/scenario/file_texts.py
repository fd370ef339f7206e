"""Texts of scenario files."""

from __future__ import annotations

import re
from pathlib import Path

from forge.binlog.reader import has_magic
from forge.binlog.window import refuse_device
from forge.charsets import charset
from forge.errors import ScenarioError

#: What the bytes of a script are in.
_NAMES = re.compile(rb"(?i)\bSET\s+NAMES\s+'?(\w+)")
#: Larger files are no scenarios.
_MOST_BYTES = 64 << 20


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
        if file.lower().endswith(".sql"):
            return _script(data)
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError("the file is not UTF-8 text", file=file, line=line) from None


def _script(data: bytes) -> str:
    """A script in the character set that SET NAMES says; bytes that are none of its characters are kept as they are."""
    named = _NAMES.search(data)
    known = charset(named[1].decode().lower()) if named is not None else None
    if known is None or known.name.startswith("utf8"):
        return data.decode("utf-8-sig", "surrogateescape")
    return known.decode(data)
