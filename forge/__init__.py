"""binlog-forge: compiler, assembler and disassembler for MySQL binary logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge.scenario import Facts, Scenario, Session, ddl, delete, insert, insert_many, load_scenario, update

__version__ = "0.1.0"

__all__ = [
    "Facts",
    "Scenario",
    "Session",
    "__version__",
    "ddl",
    "delete",
    "insert",
    "insert_many",
    "load_scenario",
    "update",
]


def __getattr__(name: str) -> Any:
    """The scenario language, loaded when it is first used: commands that do not need it start faster."""
    if name in __all__:
        import forge.scenario

        return getattr(forge.scenario, name)
    raise AttributeError(f"module 'forge' has no attribute {name!r}")
