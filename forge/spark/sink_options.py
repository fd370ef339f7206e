"""What a write to ``format("binlog")`` is told: its options, checked before any task starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from forge.bulk.writing.changes import Operation
from forge.errors import ScenarioError
from forge.plan.session import Session
from forge.spark.locations import local_path
from forge.spark.options import Options

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
    options = Options(given, _OWN, "a write", passed=_OF_SPARK)
    folder, table = options.text("path"), options.text("table")
    if folder is None:
        raise ScenarioError("no folder is given", expected='.save("/folder") or .option("path", "/folder")')
    if table is None:
        raise ScenarioError("the option 'table' is missing", expected="the text of CREATE TABLE, or database.name")
    session = _session(options.text("session") or "{}")
    if (largest := options.count("max_binlog_size")) is not None:
        session = msgspec.structs.replace(session, max_binlog_size=largest)
    return SinkOptions(
        folder=local_path(folder),
        table=table,
        server=options.text("server") or "mysql-9.7",
        rows_per_transaction=options.count("rows_per_transaction"),
        operation=options.word("operation", Operation),
        session=session,
        definitions=options.flag("definitions"),
        sync=options.flag("sync"),
        commit_id=options.text("commit_id"),
    )


def _session(text: str) -> Session:
    try:
        return msgspec.convert(yaml.safe_load(text) or {}, Session)
    except yaml.YAMLError as error:
        raise ScenarioError(f"option session is not YAML: {' '.join(str(error).split())}") from None
    except msgspec.ValidationError as error:
        raise ScenarioError(f"option session: {error}", expected="the fields of a scenario's session") from None
