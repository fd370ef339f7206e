"""One case of a kit as files: the binary logs, what a correct reader gets of each, ``case.json``, and its twin."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from forge.conform.kit.case_files import CASES, EVENTS, ROWS, TWINS, KitCase, KitFile
from forge.conform.kit.definitions import definition_files
from forge.conform.kit.registry import safe_word
from forge.conform.kit.sparse import PACKED, stretched
from forge.conform.kit.vendors import VendorsDid
from forge.corpus.vocabulary import vocabulary
from forge.decode.expected import Expected, expected_of
from forge.errors import FormatError
from forge.servers import server_line


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """A case of the corpus on its way into a kit; ``row`` is that of the manifest, with the bytes.

    ``sparse``: its files get their holes (:mod:`forge.conform.kit.sparse`).  ``witness`` is the row of a plain case of
    its server line.
    """

    id: str
    since: int | None
    smoke: bool
    adds: int
    guards: list[str]
    row: dict[str, Any]
    sparse: bool = False
    witness: dict[str, Any] | None = None
    vendors: VendorsDid | None = None


class WrittenCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case that was written, and the sha256 of each file by its place in the kit."""

    case: KitCase
    sums: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Twin:
    """A log that tells whether a reader knows what a case is about: its id, what it is, its files by their names."""

    id: str
    title: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class _Folder:
    """The files of a case on their way: what case.json says of each, and their bytes."""

    files: list[KitFile] = field(default_factory=list)
    data: dict[str, bytes] = field(default_factory=dict)
    #: The rules that the files break.
    rules: list[str] = field(default_factory=list)

    def define(self, server: str) -> None:
        """The tables of all logs that were added, for readers that ask a server."""
        logs = {file.name: self.data[file.name] for file in self.files if file.name in self.data}
        self.data.update(definition_files(logs, server))

    def add(self, name: str, data: bytes, *, sparse: bool = False, twin: bytes | None = None) -> None:
        """A binary log, with what a correct reader gets of it; ``twin`` is the one without its fault."""
        size, sha256, holes = len(data), hashlib.sha256(data).hexdigest(), []
        if sparse:
            log, expected = stretched(data)
            size, sha256, holes = log.size, log.sha256, log.holes
            self.data[name + PACKED] = log.packed
        else:
            expected = expected_of(data)
            self.data[name] = data
            if (rule := broken_rule(expected)) is not None:
                self.rules.append(rule)
        self.data[name + EVENTS] = _lines(expected.events)
        self.data[name + ROWS] = _lines(expected.rows)
        self.files.append(
            KitFile(
                name=name,
                size=size,
                sha256=sha256,
                events=len(expected.events),
                rows=len(expected.rows),
                stops_at=None if expected.problem is None else expected.problem_place[0],
                holes=holes,
                fault_at=None if twin is None else _fault(data, twin),
            )
        )

    def write(self, kit: Path, place: str, case: KitCase) -> dict[str, str]:
        """The files in a new folder of the kit; the sha256 of each.  Raises OSError."""
        (kit / place).mkdir(exist_ok=True)
        self.data["case.json"] = msgspec.json.format(msgspec.json.encode(case), indent=2) + b"\n"
        for name, data in self.data.items():
            (kit / place / name).write_bytes(data)
        return {f"{place}/{name}": hashlib.sha256(data).hexdigest() for name, data in self.data.items()}


def write_case(kit: Path, plain: Plain) -> WrittenCase:
    """Write the files of a case, and its twin unless it is there, into the folder of a kit.  Raises OSError."""
    row, folder = plain.row, _Folder()
    unbroken = {file["name"]: file["bytes"] for file in row.get("twin", ())}
    for file in row["files"]:
        folder.add(file["name"], file["bytes"], sparse=plain.sparse, twin=unbroken.get(file["name"]))
    folder.define(row["server"])
    rules = vocabulary().rules
    twin = _twin(plain, shows=any(file.rows for file in folder.files))
    case = KitCase(
        id=plain.id,
        title=row["title"] or row["case"],
        case=row["case"],
        since=plain.since,
        server=row["server"],
        flavor=server_line(row["server"]).family,
        verdict=row["verdict"],
        phase=row["phase"],
        files=folder.files,
        tags=row["tags"],
        rules=[tag for tag in row["tags"] if tag in rules],
        thresholds=[tag.partition(":")[2] for tag in row["tags"] if tag.startswith("threshold:")],
        smoke=plain.smoke,
        adds=plain.adds,
        guards=plain.guards,
        strict=None if row["verdict"] == "accept" else next(iter(folder.rules), None),
        vendors=plain.vendors,
        twin=None if twin is None else twin.id,
    )
    sums = folder.write(kit, f"{CASES}/{plain.id}", case)
    return WrittenCase(case=case, sums=sums | ({} if twin is None else _write_twin(kit, twin, case)))


def _twin(plain: Plain, *, shows: bool) -> _Twin | None:
    """The twin of a case: the same without its fault, or a plain case where to refuse it, or to show nothing of it,
    may be right.
    """
    row = plain.row
    stem = row["case"].partition("[")[0]
    if row.get("twin"):
        return _named(stem, f"{stem}, without a fault", row["server"], row["twin"])
    if plain.witness is None or (row["verdict"] == "accept" and shows):
        return None
    stem = plain.witness["case"].partition("[")[0]
    return _named(stem, f"a plain log of {row['server']}", row["server"], plain.witness["files"])


def _named(stem: str, title: str, server: str, files: Iterable[Mapping[str, Any]]) -> _Twin:
    data = {file["name"]: file["bytes"] for file in files}
    digest = hashlib.sha256("\n".join([stem, title, server]).encode())
    for name, log in data.items():
        digest.update(b"\n" + name.encode() + hashlib.sha256(log).digest())
    word = safe_word(stem.rpartition("/")[2])[:24].rstrip("-") or "twin"
    return _Twin(f"{word}-{base64.b32encode(digest.digest()[:5]).decode().lower()}", title, data)


def _write_twin(kit: Path, twin: _Twin, case: KitCase) -> dict[str, str]:
    """The files of a twin, if no other case has had it written.  What is written does not depend on which one does."""
    try:
        (kit / TWINS / twin.id).mkdir()
    except FileExistsError:
        return {}
    folder = _Folder()
    for name, data in twin.files.items():
        folder.add(name, data)
    folder.define(case.server)
    plain = KitCase(
        id=twin.id,
        title=twin.title,
        case=twin.title,
        since=None,
        server=case.server,
        flavor=case.flavor,
        verdict="accept",
        phase=None,
        files=folder.files,
        tags=[],
        rules=[],
        thresholds=[],
        smoke=False,
        guards=[],
    )
    return folder.write(kit, f"{TWINS}/{twin.id}", plain)


def _fault(data: bytes, twin: bytes) -> int | None:
    """The offset of the first event that is not as in the twin; None if nothing is otherwise."""
    if data == twin:
        return None
    common = min(len(data), len(twin))
    low, high = 0, common
    while low < high:  # The length of what they begin with.
        middle = (low + high + 1) // 2
        low, high = (middle, high) if data[:middle] == twin[:middle] else (low, middle - 1)
    events: list[dict[str, Any]] = expected_of(twin).events
    return max((event["offset"] for event in events if event["offset"] <= low), default=0)


def broken_rule(expected: Expected) -> str | None:
    """The first rule that the bytes break, in our reader's words: of a cell without value, or where it stops."""
    for row in expected.rows:
        for cell in (*(row["before"] or ()), *(row["after"] or ())):
            if "broken" in cell.get("value", ()):
                return str(cell["value"]["broken"])
    problem = expected.problem
    return problem.rule if isinstance(problem, FormatError) else None if problem is None else problem.problem


def _lines(objects: Iterable[dict[str, Any]]) -> bytes:
    encode = msgspec.json.encode
    return b"".join(encode(one) + b"\n" for one in objects)
