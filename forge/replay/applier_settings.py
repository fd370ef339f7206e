"""The variables of a replica that decide what its applier does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forge.errors import ScenarioError, UnsupportedError, nearest

_MODES = ("STRICT", "IDEMPOTENT")
#: Variables that change nothing of what row events do (recorded: corpora/replays, groups 4j and 6g).
_WITHOUT_EFFECT = frozenset(("sql_mode", "foreign_key_checks", "unique_checks"))
_KNOWN = ("type_conversions", "exec_mode", "run_triggers_for_rbr")


@dataclass(frozen=True, slots=True)
class ApplierSettings:
    """The variables of the replica that decide."""

    type_conversions: str = ""
    idempotent: bool = False
    #: ``slave_run_triggers_for_rbr`` is not NO.
    fires_triggers: bool = False

    @staticmethod
    def of(values: Mapping[str, str]) -> ApplierSettings:
        """Those of variables, called ``replica_`` or ``slave_``.

        Raises ScenarioError for a wrong value, UnsupportedError for a variable whose effect is not known.
        """
        known: dict[str, str] = {}
        for name, value in values.items():
            bare = name.lower().removeprefix("replica_").removeprefix("slave_")
            if bare in _KNOWN:
                known[bare] = value
            elif name.lower() not in _WITHOUT_EFFECT:
                names = [f"replica_{one}" for one in _KNOWN]
                raise UnsupportedError(
                    f"what {name} does to an applier is not measured", expected=", ".join(names),
                    suggestion=nearest(name, names),
                )  # fmt: skip
        mode = known.get("exec_mode", "STRICT").upper()
        if mode not in _MODES:
            raise ScenarioError(f"replica_exec_mode has {mode!r}", expected=" or ".join(_MODES))
        fires = known.get("run_triggers_for_rbr", "NO").upper() != "NO"
        return ApplierSettings(known.get("type_conversions", ""), mode == "IDEMPOTENT", fires)
