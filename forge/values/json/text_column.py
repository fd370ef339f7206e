"""MariaDB's JSON columns: LONGTEXT of utf8mb4_bin, kept as it was written if it is a document.

The wire does not tell it from LONGTEXT, so only a declared column knows (corpora/recordings/values/json-columns, 10.11
and 11.8).
"""

from __future__ import annotations

import json
import re
from typing import Any

from forge.errors import UnsupportedError
from forge.values.base import Codec, Column
from forge.values.clipping import Clipped
from forge.values.literals import refuse, shown
from forge.values.text.strings import BlobCodec, Text

#: Levels of a document that JSON_VALID accepts (recorded; JSON_DEPTH_LIMIT of include/json_lib.h is 32).
MAX_JSON_DEPTH = 31
UTF8MB4_BIN = 46
_ESCAPED, _ESCAPES = re.compile(r"\\(.)", re.DOTALL), '"\\/bfnrtu'
#: Texts, in which any character may be escaped, and the whole digits and the point of 7.e2 and 7. (recorded on 11.8).
_LENIENT = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d+\.(?=[eE\s,\]}]|\Z)', re.DOTALL)
#: A text, and a number that MariaDB takes although its digits, or those of its exponent, are missing: ``4e``, ``-``.
_TEXT, _HALF_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL), re.compile(r"(?:-|\d\.?[eE][+-]?)(?=[\s,\]}])")


class JsonTextCodec(BlobCodec):
    """A LONGTEXT column that was declared as JSON."""

    declared_as = "JSON"

    def accept(self, column: Column, declared: Any) -> Text:
        return super().accept(column, json_text(declared))

    def clip(self, column: Column, declared: Any) -> Clipped:
        # What is no document is an error in every mode, by the column's CHECK (json_valid).
        return Codec.clip(self, column, declared)

    def nearest(self, column: Column, declared: Any) -> None:
        return None


def json_text(declared: Any) -> str:
    """The text that a JSON column holds: a document's, or as declared if that is JSON."""
    if not isinstance(declared, str):
        try:
            declared = json.dumps(declared, ensure_ascii=False, allow_nan=False, default=float)
        except (TypeError, ValueError, RecursionError):
            raise refuse("JSON", declared, "cannot hold this value", "a document, or its text") from None
    try:
        document = json.loads(_LENIENT.sub(_usual, declared), parse_constant=_no_number)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        if _HALF_NUMBER.search(_TEXT.sub("", declared)):
            problem = f"JSON does not take a number without all its digits: {shown(declared)}"
            raise UnsupportedError(problem, expected="a JSON document") from None
        raise refuse("JSON", declared, "cannot hold this text", "a JSON document") from None
    if _depth(document) > MAX_JSON_DEPTH:
        raise refuse("JSON", declared, "cannot hold this text", f"at most {MAX_JSON_DEPTH} levels")
    return str(declared)


def _usual(odd: re.Match[str]) -> str:
    """The JSON of a text or a point that only MariaDB takes."""
    return (
        odd[0][:-1]
        if odd[0].endswith(".")
        else _ESCAPED.sub(lambda pair: pair[0 if pair[1] in _ESCAPES else 1], odd[0])
    )


def _no_number(word: str) -> None:
    raise ValueError(word)


def _depth(document: Any) -> int:
    """Levels of arrays and objects."""
    depth, level = 0, [document]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return depth
