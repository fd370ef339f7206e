"""A testee of mysqlbinlog and of mariadb-binlog: their pseudo-SQL, as forge.check reads it, in the protocol of
docs/conform.md.

The program is run on each file; what it prints is read by the decoders that `forge check` has of it.
"""

import json
import re
import sys
from pathlib import Path

from forge.check.decoder import DecodedRow, DecodingEnded, Deferred, Gap, Warned
from forge.check.decoders.table import decoder
from forge.events.plain import text_or_hex

#: How rows are printed. mysqlbinlog leaves out GEOMETRY, and shows partial updates as calls of functions.
FORMS = {
    "integer": "number signed", "decimal": "text", "float": "six-digits", "bits": "text", "year": "number",
    "date": "text", "datetime": "text", "timestamp": "microseconds", "time": "text", "enum": "number",
    "set": "hex", "text": "hex", "bytes": "hex", "json": "value", "geometry": "hex", "vector": "six-digits",
    "diffs": "none",
}  # fmt: skip
INTEGERS = ("TINYINT", "SHORTINT", "MEDIUMINT", "INT", "LONGINT")


def spelled(type_name, value):
    """A value as :meth:`Decoder.decode` gives it, in its form; ``type_name`` is that of the comment behind it."""
    kind = type_name.partition("(")[0]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or kind in ("FLOAT", "DOUBLE", "DECIMAL", "TIME", "DATETIME"):
        return value
    if kind in INTEGERS:
        return int(value.split()[0])
    if kind in ("YEAR", "ENUM"):
        return int(value)
    if kind == "DATE":
        return value.replace(":", "-")
    if kind == "TIMESTAMP":
        seconds, _, fraction = value.partition(".")
        return int(seconds) * 1_000_000 + int(fraction.ljust(6, "0"))
    if kind == "BIT":
        return value[2:-1]
    if kind == "SET":
        return int(value[2:-1], 2).to_bytes((len(value) - 3) // 8, "big").hex()
    if kind == "VECTOR":
        return value[1:-1].split(",")
    try:
        json.loads(value)
    except ValueError:
        return json.dumps(value)  # A string that is a document stands there without its quotes.
    return value


def unescape(text):
    return re.sub(rb"\\x([01][0-9a-f])", lambda match: bytes([int(match[1], 16)]), text)


def reader(name):
    """The decoder of forge.check, whose values are JSON in their form."""
    known = decoder(name)
    read = known.read_value
    if name == "mariadb-binlog":
        known.unquote = unescape  # Text that looks like an escaped byte is lost: other bytes stand for themselves.
    known.read_value = lambda type_name, printed: json.dumps(spelled(type_name, read(type_name, printed)))
    return known


def image(cells):
    return None if cells is None else [{"column": number, "value": json.loads(cell)} for number, cell in cells.items()]


def read(known, request):
    items, end = [], {"end": "ok"}
    try:
        for item in known.decode(Path(request["file"]).read_bytes()):
            items.append(item)
    except DecodingEnded as error:
        end = {
            "end": "crashed" if error.ending in ("timeout", "too_long") else error.ending,
            "message": str(error)[:400],
        }
    gaps = {item.place for item in items if isinstance(item, Gap)}
    # Rows of a statement are shown with its last event.
    held = any(isinstance(item, Deferred) for item in items)
    for item in items:
        if isinstance(item, DecodedRow) and item.place not in gaps:
            row = {"kind": item.kind, "database": text_or_hex(item.database), "table": text_or_hex(item.table)}
            row |= {"before": image(item.before), "after": image(item.after)}
            yield {"row": row if held else row | {"offset": item.place[0], "inner": item.place[1]}}
        elif isinstance(item, Gap):
            yield {"gap": {"offset": item.place[0], "inner": item.place[1], "what": item.what}}
        elif isinstance(item, Warned):
            yield {"warning": item.text}
    yield {"id": request["id"]} | end


def main(name):
    known = reader(name)
    hello = {"name": name, "version": known.version(), "language": "C++", "levels": ["rows"], "forms": FORMS}
    for request in map(json.loads, sys.stdin):
        for line in [{"id": request["id"], "hello": hello}] if "hello" in request else read(known, request):
            print(json.dumps(line))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
