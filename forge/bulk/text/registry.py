"""The kernels' form of every character set of ``forge.charsets``."""

from __future__ import annotations

from functools import cache

from forge.bulk.text.codec import CodecForm
from forge.bulk.text.form import TextForm
from forge.bulk.text.tables import TableForm
from forge.bulk.text.utf8 import Utf8
from forge.charsets import charset

#: Units of two or four bytes.
_WIDE = ("ucs2", "utf16", "utf16le", "utf32")
_UTF8 = {"utf8mb4": 4, "utf8mb3": 3, "ascii": 1}


@cache
def text_form(name: str) -> TextForm:
    """The form of the character set of that name; its tables are made when a text needs them."""
    if name in _UTF8:
        return Utf8(_UTF8[name])
    return (CodecForm if name in _WIDE else TableForm)(charset(name))
