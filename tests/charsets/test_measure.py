"""Comparing with real servers, and making the data files from what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from forge.charsets import collation, tables
from forge.errors import EnvironmentMissing, ScenarioError
from tests.charsets.measuring.codecs import Difference, differences, main, measure
from tests.charsets.measuring.live import LiveServer
from tests.charsets.measuring.observe import mapped
from tests.charsets.measuring.patching import runs
from tests.charsets.measuring.weights import disagreements


class Home(Protocol):
    def run(self, name: str) -> Path: ...


def test_successive_characters_with_successive_bytes_become_one_line() -> None:
    pairs: set[tuple[bytes | None, str | None]] = {
        (b"\xf5\xa1", "\ue000"),
        (b"\xf5\xa2", "\ue001"),
        (b"\xf6\xa1", "\ue002"),
    }
    assert runs(pairs, by_character=False) == [("f5a1", "e000", "2"), ("f6a1", "e002", "1")]
    assert runs({(None, "a"), (None, "b"), (None, "d")}, by_character=True) == [("-", "0061", "2"), ("-", "0064", "1")]
    assert runs({(b"\x80", None), (b"\x81", None)}, by_character=False) == [("80", "-", "2")]


@pytest.mark.parametrize("name", [*tables.SINGLE_BYTE, *tables.MULTI_BYTE])
def test_the_data_file_of_a_charset_says_nothing_that_its_python_codec_does(name: str) -> None:
    codec = tables.SINGLE_BYTE.get(name) or tables.MULTI_BYTE[name].codec
    patch = tables.patch(name)
    assert [raw for raw, character in patch.decoding.items() if tables.python_decode(codec, raw) == character] == []
    assert [c for c, raw in patch.encoding.items() if tables.python_encode(codec, c) == raw] == []


def test_a_question_mark_counts_as_a_character_only_where_the_bytes_have_one() -> None:
    genuine = {"?": b"?", "\ufffd": None}
    assert mapped(b"a?", b"a?".hex(), genuine) == "a?"
    assert mapped(b"a\x81", b"a?".hex(), genuine) is None
    assert mapped(b"\xa0", "\ufffd".encode().hex(), genuine) is None
    assert mapped(b"\xa0", "\ufffd".encode().hex(), {"\ufffd": b"\xa0"}) == "\ufffd"
    assert mapped(b"\xd8\x00", "eda080", genuine) is None
    assert mapped(b"\xd8\x00", "", genuine) is None


def test_a_difference_reads_as_one_line() -> None:
    found = Difference("cp866", "decode", "fd", None, "U+00B2")
    assert str(found) == "cp866: decode fd: ours refuses, server U+00B2"


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match=r"no unpacked server at .*mysql97.*make servers"):
        measure(tmp_path / "mysql97", "latin1")


@pytest.mark.servers
@pytest.mark.slow
@pytest.mark.parametrize("server_name", ["mysql97", pytest.param("maria1011", marks=pytest.mark.nightly), "maria118"])
def test_a_real_server_and_we_agree(server_name: str, servers: Home) -> None:
    with LiveServer(servers.run(server_name)) as server:
        assert differences(server, "koi8u") == []
        assert disagreements(server, collation("latin1_swedish_ci")) == []
        if server.family == "mariadb":
            with pytest.raises(ScenarioError, match=r"the server maria.* has no character set gb18030"):
                differences(server, "gb18030")


@pytest.mark.nightly
@pytest.mark.servers
@pytest.mark.slow
def test_a_wrong_table_is_found_out(
    servers: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forge.charsets import registry

    monkeypatch.setitem(tables.SINGLE_BYTE, "koi8u", "koi8-r")
    registry.forget()
    try:
        assert main(["--server", str(servers.run("mysql97")), "--charset", "koi8u"]) == 1
    finally:
        monkeypatch.undo()
        registry.forget()
    assert "koi8u: decode a4: ours U+2553, server U+0454" in capsys.readouterr().out
