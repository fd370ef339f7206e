"""What a write to ``format("binlog")`` is told: its options, checked before any task starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import msgspec
import yaml

from forge.bulk.writing.changes import Operation
from forge.errors import ScenarioError, nearest
from forge.plan.session import Session
from forge.spark.locations import local_path

#: Options of Spark's own, which come along.
_OF_SPARK = frozenset(("checkpointlocation", "queryname", "outputmode"))
_OWN = (
    "path", "table", "server", "rows_per_transaction", "operation", "session", "max_binlog_size", "definitions", "sync",
    "commit_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """The options of one write.  ``table``: as it was given."""

    folder: Path
    table: str
    server: str
    rows_per_transaction: int | None
    operation: Operation
    session: Session
    definitions: bool
    sync: bool
    commit_id: str | None


def sink_options(given: Mapping[str, str]) -> SinkOptions:
    """The options that ``df.write`` or ``df.writeStream`` gives.  Raises ScenarioError for one that cannot be."""
    options = {name.lower(): value for name, value in given.items()}
    for name in options:
        if name not in _OWN and name not in _OF_SPARK:
            raise ScenarioError(
                f"unknown option {name!r} of a write", expected=", ".join(_OWN), suggestion=nearest(name, _OWN)
            )
    if "path" not in options:
        raise ScenarioError("no folder is given", expected='.save("/folder") or .option("path", "/folder")')
    if "table" not in options:
        raise ScenarioError("the option 'table' is missing", expected="the text of CREATE TABLE, or database.name")
    operation: Any = options.get("operation", "insert")
    if operation not in get_args(Operation):
        raise ScenarioError(
            f"option operation: {operation!r} is none",
            expected=", ".join(get_args(Operation)),
            suggestion=nearest(operation, get_args(Operation)),
        )
    session = _session(options.get("session", "{}"))
    if (largest := _number(options, "max_binlog_size")) is not None:
        session = msgspec.structs.replace(session, max_binlog_size=largest)
    return SinkOptions(
        folder=local_path(options["path"]),
        table=options["table"],
        server=options.get("server", "mysql-9.7"),
        rows_per_transaction=_number(options, "rows_per_transaction"),
        operation=operation,
        session=session,
        definitions=_flag(options, "definitions"),
        sync=_flag(options, "sync"),
        commit_id=options.get("commit_id"),
    )


def _number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ScenarioError(f"option {name}: {text!r}", expected="a whole number from 1 on")
    return number


def _flag(options: Mapping[str, str], name: str) -> bool:
    text = options.get(name, "true")
    if text.lower() not in ("true", "false"):
        raise ScenarioError(f"option {name}: {text!r}", expected="true or false")
    return text.lower() == "true"


def _session(text: str) -> Session:
    try:
        return msgspec.convert(yaml.safe_load(text) or {}, Session)
    except yaml.YAMLError as error:
        raise ScenarioError(f"option session is not YAML: {' '.join(str(error).split())}") from None
    except msgspec.ValidationError as error:
        raise ScenarioError(f"option session: {error}", expected="the fields of a scenario's session") from None
