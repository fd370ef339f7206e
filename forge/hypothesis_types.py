"""What ``st.from_type`` gives for our types, told to Hypothesis without loading a strategy before it is drawn from.

Hypothesis calls :func:`register` while it is imported, in every project that has both packages: nothing heavy is
imported here, and ``forge.strategies``, which imports Hypothesis, may be in the middle of its own import.
"""

from __future__ import annotations

import sys
from functools import partial

# As type checkers know the name; see `forge/__init__.py`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Module and name of each type, and the function of ``forge.strategies`` that draws it.
_STRATEGIES = {
    ("forge.logs", "Log"): "logs",
    ("forge.scenario.model", "Scenario"): "scenarios",
    ("forge.testing.mutations", "MutatedLog"): "mutated_logs",
}
_registered: set[tuple[str, str]] = set()


def register() -> None:
    """Register those types that are loaded, once each; the others are registered when they are."""
    if "hypothesis.strategies" not in sys.modules:
        return
    from hypothesis.strategies import register_type_strategy

    for place, strategy in _STRATEGIES.items():
        module, name = place
        found = getattr(sys.modules.get(module), name, None)
        if found is not None and place not in _registered:
            _registered.add(place)
            register_type_strategy(found, partial(_drawn, strategy))


def _drawn(strategy: str, wanted: type) -> Any:
    from importlib import import_module

    return getattr(import_module("forge.strategies"), strategy)()
