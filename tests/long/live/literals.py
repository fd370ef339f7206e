"""Literals at random: one column of a type, and what people write for its cells."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.long.live.cases import Case, inserted

#: Literals of a case.
LITERALS = 8
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
_WHITE = ("", "", "", "", " ", "\t", "\n", "  ")


def draw_literals(random: Random, table: str) -> Case:
    """A table with one column beside its key, and an INSERT for each of some literals."""
    type_text, cell = _TYPES[random.choice(list(_TYPES))](random)
    sql = f"CREATE TABLE {table} (id INT PRIMARY KEY, v {type_text})"
    return Case(sql, tuple(inserted(table, {"id": n, "v": cell()}) for n in range(1, LITERALS + 1)))


def digits(random: Random, most: int) -> str:
    return "".join(random.choices("0123456789", k=random.randint(1, most)))


def number_text(random: Random) -> str:
    """A number as text, well-formed or nearly."""
    text = random.choice(("", "", "-", "+")) + random.choice(
        (
            digits(random, 20),
            f"{digits(random, 12)}.{digits(random, 8)}",
            f".{digits(random, 5)}",
            f"{digits(random, 5)}.",
        )
    )
    if random.random() < 0.25:
        text += random.choice("eE") + random.choice(("", "-", "+")) + digits(random, 2)
    if random.random() < 0.1:
        text += random.choice(("x", " 1", "e", ".", "-", "\0", "٣"))
    return random.choice(_WHITE) + text + random.choice(_WHITE)


def _edges(random: Random, bits: int) -> int:
    edge = random.choice((0, 1 << bits - 1, 1 << bits, -(1 << bits - 1), 1 << random.randrange(bits)))
    return edge + random.choice((-1, 0, 0, 1))


def _number(random: Random) -> Any:
    kind = random.randrange(5)
    if kind == 0:
        return random.randint(-(1 << 65), 1 << 65) >> random.randrange(66)
    if kind == 1:
        return random.choice((0.1, 1.5, 2.5, -0.5, 1e10, 1e-7, 123456.789, -1e39, 0.0)) * random.choice((1, 10, -1))
    return number_text(random)


def _integers(random: Random) -> tuple[str, Any]:
    name = random.choice(list(_INTEGERS))
    suffix = random.choice(("", "", " UNSIGNED", " ZEROFILL", " UNSIGNED ZEROFILL"))
    shown = random.choice(("", "", "(1)", "(5)", "(20)"))
    return name + shown + suffix, lambda: _edges(random, _INTEGERS[name]) if random.random() < 0.4 else _number(random)


def _decimals(random: Random) -> tuple[str, Any]:
    precision = random.choice((1, 2, 5, 9, 10, 18, 27, 65))
    scale = random.randint(0, min(precision, 30))
    suffix = random.choice(("", "", " UNSIGNED", " ZEROFILL"))
    return f"DECIMAL({precision},{scale}){suffix}", lambda: _number(random)


def _floats(random: Random) -> tuple[str, Any]:
    name = random.choice(("FLOAT", "DOUBLE", "FLOAT(7,3)", "DOUBLE(10,2)", "DOUBLE(20,5)", "FLOAT(30)", "REAL"))
    return name + random.choice(("", "", " UNSIGNED")), lambda: _number(random)


def _bits(random: Random) -> tuple[str, Any]:
    length = random.choice((1, 5, 8, 9, 33, 64))

    def cell() -> Any:
        if random.random() < 0.5:
            return _edges(random, length)
        if random.random() < 0.5:
            return {"hex": "".join(random.choices("0123456789abcdef", k=2 * random.randint(0, 9)))}
        return "b'" + "".join(random.choices("01", k=random.randint(1, 65))) + "'"

    return f"BIT({length})", cell


def _years(random: Random) -> tuple[str, Any]:
    return "YEAR", lambda: random.choice(
        (random.randint(-5, 2200), str(random.randint(0, 2200)), digits(random, 5), f"{random.randint(0, 99):02}",
         number_text(random), f"{random.randint(0, 99)}.5", "00", "0000", 0)
    )  # fmt: skip


def date_text(random: Random) -> str:
    year = random.choice(
        (f"{random.randint(0, 9999):04}", f"{random.randint(0, 99):02}", "2024", "1970", "2038", "0000")
    )
    mark = random.choice(("-", "-", "-", "-", "/", ".", ":", "", "^", "--"))
    month = random.choice((f"{random.randint(1, 12):02}", str(random.randint(0, 13)), "02", "00"))
    day = random.choice((f"{random.randint(1, 28):02}", str(random.randint(0, 32)), "29", "00", "31"))
    return mark.join((year, month, day))


def time_text(random: Random) -> str:
    hour = random.choice((f"{random.randint(0, 23):02}", str(random.randint(0, 25)), "00", "838", "23"))
    minute = random.choice((f"{random.randint(0, 59):02}", str(random.randint(0, 61))))
    second = random.choice((f"{random.randint(0, 59):02}", str(random.randint(0, 61)), "59"))
    mark = random.choice((":", ":", ":", ":", "", "-", "."))
    parts = [hour, minute, second][: random.choice((3, 3, 3, 2, 1))]
    fraction = random.choice(("", "", f".{digits(random, 6)}", f".{digits(random, 9)}", ".", ".9999995", ".999999999"))
    return mark.join(parts) + fraction


def _datetime_text(random: Random) -> str:
    offset = random.choice(("", "", "", "", "+00:00", "-13:59", "+14:00", "+14:01", "Z", "+1:00", "-00:00", " "))
    text = date_text(random) + random.choice((" ", " ", " ", "T", "  ", "\t", "t", "")) + time_text(random) + offset
    return random.choice(_WHITE) + text + random.choice(_WHITE)


def _numeric_moment(random: Random) -> Any:
    text = random.choice(
        ("20240229101112", "240229101112", "20240229", "240229", "101112", "101", "8385959", "0", "19700101000001",
         "99991231235959", "20240230", "691231", "700101", "1231")
    )  # fmt: skip
    text = "".join(digit if random.random() < 0.95 else random.choice("0123456789") for digit in text)
    text += random.choice(("", "", ".5", ".9999995", ".123456"))
    return random.choice((text, text if "." in text else int(text), random.choice(("-", "")) + text))


def _moment(random: Random) -> Any:
    draw = random.randrange(8)
    if draw == 0:
        return _numeric_moment(random)
    if draw == 1:
        return date_text(random)
    if draw == 2:
        return random.choice(("", "-", "1 ", "34 ", "-1 ")) + time_text(random)
    return _datetime_text(random)


def _temporals(random: Random) -> tuple[str, Any]:
    name = random.choice(("DATE", "TIME", "DATETIME", "TIMESTAMP", "DATETIME", "TIME"))
    places = "" if name == "DATE" else random.choice(("", "(1)", "(3)", "(6)", "(0)"))
    null = " NULL" if name == "TIMESTAMP" else ""

    def cell() -> Any:
        if name == "TIME" and random.random() < 0.5:
            return random.choice(("", "-", "1 ", "34 ", "-1 ", "+", "0 ", " ")) + time_text(random)
        if name == "DATE" and random.random() < 0.5:
            return random.choice(_WHITE) + date_text(random) + random.choice(_WHITE)
        return _moment(random)

    return name + places + null, cell


def _texts(random: Random) -> tuple[str, Any]:
    length = random.choice((0, 1, 3, 5))
    name = random.choice((f"CHAR({length})", f"VARCHAR({length})", "TINYTEXT", f"VARCHAR({length})"))
    charset = random.choice(
        ("", "", " CHARACTER SET latin1", " CHARACTER SET utf8mb3", " CHARACTER SET ucs2", " CHARACTER SET utf16",
         " CHARACTER SET ascii", " CHARACTER SET cp1251", " CHARACTER SET sjis", " CHARACTER SET gbk",
         " CHARACTER SET binary")
    )  # fmt: skip
    alphabet = "abc \t\n\0%_'\"\\éß€я日😀 "

    def cell() -> Any:
        if random.random() < 0.15:
            return _number(random)
        if random.random() < 0.1:
            return {"hex": "".join(random.choices("0123456789abcdef", k=2 * random.randint(0, 6)))}
        return "".join(random.choices(alphabet, k=random.randint(0, length + 2))) + random.choice(("", "", "  ", "\t"))

    return name + charset, cell


def _bytes(random: Random) -> tuple[str, Any]:
    length = random.choice((1, 3, 4))
    name = random.choice((f"BINARY({length})", f"VARBINARY({length})", "TINYBLOB"))

    def cell() -> Any:
        if random.random() < 0.7:
            return {"hex": "".join(random.choices(("00", "20", "ff", "41", "0a"), k=random.randint(0, length + 1)))}
        return random.choice(("a", "ab ", "é", "日", 12, 1.5, "", "abcd\0"))

    return name, cell


def _members(random: Random) -> tuple[str, Any]:
    members = random.choice((("a", "B", "c"), ("", "x"), ("1", "2", "0"), ("é", "e", "日"), ("a b", "a", "A ")))
    name = random.choice(("ENUM", "SET"))
    listed = ",".join(f"'{member}'" for member in members)

    def cell() -> Any:
        picked = ",".join(random.choices(members, k=random.choice((1, 1, 2, 3) if name == "SET" else (1,))))
        other = random.choice(
            (
                "",
                "b",
                "A",
                "a ",
                " a",
                "1",
                "2",
                "3",
                "4",
                "0",
                "-1",
                " 2",
                "2 ",
                "1.0",
                0,
                1,
                2,
                3,
                8,
                7,
                ",",
                "a,",
                ",c",
                "x'41'",
            )
        )
        return other if random.random() < 0.5 else picked

    return f"{name}({listed})", cell


_JSON_TEXTS = (
    "null", "true", "1", "-0", "1.0", "1e2", "0.1", "1e400", "-1e-400", "18446744073709551615", "18446744073709551616",
    "-9223372036854775809", '"a"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', "[]", "{}", "[1, 2]",
    '{"a": 1, "a": 2}',
    '{"b": 1, "a": [true, null]}', "[1,]", "{a: 1}", "'a'", "", " 1 ", "\t[ 1 ]\n", "01", "+1", ".5", "5.", "NaN",
    "tru",
    '"\n"', '"\\x"', '"\\/"', "[[[]]]", '{"": 0}', '{"a": {"b": {"c": []}}}', "1 2", "[1 2]", "4294967296",
    "2147483648",
    "-2147483649", "32768", "65536", "123456789012345678901234567890", "1.5e3", "100000000000000000000.5", '"\\u0000"',
)  # fmt: skip


def _json(random: Random) -> tuple[str, Any]:
    def cell() -> Any:
        text = random.choice(_JSON_TEXTS)
        shape = random.randrange(6)
        if shape == 0:
            return f"[{text}, {random.choice(_JSON_TEXTS)}]"
        if shape == 1:
            return f'{{"k": {text}, "kk": {random.choice(_JSON_TEXTS)}}}'
        if shape == 2:
            return number_text(random)
        return text

    return "JSON", cell


_GEOMETRIES = (
    "POINT(1 2)", "POINT (1 2)", " point( -1.5  2e3 )", "POINT(1 2 3)", "POINT(1)", "POINT EMPTY",
    "LINESTRING(0 0, 1 1)",
    "LINESTRING(0 0)", "LINESTRING(0 0,0 0)", "POLYGON((0 0, 0 1, 1 1, 0 0))", "POLYGON((0 0, 1 1, 0 1, 0 0))",
    "POLYGON((0 0, 0 1, 1 1))", "POLYGON((0 0,0 0,0 0,0 0))", "MULTIPOINT(0 0, 1 1)", "MULTIPOINT((0 0), (1 1))",
    "MULTIPOINT((0 0), 1 1)", "MULTILINESTRING((0 0, 1 1), (2 2, 3 3))", "MULTIPOLYGON(((0 0, 0 1, 1 1, 0 0)))",
    "GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION()", "GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1))",
    "GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)))", "POINT(1 2", "POINT(a b)", "POINT(1,2)", "POINT(1e400 0)",
    "POINT(-0 0)",
    "POINT(1 2) ", "POINT(.5 5.)", "POINT(+1 1)", "SRID=4326;POINT(16 48)", "SRID=0;POINT(1 2)", "POINT(0x1 2)",
    "GEOMCOLLECTION(POINT(1 2))",
)  # fmt: skip


def _geometries(random: Random) -> tuple[str, Any]:
    name = random.choice(
        ("GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "GEOMETRYCOLLECTION", "MULTIPOLYGON")
    )
    return name, lambda: random.choice(_GEOMETRIES)


def _addresses(random: Random) -> tuple[str, Any]:
    def piece() -> str:
        return random.choice(("", "0", "1", "ff", "ffff", "0db8", "12345", "g", "1.2.3.4", "0001"))

    def cell() -> Any:
        return random.choice(
            (":".join(piece() for _ in range(random.choice((2, 3, 4, 8, 8, 9)))),
             ".".join(str(random.choice((0, 1, 255, 256, "01", "007"))) for _ in range(random.choice((3, 4, 4, 5)))),
             "::", "::1", "::ffff:1.2.3.4", "1::2::3", " ::1", "::1 ",
             "-".join((f"{random.getrandbits(32):08x}", "1234", "5678", "9abc", f"{random.getrandbits(48):012x}")),
             f"{random.getrandbits(128):032x}",
             f"{{{random.getrandbits(128):032x}}}", {"hex": f"{random.getrandbits(128):032x}"})
        )  # fmt: skip

    return random.choice(("INET6", "INET4", "UUID")), cell


def _vectors(random: Random) -> tuple[str, Any]:
    length = random.choice((1, 2, 3))

    def cell() -> Any:
        if random.random() < 0.3:
            return {"hex": "0000803f" * random.randint(0, length + 1)}
        count = random.choice((length, length, length, length + 1, 0))
        return "[" + random.choice((",", ", ")).join(number_text(random) for _ in range(count)) + "]"

    return f"VECTOR({length})", cell


_TYPES = {
    "integers": _integers, "decimals": _decimals, "floats": _floats, "bits": _bits, "years": _years,
    "temporals": _temporals, "moments": _temporals, "texts": _texts, "bytes": _bytes, "members": _members,
    "json": _json,
    "geometries": _geometries, "addresses": _addresses, "vectors": _vectors,
}  # fmt: skip
