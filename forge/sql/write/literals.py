"""Literals as servers print them."""

from __future__ import annotations

_PRINTED = str.maketrans({"\0": r"\0", "\n": r"\n", "\r": r"\r", "\\": r"\\", "'": "''"})


def printed_text(text: str) -> str:
    """A text literal with the few escapes of SHOW CREATE TABLE."""
    return f"'{text.translate(_PRINTED)}'"
