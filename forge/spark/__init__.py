"""Work that is wide, on Spark: sessions, the data source ``binlog``, and the job that builds a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge.spark.session import open_session, spark_session
    from forge.spark.source import register

__all__ = ["open_session", "register", "spark_session"]


def __getattr__(name: str) -> Any:
    """What users call, loaded when it is first used: a worker imports what its step needs."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("forge.spark.source" if name == "register" else "forge.spark.session"), name)
    raise AttributeError(f"module 'forge.spark' has no attribute {name!r}")
