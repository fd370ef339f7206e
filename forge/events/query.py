"""QUERY (2): a statement as text with the session settings that its replay needs: BEGIN, COMMIT, DDL,
statement-format DML.

``exec_time`` are seconds from the statement's timestamp to the logging, modulo 2^32: huge after ``SET timestamp``.
Servers before 5.0 write no status variables.  The text is bytes in the client's character set and need not be UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Const, Int8ul, Int16ul, Int32ul, Struct

from forge.events.derived_parts import Derived, When
from forge.events.format import FormatContext
from forge.events.layout import Body, Rest, Span, Surroundings, Text, derived, field_length, length_of
from forge.events.plain import Fields, one_line, plain, text_or_hex, words
from forge.events.shapes import TEXT, Shape, array, object_of
from forge.events.status_vars import StatusBlock, StatusVariables, size_of_variables


def _has_variables(context: Any) -> bool:
    format: FormatContext = context._params.format
    return format.query_has_variables


def _status_length(context: Any) -> int | None:
    if _has_variables(context):
        return size_of_variables(context.status_variables)
    if context.status_variables:
        raise ValueError("QUERY of servers before 5.0 has no status variables")
    return None


#: The post-header that QUERY, QUERY_COMPRESSED and EXECUTE_LOAD_QUERY begin with, and what their bodies begin with.
POST_HEADER = (
    "thread_id" / Int32ul,
    "exec_time" / Int32ul,
    "database_length" / Derived(Int8ul, length_of("database")),
    "error_code" / Int16ul,
    "status_length" / Derived(When(Int16ul, _has_variables), _status_length),
)
CIRCUMSTANCES = (
    "status_variables" / StatusBlock(lambda context: context["status_length"] or 0),
    "database" / Text(Span(field_length("database_length"))),
    Const(b"\0"),
)


class QueryFields(Body):
    """What QUERY, QUERY_COMPRESSED and EXECUTE_LOAD_QUERY have in common: how they are shown."""

    __slots__ = ()
    database: str
    status_variables: StatusVariables

    def text(self) -> str:
        """The text of the statement.  Raises FormatError for a compressed text that cannot be unpacked."""
        raise NotImplementedError

    def canonical(self, surroundings: Surroundings) -> Fields:
        variables = [{"name": name, "value": plain(value)} for name, value in self.status_variables]
        shown = self.shown_fields("status_variables", "query", "block")
        return shown | {"status_variables": variables, "query": text_or_hex(self.text())}

    @classmethod
    def canonical_shape(cls) -> Shape:
        variable = object_of({"name": {"type": "string"}, "value": {}})
        return cls.shape_with({"status_variables": array(variable), "query": TEXT, "block": None})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return (f"[{words(fields['database'])}] " if fields["database"] else "") + one_line(fields["query"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(QueryFields, type_code=2, type_name="QUERY"):
    thread_id: int = 0
    exec_time: int = 0
    database_length: int | None = derived()
    error_code: int = 0
    status_length: int | None = derived()
    status_variables: StatusVariables = ()
    database: str = ""
    query: str

    layout: ClassVar[Struct] = Struct(*POST_HEADER, *CIRCUMSTANCES, "query" / Text(Rest()))

    def status(self, name: str, default: Any = None) -> Any:
        """The value of the status variable ``name``, or ``default``."""
        return dict(self.status_variables).get(name, default)

    def text(self) -> str:
        return self.query

    def statement(self, surroundings: Surroundings) -> str | None:
        return self.query
