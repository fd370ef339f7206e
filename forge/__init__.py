"""binlog-forge: compiler, assembler and disassembler for MySQL binary logs."""

from __future__ import annotations

# As type checkers know the name; the module `typing` takes longer to import than all that is here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forge.binlog.difference import Difference
    from forge.binlog.log_file import read_events
    from forge.bulk.reading.odd import ReadSummary
    from forge.bulk.reading.rows import read_rows
    from forge.bulk.writing.write import WrittenRows, write_rows
    from forge.logs import Log, LogFile, Row, build, diff, read
    from forge.replay.end_state import State, replay
    from forge.scenario import Facts, Scenario, Session, ddl, delete, insert, insert_many, load_scenario, update

__version__ = "0.3.0"

__all__ = [
    "Difference",
    "Facts",
    "Log",
    "LogFile",
    "ReadSummary",
    "Row",
    "Scenario",
    "Session",
    "State",
    "WrittenRows",
    "__version__",
    "build",
    "ddl",
    "delete",
    "diff",
    "insert",
    "insert_many",
    "load_scenario",
    "read",
    "read_events",
    "read_rows",
    "replay",
    "update",
    "write_rows",
]

#: Names that are not of the scenario language, and their modules.
_MODULES = {
    "Difference": "forge.binlog.difference",
    "Log": "forge.logs",
    "LogFile": "forge.logs",
    "ReadSummary": "forge.bulk.reading.odd",
    "State": "forge.replay.end_state",
    "WrittenRows": "forge.bulk.writing.write",
    "Row": "forge.logs",
    "build": "forge.logs",
    "diff": "forge.logs",
    "read": "forge.logs",
    "read_events": "forge.binlog.log_file",
    "read_rows": "forge.bulk.reading.rows",
    "replay": "forge.replay.end_state",
    "write_rows": "forge.bulk.writing.write",
}


def __getattr__(name: str) -> Any:
    """What the package offers, loaded when it is first used: commands that do not need it start faster."""
    if name in __all__:
        from importlib import import_module

        from forge.hypothesis_types import register

        found = getattr(import_module(_MODULES.get(name, "forge.scenario")), name)
        register()
        return found
    raise AttributeError(f"module 'forge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
