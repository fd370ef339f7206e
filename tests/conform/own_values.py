"""A testee that answers the kit's own values, spelled in the forms that its argument declares.

It knows the forms by docs/conform.md alone, and shares no code with what compares them.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

Cell = Mapping[str, Any]
ZEROS = ("", "zero=null", "zero=none")


def with_options(word: str, *options: str) -> list[str]:
    """The form with each set of options."""
    chosen = [some for count in range(len(options) + 1) for some in combinations(options, count)]
    return [" ".join([word, *some]) for some in chosen]


def moments(*numbers: str) -> list[str]:
    words = ["text", "value", *numbers, *(f"{word} digits" for word in numbers)]
    return [f"{word} {zero}".strip() for word in words for zero in ZEROS]


ANY = ["typed", "raw", "opaque", "none"]
UNITS = ("microseconds", "milliseconds", "seconds")
#: Every spelling of each kind.
SPELLINGS: Mapping[str, list[str]] = {
    "integer": [*with_options("number", "signed"), *with_options("text", "signed")],
    "decimal": ["text", "value", "double"],
    "float": ["value", "six-digits"],
    "bits": ["text", "hex", *with_options("number", "signed"), *with_options("digits", "signed")],
    "year": ["number", "text", "digits"],
    "date": moments("days", *UNITS),
    "datetime": moments(*UNITS),
    "timestamp": moments(*UNITS),
    "time": ["text", "value", *UNITS, *(f"{unit} digits" for unit in UNITS)],
    "enum": ["number", "digits", "member", "text", "text-or-number"],
    "set": [
        "members", "texts", "hex", "text", "text-or-number", *with_options("number", "signed"),
        *with_options("digits", "signed"),
    ],
    "text": ["text", "hex", "utf8", "text-or-hex"],
    "bytes": [form for word in ("hex", "utf8", "text-or-hex") for form in with_options(word, "padded")],
    "json": ["value", "text", "hex"],
    "geometry": ["hex", "wkb"],
    "vector": ["numbers", "six-digits", "hex"],
    "diffs": ["value"],
}  # fmt: skip
#: So many declarations have every spelling of every kind.
DECLARATIONS = max(len(forms) + len(ANY) for forms in SPELLINGS.values())


def declared(number: int) -> dict[str, str]:
    """The declaration of that number, from 0."""
    return {kind: (forms + ANY)[number % (len(forms) + len(ANY))] for kind, forms in SPELLINGS.items()}


def behind_length(cell: Cell) -> bytes:
    """What the column holds."""
    data = bytes.fromhex(cell["raw"])[cell.get("prefix", 0) :]
    if cell["type_code"] not in (140, 141) or not data:
        return data
    if not data[0]:
        return data[1:]
    return zlib.decompress(data[1 + (data[0] & 7) :], -15 if data[0] & 8 else 15)


def text_or_hex(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def days(year: int, month: int, day: int) -> int:
    """Days since 1970 of the Gregorian calendar."""
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + of_year - 719468


def span_of(kind: str, value: Mapping[str, int]) -> int:
    """Microseconds."""
    if kind == "timestamp":
        return value["seconds"] * 1_000_000 + value["microseconds"]
    clock = (value.get("hour", 0) * 60 + value.get("minute", 0)) * 60 + value.get("second", 0)
    span = clock * 1_000_000 + value.get("microsecond", 0)
    if kind == "time":
        return -span if value["negative"] else span
    return days(value["year"], value["month"], value["day"]) * 86_400_000_000 + span


def moment(kind: str, cell: Cell, value: Any, word: str, options: list[str]) -> Any:
    zero = not value["seconds"] if kind == "timestamp" else kind != "time" and not all(
        value[part] for part in ("year", "month", "day")
    )  # fmt: skip
    if zero and ("zero=null" in options or "zero=none" in options):
        return None if "zero=null" in options else "whatever it is"
    if word == "text":
        return cell["text"]
    if word == "value":
        return cell["text"] + ("000" if "." in cell["text"] else "")
    if kind in ("date", "datetime") and zero:
        return 0  # It has no such number: whatever is shown is not compared.
    span, unit = (
        span_of(kind, value),
        {"microseconds": 1, "milliseconds": 1000, "seconds": 10**6, "days": 86400 * 10**6},
    )
    number = int(span / unit[word]) if kind == "time" else span // unit[word]
    return str(number) if "digits" in options else number


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number


def integer(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    number = signed(int(value), 4 * len(cell["raw"])) if "signed" in options and int(value) > 0 else int(value)
    return str(number) if word == "text" else number


def decimal(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word == "double":
        return float(value)
    return value + ("0" if "." in value else ".0") if word == "value" and odd else value


def floating(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word == "six-digits" and len(cell["raw"]) == 8:
        value = f"{struct.unpack('<f', bytes.fromhex(cell['raw']))[0]:.6g}"
    return value if odd or value in ("nan", "inf", "-inf") else float(value)


def bits(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word in ("text", "hex"):
        return value if word == "text" else cell["raw"]
    number = signed(int(value, 2), 64) if "signed" in options else int(value, 2)
    return str(number) if word == "digits" else number


def year(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    return int(value) if word == "number" else f"{int(value):04}" if word == "text" else str(int(value))


def enum(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word in ("number", "digits"):
        return int(value["number"]) if word == "number" else value["number"]
    if word == "text-or-number":
        return cell["text"] if odd and value["members"] is not None else int(value["number"])
    if value["members"] is None:
        return value["number"]  # It does not have the member: not compared.
    return cell["text"] if word == "text" else next(map(text_or_hex, map(bytes.fromhex, value["members"])), "")


def set_(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word in ("number", "digits"):
        number = signed(int(value["number"]), 64) if "signed" in options else int(value["number"])
        return str(number) if word == "digits" else number
    if word == "hex":
        return cell["raw"]
    if word == "text-or-number":
        return cell["text"] if odd and value["members"] is not None else value["number"]
    if value["members"] is None:
        return value["number"]
    if word == "text":
        return cell["text"]
    if word == "texts":
        return list(reversed(cell["text"].split(","))) if value["members"] else []
    return [text_or_hex(bytes.fromhex(member)) for member in value["members"]]


def text(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word == "text" or (word == "text-or-hex" and odd):
        return value
    data = behind_length(cell)
    return data.hex() if word == "hex" else {"hex": data.hex()} if word == "text-or-hex" else text_or_hex(data)


def bytes_(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    data = bytes.fromhex(value)
    if odd:  # The log leaves out zero bytes at the end of a BINARY; the value has them if the log says that it is one.
        data = behind_length(cell) + (b"\0" if "padded" in options and cell["type_code"] == 254 else b"")
    if word == "hex":
        return data.hex()
    return {"hex": data.hex()} if word == "text-or-hex" and odd else text_or_hex(data)


def document(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word == "hex":
        return behind_length(cell).hex()
    return cell["text"] if word == "text" or odd else value


def geometry(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    return behind_length(cell).hex() if word == "hex" else value["wkb"]


def vector(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    if word == "hex":
        return behind_length(cell).hex()
    if word == "numbers":
        return [float(item) for item in value]
    return [f"{number:.6g}" for (number,) in struct.iter_unpack("<f", behind_length(cell))]


def diffs(cell: Cell, value: Any, word: str, options: list[str], odd: bool) -> Any:
    return [step | {"value": json.loads(step["value"])} if odd and "value" in step else step for step in value]


OTHERS: Mapping[str, Callable[[Cell, Any, str, list[str], bool], Any]] = {
    "integer": integer, "decimal": decimal, "float": floating, "bits": bits, "year": year, "enum": enum, "set": set_,
    "text": text, "bytes": bytes_, "json": document, "geometry": geometry, "vector": vector, "diffs": diffs,
}  # fmt: skip


def spelled(cell: Cell, forms: Mapping[str, str], odd: bool = False) -> Any:
    """The cell's value in its form; ``odd`` chooses the other of two spellings that a form leaves open."""
    if cell.get("value") is None:
        return None
    [(kind, value)] = cell["value"].items()
    word, *options = forms.get(kind, "typed").split()
    if kind == "broken" or word == "typed":
        return cell["value"]
    if word == "none":
        return "whatever it is"
    if word in ("raw", "opaque"):
        return cell["raw"] if word == "raw" else behind_length(cell).hex()
    if kind in OTHERS:
        return OTHERS[kind](cell, value, word, options, odd)
    return moment(kind, cell, value, word, options)


def answers(path: str, forms: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The rows that the kit has of a file."""
    with Path(path + ".rows.jsonl").open(encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            for image in ("before", "after"):
                cells = row[image]
                row[image] = cells and [
                    {"column": cell["column"], "value": spelled(cell, forms, bool((number + cell["column"]) % 2))}
                    for cell in cells
                ]
            yield row


def main(forms: Mapping[str, str]) -> None:
    for request in map(json.loads, sys.stdin):
        if "hello" in request:
            print(json.dumps({"id": 0, "hello": {"name": "own-values", "version": "1", "forms": forms}}), flush=True)
            continue
        folder, name = os.path.split(request["file"])
        case = json.loads(Path(folder, "case.json").read_text("utf-8"))
        stops = any(file["stops_at"] is not None for file in case["files"] if file["name"] == name)
        for row in answers(request["file"], forms):
            print(json.dumps({"row": row}))
        print(json.dumps({"id": request["id"], "end": "refused" if stops else "ok"}), flush=True)


if __name__ == "__main__":
    main(declared(int(sys.argv[1])))
