"""Files and streams of events: reader, writer, positions, checksums, compressed payloads, the listing."""

from forge.binlog.reader import MAGIC, Frame, PlacedEvent, frames, has_magic, read_events
from forge.binlog.writer import Item, write_binlog

__all__ = ["MAGIC", "Frame", "Item", "PlacedEvent", "frames", "has_magic", "read_events", "write_binlog"]
