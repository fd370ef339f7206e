"""The listing: a binary log as editable, diffable text, and back (docs/listing.md).

A listing is a stream of YAML documents (or JSON lines), one an event.  Fields that can be derived (sizes, positions,
lengths, checksums) appear only where the file's bytes differ from what would be derived.  Four forms of an event are
tried, and the first that assembles to the same bytes is taken: fields with readable rows and columns; plain fields;
header fields with the body as hex; the bytes.  So ``assemble(disassemble(data)) == data`` for any data.
"""

from forge.binlog.listing.assemble import assemble
from forge.binlog.listing.disassemble import disassemble, listing_json, listing_text

__all__ = ["assemble", "disassemble", "listing_json", "listing_text"]
