"""The foreign decoders: how each is built and run so that it notes what it reaches, and how that is read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.power.foreign.sources import Source
from tests.power.subjects import ROOT

TESTEES = ROOT / "corpora" / "testees"
#: JaCoCo, which Maven fetches.
_JACOCO = "0.8.13"
_GO_MODULE = "github.com/go-mysql-org/go-mysql"
_JAVA_PACKAGE = "com/github/shyiko/mysql/binlog"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a source that is run as one: ``count`` statements or lines, in the lines ``first`` to ``last``."""

    file: str
    first: int
    last: int
    count: int
    is_reached: bool


class Decoder:
    """A foreign decoder.  ``folder`` keeps its program and what it notes."""

    name: str
    language: str
    #: What is counted.
    unit = "lines"

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve() / self.name
        self.notes = self.folder / "notes"
        self.notes.mkdir(parents=True, exist_ok=True)

    def build(self) -> None:
        """Build its testee, with what makes it note what it reaches."""
        run([TESTEES / self.name / "build", self.folder], self.built_with())

    def built_with(self) -> dict[str, str]:
        """Variables of the environment of the build."""
        return {}

    def run_with(self) -> dict[str, str]:
        """Variables of the environment of the program."""
        raise NotImplementedError

    def parts(self) -> list[Part]:
        """What there is of its decode code, and what was reached."""
        raise NotImplementedError

    @cached_property
    def sources(self) -> dict[str, Source]:
        """The files of its decode code."""
        raise NotImplementedError


class GoMysql(Decoder):
    """Measured by Go: statements, in blocks."""

    name, language, unit = "go-mysql", "Go", "statements"

    def built_with(self) -> dict[str, str]:
        return {"GOFLAGS": f"-cover -coverpkg=./...,{_GO_MODULE}/..."}

    def run_with(self) -> dict[str, str]:
        return {"GOCOVERDIR": str(self.notes)}

    def parts(self) -> list[Part]:
        profile = self.folder / "profile.txt"
        run(["go", "tool", "covdata", "textfmt", f"-i={self.notes}", f"-o={profile}"])
        blocks: dict[tuple[str, str], tuple[int, bool]] = {}
        for line in profile.read_text().splitlines()[1:]:
            place, count, times = line.rsplit(" ", 2)
            file, _, span = place.rpartition(":")
            name = file.removeprefix(f"{_GO_MODULE}/")
            if name in self.sources:
                before = blocks.get((name, span), (0, False))[1]
                blocks[name, span] = int(count), before or times != "0"
        found = []
        for (name, span), (number, is_reached) in blocks.items():
            first, last = (int(end.partition(".")[0]) for end in span.split(","))
            found.append(Part(name, first, last, number, is_reached))
        return found

    @cached_property
    def sources(self) -> dict[str, Source]:
        where = run(["go", "list", "-m", "-f", "{{.Dir}}", _GO_MODULE], cwd=TESTEES / self.name).strip()
        return _files(Path(where), (f"{part}/*.go" for part in ("replication", "serialization")))


class MysqlCommon(Decoder):
    """Measured by LLVM: lines."""

    name, language = "mysql_common", "Rust"

    def built_with(self) -> dict[str, str]:
        return {"RUSTFLAGS": "-C instrument-coverage"}

    def run_with(self) -> dict[str, str]:
        return {"LLVM_PROFILE_FILE": f"{self.notes}/%p.profraw"}

    def parts(self) -> list[Part]:
        tools = next(Path(run(["rustc", "--print", "sysroot"]).strip()).glob("lib/rustlib/*/bin"))
        profile = self.folder / "all.profdata"
        run([tools / "llvm-profdata", "merge", "-sparse", "-o", profile, *self.notes.glob("*.profraw")])
        table = run(
            [tools / "llvm-cov", "export", "--format=lcov", f"--instr-profile={profile}", self.folder / self.name]
        )
        names = {str(source.path): name for name, source in self.sources.items()}
        found: dict[tuple[str, int], bool] = {}
        name = None
        for line in table.splitlines():
            kind, _, rest = line.partition(":")
            if kind == "SF":
                name = names.get(rest)
            elif kind == "DA" and name is not None:
                number, times = rest.split(",")[:2]
                found[name, int(number)] = found.get((name, int(number)), False) or times != "0"
        return [Part(name, number, number, 1, is_reached) for (name, number), is_reached in found.items()]

    @cached_property
    def sources(self) -> dict[str, Source]:
        manifest = self.folder / "mysql_common.crate" / "Cargo.toml"
        known = json.loads(run(["cargo", "metadata", "--format-version=1", f"--manifest-path={manifest}"]))
        where = next(one["manifest_path"] for one in known["packages"] if one["name"] == "mysql_common")
        return _files(Path(where).parent, ["src/binlog/**/*.rs"])


class JavaConnector(Decoder):
    """Measured by JaCoCo: lines."""

    language = "Java"

    def build(self) -> None:
        super().build()
        _fetched(self.folder, f"org.jacoco:org.jacoco.agent:{_JACOCO}:jar:runtime")
        _fetched(self.folder, f"org.jacoco:org.jacoco.cli:{_JACOCO}:jar:nodeps")
        pom = (TESTEES / self.name / "pom.xml").read_text()
        group, version = re.findall(
            r"<groupId>(.*)</groupId>\s*<artifactId>mysql-binlog-connector-java</artifactId>\s*<version>(.*)</version>",
            pom,
        )[0]
        _fetched(self.folder, f"{group}:mysql-binlog-connector-java:{version}:jar:sources")
        with zipfile.ZipFile(next(self.folder.glob("*-sources.jar"))) as jar:
            jar.extractall(self.folder / "sources")

    def run_with(self) -> dict[str, str]:
        agent = next(self.folder.glob("org.jacoco.agent-*.jar"))
        return {"JAVA_TOOL_OPTIONS": f"-javaagent:{agent}=destfile={self.notes}/jacoco.exec,append=true"}

    def parts(self) -> list[Part]:
        table = self.folder / "lines.xml"
        jar = next((self.folder / f"{self.name}.library").glob("mysql-binlog-connector-java-*.jar"))
        client = next(self.folder.glob("org.jacoco.cli-*.jar"))
        run(["java", "-jar", client, "report", self.notes / "jacoco.exec", "--classfiles", jar, "--xml", table])
        found = []
        sources = self.sources
        text = re.sub(r"<!DOCTYPE.*?>", "", table.read_text("utf-8"), count=1)
        for package in ElementTree.fromstring(text).iter("package"):
            for file in package.iter("sourcefile"):
                name = f"{package.get('name')}/{file.get('name')}".removeprefix(f"{_JAVA_PACKAGE}/")
                if name in sources:
                    for line in file.iter("line"):
                        number = int(line.get("nr", 0))
                        found.append(Part(name, number, number, 1, line.get("ci") != "0"))
        return found

    @cached_property
    def sources(self) -> dict[str, Source]:
        return _files(
            self.folder / "sources" / _JAVA_PACKAGE, ["BinaryLogFileReader.java", "event/**/*.java", "io/*.java"]
        )


class Zendesk(JavaConnector):
    """Zendesk's connector."""

    name = "zendesk-connector"


class Debezium(JavaConnector):
    """Debezium's connector."""

    name = "debezium-connector"


DECODERS: Mapping[str, Callable[[Path], Decoder]] = {one.name: one for one in (GoMysql, MysqlCommon, Zendesk, Debezium)}


def run(command: list[str | Path], more: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """What a tool prints.  Ends the program with what it says if it fails."""
    done = subprocess.run(
        command, env={**os.environ, **(more or {})}, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _fetched(folder: Path, artifact: str) -> None:
    run(["mvn", "--quiet", "--batch-mode", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"])


def _files(folder: Path, patterns: Iterable[str]) -> dict[str, Source]:
    found = {}
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if not path.name.endswith("_test.go"):
                name = path.relative_to(folder).as_posix()
                found[name] = Source(name, path)
    return found
