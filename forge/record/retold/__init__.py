"""A log retold: the scenario whose build is the log (docs/scenario/from-logs.md)."""

from forge.record.retold.retelling import Retold, retold

__all__ = ["Retold", "retold"]
