"""How a session's transactions are compressed."""

from __future__ import annotations

from forge.binlog.payload import PayloadForm
from forge.events.transaction_payload import NONE, ZSTD
from forge.plan.session import Session
from forge.servers import ServerLine


def payload_form(session: Session, line: ServerLine) -> PayloadForm:
    """The form of the session's payloads: that of the line's servers, unless it asks for another."""
    asked, flushes = session.payload, line.groups.flushes_payloads
    return PayloadForm(
        level=session.compression_level,
        compression=NONE if asked.compression == "none" else ZSTD,
        frames=asked.frames,
        content_size=not flushes if asked.content_size is None else asked.content_size,
        frame_checksum=asked.frame_checksum,
        flushed=flushes and asked.content_size is None,
    )
