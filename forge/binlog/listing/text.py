"""YAML text of listing documents, such that the reader of ``forge.located`` gives back the same data."""

from __future__ import annotations

import re
from typing import Any

import yaml

try:
    from yaml import CSafeDumper as _BaseDumper
except ImportError:  # PyYAML without libyaml
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]

#: Text that can stand in YAML without quotes and is nothing but text under every YAML version.
_PLAIN = re.compile(r"[A-Za-z_`@][A-Za-z0-9_ .`()@*/-]*\Z")
_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
#: Characters that survive a YAML round trip: printable ones, with no control or surrogate code among them.
_SAFE = re.compile("[\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*\\Z")


class _Dumper(_BaseDumper):
    """Quotes every text that some reader could take for another type."""


def _represent_text(dumper: Any, text: str) -> Any:
    plain = _PLAIN.match(text) and not text.endswith((" ", ".")) and text.lower() not in _WORDS
    style = None if plain else ("|" if "\n" in text.strip() and not re.search(r"[ \t]\n|\t", text) else "'")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def dump_document(document: dict[str, Any]) -> str:
    """One document, without its ``---``."""
    return str(
        yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20, default_flow_style=None)
    )


def is_safe(text: str) -> bool:
    """Whether the text comes back unchanged from YAML and JSON."""
    return _SAFE.match(text) is not None and not set(text) & {"\x85", "\u2028", "\u2029", "\ufeff"}
