"""Encrypted logs in pieces: the same plain bytes as whole, wherever reading stops, and the same rows by every way."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest

from forge.binlog.encryption.keyring import Keyring, read_keyring
from forge.binlog.encryption.seal import unseal
from forge.binlog.encryption.stream import plain_stream
from forge.binlog.opened import opened
from forge.cli.app import run
from forge.errors import FormatError, ScenarioError

DATA = Path(__file__).parent / "data" / "encrypted"
LOGS = sorted(DATA.glob("*.000001"))


def keyring_file(log: Path) -> Path:
    return DATA / ("keyring.json" if log.name.startswith("mysql") else "keys.txt")


def keyring(log: Path) -> Keyring:
    return read_keyring(keyring_file(log).read_bytes())


@pytest.fixture(autouse=True)
def _cryptography() -> None:
    pytest.importorskip("cryptography")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_pieces_of_any_size_are_the_plain_log(log: Path) -> None:
    data, keys = log.read_bytes(), keyring(log)
    plain = unseal(data, keys)[0]
    assert plain_stream(io.BytesIO(data), keys).read() == plain
    sizes = random.Random(log.name)
    stream, found = plain_stream(io.BytesIO(data), keys), b""
    while piece := stream.read(sizes.randrange(1, 300)):
        found += piece
    assert found == plain


def test_a_log_that_is_not_encrypted_is_the_same_with_keys() -> None:
    log = next(log for log in LOGS if log.name.startswith("mysql"))
    plain = unseal(log.read_bytes(), keyring(log))[0]
    assert opened(io.BytesIO(plain), keyring(log)).read() == opened(io.BytesIO(plain), None).read() == plain


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_torn_encrypted_log_gives_what_whole_reading_gives(log: Path) -> None:
    data, keys = log.read_bytes(), keyring(log)
    for end in range(600, len(data), 97):
        assert plain_stream(io.BytesIO(data[:end]), keys).read() == unseal(data[:end], keys)[0]


def test_a_wrong_key_opens_no_event_and_a_plain_log_is_not_encrypted() -> None:
    log = next(log for log in LOGS if log.name.startswith("mariadb"))
    with pytest.raises(FormatError, match="key 1 of the keyring does not open the events"):
        plain_stream(io.BytesIO(log.read_bytes()), Keyring(only=bytes(16))).read()
    with pytest.raises(ScenarioError, match="the keyring has no key 1"):
        plain_stream(io.BytesIO(log.read_bytes()), Keyring())
    with pytest.raises(FormatError, match="the log is not encrypted"):
        plain_stream(io.BytesIO(b"\xfebin"), Keyring(), plain_too=False)


def test_rows_tables_and_differences_of_an_encrypted_log_are_those_of_the_plain_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = next(log for log in LOGS if log.name.startswith("mysql"))
    keys = str(keyring_file(log))
    plain = tmp_path / "plain.000001"
    assert run(["decrypt", str(log), "-o", str(plain), "--keys", keys]) == 0

    def printed(command: str, file: Path, *options: str) -> str:
        assert run([command, str(file), *options]) == 0, capfd.readouterr().err
        return capfd.readouterr().out

    def records(file: Path, *options: str) -> list[dict[str, object]]:
        rows = [json.loads(row) for row in printed("rows", file, "--table", table, *options).splitlines()]
        return [{name: value for name, value in row.items() if name != "_file"} for row in rows]

    pytest.importorskip("pyarrow")
    table = json.loads(printed("tables", plain, "--json").splitlines()[0])["table"]
    assert printed("tables", log, "--json", "--keys", keys) == printed("tables", plain, "--json")
    assert records(log, "--keys", keys) == records(plain) != []
    assert run(["diff", str(plain), str(log), "--keys", keys]) == 0
    assert run(["rows", str(log), "--table", table]) == 3
    assert "encrypted" in capfd.readouterr().err

    import pyarrow as pa

    from forge.bulk.reading.rows import read_rows

    by_name = [name for name in read_rows(str(plain), table).schema.names if name != "_file"]
    fast = read_rows(str(log), table, keyring=keyring(log)).read_all().select(by_name)
    assert fast.equals(read_rows(str(plain), table).read_all().select(by_name))
    assert isinstance(fast, pa.Table)


def test_memory_does_not_grow_with_an_encrypted_file_of_mysql() -> None:
    """A hundred megabytes are read; a piece of them is there at a time."""
    import tracemalloc

    log = next(log for log in LOGS if log.name.startswith("mysql"))
    header = log.read_bytes()[:512]

    class Endless(io.RawIOBase):
        left = 100 << 20

        def read(self, size: int = -1) -> bytes:
            taken = min(size, self.left)
            self.left -= taken
            return bytes(taken)

    class File(io.BytesIO):
        rest = Endless()

        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or self.rest.read(-1 if size is None else size)

    stream = plain_stream(File(header), keyring(log))
    tracemalloc.start()
    total = 0
    while piece := stream.read(1 << 20):
        total += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 100 << 20
    assert peak < 16 << 20
