"""The form of every character set of ``forge.charsets``."""

from __future__ import annotations

from functools import cache

from forge.bulk.text.codec import CodecForm
from forge.bulk.text.form import TextForm
from forge.bulk.text.utf8 import Utf8
from forge.charsets import charset

_UTF8 = {"utf8mb4": 4, "utf8mb3": 3, "ascii": 1}


@cache
def text_form(name: str) -> TextForm:
    """The form of the character set of that name."""
    return Utf8(_UTF8[name]) if name in _UTF8 else CodecForm(charset(name))
