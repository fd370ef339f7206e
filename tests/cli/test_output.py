"""A result file appears whole or not at all."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import forge
from forge.cli import app
from forge.cli.output import output_file, write_binlogs, write_output
from forge.drafts import draft_folder
from forge.errors import ScenarioError


def failing_chunks() -> Iterator[bytes]:
    yield b"half"
    raise ValueError("no more")


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no more"):
        write_output(str(tmp_path / "out"), failing_chunks())
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    with pytest.raises(ValueError, match="no more"):
        write_output(str(target), failing_chunks())
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_text_and_bytes_are_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_output(str(target), b"\x00\xff")
    assert target.read_bytes() == b"\x00\xff"
    write_output(str(target), ["é", "\n"])
    assert target.read_bytes() == b"\xc3\xa9\n"


def test_a_terminal_gets_text_and_no_binary_data() -> None:
    ours, terminal = os.openpty()
    try:
        write_output(os.ttyname(terminal), "text\n")
        with pytest.raises(ScenarioError, match="the output is binary and would go to a terminal; expected -o FILE"):
            write_output(os.ttyname(terminal), b"\xfebin")
        with pytest.raises(ScenarioError, match="would go to a terminal"), output_file(os.ttyname(terminal)):
            pass
        assert os.read(ours, 100) == b"text\r\n"
    finally:
        os.close(ours)
        os.close(terminal)


def test_a_new_file_has_the_usual_rights_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_output(str(tmp_path / "new"), b"")
    finally:
        os.umask(umask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o600)
    write_output(str(tmp_path / "new"), b"again")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_output(str(tmp_path / "link"), b"through")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"through"


def test_a_device_is_written_directly() -> None:
    write_output(os.devnull, b"gone")
    assert not Path(os.devnull).is_file()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such folder") as failure:
        write_output(str(tmp_path / "none" / "out"), b"")
    assert failure.value.filename == str(tmp_path / "none")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_output(str(tmp_path), b"")


def test_a_folder_with_a_slash_is_made_for_the_files_of_a_session(tmp_path: Path) -> None:
    files = [("binlog.000001", b"a"), ("binlog.000002", b"b")]
    write_binlogs(f"{tmp_path / 'new'}{os.sep}", files)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "binlog.000001",
        "binlog.000002",
        "binlog.index",
    ]
    with pytest.raises(ScenarioError, match="a folder with a slash at its end"):
        write_binlogs(str(tmp_path / "other"), files)
    assert not (tmp_path / "other").exists()


def test_the_draft_of_a_process_that_was_killed_goes_when_the_file_is_written_again(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from forge.cli.output import write_output\n"
        "def chunks():\n    yield b'half'\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_output(sys.argv[1], chunks())"
    )
    target = tmp_path / "out"
    assert subprocess.run([sys.executable, "-c", program, str(target)], check=False).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    beside = left.with_name(re.sub("-[0-9]+-", f"-{os.getppid()}-", left.name))
    beside.write_bytes(b"of a process that still writes")
    write_output(str(target), b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([beside, target])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told_with_the_file(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.listing").write_text("# nothing\n")
    assert app.run(["asm", str(tmp_path / "a.listing"), "-o", "/dev/full"]) == 1
    assert capfd.readouterr().err == "forge: /dev/full: No space left on device\n"


def test_an_output_without_a_name_is_refused(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.listing").write_text("# nothing\n")
    for command in ("asm", "rows"):
        assert app.run([command, str(tmp_path / "a.listing"), "-o", ""]) == 2
        assert "the name is empty; expected a path" in capfd.readouterr().err


def test_an_interrupt_before_the_command_has_begun_is_one_line() -> None:
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'forge.cli.app':\n            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\nfrom forge.cli import main\nmain()"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "forge: interrupted\n")


def test_an_interrupt_among_imports_ends_the_process() -> None:
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # What runs in the background has it ignored.
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'forge.errors':\n            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\nfrom forge.cli import main\nmain()"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


def test_an_interrupt_while_the_command_is_imported_ends_it_without_a_word(tmp_path: Path) -> None:
    script = Path(app.__file__).with_name("script")
    (tmp_path / "forge").mkdir()
    (tmp_path / "forge" / "__init__.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    heard = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heard}; import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(script)], check=False, capture_output=True, text=True,
        cwd=tmp_path,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


def test_the_package_alone_imports_next_to_nothing() -> None:
    program = "import sys; before = set(sys.modules); import forge.cli; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-S", "-c", program], check=True, capture_output=True, text=True,
                           env={"PYTHONPATH": str(Path(forge.__file__).parents[1])})  # fmt: skip
    assert ended.stdout.split() == ["__future__", "forge", "forge.cli"]


def test_a_folder_of_a_process_that_was_killed_goes_when_the_same_folder_is_written(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom forge.drafts import draft_folder\n"
        "with draft_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half').write_text('half')\n    os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "kit")], check=False)
    [left] = tmp_path.iterdir()
    assert (left / "half").exists()
    with draft_folder(tmp_path / "other"):
        assert left.exists()
    with draft_folder(tmp_path / "kit") as folder:
        assert list(tmp_path.iterdir()) == [folder]
        (folder / "whole").write_text("whole")
        folder.rename(tmp_path / "kit")
    assert [path.name for path in tmp_path.rglob("*")] == ["kit", "whole"]
