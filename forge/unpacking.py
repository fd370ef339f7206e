"""How much is unpacked at once: a few bytes may announce, and even hold, gigabytes.

What is limited is one event, or one value, since those are held whole.  A payload of many events is unpacked piece by
piece and may be as large as a server makes it.  ``FORGE_UNPACK_MIB`` sets another limit for logs with larger values.
"""

from __future__ import annotations

import os

from forge.errors import FormatError, Phase

#: Environment variable of another limit.
VARIABLE = "FORGE_UNPACK_MIB"
_DEFAULT_MIB = 32


def _limit(said: str) -> int:
    return (int(said) if said.isascii() and said.isdigit() and int(said) > 0 else _DEFAULT_MIB) << 20


#: Bytes of one event or value that compressed bytes are unpacked to at most.
LARGEST_UNPACKED = _limit(os.environ.get(VARIABLE, ""))


def too_large(what: str, size: int, *, phase: Phase, offset: int) -> FormatError:
    """The error for more than :data:`LARGEST_UNPACKED` bytes."""
    mib = LARGEST_UNPACKED >> 20
    return FormatError(
        f"{what} has {size} bytes; at most {mib} MiB are unpacked at once ({VARIABLE} raises that)",
        phase=phase,
        offset=offset,
    )
