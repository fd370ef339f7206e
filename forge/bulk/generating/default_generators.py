"""The generator of a column that a scenario declares none for: by its keys, its type, its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Key, Table, TableColumn
from forge.scenario.volume_model import Normal, VolumeColumn

NUMBERS: Final = {"TINYINT": 7, "SMALLINT": 15, "MEDIUMINT": 23, "INT": 31, "BIGINT": 63}
TEXTS: Final = frozenset(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"))
BYTES: Final = frozenset(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"))
TIMES: Final = frozenset(("DATE", "DATETIME", "TIMESTAMP"))

#: Most of what numbers count is small.
_LARGEST: Final = 1_000_000
_NULLS: Final = 0.05
_SHORT_POOL: Final = 200
_UUID_TEXT: Final = 36

#: What a name says of the column, and the generator; the first that is found counts.
_NAMED: Final[Sequence[tuple[str, VolumeColumn]]] = [
    (pattern, VolumeColumn(faker=provider))
    for pattern, provider in (
        (r"e?mail", "email"), (r"first_?name", "first_name"), (r"(last|sur|family)_?name", "last_name"),
        (r"(user|login)(_?name)?$", "user_name"), (r"company|vendor|supplier", "company"),
        (r"phone|mobile", "phone_number"),
        (r"city|town", "city"), (r"country_?code", "country_code"), (r"country", "country"),
        (r"street|address", "street_address"), (r"zip|post_?(al_?)?code", "postcode"), (r"state|province", "state"),
        (r"url|link|website", "url"), (r"(^|_)ip(_|$)", "ipv4"), (r"agent", "user_agent"), (r"job", "job"),
        (r"currency", "currency_code"), (r"colou?r", "color_name"), (r"locale|lang", "language_code"),
        (r"product|title|subject", "catch_phrase"), (r"name|who|customer|owner|author|contact", "name"),
        (r"note|comment|description|text|body|message|bio", "paragraph"),
    )
]  # fmt: skip
_STATUS: Final = re.compile(r"status|phase|stage")
_STATES: Final = VolumeColumn(choice=["new", "open", "paid", "sent", "closed"], zipf=0.8)
#: Numbers whose names say that they are small: the least and the most.
_SMALL: Final = ((r"qty|quantity|count", (1, 20)), (r"(^|_)age$", (18, 90)), (r"percent|rating|score", (0, 100)))
_CHANGED: Final = re.compile(r"(updat|modifi|chang|last_)")
_UPDATED: Final = re.compile(
    r"status|state|qty|quantity|amount|balance|price|total|stock|score|note|address|phone|city"
)


def default_column(table: Table, column: TableColumn) -> VolumeColumn:
    """The generator of a column that no key needs.  Raises UnsupportedError for types without one."""
    made = _of_name(column) or _of_type(column)
    often_null = column.nullable and made.moment is None and not column.default_now
    return msgspec.structs.replace(made, nulls=_NULLS) if often_null else made


def key_column(table: Table, key: Key, free: Sequence[int], *, inside: bool) -> tuple[int, VolumeColumn]:
    """The column of a key, of those that are ``free``, that has a value of its own in each row, and its generator.

    ``inside``: another part of the key is the row that owns these.  Raises ScenarioError if no column can have one.
    """
    for index in sorted(free, key=lambda index: table.columns[index].type.name not in NUMBERS):
        made = _distinct(table.columns[index], inside=inside)
        if made is not None:
            return index, made
    names = ", ".join(table.columns[part.column].name for part in key.parts if part.expression is None)
    raise ScenarioError(
        f"{table.full_name}: no column of the key {key.name} ({names}) has a value of its own in each row",
        expected="`sequence`, `position`, `uuid`, or a `template` with {row}, under volume.tables",
    )


def _distinct(column: TableColumn, *, inside: bool) -> VolumeColumn | None:
    kind = column.type
    if kind.name in NUMBERS or (kind.name == "DECIMAL" and (kind.precision or 10) - (kind.scale or 0) >= 10):
        return VolumeColumn(position=1) if inside else VolumeColumn(sequence=1)
    if kind.name == "UUID" or (kind.name in BYTES and (kind.length is None or kind.length >= 16)):
        return VolumeColumn(uuid=True)
    if kind.name in TEXTS and (kind.length is None or kind.length >= 10):
        room = kind.length or 255
        name = column.name.lower()
        if re.search(r"uuid|guid", name) and room >= _UUID_TEXT:
            return VolumeColumn(uuid=True)
        if "mail" in name and room >= 30:
            return VolumeColumn(template="user{row}@example.com")
        return VolumeColumn(template="{row}")
    return None


def default_updates(table: Table, columns: dict[str, VolumeColumn]) -> list[str]:
    """The columns that updates set: those whose names say that they change, or else the last that is in no key."""
    keyed = {part.column for key in table.keys for part in key.parts} | {
        index for foreign in table.foreign_keys for index in foreign.columns
    }
    free = [
        column.name
        for index, column in enumerate(table.columns)
        if index not in keyed and columns[column.name.lower()].moment is None and not column.generated
    ]
    named = [name for name in free if _UPDATED.search(name.lower())]
    return named or free[-1:]


def _of_name(column: TableColumn) -> VolumeColumn | None:
    name, kind = column.name.lower(), column.type
    if kind.name in TIMES:
        if column.on_update_now or _CHANGED.search(name):
            return VolumeColumn(moment="change")
        if re.search("birth", name):
            return VolumeColumn(datetime={"from": "1950-01-01", "to": "2005-12-31"})
        return VolumeColumn(moment="insert")
    if kind.name in NUMBERS:
        small = next((ends for pattern, ends in _SMALL if re.search(pattern, name)), None)
        return None if small is None else VolumeColumn(random_int={"min": small[0], "max": small[1]})
    if kind.name not in TEXTS or (kind.length is not None and kind.length < 2):
        return None
    if _STATUS.search(name) and (kind.length is None or kind.length >= 6):
        return _STATES
    for pattern, made in _NAMED:
        if re.search(pattern, name):
            return made
    return None


def _of_type(column: TableColumn) -> VolumeColumn:
    kind = column.type
    length = 1 if kind.length is None else kind.length
    match kind.name:
        case "TINYINT" if kind.length == 1:
            return VolumeColumn(random_int={"min": 0, "max": 1})
        case name if name in NUMBERS:
            return VolumeColumn(random_int={"min": 0, "max": min(_LARGEST, (1 << NUMBERS[name]) - 1)})
        case "DECIMAL" | "FLOAT" | "DOUBLE":
            whole = 10 ** min((kind.precision or 10) - (kind.scale or 0), 4) if kind.precision else 10**4
            most = whole - 10.0 ** -min(kind.scale or 0, 4)
            return VolumeColumn(normal=Normal(mean=whole / 8, deviation=whole / 10, min=0, max=most))
        case "BIT":
            return VolumeColumn(random_int={"min": 0, "max": min(_LARGEST, (1 << (kind.length or 1)) - 1)})
        case "YEAR":
            return VolumeColumn(random_int={"min": 1970, "max": 2069})
        case "TIME":
            return VolumeColumn(datetime={"from": "2024-01-01 00:00:00", "to": "2024-01-01 23:59:59"})
        case "ENUM":
            return VolumeColumn(choice=[member for member in kind.members if member], zipf=0.8)
        case "SET":
            return VolumeColumn(choice=["", *kind.members, ",".join(kind.members)])
        case "CHAR" | "VARCHAR":
            return VolumeColumn(text={"length": min(length, 24), "min": min(length, 6)})
        case name if name in TEXTS:
            return VolumeColumn(faker="paragraph")
        case "BINARY" | "VARBINARY":
            return VolumeColumn(bytes={"length": min(length, 32), "min": min(length, 4)})
        case name if name in BYTES:
            return VolumeColumn(bytes={"length": 64, "min": 8}, pool=_SHORT_POOL)
        case "JSON":
            return VolumeColumn(choice=[{"value": _document(number)} for number in range(_SHORT_POOL)])
        case "VECTOR":
            size = min(kind.length or 4, 16)
            return VolumeColumn(
                choice=[[(number * 7 + place) % 32 / 32 for place in range(size)] for number in range(50)]
            )
        case "UUID":
            return VolumeColumn(uuid=True)
        case "INET4":
            return VolumeColumn(faker="ipv4")
        case "INET6":
            return VolumeColumn(faker="ipv6")
        case "GEOMETRY" | "POINT":
            return VolumeColumn(
                choice=[{"wkt": f"POINT({number % 20 - 10} {number // 20 - 5})"} for number in range(200)]
            )
    raise UnsupportedError(
        f"column {column.name!r}: values of {kind.name} are not made up",
        expected="a `choice` of values under volume.tables",
    )


def _document(number: int) -> dict[str, object]:
    words = ("web", "app", "shop", "partner")
    return {
        "source": words[number % 4],
        "tags": [f"t{number % 7}", f"t{number % 11}"][: number % 3],
        "score": number * 37 % 1000 / 8,
        "seen": number % 5 == 0,
    }
