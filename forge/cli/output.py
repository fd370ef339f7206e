"""Where a command's result goes: files that appear whole or not at all, or standard output (``-``)."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import click

from forge.binlog.index import index_text
from forge.drafts import Drafts, drafts
from forge.errors import ScenarioError, escaped

STDOUT = "-"


class Utf8(NamedTuple):
    """Text that is encoded already."""

    data: bytes | memoryview


#: What a file is made of; text is written as UTF-8, and bytes are binary data, which no terminal gets.
Chunks = bytes | str | Iterable[bytes] | Iterable[str] | Iterable[bytes | str] | Iterable[str | Utf8]
#: Bytes that a character has which is escaped (forge.errors.escaped).
_MAY_BE_ESCAPED = bytes((*range(9), *range(0x0B, 0x20), 0x7F, 0xC2, 0xD8, 0xE2))
#: Characters that are encoded at a time.
_PIECE = 1 << 20


def write_output(target: str, chunks: Chunks, *, exact: bool = False) -> None:
    """Write ``chunks`` to the file ``target``, or to standard output if it is ``-``.

    Standard output gets text with escapes in the place of what would drive a terminal; ``exact`` text, which has no
    other way to say such characters, has them only where that is a terminal.  Raises OSError; ScenarioError for bytes
    that would go to a terminal.  A command that reads files calls
    :func:`refuse_inputs` first.
    """
    write_files([(target, chunks)], exact=exact)


def echo(line: str, *, err: bool = False) -> None:
    """A line on standard output, or on standard error, as :func:`write_output` writes it."""
    click.echo(escaped(line), err=err)


def print_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, as :func:`write_output` writes them."""
    write_output(STDOUT, (line + "\n" for line in lines))


def write_files(files: Iterable[tuple[str, Chunks]], *, exact: bool = False) -> None:
    """Write files that belong together, (target, chunks) each: none appears before all of them are complete.

    A file is written under another name in the same folder, and all are renamed at the end; nothing is left if
    making the chunks fails.  A target that is no regular file (standard output, a device, a pipe) is written directly.
    Raises as :func:`write_output`.
    """
    with drafts() as made:
        for target, chunks in files:
            with _opened(target, made) as file:
                safe = target == STDOUT and (not exact or file.isatty())
                for part in [chunks] if isinstance(chunks, (bytes, str)) else chunks:
                    _write(file, part, safe=safe)


def _write(file: BinaryIO, part: bytes | str | Utf8, *, safe: bool) -> None:
    """Text is escaped, if it is to be safe, and encoded a piece at a time: a value may have many megabytes."""
    if isinstance(part, bytes):
        _refuse_terminal(file)
        file.write(part)
    elif isinstance(part, Utf8):
        _write_text(file, bytes(part.data) if safe else part.data, safe=safe)
    else:
        for at in range(0, len(part), _PIECE):
            _write_text(file, part[at : at + _PIECE].encode(errors="backslashreplace"), safe=safe)


def _write_text(file: BinaryIO, text: bytes | memoryview, *, safe: bool) -> None:
    if safe and isinstance(text, bytes) and len(text.translate(None, _MAY_BE_ESCAPED)) != len(text):
        text = escaped(text.decode()).encode()
    file.write(text)


def _refuse_terminal(file: BinaryIO) -> None:
    if file.isatty():
        raise ScenarioError("the output is binary and would go to a terminal", expected="-o FILE, or a pipe")


def write_binlogs(
    output: str, files: Sequence[tuple[str, Chunks]], index: bytes | None = None, *, inputs: Sequence[str] = ()
) -> list[str]:
    """Write the files of a session, (name, contents) each: to ``output`` if there is one, else under their names to the
    folder ``output`` (made if it ends with a slash), or beside ``output``, which is the first; with the index file.

    Returns the paths of the binary logs.  Raises ScenarioError for a name that several files cannot have: each ROTATE
    event names the next file, or that is one of the ``inputs``; otherwise as :func:`write_output`.
    """
    names = [name for name, _ in files]
    targets = _targets(output, names)
    contents: list[tuple[str, Chunks]] = [(target, data) for target, (_, data) in zip(targets, files, strict=True)]
    if len(files) > 1:
        contents.append((str(Path(targets[0]).with_suffix(".index")), index_text(names) if index is None else index))
    refuse_inputs([target for target, _ in contents], inputs)
    if is_folder(output):
        Path(output).mkdir(exist_ok=True)
    write_files(contents)
    return targets


def is_folder(output: str) -> bool:
    """Whether an output is meant as a folder: it is one, or ends with a slash."""
    return output.endswith(os.sep) or Path(output).is_dir()


def refuse_inputs(targets: Iterable[str], inputs: Sequence[str]) -> None:
    """Raise ScenarioError if one of the files that a command reads is also one that it would write.

    The same file is found under another path and behind symbolic and hard links; ``-`` is standard input.
    """
    read = [status for source in inputs if (status := _status(source)) is not None and stat.S_ISREG(status.st_mode)]
    for target in targets:
        if target == STDOUT or not read:
            continue
        written = _status(os.fspath(target))
        if written is not None and any(os.path.samestat(written, status) for status in read):
            raise ScenarioError(
                f"{target} is an input of the command, and the output would replace it",
                expected="another name for the output",
            )


def _status(path: str) -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno()) if path == STDOUT else Path(path).stat()
    except (OSError, ValueError):
        return None


def _targets(output: str, names: Sequence[str]) -> list[str]:
    if is_folder(output):
        return [str(Path(output) / name) for name in names]
    if len(names) > 1 and Path(output).name != names[0]:
        raise ScenarioError(
            f"the scenario makes {len(names)} files, each of which names the next",
            expected=f"{names[0]} or a folder with a slash at its end as output (session.log_name and"
            " session.first_file choose the names)",
        )
    return [output, *(str(Path(output).parent / name) for name in names[1:])]


@contextmanager
def output_file(target: str) -> Iterator[BinaryIO]:
    """A binary file to write that appears under the name ``target`` at the end of the block, or not at all.

    Standard output and targets that are no regular files are written directly.  Raises as :func:`write_output`.
    """
    with drafts() as made, _opened(target, made) as file:
        _refuse_terminal(file)
        yield file


@contextmanager
def _opened(target: str, made: Drafts) -> Iterator[BinaryIO]:
    """Where the bytes of a target go: they are on the disk at the end of the block, if it is a regular file."""
    path = Path(target)
    try:
        if target == STDOUT:
            with open(sys.stdout.fileno(), "wb", closefd=False) as file:  # a descriptor, not a path
                yield file
        elif path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                yield device
        else:
            with os.fdopen(made.open(path), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        # A full disk says nothing of the file that it was full for.
        if error.filename is None and error.errno not in (None, errno.EPIPE):
            raise OSError(error.errno, error.strerror, target) from error
        raise
