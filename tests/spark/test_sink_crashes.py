"""A write of the sink that ends at any step: nothing half-done has a final name, and the same write again finishes."""

from __future__ import annotations

import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import msgspec

from forge.spark.owner import Owner
from tests.spark.sink_writes import Write, logs, rows

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"rows_per_transaction": 4, "max_binlog_size": 1200, "session": "{gtid: true}", "sync": False}
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "open")


class Killed(BaseException):
    """Nothing that the process does from here on reaches the disk."""


class _Kills:
    """Ends a write at its step ``at``, as SIGKILL would: every later change of a file fails as well."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.step = 0
        self.watched = ""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.at is None or event not in _CHANGES or not str(arguments[0]).startswith(self.watched):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        self.step += 1
        if self.step > self.at:
            raise Killed

    @contextmanager
    def at_step(self, at: int, folder: Path) -> Iterator[None]:
        self.at, self.step, self.watched = at, 0, str(folder)
        try:
            yield
        finally:
            self.at = None


@pytest.fixture(scope="module")
def kills() -> _Kills:
    return _Kills()


def _driver_is_gone(folder: Path) -> None:
    """As after the end of the process that wrote."""
    for owner in folder.glob("_temporary-*/owner.json"):
        known = msgspec.json.decode(owner.read_bytes(), type=Owner)
        owner.write_bytes(msgspec.json.encode(msgspec.structs.replace(known, pid=2**30, started="1")))


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_write_that_is_killed_at_any_step_is_finished_by_the_same_one(
    tmp_path: Path, kills: _Kills, overwrite: bool
) -> None:
    def first(folder: Path) -> None:
        Write(folder, rows(0, 40), 3, **OPTIONS).run("first")

    def second(folder: Path) -> None:
        options = {**OPTIONS, "commit_id": "second", "rows_per_transaction": 3}
        Write(folder, rows(100, 70), 4, overwrite=overwrite, **options).run("second")

    first(tmp_path / "first")
    shutil.copytree(tmp_path / "first", tmp_path / "whole")
    before = logs(tmp_path / "whole")
    second(tmp_path / "whole")
    after = logs(tmp_path / "whole")
    assert len(before) >= 3
    assert len(after) >= 4
    for step in range(500):
        folder = tmp_path / f"killed-{step}"
        shutil.copytree(tmp_path / "first", folder)
        killed = True
        with kills.at_step(step, folder):
            try:
                second(folder)
                killed = False
            except Killed:
                pass
        for name, data in logs(folder).items():
            assert data in (before.get(name), after.get(name)), (step, name)
        _driver_is_gone(folder)
        second(folder)
        assert logs(folder) == after, step
        if not killed:
            break
    assert not killed
    assert step > 20


def test_the_first_write_leaves_nothing_that_the_second_one_stumbles_over(tmp_path: Path, kills: _Kills) -> None:
    def write(folder: Path) -> None:
        Write(folder, rows(0, 40), 3, **OPTIONS, commit_id="one").run("job")

    write(tmp_path / "whole")
    for step in range(500):
        folder = tmp_path / f"killed-{step}"
        with kills.at_step(step, folder):
            try:
                write(folder)
                break
            except Killed:
                pass
        _driver_is_gone(folder)
        write(folder)
        assert logs(folder) == logs(tmp_path / "whole")
    assert step > 15


def test_the_manifest_has_the_size_and_the_checksum_of_each_file(tmp_path: Path) -> None:
    write = Write(tmp_path, rows(0, 300), 2, rows_per_transaction=50)
    write.run("whole")
    manifest = write.commits.chain.manifest()
    assert manifest is not None
    (file,) = manifest.files
    data = (tmp_path / file.name).read_bytes()
    assert (file.size, file.crc32) == (len(data), zlib.crc32(data))
