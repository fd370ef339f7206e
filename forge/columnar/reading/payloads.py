"""Small payloads as servers write them, unpacked at one go; any other is left to forge.binlog.payload."""

from __future__ import annotations

import zstandard

from forge.events.transaction_payload import COMPRESSION_TYPE, PAYLOAD_SIZE, UNCOMPRESSED_SIZE, ZSTD

#: Bytes of a payload that is unpacked at one go.
SMALL = 1 << 20


def quickly_unpacked(decompressor: zstandard.ZstdDecompressor, body: bytes) -> bytes | None:
    """What the body of a small TRANSACTION_PAYLOAD unpacks to, if it is as servers write them; None if it is not."""
    at = 0
    numbers = {}
    while at + 2 < len(body) and body[at]:
        field, width = body[at], body[at + 1]
        at += 2
        number = body[at : at + width]
        if field not in (PAYLOAD_SIZE, COMPRESSION_TYPE, UNCOMPRESSED_SIZE) or field in numbers:
            return None
        if width not in (1, 3, 4) or len(number) != width:
            return None
        numbers[field] = number[0] if width == 1 else int.from_bytes(number[1:], "little")
        if not {1: number[0] < 251, 3: number[0] == 252, 4: number[0] == 253}[width]:
            return None
        at += width
    at += 1
    size = numbers.get(UNCOMPRESSED_SIZE, 0)
    if numbers.get(COMPRESSION_TYPE) != ZSTD or numbers.get(PAYLOAD_SIZE) != len(body) - at or not 0 < size <= SMALL:
        return None
    try:
        if zstandard.get_frame_parameters(body[at : at + 18]).content_size != size:
            return None
        data: bytes = decompressor.decompress(body[at:], max_output_size=size, allow_extra_data=False)
    except zstandard.ZstdError:
        return None
    return data if len(data) == size else None
