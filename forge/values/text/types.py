"""CHAR, VARCHAR, BINARY, VARBINARY, the TEXT and the BLOB types: the SQL types of :mod:`forge.values.text.strings`."""

from __future__ import annotations

from msgspec.structs import replace

from forge.errors import ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.base import Column
from forge.values.declaration.arguments import check_argument, collation_of
from forge.values.declaration.column_type import Arguments, ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.text import compressed, strings
from forge.values.text.strings import folded_metadata
from forge.values.wire_types import WireType

#: Characters of a CHAR, bytes of the longest VARCHAR on MySQL.
MAX_CHAR, MAX_VARCHAR = 255, 65535
_MAX_LOB = (1 << 32) - 1
#: Bytes of the length of TINYTEXT, TEXT, MEDIUMTEXT and LONGTEXT, and of the BLOB types.
_LOB_SIZES = {"TINY": 1, "": 2, "MEDIUM": 3, "LONG": 4}
_TEXTS, _BLOBS = ({f"{size}{kind}": bytes for size, bytes in _LOB_SIZES.items()} for kind in ("TEXT", "BLOB"))
_LOBS = _TEXTS | _BLOBS
_JSON_WIRE_TYPES = {
    "TINYBLOB": WireType.TINY_BLOB,
    "BLOB": WireType.BLOB,
    "MEDIUMBLOB": WireType.MEDIUM_BLOB,
    "LONGBLOB": WireType.LONG_BLOB,
}
_LONG_NAMES = {
    "MEDIUMTEXT": ("LONG", "LONG VARCHAR", "LONG CHAR VARYING", "LONG CHARACTER VARYING"),
    "MEDIUMBLOB": ("LONG VARBINARY",),
}


def _declare_char(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, max_length = collation_of(sql_type, binary=sql_type.name == "BINARY")
    length = 1 if sql_type.length is None else sql_type.length
    check_argument("length", sql_type, length, 0, MAX_CHAR, "use VARCHAR or TEXT for longer values")
    return Column(WireType.STRING, folded_metadata(length * max_length), collation=number)


def _declare_varchar(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, max_length = collation_of(sql_type, binary=sql_type.name == "VARBINARY")
    if sql_type.length is None:
        raise ScenarioError(f"{sql_type.name} needs a length", expected=f"{sql_type.name}(60)")
    longest = dialect.max_varchar // max_length
    check_argument("length", sql_type, sql_type.length, 0, longest, "use a TEXT or BLOB type for longer values")
    limit = sql_type.length * max_length
    if sql_type.compressed:
        # MariaDB counts the header byte of the compressed form.
        check_argument("length", sql_type, limit + 1, 1, dialect.max_varchar)
        return Column(WireType.VARCHAR_COMPRESSED, (limit + 1).to_bytes(2, "little"), collation=number)
    return Column(WireType.VARCHAR, limit.to_bytes(2, "little"), collation=number)


def _declare_lob(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    size = _LOBS[sql_type.name]
    number, max_length = collation_of(sql_type, binary=sql_type.name in _BLOBS)
    # TEXT(0) is the smallest type on MySQL, and as TEXT without a length on MariaDB (recorded).
    if sql_type.length is not None and (sql_type.length or dialect.zero_text_is_smallest):
        # TEXT(n) and BLOB(n) become the smallest type of the family that holds n characters.
        check_argument("length", sql_type, sql_type.length, 0, _MAX_LOB)
        longest = min(sql_type.length * max_length, _MAX_LOB)
        size = next(n for n in _LOB_SIZES.values() if longest < 1 << 8 * n)
    return Column(WireType.BLOB_COMPRESSED if sql_type.compressed else WireType.BLOB, bytes([size]), collation=number)


def _stored_lob(sql_type: SqlType, dialect: Dialect) -> SqlType:
    """TEXT(300) is a TEXT, TEXT(70000) a MEDIUMTEXT from then on, whatever character set it gets."""
    (size,) = _declare_lob(sql_type, dialect, "new").metadata
    names = _TEXTS if sql_type.name in _TEXTS else _BLOBS
    return replace(sql_type, name=next(name for name, other in names.items() if other == size), length=None)


def _lob(name: str, larger: str | None) -> ColumnType:
    is_text = name in _TEXTS
    arguments: Arguments = "length" if name in ("TEXT", "BLOB") else "none"
    return ColumnType(
        name=name,
        facts=TypeFacts(
            kind="text" if is_text else "bytes",
            is_blob=True,
            in_key="prefix",
            literal_default=False,
            takes_compressed=True,
            binary_name=name.replace("TEXT", "BLOB") if is_text else None,
            larger=larger if is_text else None,
            json_wire_type=_JSON_WIRE_TYPES.get(name),
        ),
        declare=_declare_lob,
        arguments=arguments,
        aliases=_LONG_NAMES.get(name, ()),
        examples=(SqlType(name),),
        stored_as=_stored_lob,
    )


FAMILY = Family(
    codecs=(*strings.CODECS, *compressed.CODECS),
    column_types=(
        ColumnType(
            name="CHAR",
            facts=TypeFacts(kind="text", default_length=1, binary_name="BINARY"),
            declare=_declare_char,
            arguments="length",
            aliases=("CHARACTER", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"),
            examples=(SqlType("CHAR", length=1), SqlType("CHAR", length=255)),
        ),
        ColumnType(
            name="VARCHAR",
            facts=TypeFacts(kind="text", takes_compressed=True, binary_name="VARBINARY"),
            declare=_declare_varchar,
            arguments="length",
            aliases=(
                "CHAR VARYING",
                "CHARACTER VARYING",
                "VARCHARACTER",
                "NVARCHAR",
                "NCHAR VARCHAR",
                "NCHAR VARYING",
                "NATIONAL VARCHAR",
                "NATIONAL VARCHARACTER",
                "NATIONAL CHAR VARYING",
                "NATIONAL CHARACTER VARYING",
            ),
            examples=(SqlType("VARCHAR", length=20), SqlType("VARCHAR", length=300)),
        ),
        ColumnType(
            name="BINARY",
            facts=TypeFacts(kind="bytes", default_length=1, json_wire_type=WireType.STRING),
            declare=_declare_char,
            arguments="length",
            aliases=("CHAR BYTE",),
            examples=(SqlType("BINARY", length=1), SqlType("BINARY", length=255)),
        ),
        ColumnType(
            name="VARBINARY",
            facts=TypeFacts(kind="bytes", takes_compressed=True, json_wire_type=WireType.VARCHAR),
            declare=_declare_varchar,
            arguments="length",
            examples=(SqlType("VARBINARY", length=20), SqlType("VARBINARY", length=300)),
        ),
        *(
            _lob(name, larger)
            for names in (tuple(_TEXTS), tuple(_BLOBS))
            for name, larger in zip(names, (*names[1:], None), strict=True)
        ),
    ),
)
