"""JSON columns of MySQL (type 245; MariaDB's JSON is text and logged as a BLOB).

A cell is ``u32 length | document``; length 0 reads as JSON null and is what ``INSERT IGNORE`` leaves in a NOT NULL
column without a value (recorded on MySQL 9.7).  The value of a cell is the document's bytes, which keeps what an
in-place UPDATE left behind; :mod:`forge.values.json.binary` explains them.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from forge.errors import FormatError, ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.base import Column, Piece, TypedValue, Value
from forge.values.cells import LengthPrefixed
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.json.binary import Json, Opaque, SqlInteger, decode_document, encode_document
from forge.values.json.explain import explain_document
from forge.values.json.sql import SqlExpression, json_literal
from forge.values.json.text import parse_json, parse_number
from forge.values.json.text_column import UTF8MB4_BIN, JsonTextCodec
from forge.values.json.usual_text import document_text
from forge.values.literals import number, shown
from forge.values.quick import CellReader
from forge.values.wire_types import WireType


class JsonCodec(LengthPrefixed):
    """Binary JSON documents behind a length of 4 bytes."""

    type_codes = (WireType.JSON,)
    reader_feature: ClassVar[str | None] = "json_type"

    def decode(self, column: Column, raw: bytes) -> bytes:
        """The document's bytes, checked to be one that :func:`decode_document` reads."""
        document = self.payload(column, raw)
        try:
            decode_document(document)
        except FormatError as error:
            raise error.within(base=self.prefix(column)) from None
        return document

    def encode(self, column: Column, value: Value) -> bytes:
        """The cell of a document's bytes, which are not looked at: broken documents can be made on purpose."""
        if not isinstance(value, bytes):
            raise ScenarioError(f"a JSON value is the bytes of a document, not {type(value).__name__}")
        return self.framed(column, value)

    def accept(self, column: Column, declared: Any) -> bytes:
        """The document for JSON text (str), a Python document, or bytes that are a document already."""
        if isinstance(declared, bytes):
            try:
                decode_document(declared)
            except FormatError as error:
                raise ScenarioError(f"the bytes are not a JSON document: {error.rule}") from None
            return declared
        # MySQL reads a text up to its first NUL (recorded).
        text = declared.partition("\0")[0] if isinstance(declared, str) else None
        return encode_document(as_json(declared) if text is None else parse_json(text))

    def text(self, column: Column, value: Value) -> str:
        """What ``SELECT`` prints.  Raises FormatError for a document that the server could not print either."""
        return document_text(value)

    def reader(self, column: Column) -> CellReader:
        return CellReader(document_text, prefix=self.prefix(column))

    def typed(self, column: Column, value: Value) -> TypedValue:
        """The document, to be compared as JSON: numbers by value, members in any order."""
        return {"json": self.text(column, value)}

    def sql(self, column: Column, value: Value) -> str:
        """JSON text where that stores the same types, else JSON_OBJECT and JSON_ARRAY calls.

        Stale bytes of a patched document are beyond any literal: the literal then stores an equal document.
        """
        return json_literal(decode_document(value))

    def python_value(self, column: Column, value: Value) -> str:
        """The text: a document of Python's would lose the types of numbers."""
        return self.text(column, value)

    def type_name(self, column: Column) -> str:
        return "JSON"

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        """Every entry, key and value with its path, and the bytes that nothing refers to."""
        size = self.prefix(column)
        document = self.decode(column, raw)
        meaning = f"{len(document)} bytes follow" if document else "no bytes follow: JSON null"
        return [Piece(0, raw[:size], meaning), *explain_document(document, size)]


def as_json(declared: Any, depth: int = 0) -> Json:
    """A declared Python object as a JSON value.

    Decimals become doubles and integers beyond 64 bits too, as the same digits in JSON text do; bytes inside a document
    are an opaque VARBINARY.  Raises
    ScenarioError for what JSON lacks, dates included: a plain YAML date is most likely meant as a string.
    """
    if depth > 100:
        raise ScenarioError("the JSON document is nested deeper than 100 levels")
    if isinstance(declared, dict):
        return {_key(key): as_json(member, depth + 1) for key, member in declared.items()}
    if isinstance(declared, list | tuple):
        return [as_json(element, depth + 1) for element in declared]
    if isinstance(declared, Decimal):
        return float(number("JSON", declared))
    if isinstance(declared, int) and not isinstance(declared, bool) and not -(2**63) <= declared < 2**64:
        return parse_number(f"{number('JSON', declared):f}")
    if isinstance(declared, bytes) and depth:
        return Opaque(WireType.VARCHAR, declared)
    if isinstance(declared, date | datetime | time | timedelta):
        raise ScenarioError(
            f"JSON has no {type(declared).__name__}",
            expected="a quoted string, or an Opaque of forge.values.json.opaque",
            suggestion=f'"{declared}"',
        )
    if declared is None or isinstance(declared, bool | int | float | str | Opaque | SqlInteger | SqlExpression):
        return declared
    raise ScenarioError(
        f"JSON cannot hold a Python {type(declared).__name__}",
        expected="a dict, list, string, number, true, false or null",
    )


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise ScenarioError(f"a key of a JSON object must be a string, not {shown(key)}")


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    if dialect.json_is_text:
        return Column(WireType.BLOB, b"\x04", collation=UTF8MB4_BIN)
    return Column(WireType.JSON, b"\x04")


def _stored_as(sql_type: SqlType, dialect: Dialect) -> SqlType:
    # The column is LONGTEXT in every way but one: its values have to be documents, which the declared type knows.
    return SqlType("LONGTEXT", collation=UTF8MB4_BIN) if dialect.json_is_text else sql_type


def _disguised(column: Column) -> str | None:
    is_longtext = column.type_code == WireType.BLOB and column.metadata == b"\x04"
    return "JSON" if is_longtext and column.collation in (None, UTF8MB4_BIN) else None


JSON = JsonCodec()
FAMILY = Family(
    codecs=(JSON, JsonTextCodec()),
    column_types=(
        ColumnType(
            name="JSON",
            facts=TypeFacts(
                kind="json",
                is_blob=True,
                in_key="none",
                literal_default=False,
                comparable=False,
                feature="json",
                implicit_default=None,
                refuses_null_always=True,
            ),
            declare=_declare,
            examples=(SqlType("JSON"),),
            stored_as=_stored_as,
            disguised=_disguised,
        ),
    ),
)
