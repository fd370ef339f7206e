"""How much is unpacked at once: a few bytes may announce, and even hold, gigabytes.

What is limited is one event, or one value, since those are held whole.  A payload of many events is unpacked piece by
piece and may be as large as a server makes it.  ``FORGE_UNPACK_MIB`` sets another limit for logs with larger values.
"""

from __future__ import annotations

import os

from forge.errors import FormatError, Phase, UnsupportedError

#: Environment variable of another limit.
VARIABLE = "FORGE_UNPACK_MIB"
_DEFAULT_MIB = 32


def _limit(said: str) -> int:
    return (int(said) if said.isascii() and said.isdigit() and int(said) > 0 else _DEFAULT_MIB) << 20


#: Bytes of one event or value that compressed bytes are unpacked to at most.
LARGEST_UNPACKED = _limit(os.environ.get(VARIABLE, ""))


#: Cells that are read of a file beside those of its size: sixteen for each of its bytes, where no plain bytes hold more
#: than eight.  A few compressed bytes, a long name or a long member of an ENUM would stand for any number of others.
MOST_CELLS, CELLS_OF_A_BYTE = LARGEST_UNPACKED >> 6, 16


class TooManyCells(UnsupportedError):
    """Rows of more cells than :data:`MOST_CELLS` and those of the file's size."""

    exit_code = 3

    def __init__(self, size: int, offset: int, event_index: int) -> None:
        super().__init__(
            f"event {event_index}, offset {offset}, row: the rows up to here have more than"
            f" {MOST_CELLS + CELLS_OF_A_BYTE * size} cells: of {size} bytes of a file at most {MOST_CELLS} are shown,"
            f" and {CELLS_OF_A_BYTE} for each byte ({VARIABLE} raises that)"
        )


def too_large(what: str, size: int, *, phase: Phase, offset: int) -> FormatError:
    """The error for more than :data:`LARGEST_UNPACKED` bytes."""
    mib = LARGEST_UNPACKED >> 20
    return FormatError(
        f"{what} has {size} bytes; at most {mib} MiB are unpacked at once ({VARIABLE} raises that)",
        phase=phase,
        offset=offset,
    )
