"""What other fuzzers need to begin: seeds, a dictionary, and a harness that runs as it is (``templates/fuzz``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.conform.fuzz.dictionary import dictionary
from forge.conform.fuzz.seeds import SeedLog
from forge.errors import ScenarioError, nearest
from forge.resources import templates_dir


@dataclass(frozen=True, slots=True)
class Engine:
    """A fuzzer: the folders of ``templates/fuzz`` with its harness, where seeds, dictionary and rows are, what runs it.

    ``seed`` makes the file of a seed of its bytes; an engine without ``dictionary`` takes none.
    """

    harness: tuple[str, ...]
    seeds: str
    dictionary: str | None
    run: str
    seed: Callable[[bytes], bytes] = bytes
    rows: str = "rows.txt"


def go_seed(data: bytes) -> bytes:
    """The file format of Go's own fuzzing."""
    letters = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}" for byte in data)
    return f'go test fuzz v1\n[]byte("{letters}")\n'.encode()


ENGINES: dict[str, Engine] = {
    "libfuzzer": Engine(("c", "libfuzzer"), "seeds", "binlog.dict", "make && ./fuzz -dict=binlog.dict seeds"),
    "go": Engine(
        ("go",), "testdata/fuzz/FuzzBinlog", None, "go mod tidy && go test -fuzz FuzzBinlog -fuzztime 60s", go_seed
    ),
    "cargo-fuzz": Engine(
        ("cargo-fuzz",), "corpus/binlog", "binlog.dict",
        "cargo +nightly fuzz run --fuzz-dir . binlog -- -dict=binlog.dict -timeout=5 -rss_limit_mb=1024",
    ),
    "jazzer": Engine(
        ("jazzer",), "src/test/resources/binlog/BinlogFuzzTestInputs/readBinlog",
        "src/test/resources/binlog/binlog.dict", "JAZZER_FUZZ=1 mvn test", rows="src/test/resources/binlog/rows.txt",
    ),
    "afl": Engine(("c", "afl"), "seeds", "binlog.dict", "make && afl-fuzz -i seeds -o found -x binlog.dict -- ./fuzz"),
    "atheris": Engine(
        ("atheris",), "seeds", "binlog.dict",
        "pip install -r requirements.txt && python fuzz.py -dict=binlog.dict -timeout=5 -rss_limit_mb=1024 seeds",
    ),
}  # fmt: skip


def fnv1a(data: bytes) -> int:
    """FNV-1a of 64 bits: what a harness in any language has in three lines, to know a seed again."""
    result = 0xCBF29CE484222325
    for byte in data:
        result = (result ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return result


def rows_of_seeds(seeds: Sequence[SeedLog]) -> str:
    """``rows.txt``: the FNV-1a of each seed that a correct reader reads, its rows, and its name (of its SHA-256)."""
    return "".join(f"{fnv1a(one.data):016x} {one.rows} {one.name}\n" for one in seeds if one.rows is not None)


def engine_of(name: str) -> Engine:
    """The engine of that name.  Raises ScenarioError for one that there is not."""
    if name not in ENGINES:
        raise ScenarioError(
            f"there is no engine {name!r}", expected=", ".join(ENGINES), suggestion=nearest(name, ENGINES)
        )
    return ENGINES[name]


def exported(engine: Engine, seeds: Sequence[SeedLog]) -> dict[str, bytes]:
    """The files of a fuzz target, by their path in its folder."""
    files = {f"{engine.seeds}/{seed.name}": engine.seed(seed.data) for seed in seeds}
    files[engine.rows] = rows_of_seeds(seeds).encode()
    if engine.dictionary is not None:
        files[engine.dictionary] = dictionary().encode()
    for name in engine.harness:
        home = templates_dir() / "fuzz" / name
        files |= {path.relative_to(home).as_posix(): path.read_bytes() for path in _files(home)}
    return files


def _files(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file())
