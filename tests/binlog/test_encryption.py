"""Encrypted logs of real servers (MySQL 9.7, MariaDB 10.11 with both its ciphers): opened, listed, and sealed again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cryptography", reason="the extra `encryption` is not installed")

from forge.binlog import read_events, write_binlog
from forge.binlog.encryption import Keyring, MariadbSeal, MysqlSeal, is_sealed, read_keyring, seal, unseal
from forge.binlog.encryption.keyring import key_of_hex
from forge.binlog.encryption.seal import HEADER_SIZE, new_seal, read_header
from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.listing.sealed import assemble_sealed, sealed_listing
from forge.cli.app import run
from forge.errors import FormatError, ScenarioError
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.rows_query import RowsQuery
from forge.events.start_encryption import StartEncryption
from forge.events.stop import Stop

DATA = Path(__file__).parent / "data" / "encrypted"
MYSQL = DATA / "mysql-9.7.000001"
CBC, CTR = (DATA / f"mariadb-10.11-{cipher}.000001" for cipher in ("cbc", "ctr"))
LOGS = {MYSQL: "keyring.json", CBC: "keys.txt", CTR: "keys.txt"}
BY_LOG = pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)


def keyring_for(log: Path) -> Keyring:
    return read_keyring((DATA / LOGS[log]).read_bytes())


@BY_LOG
def test_a_log_of_a_real_server_is_opened_and_sealed_again(log: Path) -> None:
    data, keyring = log.read_bytes(), keyring_for(log)
    assert is_sealed(data)
    plain, found = unseal(data, keyring)
    names = [placed.event.type_name for placed in read_events(plain)]
    assert {"QUERY", "XID"} < set(names)
    assert "ROTATE" in names[-2:]
    assert seal(plain, found, keyring) == data
    assert isinstance(found, MysqlSeal) == (log == MYSQL)


@BY_LOG
@pytest.mark.parametrize("as_json", [False, True])
def test_a_listing_has_the_events_and_gives_the_encrypted_file_again(log: Path, as_json: bool) -> None:
    data, keyring = log.read_bytes(), keyring_for(log)
    text = "".join(sealed_listing(data, keyring, as_json=as_json))
    assert "bytes:" not in text
    assert "CREATE DATABASE shop" in text
    assert assemble_sealed(text, keyring) == data
    with pytest.raises(ScenarioError, match="the listing is of an encrypted log"):
        assemble_sealed(text, None)


@BY_LOG
@given(place=st.integers(0, 2000), value=st.integers(0, 255), cut=st.integers(0, 300))
def test_the_listing_of_any_damaged_encrypted_log_gives_it_again(log: Path, place: int, value: int, cut: int) -> None:
    data = bytearray(log.read_bytes())
    data[place % len(data)] = value
    damaged, keyring = bytes(data[: len(data) - cut]), keyring_for(log)
    try:
        text = "".join(sealed_listing(damaged, keyring))
    except ScenarioError:
        # The damage is in the name of the key.
        assert log == MYSQL
        assert place % len(data) < 70
        return
    assert assemble_sealed(text, keyring) == damaged


@BY_LOG
def test_without_keys_what_is_encrypted_is_bytes(log: Path) -> None:
    data = log.read_bytes()
    documents = list(disassemble(data))
    assert [document["event"] for document in documents if "event" in document] in (
        [],
        ["FORMAT_DESCRIPTION", "START_ENCRYPTION"],
    )
    assert assemble("".join(listing_text(data))) == data


def test_another_key_is_told_from_the_right_one() -> None:
    log = CBC
    with pytest.raises(FormatError, match="key 2 of the keyring does not open the events"):
        unseal(log.read_bytes(), keyring_for(log), key=2)
    with pytest.raises(ScenarioError, match="the keyring has no key 7; expected one of 1, 2"):
        unseal(log.read_bytes(), keyring_for(log), key=7)
    with pytest.raises(ScenarioError, match="the keyring has no key 'MySQLReplicationKey_"):
        unseal(MYSQL.read_bytes(), Keyring())


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (b"\xfdbin\x01", "the header of an encrypted file has 512 bytes, but only 5 are left"),
        (b"\xfdbin\x02".ljust(512, b"\0"), "version 2 of encrypted files is not known"),
        (b"\xfdbin\x01".ljust(512, b"\0"), "field 1 of the header is missing"),
    ],
)
def test_a_damaged_header_is_one_sentence(header: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        read_header(header)


def test_a_log_of_ours_is_encrypted_as_mysql_does_it_and_positions_do_not_count_the_header() -> None:
    description = FormatDescription(server_version="9.7.4", post_header_lengths=bytes(42))
    plain = write_binlog([Event(body=description), Event(body=Stop())])
    keyring = Keyring(named={"k_1": bytes(range(32))})
    data = seal(plain, new_seal("k_1", keyring, plain), keyring)
    assert len(data) == HEADER_SIZE + len(plain)
    assert unseal(data, keyring)[0] == plain
    assert seal(plain, new_seal("k_1", keyring, plain), keyring) == data
    with pytest.raises(FormatError, match="no START_ENCRYPTION"):
        seal(plain, MariadbSeal(), Keyring(only=bytes(16)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{}", "no keyring of component_keyring_file"),
        (b"# none\n1,00\n", "2: this line has no key"),
        (b"1;zz", "1: this is no key"),
        (b"\xff\xfe", "this keyring is not text"),
    ],
)
def test_a_keyring_of_another_form_is_refused_with_its_line(content: bytes, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        read_keyring(content)


def test_keys_have_the_sizes_of_aes() -> None:
    assert len(key_of_hex("00" * 24)) == 24
    with pytest.raises(ScenarioError, match="32, 48 or 64 hexadecimal digits"):
        key_of_hex("00")


def test_the_commands_open_and_seal_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    keys, log = ["--keys", str(DATA / "keys.txt")], str(CBC)
    plain, again, listing = (str(tmp_path / name) for name in ("plain", "again", "listing"))
    assert run(["decrypt", log, "-o", plain, *keys]) == 0
    assert run(["encrypt", plain, "-o", again, "--key", "00112233445566778899aabbccddeeff"]) == 0
    assert Path(again).read_bytes() == Path(log).read_bytes()
    assert run(["disasm", log, "-o", listing, *keys]) == 0
    assert run(["asm", listing, "-o", again, *keys]) == 0
    assert Path(again).read_bytes() == Path(log).read_bytes()
    assert run(["dump", log, *keys]) == 0
    assert "INSERT INTO shop.t" in capfd.readouterr().out
    assert run(["bytes", log, "--event", "4", *keys]) == 0
    assert "MARIADB_GTID" in capfd.readouterr().out
    assert run(["dump", log]) == 3
    assert "the events from here on are encrypted" in capfd.readouterr().err
    assert run(["decrypt", log, "-o", plain]) == 2


def test_a_log_of_percona_server_is_encrypted_as_its_source_says(tmp_path: Path) -> None:
    """Percona Server 5.7: AES-128-CBC of all but size and time, with an encrypted vector; what is left of a block is
    masked with the vector encrypted once more.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key, nonce = bytes(range(16)), b"twelve bytes"
    description = FormatDescription(server_version="5.7.44-48-log", post_header_lengths=bytes(164))
    events = [description, StartEncryption(key_version=3, nonce=nonce), RowsQuery(query="SELECT 1"), Stop()]
    plain = write_binlog([Event(body=body, timestamp=0x01020304) for body in events])
    placed = list(read_events(plain))[2]
    event = plain[placed.offset : placed.offset + 19 + 1 + 8 + 4]
    ecb = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    vector = ecb.update(nonce + placed.offset.to_bytes(4, "little"))
    moved = event[:9] + event[:4] + event[13:]
    whole = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor().update(moved[4:20])
    tail = bytes(one ^ other for one, other in zip(moved[20:], ecb.update(vector), strict=False))
    hidden = bytes(4) + whole + tail
    expected = hidden[9:13] + hidden[4:9] + event[9:13] + hidden[13:]

    keyring = Keyring(named={"percona_binlog:3": key})
    data = seal(plain, MariadbSeal(1, "percona"), keyring)
    assert data[placed.offset : placed.offset + len(event)] == expected
    assert unseal(data, keyring) == (plain, MariadbSeal(1, "percona"))
    assert unseal(data, Keyring(only=key))[0] == plain
    text = "".join(sealed_listing(data, keyring))
    assert "cipher: percona" in text
    assert assemble_sealed(text, keyring) == data
    (tmp_path / "plain").write_bytes(plain)
    log, opened = tmp_path / "encrypted", tmp_path / "opened"
    given = ["--key", key.hex()]
    assert run(["encrypt", str(tmp_path / "plain"), "-o", str(log), "--cipher", "percona", *given]) == 0
    assert log.read_bytes() == data
    assert run(["decrypt", str(log), "-o", str(opened), *given]) == 0
    assert opened.read_bytes() == plain
