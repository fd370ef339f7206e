"""START_ENCRYPTION (164, MariaDB 10.1 on): all later events of the file are encrypted one by one.  Never sent
to replicas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Bytes, Int8ul, Int32ul, Struct

from forge.events.layout import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class StartEncryption(Body, type_code=164, type_name="START_ENCRYPTION", features=("start_encryption",)):
    scheme: int = 1
    key_version: int
    nonce: bytes
    layout: ClassVar[Struct] = Struct("scheme" / Int8ul, "key_version" / Int32ul, "nonce" / Bytes(12))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"scheme {fields['scheme']}, key version {fields['key_version']}"
