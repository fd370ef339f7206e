"""forge fuzz export: seeds that are few and small, a dictionary, and harnesses that compile and run."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forge
from forge.binlog.reader import MAGIC
from forge.cli.app import run
from forge.conform.fuzz.dictionary import dictionary, tokens
from forge.conform.fuzz.export import ENGINES, engine_of, exported, fnv1a, go_seed, rows_of_seeds
from forge.conform.fuzz.seeds import LARGEST, SeedLog, chosen_seeds, kit_logs, recorded_logs
from forge.errors import ScenarioError
from forge.resources import corpora_dir

#: A reader that does not stand a certain event, and refuses what is no log.
FRAIL = """\
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int read_binlog(const uint8_t *log, size_t size, long *rows) {
  (void)rows;
  if (size < 4 || memcmp(log, "\\xfe" "bin", 4)) return 1;
  if (size > 8 && log[8] == 0x77) abort();
  return 0;
}
"""


@cache
def some_seeds() -> list[SeedLog]:
    return chosen_seeds((corpora_dir() / "recordings" / "bits").rglob("binlog.0*"))


def test_seeds_are_small_and_distinct_and_each_has_something_new() -> None:
    seeds = some_seeds()
    assert len({seed.name for seed in seeds}) == len(seeds)
    seen: set[str] = set()
    for seed in seeds:
        assert seed.data.startswith(MAGIC)
        assert len(seed.data) <= LARGEST
        assert seed.features - seen
        seen |= seed.features


@pytest.mark.slow
def test_the_recorded_logs_give_few_seeds_with_every_type_of_event_in_them() -> None:
    seeds = chosen_seeds(recorded_logs())
    assert 40 < len(seeds) < 200
    features = {feature.split()[0] for seed in seeds for feature in seed.features}
    assert {"WRITE_ROWS", "PARTIAL_UPDATE_ROWS", "TRANSACTION_PAYLOAD", "MARIADB_GTID", "GTID_TAGGED"} <= features


def test_the_smoke_profile_of_a_kit_gives_seeds(kit: Path) -> None:
    assert chosen_seeds(kit_logs(kit))


def test_a_folder_without_logs_gives_no_seeds(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="there is no log of at most"):
        chosen_seeds([])
    with pytest.raises(ScenarioError, match="there is no kit in"):
        kit_logs(tmp_path)


def test_rows_of_seeds_are_found_by_their_hash() -> None:
    # Vectors of FNV-1a (draft-eastlake-fnv).
    assert [fnv1a(data) for data in (b"", b"a", b"foobar")] == [
        0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8
    ]  # fmt: skip
    lines = [line.split() for line in rows_of_seeds(some_seeds()).splitlines()]
    assert [line[2] for line in lines] == [seed.name for seed in some_seeds() if seed.rows is not None]
    for seed, (_, count, _) in zip(some_seeds(), lines, strict=True):
        assert len(forge.read(seed.data).rows) == int(count)


def test_a_log_that_is_too_large_gives_excerpts_that_read_as_it_does() -> None:
    path = corpora_dir() / "recordings" / "partitions-full" / "binlog.000001"
    assert path.stat().st_size > LARGEST
    seeds = chosen_seeds([path])
    assert any("WRITE_ROWS extra" in seed.features for seed in seeds)
    for seed in seeds:
        assert len(seed.data) <= LARGEST
        assert forge.read(seed.data).problem is None


@given(st.binary())
def test_a_seed_of_go_is_the_bytes(data: bytes) -> None:
    version, value, end = go_seed(data).decode("ascii").split("\n")
    assert (version, end) == ("go test fuzz v1", "")
    assert ast.literal_eval("b" + value.removeprefix("[]byte(").removesuffix(")")) == data


def test_the_dictionary_has_a_word_a_line_and_each_once() -> None:
    lines = dictionary().splitlines()
    words = [re.fullmatch(r'([A-Za-z0-9_]+)="((?:\\x[0-9a-f]{2})+)"', line) for line in lines]
    assert all(words)
    names = [word[1] for word in words if word]
    assert len(set(names)) == len(names)
    assert {word[2] for word in words if word} == {"".join(f"\\x{byte:02x}" for byte in token) for _, token in tokens()}


@pytest.mark.parametrize("name", ENGINES)
def test_a_target_has_seeds_a_harness_and_a_dictionary_where_its_engine_takes_one(name: str) -> None:
    engine = engine_of(name)
    files = exported(engine, some_seeds())
    assert sum(path.startswith(f"{engine.seeds}/") for path in files) == len(some_seeds())
    assert (engine.dictionary is None) == (name == "go")
    assert engine.dictionary is None or engine.dictionary in files
    assert any(path.endswith((".c", ".go", ".rs", ".java", ".py")) for path in files)


def test_a_target_is_written_whole_to_an_empty_folder(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "fuzz"
    options = ["--for", "libfuzzer", "--seeds", str(kit), "-o", str(out)]
    assert run(["fuzz", "export", *options, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == sum(path.is_file() for path in out.rglob("*"))
    assert run(["fuzz", "export", *options]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_an_engine_that_there_is_not_and_options_in_the_wrong_place_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        (["export", "--for", "aflx", "-o", str(tmp_path)], "did you mean 'afl'"),
        (["--seed", "1", "export", "--for", "afl", "-o", str(tmp_path)], "options of a search stand before export"),
        ([], "missing option '--testee'"),
    ):
        assert run(["fuzz", *words]) == 2
        assert said in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def written(name: str, folder: Path) -> Path:
    for path, data in exported(engine_of(name), some_seeds()).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def command(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=280)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["libfuzzer", "afl"])
def test_the_harness_in_c_runs_without_a_fuzzer(name: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("THE HARNESS IN C WAS NOT RUN: cc or make is not here")
    folder = written(name, tmp_path)
    (folder / "frail.c").write_text(FRAIL)
    target = "alone" if name == "libfuzzer" else "fuzz"
    made = command(["make", target, "CC=cc", "READER=frail.c", "FLAGS=-Wall -Wextra -Werror"], folder)
    assert made.returncode == 0, made.stderr
    seeds = sorted(map(str, (folder / "seeds").iterdir()))
    assert command([f"./{target}", *seeds], folder).returncode == 0
    (folder / "frail").write_bytes(MAGIC + b"\0\0\0\0\x77")
    assert command([f"./{target}", "frail"], folder).returncode < 0


@pytest.mark.slow
def test_the_target_of_libfuzzer_finds_what_a_reader_does_not_stand(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("THE TARGET OF LIBFUZZER WAS NOT RUN: clang is not here")
    folder = written("libfuzzer", tmp_path)
    (folder / "frail.c").write_text(FRAIL)
    made = command(["make", "READER=frail.c", "FLAGS="], folder)
    assert made.returncode == 0, made.stderr
    found = command(["./fuzz", "-dict=binlog.dict", "-max_total_time=60", "seeds"], folder)
    assert "deadly signal" in found.stderr


@pytest.mark.slow
def test_the_harness_in_python_reads_seeds_and_tells_rows_that_are_missing(tmp_path: Path) -> None:
    pytest.importorskip("pymysqlreplication", reason="THE HARNESS IN PYTHON WAS NOT RUN: mysql-replication is not here")
    folder = written("atheris", tmp_path)
    (folder / "atheris.py").write_text(
        "from contextlib import nullcontext\ndef instrument_imports(include):\n    return nullcontext()\n"
    )
    code = (
        "import pathlib, sys, fuzz\n"
        "for path in sorted(pathlib.Path('seeds').iterdir()): fuzz.one_log(path.read_bytes())\n"
        "fuzz.read = lambda log: []\n"
        "try:\n    fuzz.one_log(path.read_bytes())\nexcept AssertionError as error:\n    print(error)\n"
    )
    done = command([sys.executable, "-c", code], folder)
    assert done.returncode == 0, done.stderr
    assert "it gives 0 rows without a word" in done.stdout


#: What compiles a target and reads its seeds, where its packages can be fetched.
COMPILED = {
    "go": ("go", [["go", "mod", "tidy"], ["go", "vet", "./..."], ["go", "test", "./..."]]),
    "jazzer": ("mvn", [["mvn", "--quiet", "--batch-mode", "test"]]),
    "cargo-fuzz": ("cargo-fuzz", [["cargo", "+nightly", "fuzz", "build", "--fuzz-dir", "."]]),
}


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_a_target_compiles_and_its_decoder_reads_the_seeds(name: str, tmp_path: Path) -> None:
    needed, commands = COMPILED[name]
    if shutil.which(needed) is None:
        pytest.skip(f"THE TARGET OF {name.upper()} WAS NOT COMPILED: {needed} is not here")
    folder = written(name, tmp_path)
    for words in commands:
        done = command(words, folder)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
