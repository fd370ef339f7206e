"""What each character set does differently from the Python codec nearest to it (recorded on MySQL 9.7 and MariaDB)."""

from __future__ import annotations

import re

import pytest

from forge.charsets import charset, charset_names
from forge.charsets.base import Family
from forge.errors import FormatError, ScenarioError

#: charset, bytes, text: the server converts each to the other.
BOTH_WAYS = [
    ("latin1", "80 81 8d 8f 90 9d ff", "€\x81\x8d\x8f\x90\x9dÿ"),
    ("ascii", "41 7f", "A\x7f"),
    ("latin2", "a1 ff", "Ą˙"),
    ("latin5", "d0 fd", "Ğı"),
    ("latin7", "a1 ff", "”’"),
    ("cp1250", "80 8a", "€Š"),
    ("cp1251", "c0 ff", "Ая"),
    ("cp1256", "80 81", "€پ"),
    ("cp1257", "80 c0", "€Ą"),
    ("cp850", "80 d5", "Çı"),
    ("cp852", "80 a4", "ÇĄ"),
    ("cp866", "80 fc fd", "Аⁿ²"),
    ("greek", "a1 a2 c1", "ʽʼΑ"),
    ("hebrew", "af e0", "‾א"),
    ("koi8r", "95 c1", "∙а"),
    ("koi8u", "95 a4", "•є"),
    ("macce", "80 81", "ÄĀ"),
    ("macroman", "80 db", "Ä€"),
    ("hp8", "a1 ba", "À¤"),
    ("tis620", "80 9f a1 ff", "\x80\x9fก\ufffd"),
    ("dec8", "a8 d7 dd f7 fd", "¤ŒŸœÿ"),
    ("swe7", "40 5b 5c 5d 5e 60 7b 7c 7d 7e 24", "ÉÄÖÅÜéäöåü$"),
    ("geostd8", "80 c0 c8", "€ათ"),
    ("armscii8", "a2 b2 b3", "§Աա"),
    ("keybcs2", "80 91 87", "Čžč"),
    ("utf8mb4", "f0 9f 98 80 c3 a9", "😀é"),
    ("utf8mb3", "ef bf bf c3 a9", "\uffffé"),
    ("ucs2", "00 e9 ff fd", "é\ufffd"),
    ("utf16", "d8 3d de 00 00 e9", "😀é"),
    ("utf16le", "3d d8 00 de e9 00", "😀é"),
    ("utf32", "00 01 f6 00", "😀"),
    ("gbk", "81 40 b0 a1", "丂啊"),
    ("gb2312", "b0 a1", "啊"),
    ("gb18030", "a8 bc 81 35 f4 37 81 30 81 30 90 30 81 30", "ḿ\ue7c7\x80𐀀"),
    ("big5", "a4 40 f9 d6 a2 ce", "一碁\ufffd"),
    ("sjis", "81 5f b1 88 9f", "\\ｱ亜"),
    ("cp932", "81 5f 5c fa 40", "＼\\ⅰ"),
    ("euckr", "b0 a1 81 41", "가갂"),
    ("ujis", "8e b1 f5 a1 8f f5 a1 5c", "ｱ\ue000\ue3ac\\"),
    ("eucjpms", "a1 c1 a1 c2 a1 dd a1 f1 a1 f2 a2 cc ad a1", "～∥－￠￡￢①"),
    ("binary", "00 ff", "\x00\xff"),
]

#: charset, bytes, text: more bytes than one become the same text.
ONLY_DECODED = [
    ("sjis", "5c", "\\"),
    ("ujis", "a1 c0", "\\"),
    ("ujis", "8f a2 b7", "~"),
    ("cp932", "87 90", "≒"),
    ("cp932", "ed 40", "纊"),
    ("eucjpms", "ad f0", "≒"),
    ("armscii8", "a4 a5 a9 ab ac ff", ")(.,-'"),
]
#: charset, text, bytes: the server stores it, and gives back another character.
ONLY_ENCODED = [
    ("cp932", "晡", "fa d7"),
    ("tis620", "\U00010e01", "a1"),
    ("tis620", "\U000f0041", "41"),
]
#: Valid in the set (a column keeps them), but no character.
WITHOUT_CHARACTER = [
    ("cp1250", "81 83 88 90 98"), ("cp1251", "98"), ("cp1256", "8a 8f 98 9a 9f aa c0 ff"),
    ("cp1257", "81 83 88 8a 8c 90 98 9a 9c 9f a1 a5"), ("greek", "a4 a5 aa ae d2 ff"), ("hebrew", "a1 bf c0 fb"),
    ("hp8", "ff"), ("tis620", "a0 db dc dd de fc fd fe"), ("swe7", "7f 80 ff"),
    ("dec8", "a4 a6 ac ad ae af b4 b8 be d0 de f0 fe ff"), ("geostd8", "81 83 88 8a 8c"),
]  # fmt: skip
WITHOUT_CHARACTER_PAIRS = [
    ("big5", "a1 5a"), ("big5", "a1 c3"), ("big5", "a1 c5"), ("big5", "a1 fe"), ("big5", "a2 40"), ("big5", "a2 cc"),
    ("big5", "a3 c0"), ("sjis", "87 40"), ("sjis", "81 ad"), ("cp932", "81 ad"), ("gbk", "a1 40"), ("gb2312", "a2 a1"),
    ("euckr", "a2 e8"), ("ujis", "8e a0"), ("ujis", "a2 af"), ("eucjpms", "8e a0"), ("gb18030", "fe 39 fe 39"),
    ("ucs2", "d8 00"), ("ucs2", "d8 3d de 00"),
]  # fmt: skip
#: charset, bytes, offset of the character that no column would keep.
MALFORMED = [
    ("ascii", "41 80", 1), ("utf8mb4", "41 c0 80", 1), ("utf8mb4", "ed a0 80", 0), ("utf8mb4", "f4 90 80 80", 0),
    ("utf8mb4", "41 e2 82", 1), ("utf8mb3", "c3 a9 f0 9f 98 80", 2), ("ucs2", "00 41 00", 2),
    ("utf16", "00 41 de 00", 2),
    ("utf16", "d8 3d", 0), ("utf16le", "3d d8 41 00", 0), ("utf32", "00 11 00 00", 0), ("utf32", "00 00 d8 00", 0),
    ("utf32", "00 00 00", 0), ("gbk", "41 80 40", 1), ("gbk", "b0 7f", 0), ("gb2312", "a1 a1 f8 a1", 2),
    ("gb18030", "81 30 81 3a", 0), ("gb18030", "41 81 30 81", 1), ("big5", "a4 7f", 0), ("big5", "fa 40", 0),
    ("sjis", "41 80", 1), ("sjis", "a0", 0), ("sjis", "81 7f", 0), ("cp932", "80", 0), ("cp932", "fd", 0),
    ("euckr", "b0 5b", 0), ("ujis", "a1 41", 0), ("ujis", "8f a1", 0), ("eucjpms", "41 8e e0", 1),
]  # fmt: skip


def test_every_charset_of_mysql_9_7_is_there() -> None:
    assert len(charset_names()) == 41
    assert {name for name, _, _ in BOTH_WAYS} == set(charset_names())


@pytest.mark.parametrize(("name", "data", "text"), BOTH_WAYS)
def test_the_server_converts_these_bytes_and_this_text_into_each_other(name: str, data: str, text: str) -> None:
    assert charset(name).decode(bytes.fromhex(data)) == text
    assert charset(name).encode(text) == bytes.fromhex(data)


@pytest.mark.parametrize(("name", "data", "text"), ONLY_DECODED)
def test_the_server_decodes_these_bytes_and_encodes_their_text_otherwise(name: str, data: str, text: str) -> None:
    assert charset(name).decode(bytes.fromhex(data)) == text
    assert charset(name).encode(text) != bytes.fromhex(data)
    assert charset(name).decode(charset(name).encode(text)) == text


@pytest.mark.parametrize(("name", "text", "data"), ONLY_ENCODED)
def test_the_server_stores_this_character_as_another_ones_bytes(name: str, text: str, data: str) -> None:
    assert charset(name).encode(text) == bytes.fromhex(data)
    assert charset(name).decode(bytes.fromhex(data)) != text


def test_a_backslash_becomes_two_bytes_in_sjis() -> None:
    assert charset("sjis").encode("a\\b") == bytes.fromhex("61 81 5f 62")


@pytest.mark.parametrize(
    ("name", "data"),
    [(name, f"{byte:02x}") for name, data in WITHOUT_CHARACTER for byte in bytes.fromhex(data)]
    + WITHOUT_CHARACTER_PAIRS,
)
def test_valid_bytes_without_a_character_are_refused_and_called_valid(name: str, data: str) -> None:
    raw = bytes.fromhex(data)
    assert charset(name).well_formed(raw)
    with pytest.raises(FormatError, match=f"are valid {name} but no character") as caught:
        charset(name).decode(raw)
    assert (caught.value.phase, caught.value.offset) == ("value", 0)


@pytest.mark.parametrize(("name", "data", "offset"), MALFORMED)
def test_malformed_bytes_are_refused_with_their_offset(name: str, data: str, offset: int) -> None:
    raw = bytes.fromhex(data)
    assert not charset(name).well_formed(raw)
    assert charset(name).well_formed_length(raw) == offset
    with pytest.raises(FormatError, match=f"are not valid {name}") as caught:
        charset(name).decode(raw)
    assert (caught.value.phase, caught.value.offset) == ("value", offset)


def test_half_a_character_does_not_count_on_a_python_before_3_11_5() -> None:
    """``re`` there ends a possessive group in the middle of a character: 81 30 81 3a had a well-formed byte."""
    assert charset("gb18030").well_formed_length(bytes.fromhex("81 30 81 3a")) == 0
    assert charset("gb18030").well_formed_length(bytes.fromhex("41 81 30 81 30 81 30 81 3a")) == 5


@pytest.mark.parametrize("count", [1023, 1024, 1025, 2048, 5000])
def test_a_long_string_is_well_formed_up_to_its_first_broken_character(count: int) -> None:
    text = "é漢😀a" * count
    raw = text.encode()
    assert charset("utf8mb4").well_formed_length(raw) == len(raw)
    assert charset("utf8mb4").well_formed_length(raw + b"\xe2\x82") == len(raw)
    assert b"".join(charset("utf8mb4").characters(raw + b"\xff")) == raw


@pytest.mark.parametrize(
    ("name", "data", "kept_by"),
    [
        ("ascii", "80", ["mariadb"]),
        ("utf8mb3", "ed a0 80", ["mariadb"]),
        ("utf8mb4", "ed bf bf", ["mariadb"]),
        ("utf32", "00 00 d8 00", ["mariadb"]),
        ("ujis", "8e a0", ["mysql"]),
        ("eucjpms", "8e a0", ["mysql"]),
        ("ucs2", "d8 00", ["mysql", "mariadb"]),
        ("utf16", "d8 00", []),
        ("latin1", "81", ["mysql", "mariadb"]),
    ],
)
def test_the_families_disagree_on_which_bytes_a_column_keeps(name: str, data: str, kept_by: list[Family]) -> None:
    families: tuple[Family, ...] = ("mysql", "mariadb")
    assert [family for family in families if charset(name).well_formed(bytes.fromhex(data), family)] == kept_by


@pytest.mark.parametrize(
    ("name", "text", "character"),
    [
        ("latin1", "añ→", "'→' (U+2192)"), ("ascii", "é", "'é' (U+00E9)"), ("utf8mb3", "a😀", "'😀' (U+1F600)"),
        ("ucs2", "😀", "'😀' (U+1F600)"), ("utf8mb4", "a\ud800", r"'\ud800' (U+D800)"), ("sjis", "¥", "'¥' (U+00A5)"),
        ("cp932", "a¢", "'¢' (U+00A2)"), ("gb2312", "啊€", "'€' (U+20AC)"), ("swe7", "a[", "'[' (U+005B)"),
        ("binary", "a€", "'€' (U+20AC)"), ("cp866", "№", "'№' (U+2116)"), ("hebrew", "¯", "'¯' (U+00AF)"),
    ],
)  # fmt: skip
def test_a_character_that_the_set_cannot_hold_is_named(name: str, text: str, character: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(f"character set {name} cannot hold the character {character}")):
        charset(name).encode(text)


@pytest.mark.parametrize(
    ("lengths", "names"),
    [
        ((1, 2), "big5 gb2312 gbk sjis cp932 euckr"), ((1, 3), "utf8mb3 ujis eucjpms"), ((1, 4), "utf8mb4 gb18030"),
        ((2, 2), "ucs2"), ((2, 4), "utf16 utf16le"), ((4, 4), "utf32"), ((1, 1), "latin1 binary ascii swe7 tis620"),
    ],
)  # fmt: skip
def test_lengths_of_the_shortest_and_longest_character(lengths: tuple[int, int], names: str) -> None:
    for name in names.split():
        assert (charset(name).min_length, charset(name).max_length) == lengths


def test_names_are_found_in_any_case_and_utf8_means_utf8mb3() -> None:
    assert charset("LATIN1") is charset("latin1")
    assert charset("utf8") is charset("utf8mb3")


def test_an_unknown_charset_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match=r"^unknown character set 'latn1'; did you mean 'latin1'\?$"):
        charset("latn1")


def test_a_make_up_sequence_of_hangul_letters_stays_letters_in_euckr() -> None:
    """Python's euc_kr joins them to one syllable, which no server does."""
    raw = bytes.fromhex("a4 d4 a4 a1 a4 bf a4 d4")
    assert charset("euckr").decode(raw) == "ㅤㄱㅏㅤ"
    assert charset("euckr").encode("ㅤㄱㅏㅤ") == raw


@pytest.mark.parametrize("name", ["latin1", "utf8mb4", "sjis", "utf16", "binary"])
def test_a_memoryview_decodes_like_bytes(name: str) -> None:
    raw = charset(name).encode("ab")
    assert charset(name).decode(memoryview(raw)) == "ab"  # type: ignore[arg-type]
    assert charset(name).well_formed(memoryview(raw))  # type: ignore[arg-type]
