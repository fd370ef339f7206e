"""MariaDB's UUID, INET4 and INET6: text of a declaration <-> the 16, 4, 16 bytes that travel as BINARY.

The wire tells BINARY(16) or BINARY(4) with collation 63, so only a declaration knows these types.  All are in the
order of their text (a UUID is not rearranged, although InnoDB stores it so), and trailing 00 bytes are stripped as of
any BINARY (recorded on MariaDB 10.11 and 11.8).
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from typing import Any

from forge.values.literals import refuse

#: Type name -> bytes.
NETWORK_SIZES = {"UUID": 16, "INET4": 4, "INET6": 16}
_CHARACTERS = re.compile(r"[0-9a-f.:-]+", re.IGNORECASE | re.ASCII)


def network_bytes(name: str, declared: Any) -> bytes:
    """The bytes of a declared UUID or address: text, its object of ``uuid`` or ``ipaddress``, or the bytes."""
    if isinstance(declared, (bytes, bytearray)):
        data = bytes(declared)
        if len(data) != NETWORK_SIZES[name]:
            raise refuse(name, declared, "cannot hold this value", f"{NETWORK_SIZES[name]} bytes")
        return data
    text = str(declared)
    try:
        # Python also reads {...}, urn:uuid:... and fe80::1%eth0; servers do not.
        if not _CHARACTERS.fullmatch(text):
            raise ValueError
        if name == "UUID":
            return uuid.UUID(text).bytes
        address = ipaddress.IPv4Address(text) if name == "INET4" else ipaddress.IPv6Address(text)
        return address.packed
    except ValueError:
        raise refuse(name, declared, "cannot hold this value", "its usual text") from None


def network_text(name: str, data: bytes) -> str:
    """The text of the type's bytes, as MariaDB takes and prints it."""
    if name == "UUID":
        return str(uuid.UUID(bytes=data))
    if name == "INET4":
        return str(ipaddress.IPv4Address(data))
    return str(ipaddress.IPv6Address(data))
