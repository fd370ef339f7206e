"""Writing a kit: a folder, or an archive of one.

::

    README.md  LICENSE  VERSION  SHA256SUMS
    index.jsonl            a line a case: what its case.json says
    schemas/NAME.json      JSON Schemas of all that follows
    cases/ID/case.json     what the case is
    cases/ID/tables.json   the tables that the logs map, and schema.sql: CREATE TABLE of each
    cases/ID/FILE          a binary log, with FILE.events.jsonl and FILE.rows.jsonl (FILE.packed if it has holes)
    twins/ID/              the same of a case's twin: the log without its fault, or a plain one of the same server
    PROTOCOL.md  ci/LANGUAGE/   how a testee answers; one to begin with, and a workflow
    examples/LANGUAGE/     a small reader, and a test that holds it against the kit
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from forge import __version__
from forge.conform.forms import ANY, FORMS
from forge.conform.kit.case_files import CASES, TWINS, KitCase
from forge.conform.kit.power import read_power
from forge.conform.kit.profiles import chosen_entries
from forge.conform.kit.registry import Registry, digest_of, read_registry, short_id
from forge.conform.kit.schemas import kit_schemas
from forge.conform.kit.sparse import SPARSE, sparse_rows
from forge.conform.kit.tag_expressions import selected
from forge.conform.kit.vendors import bytes_digest, read_vendors
from forge.conform.kit.write import Plain, WrittenCase, write_case
from forge.conform.known_bugs import guards, read_known_bugs
from forge.corpus.cases import SHIPPED
from forge.corpus.manifest import Entry, read_bytes_of, read_entries
from forge.corpus.workers import few_collections, in_chunks
from forge.decode.expected import expected_of
from forge.drafts import check_replaceable, draft_folder, replace_folder
from forge.errors import ScenarioError
from forge.progress import Progress
from forge.render.templates import render
from forge.resources import license_text, templates_dir

ARCHIVE = ".tar.gz"
FORMAT = 1
#: What building the examples leaves beside them.
_not_shipped = shutil.ignore_patterns("target", "Cargo.lock", "go.sum")
#: What each language has of ``ci``.
_COMMON = "common"
#: Cases that a worker writes at once.
_CHUNK = 32
#: Plain cases of a server line that are looked at: the events of a torn file are not all in it.
_PLAINEST = 8


class Kit(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: ``VERSION``.  ``corpus`` is the version of the registry of ids."""

    format: int
    corpus: int
    forge: str
    profile: str
    cases: int
    bytes: int


def export_kit(
    corpus: Path,
    out: Path,
    *,
    profile: str = "full",
    tags: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Kit:
    """Write the cases of a profile as a kit to the folder ``out``, or to an archive if it is called ``*.tar.gz``.

    ``tags`` is an expression that chooses some of them (forge/conform/kit/tag_expressions.py).

    The profile ``sparse`` takes none of the corpus, which need not be there.

    ``jobs`` is the number of processes (default: one a core).  The result appears whole or not at all.
    Raises ScenarioError for a corpus, profile or tag that is not there, for a folder that holds something else, and for
    a case whose bytes are not those of its id; ManifestError for a damaged corpus; OSError.
    """
    check_target(out)
    if profile == SPARSE and tags is not None:
        raise ScenarioError("the profile sparse is taken as a whole", expected="no --tags")
    ids = read_registry()
    plain = _sparse() if profile == SPARSE else _of_corpus(corpus, profile, tags, ids)
    out.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(out) as scratch:
        folder = scratch / out.name.removesuffix(ARCHIVE)
        for part in (CASES, TWINS):
            (folder / part).mkdir(parents=True)
        written = in_chunks(partial(_write_chunk, folder), list(plain), _CHUNK, jobs=jobs, progress=progress)
        cases = sorted((one.case for one in written), key=lambda case: case.id)
        kit = Kit(
            format=FORMAT,
            corpus=ids.version,
            forge=__version__,
            profile=profile if tags is None else f"{profile}: {tags}",
            cases=len(cases),
            bytes=sum(file.size for case in cases for file in case.files),
        )
        _write_beside(folder, cases, kit)
        _write_sums(folder, {name: sum for one in written for name, sum in one.sums.items()})
        if out.name.endswith(ARCHIVE):
            _archived(folder, scratch / out.name).replace(out)
        else:
            replace_folder(folder, out)
    return kit


class _Name(msgspec.Struct, frozen=True):
    id: str
    since: int | None


def _named(entries: Iterable[Entry], ids: Registry) -> dict[str, _Name]:
    """The short id of each case, by its long name."""
    named: dict[str, _Name] = {}
    for entry in entries:
        known = ids.row_of(entry.case)
        if known is not None and known.digest != digest_of(entry.verdict, entry.phase, entry.files):
            if entry.file.partition("/")[0] not in SHIPPED:  # Somebody's own, with the name of one of ours.
                named[entry.case] = _Name(short_id(f"{entry.file}#{entry.case}"), None)
                continue
            raise ScenarioError(
                f"the case {entry.case!r} has other bytes, or another verdict, than those that {known.id} stands for",
                expected="an id never changes its meaning: `forge corpus freeze` gives it a new one",
            )
        named[entry.case] = _Name(short_id(entry.case), None) if known is None else _Name(known.id, known.since)
    if len({name.id for name in named.values()}) < len(named):
        raise ScenarioError("two cases have the same short id: rename one")
    return named


def _of_corpus(corpus: Path, profile: str, tags: str | None, ids: Registry) -> Iterator[Plain]:
    """The cases of a corpus that are of a profile."""
    whole = list(read_entries(corpus))
    entries = chosen_entries(whole, profile)
    chosen = entries if tags is None else selected(entries, tags)
    smoke = {entry.case for entry in (entries if profile == "smoke" else chosen_entries(whole, "smoke"))}
    guarded = guards(read_known_bugs())
    adds = {row.case: row.places + row.mutants for row in read_power()}
    named = _named(entries, ids)
    witnesses = _witnesses(corpus, whole)
    digests = {entry.case: bytes_digest(entry.files) for entry in entries}
    did = {row.case: row.did for row in read_vendors().values() if digests.get(row.case) == row.digest}

    def plain(row: dict[str, Any]) -> Plain:
        case, name = row["case"], named[row["case"]]
        added = adds.get(case, 0) if name.since is not None else 0
        return Plain(
            id=name.id, since=name.since, smoke=case in smoke, adds=added, guards=guarded.get(case, []), row=row,
            vendors=did.get(case),
            witness=witnesses.get(row["server"]) or witnesses.get(row["server"].partition("-")[0]),
        )  # fmt: skip

    return map(plain, read_bytes_of(corpus, {entry.case for entry in chosen}))


def _witnesses(corpus: Path, entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """A case for each server line, and for each family, that shows rows with as little else in it as can be."""
    by_writer: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (len(entry.tags), entry.size, entry.case)):
        shows = any(tag in ("event:WRITE_ROWS", "event:WRITE_ROWS_V1") for tag in entry.tags)
        if shows and entry.verdict == "accept" and entry.status == "compiled" and len(entry.files) == 1:
            for writer in (entry.server, entry.server.partition("-")[0]):
                by_writer.setdefault(writer, []).append(entry)
    plainest = {writer: [entry.case for entry in of[:_PLAINEST]] for writer, of in by_writer.items()}
    rows = {row["case"]: row for row in read_bytes_of(corpus, {name for names in plainest.values() for name in names})}
    shown = {name: bool(expected_of(row["files"][0]["bytes"]).rows) for name, row in rows.items()}
    found = {writer: next((name for name in names if shown[name]), None) for writer, names in plainest.items()}
    return {writer: rows[name] for writer, name in found.items() if name is not None}


def _sparse() -> Iterator[Plain]:
    """The same of the profile ``sparse``."""
    for row in sparse_rows():
        yield Plain(id=short_id(row["case"]), since=None, smoke=False, adds=0, guards=[], row=row, sparse=True)


def _write_chunk(folder: Path, chunk: Sequence[Plain]) -> list[WrittenCase]:
    with few_collections():
        return [write_case(folder, case) for case in chunk]


def _write_beside(folder: Path, cases: list[KitCase], kit: Kit) -> None:
    (folder / "index.jsonl").write_bytes(b"".join(msgspec.json.encode(case) + b"\n" for case in cases))
    (folder / "VERSION").write_bytes(msgspec.json.format(msgspec.json.encode(kit), indent=2) + b"\n")
    (folder / "LICENSE").write_text(license_text(), "utf-8")
    (folder / "README.md").write_text(render("kit/README.md.j2", kit=kit, cases=cases), "utf-8")
    protocol = render("kit/PROTOCOL.md.j2", forms=FORMS, any=ANY)
    (folder / "PROTOCOL.md").write_text(protocol, "utf-8")
    _write_ci(folder / "ci")
    shutil.copytree(templates_dir() / "kit" / "examples", folder / "examples", ignore=_not_shipped)
    (folder / "schemas").mkdir()
    for name, schema in kit_schemas().items():
        text = msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"
        (folder / "schemas" / f"{name}.json").write_bytes(text)


def _write_ci(folder: Path) -> None:
    """What a repository gets, by language: a testee to begin with, and the workflow that holds it against a kit."""
    home = templates_dir() / "kit" / "ci"
    folder.mkdir()
    shutil.copy(home / "README.md", folder)
    for language in sorted(path.name for path in home.iterdir() if path.is_dir() and path.name != _COMMON):
        own, workflows = folder / language / "conformance", folder / language / ".github" / "workflows"
        workflows.mkdir(parents=True)
        shutil.copytree(home / language, own, ignore=_not_shipped)
        for name in ("run", "expected-failures.txt"):
            shutil.copy(home / _COMMON / name, own)
        shutil.copy(home / _COMMON / "gitignore", own / ".gitignore")
        shutil.copy(home / _COMMON / "conformance.yml", workflows)


def _write_sums(folder: Path, of_cases: dict[str, str]) -> None:
    """The sha256 of every file, those of the cases as they are known."""
    beside = [path for path in folder.iterdir() if path.name not in (CASES, TWINS)]
    others = [path for top in beside for path in (top, *top.rglob("*")) if path.is_file()]
    sums = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in others}
    sums |= of_cases
    lines = [f"{sums[name]}  {name}\n" for name in sorted(sums, key=lambda name: name.split("/"))]
    (folder / "SHA256SUMS").write_text("".join(lines))


def _archived(folder: Path, path: Path) -> Path:
    """The folder as an archive, whose bytes depend on nothing but the files."""
    import gzip

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.isdir() else 0o644
        return member

    with (
        path.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        archive.add(folder, folder.name, filter=plain)
    return path


def check_target(out: Path) -> None:
    """Raises ScenarioError unless a kit may be written to ``out``: nothing, an empty folder, or a kit is there."""
    if out.name.endswith(ARCHIVE):
        if out.is_dir():
            raise ScenarioError(f"{out} is a folder", expected="a name for the archive")
        return
    check_replaceable(out, "kit", lambda folder: (folder / "index.jsonl").is_file())
