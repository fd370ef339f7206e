"""Many files in one call of a vendor's reader: what it prints is cut at the files between them.

Behind each file stands a *mark*, a small log of our own.  Its statement, printed on a line by itself, ends what was
printed of the file; its character set, which no reader knows, ends what MariaDB's reader complains of on standard
error.  A reader stops at the first file that it cannot read: that file has the rest, and those behind it a call of
their own.
"""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from forge.binlog.reader import frames
from forge.binlog.writer import write_binlog
from forge.check.decoder import DecodingEnded
from forge.check.decoders.vendors.program import FILE_NAME, Printed, run_on_file, run_program
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.query import Query
from forge.events.rows import STMT_END
from forge.servers import server_line

Family = Literal["mysql", "mariadb"]
Outcome = Printed | DecodingEnded

#: Files of a call, and bytes of all of them: what a reader prints stays far below its limit.
FILES_A_CALL = 64
BYTES_A_CALL = 256 << 10

#: Bytes at the beginning of a file in which a reader may be known to stop.
_BEGINNING_SIZE = 4096
#: No reader has a character set of this number.
_NO_CHARSET = 40000
#: What no file has in it.
_TOKEN = uuid.uuid4().hex
_FILE = re.compile(rb"%s-\d+" % _TOKEN.encode())
_MARK = re.compile(rb"\n%s\n" % _TOKEN.encode())
_COMPLAINT = re.compile(rb"[^\n]*Character set '#%d'[^\n]*\n" % _NO_CHARSET)
_BEGINNING = b"\n# at 4\n"
_ROWS = frozenset((20, 21, 22, 23, 24, 25, 30, 31, 32, 39, 166, 167, 168, 169, 170, 171))
#: TABLE_MAP; INTVAR, RAND and USER_VAR: a statement follows.
_BEGINNINGS = frozenset((19, 5, 13, 14))
#: STOP, ROTATE, FORMAT_DESCRIPTION, XID, PREVIOUS_GTIDS, GTID_LIST: nothing is left open.
_ENDS = frozenset((3, 4, 15, 16, 35, 163))
_MARIADB_GTID, _GTID_LIST = 162, 163
#: Where row events have their flags, behind the header and the table's id.
_FLAGS = 25


def run_on_files(
    command: Sequence[str], files: Sequence[bytes], family: Family, foreign: frozenset[int]
) -> list[Outcome]:
    """What a reader prints of each file, as if it was called for it alone.

    The files must be right: what it reads behind the end of a wrong record is what it read before.  Events of
    ``foreign`` types stop the reader.
    """
    outcomes: dict[int, Outcome] = {}
    together: list[int] = []
    size = 0
    for number, data in enumerate(files):
        if len(data) > BYTES_A_CALL or is_for_itself(data, foreign):
            outcomes[number] = _alone(command, data, foreign)
            continue
        if len(together) == FILES_A_CALL or size + len(data) > BYTES_A_CALL:
            outcomes |= zip(together, _in_turn(command, [files[one] for one in together], family), strict=True)
            together, size = [], 0
        together.append(number)
        size += len(data)
    outcomes |= zip(together, _in_turn(command, [files[one] for one in together], family), strict=True)
    return [outcomes[number] for number in range(len(files))]


def run_alone(command: Sequence[str], data: bytes, foreign: frozenset[int]) -> Printed:
    """What a reader prints of a file.  Raises DecodingEnded as :func:`run_on_file`.

    One that stops at the first event of a ``foreign`` type has seen nothing behind it, and many logs are the same up to
    there: a program is started for one of them.
    """
    return _stopped(command, data[:_BEGINNING_SIZE], foreign) or run_on_file(command, data)


def _stopped(command: Sequence[str], beginning: bytes, foreign: frozenset[int]) -> Printed | None:
    """What a reader prints that stops at an event of a ``foreign`` type in the beginning of a file."""
    stop = next((frame for frame in frames(beginning) if frame.raw[4] in foreign), None)
    if stop is None:
        return None
    printed = _run_on_beginning(tuple(command), beginning[: stop.offset + len(stop.raw)])
    return printed if printed.code and b" at offset %d:" % stop.offset in printed.err else None


@lru_cache(maxsize=256)
def _run_on_beginning(command: tuple[str, ...], beginning: bytes) -> Printed:
    return run_on_file(command, beginning)


def _alone(command: Sequence[str], data: bytes, foreign: frozenset[int]) -> Outcome:
    try:
        return run_alone(command, data, foreign)
    except DecodingEnded as error:
        return error


def is_for_itself(data: bytes, foreign: frozenset[int]) -> bool:
    """Whether a file stops the reader, or ends inside an event, a statement or a transaction: the reader then warns at
    its own end, and holds back what it has not printed.
    """
    inside = False
    end, code = 4, 0
    numbers: dict[bytes, int] = {}
    for frame in frames(data):
        end += len(frame.raw)
        code = frame.raw[4]
        if code in foreign or (code in (_GTID_LIST, _MARIADB_GTID) and not _goes_on(frame.raw, numbers)):
            return True
        if code in _BEGINNINGS:
            inside = True
        elif code == Query.type_code:
            inside = False
        elif code in _ROWS:
            inside = not (len(frame.raw) > _FLAGS and frame.raw[_FLAGS] & STMT_END)
    return inside or code not in _ENDS or end != len(data)


def _goes_on(raw: bytes, numbers: dict[bytes, int]) -> bool:
    """Whether an event of MariaDB's GTIDs follows the ``numbers`` of their domains, which are noted."""
    if raw[4] == _GTID_LIST:
        for at in range(23, len(raw) - 15, 16):
            numbers[raw[at : at + 4]] = int.from_bytes(raw[at + 8 : at + 16], "little")
        return True
    domain, number = raw[27:31], int.from_bytes(raw[19:27], "little")
    goes_on = number > numbers.get(domain, 0)
    numbers[domain] = number
    return goes_on


def _in_turn(command: Sequence[str], files: Sequence[bytes], family: Family) -> list[Outcome]:
    """The outcome of each file, in as few calls as it takes."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(files):
        rest = files[len(outcomes) :]
        try:
            outcomes += _one_call(command, rest, family)
        except DecodingEnded as error:
            # A crash loses what was not yet written, so that nothing says which file it was.
            outcomes += [error] if len(rest) == 1 else _in_turn(command, rest[: len(rest) // 2], family)
    return outcomes


def _one_call(command: Sequence[str], files: Sequence[bytes], family: Family) -> list[Outcome]:
    """Outcomes of the first files: up to the one that the reader stopped at, if it did.  Raises DecodingEnded."""
    if len(files) == 1:
        return [run_on_file(command, files[0])]
    names = []
    with tempfile.TemporaryDirectory(prefix="forge-check-") as made:
        folder = Path(made)
        (folder / "mark").write_bytes(_mark(family))
        for number, data in enumerate(files):
            (folder / f"{_TOKEN}-{number}").write_bytes(data)
            names += [f"{_TOKEN}-{number}", "mark"]
        # The GTIDs of several logs are not in one order; each of these has its own in order.
        options = ["--skip-gtid-strict-mode"] if family == "mariadb" else []
        printed = run_program([*command, *options, *names], folder=made)
    # Messages quote the name of a file.
    out, err = (_FILE.sub(FILE_NAME.encode(), text) for text in (printed.out, printed.err))
    *ended, left = _parts(out)
    said = _complaints(err, len(ended), family)
    outcomes: list[Outcome] = [Printed(part, words, 0) for part, words in zip(ended, said, strict=False)]
    if printed.code and len(ended) < len(files):
        outcomes.append(Printed(left, said[-1], printed.code))
    elif printed.code or said[-1] or len(ended) < len(files):
        raise DecodingEnded("crashed", "it did not stop at a file")
    return outcomes


def _parts(out: bytes) -> Iterator[bytes]:
    """What was printed of each file that the reader ended, and then what came after them."""
    start = 0
    for mark in _MARK.finditer(out):
        yield out[start : out.rfind(_BEGINNING, start, mark.start()) + 1]
        start = mark.end()
    yield out[start:]


def _complaints(err: bytes, ended: int, family: Family) -> list[bytes]:
    """What stands on standard error of each file that the reader ended, and then of the one after them.

    Raises DecodingEnded if that cannot be told.
    """
    if family == "mysql":
        # Its reader says nothing of marks.  Of a file that is not for itself it says nothing unless it stops there.
        return [b""] * ended + [err]
    said = _COMPLAINT.split(err)
    if len(said) != ended + 1:
        raise DecodingEnded("crashed", "it did not complain of every mark")
    return said


@cache
def _mark(family: Family) -> bytes:
    """The log that stands behind each file."""
    line = server_line("mysql-9.7" if family == "mysql" else "mariadb-11.8")
    description = FormatDescription(
        server_version=line.server_version, post_header_lengths=line.post_header_bytes, checksum_algorithm=0
    )
    statement = Query(query=_TOKEN, status_variables=(("charset", (_NO_CHARSET, 8, 8)),))
    return write_binlog([Event(body=description), Event(body=statement)])
