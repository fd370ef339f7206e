"""A scenario's tree as YAML."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml

from forge.located import Tagged, is_number

_YAML = "tag:yaml.org,2002"


class _Dumper(yaml.SafeDumper):
    """Numbers keep their digits, and no text is taken for anything else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(Decimal, lambda dumper, number: dumper.represent_scalar(f"{_YAML}:float", f"{number:f}"))
_Dumper.add_representer(Tagged, lambda dumper, one: dumper.represent_scalar(f"!{one.tag}", one.text))


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    """YAML 1.2 reads more texts as numbers than PyYAML knows: ``12e34``, which bytes in hexadecimal may be."""
    style = "'" if is_number(text) else None
    return dumper.represent_scalar(f"{_YAML}:str", text, style=style)


_Dumper.add_representer(str, _text)


def scenario_text(tree: Mapping[str, Any]) -> str:
    """A scenario's tree as YAML."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 120, "default_flow_style": None}
    return str(yaml.dump(dict(tree), Dumper=_Dumper, **options))
