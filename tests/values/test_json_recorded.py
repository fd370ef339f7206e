"""Documents that MySQL 9.7 logged: our own SQL, the bytes of WRITE_ROWS and UPDATE_ROWS, the text of SELECT."""

import json
from pathlib import Path
from typing import Any

import pytest

from forge.errors import UnsupportedError
from forge.values.base import Column
from forge.values.json.binary import decode_document, encode_document
from forge.values.json.codec import JSON
from forge.values.json.text import format_json, parse_json

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "json_recorded.json").read_text())
COLUMN = Column(245, b"\x04")


@pytest.mark.parametrize(("text", "document", "printed"), RECORDED["text"])
def test_json_text_becomes_the_bytes_and_the_text_of_the_server(text: str, document: str, printed: str) -> None:
    value = JSON.accept(COLUMN, text)
    assert value.hex() == document
    assert JSON.text(COLUMN, value) == printed
    assert JSON.accept(COLUMN, printed) == value


@pytest.mark.parametrize(("text", "document", "printed"), RECORDED["text"])
def test_decoding_and_encoding_again_keeps_every_type(text: str, document: str, printed: str) -> None:
    assert encode_document(decode_document(bytes.fromhex(document))).hex() == document


@pytest.mark.parametrize(("expression", "document", "printed"), RECORDED["sql"])
def test_values_of_sql_types_print_as_the_server_prints_them(expression: str, document: str, printed: str) -> None:
    data = bytes.fromhex(document)
    assert JSON.text(COLUMN, data) == printed
    assert encode_document(decode_document(data)) == data


@pytest.mark.parametrize(("document", "printed"), RECORDED["patched"])
def test_documents_patched_in_place_read_as_their_new_value_and_keep_their_bytes(document: str, printed: str) -> None:
    data = bytes.fromhex(document)
    assert JSON.decode(COLUMN, JSON.encode(COLUMN, data)) == data
    assert JSON.text(COLUMN, data) == printed
    canonical = encode_document(decode_document(data))
    assert canonical != data
    assert JSON.text(COLUMN, canonical) == printed


#: The first 9 bytes that the server logged for documents around the limit of small containers.
BOUNDARY = [
    ("an array of 65535 bytes is small", ["z" * 65525], "020100ffff0c0700f5"),
    ("an array of 65536 bytes is large", ["z" * 65526], "030100000006000100"),
    ("an object of 65531 bytes is small", {"k" * 65520: 1}, "000100fbff0b00f0ff"),
    ("an object of 65536 bytes is large", {"k" * 65525: 1}, "010100000008000100"),
    ("21843 elements are small", [1] * 21843, "025355fdff05010005"),
    ("21844 elements are large", [1] * 21844, "0354550000acaa0100"),
    ("65536 elements are large", [1] * 65536, "030000010008000500"),
    ("9361 numbers of 32 bits are small", [70000] * 9361, "029124fbff07b76d07"),
    ("9362 numbers of 32 bits are inlined in a large array", [70000] * 9362, "0392240000e2b60000"),
    ("5000 members are large", {f"{i:05}": i for i in range(5000)}, "00881364eabc880500"),
    ("6000 members are large", {f"{i:05}": i for i in range(6000)}, "017017000008770100"),
    ("a large leaf makes its parent large", [70000, {"a": 1}, "z" * 65525], "03030000001b000100"),
    (
        "a large leaf makes every ancestor large",
        [1, [70000, {"k": ["z" * 65490]}], [70000], {"s": -70000}],
        "03040000002d000100",
    ),
]


@pytest.mark.parametrize(("value", "head"), [pytest.param(*case[1:], id=case[0]) for case in BOUNDARY])
def test_containers_turn_large_where_the_server_turns_them(value: Any, head: str) -> None:
    document = encode_document(value)
    assert document[:9].hex() == head
    assert decode_document(document) == value


def test_siblings_of_a_large_container_stay_small() -> None:
    document = encode_document([["z" * 65526], ["a"]])
    assert document[0] == 3
    assert document.endswith(bytes.fromhex("0100 0900 0c0700 0161".replace(" ", "")))


@pytest.mark.parametrize(("expression", "document", "printed"), RECORDED["sql"])
def test_sql_gives_an_expression_of_the_same_types_or_says_that_there_is_none(
    expression: str, document: str, printed: str
) -> None:
    data = bytes.fromhex(document)
    if "type249" in printed:
        with pytest.raises(UnsupportedError, match="column type 249"):
            JSON.sql(COLUMN, data)
    else:
        assert JSON.sql(COLUMN, data)


def test_text_documents_are_sent_as_json_text() -> None:
    data = encode_document(parse_json('{"a": ["é", "it\'s"]}'))
    assert JSON.sql(COLUMN, data) == r"""_utf8mb4'{"a": ["é", "it\'s"]}'"""
    assert format_json(decode_document(data)) == '{"a": ["é", "it\'s"]}'
