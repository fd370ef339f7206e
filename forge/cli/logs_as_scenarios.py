"""Logs where a scenario is expected: the options that choose a part of one, and its scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import STDIN, errors_in, open_log, read_text, shown
from forge.cli.parameters import FILE, grouped
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.record.retold import Retold
    from forge.scenario.matrix import OptionSettings


@dataclass(frozen=True, slots=True)
class LogPart:
    """What of a log is taken, and how its tables are named."""

    only_transactions: str | None = None
    table: str | None = None
    rows_at_most: int | None = None
    schema: str | None = None
    anonymise: str | None = None

    def refuse(self, file: str, *, as_script: bool = False) -> None:
        """Raise ScenarioError for a file that is no log, if something was asked for that only logs have."""
        if as_script or self != LogPart():
            raise ScenarioError("the file is no binary log", file=shown(file), expected="a log, or no such option")

    def retold(self, file: str, settings: OptionSettings, *, as_script: bool = False) -> Retold:
        """The scenario of the log.  Raises OSError, FormatError, ScenarioError."""
        from forge.record.retold import retold
        from forge.record.retold.anonymised import anonymised
        from forge.record.retold.log_selection import refuse_large, selected, wanted

        choice = wanted(self.only_transactions, self.table, self.rows_at_most)
        schema = None if self.schema is None else read_text(self.schema)
        with errors_in(file), open_log(file) as log:
            log.reach(0, 1)
            if choice.is_all:
                refuse_large(log.left(0))
                data = log.rest(0)
            else:
                data = selected(log, choice)
            if self.anonymise is not None:
                data = anonymised(data, self.anonymise)
            name = Path(file)
            return retold(data, name=name.stem, file=name.name, settings=settings, schema=schema, as_script=as_script)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose a part of a log, as ``part``."""
    return _OPTIONS(command)


_OPTIONS = grouped(
    "part",
    LogPart,
    click.option("--only-transactions", metavar="N-M", help="Of a log: only these transactions, counted from 1."),
    click.option("--table", metavar="DB.TABLE", help="Of a log: only changes of that table."),
    click.option("--rows-at-most", type=click.IntRange(1), metavar="N", help="Of a log: so many rows of a statement."),
    click.option("--schema", type=FILE, metavar="FILE", help="Of a log: a SQL script with definitions of its tables."),
    click.option("--anonymise", metavar="SEED", help="Of a log: other texts and numbers, of the same lengths."),
)


def is_log(file: str) -> bool:
    """Whether a file begins as a binary log does, or as what is compressed or encrypted.  Raises OSError."""
    from forge.binlog.reader import ENCRYPTED_MAGIC, has_magic
    from forge.binlog.wrapped import wrapping

    if file == STDIN:
        return False
    with Path(file).open("rb") as opened:
        begin = opened.read(16)
    return has_magic(begin) or begin[:4] == ENCRYPTED_MAGIC or wrapping(begin) is not None
