"""A listing with the bytes of each field beside it, as comments: offset, bytes, field, value, rule."""

from __future__ import annotations

from collections.abc import Iterator

from forge.binlog.listing.disassemble import placed_documents
from forge.binlog.listing.text import dump_document
from forge.decode.byte_view import text_lines
from forge.decode.labels.log import labelled_log
from forge.decode.labels.runs import LabelledSection


def annotated_listing(data: bytes) -> Iterator[str]:
    """The listing of ``data`` as YAML text, a chunk an event; without its comments it is the listing itself.

    Offsets count from the start of the file, and inside a compressed transaction from the start of what was unpacked.
    """
    yield "# A binary log as a listing; `forge asm` makes the file again.\n"
    sections = labelled_log(data)
    section = next(sections, None)
    for number, (offset, document) in enumerate(placed_documents(data)):
        while section is not None and section.offset < offset:
            section = next(sections, None)
        yield f"---\n# event {number} at {offset}\n"
        if section is not None and section.offset == offset:
            yield "".join(_comments(section))
        yield dump_document(document)


def _comments(section: LabelledSection) -> Iterator[str]:
    _, *lines = text_lines(section)
    for line in lines:
        yield "#" + "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line).rstrip() + "\n"
