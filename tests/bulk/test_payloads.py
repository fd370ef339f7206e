"""Logs of many small payloads: the same rows as without compression, and the same refusals as the canonical decode."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")
pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

import pyarrow as pa

import forge
from forge import unpacking
from forge.binlog import payload
from forge.binlog.payload import PayloadForm, compress_bytes, payload_bytes
from forge.binlog.reader import frames
from forge.bulk.reading import room, window_size
from forge.errors import FormatError
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.transaction_payload import NONE, TransactionPayload
from forge.scenario import Session
from tests.bulk.damage import damaged, with_checksum
from tests.bulk.reference_rows import difference

pytestmark = pytest.mark.slow

ROWS = pa.table({"id": list(range(60)), "who": [None if n % 7 == 0 else "Ann" * (n % 5) for n in range(60)]})
TABLE = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60))"
#: What readers take beside the form that servers write.
FORMS = (
    PayloadForm(),
    PayloadForm(level=19),
    PayloadForm(frames=3),
    PayloadForm(content_size=False),
    PayloadForm(frame_checksum=True),
    PayloadForm(compression=NONE),
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("payloads") / "binlog.000001"
    session = Session(row_metadata="full", compression=True)
    forge.write_rows(ROWS, TABLE, path, server="mysql-9.7", rows_per_transaction=3, session=session)
    return path.read_bytes()


def with_forms(log: bytes, random: Random) -> bytes:
    """The log with its payloads in forms of all kinds, some of them damaged below their checksum."""
    out = bytearray(log[:4])
    for frame in frames(log, 4):
        raw = frame.raw
        if frame.type_code == TransactionPayload.type_code:
            body = TransactionPayload.parse(raw[HEADER_SIZE:-4], FormatContext())
            made = compress_bytes(payload_bytes(body), random.choice(FORMS)).build(FormatContext())
            if random.random() < 0.03:
                at = random.randrange(len(made))
                made = random.choice((made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :], made + b"x", made[:-2]))
            size = HEADER_SIZE + len(made) + 4
            raw = raw[:9] + size.to_bytes(4, "little") + raw[13:HEADER_SIZE] + made + bytes(4)
        out += with_checksum(raw)
    return bytes(out)


@pytest.mark.parametrize("window", [300, 1000, 1 << 20])
def test_payloads_of_all_forms_are_read_or_refused_as_by_the_canonical_decode(
    window: int, log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_size, "WINDOW", window)
    path = tmp_path / "binlog.000001"
    path.write_bytes(log)
    rows = forge.read_rows(path, "shop.orders").read_all().select(["id", "who"])
    assert rows.to_pydict() == ROWS.to_pydict()
    random = Random(window)
    for number in range(40):
        data = with_forms(log, random)
        if number % 2:
            data = damaged(data, random) or data
        path.write_bytes(data)
        assert difference(path) is None, f"number {number}"


def test_a_payload_that_unpacks_to_more_than_its_room_is_read_in_pieces(tmp_path: Path) -> None:
    count = 300_000
    rows = pa.table({"id": pa.array(range(count), pa.int32()), "who": [str(n % 10) for n in range(count)]})
    path = tmp_path / "binlog.000001"
    session = Session(row_metadata="full", compression=True)
    forge.write_rows(rows, TABLE, path, server="mysql-9.7", session=session)
    read = forge.read_rows(path, "shop.orders").read_all()
    assert read.select(["id", "who"]).cast(rows.schema).equals(rows)
    data = bytearray(path.read_bytes())
    packed = next(frame for frame in frames(bytes(data), 4) if frame.type_code == TransactionPayload.type_code)
    data[packed.offset + len(packed.raw) - 5] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="checksum of this TRANSACTION_PAYLOAD event is wrong"):
        forge.read_rows(path, "shop.orders").read_all()


def test_an_event_inside_a_payload_that_is_larger_than_what_is_unpacked_at_once_is_refused_as_by_the_canonical_decode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"id": [1], "who": ["x" * (3 << 20)]})
    path = tmp_path / "binlog.000001"
    session = Session(row_metadata="full", compression=True)
    text = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who LONGTEXT)"
    forge.write_rows(rows, text, path, server="mysql-9.7", session=session)
    assert forge.read_rows(path, "shop.orders").read_all()["who"].to_pylist() == ["x" * (3 << 20)]
    for module in (payload, room, unpacking):
        monkeypatch.setattr(module, "LARGEST_UNPACKED", 2 << 20)
    assert difference(path) is None
    with pytest.raises(FormatError, match="at most 2 MiB are unpacked at once"):
        forge.read_rows(path, "shop.orders").read_all()
