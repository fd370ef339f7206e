"""YAML text of listing documents, such that the reader of ``forge.located`` gives back the same data.

The text is what PyYAML's emitter writes.  Most of a listing is numbers, names and short texts in mappings and lists,
and for these its rules are few: they are written here, and PyYAML is asked for the text of what is left.
"""

from __future__ import annotations

import re
from functools import lru_cache
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
_SAFE = re.compile("[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*\\Z")
#: Those of them that every emitter writes as they are between single quotes (libyaml escapes planes above the first).
_QUOTABLE = re.compile("[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*\\Z")
#: Text that is written in lines of its own, which must not end with spaces.
_SPOILS_LINES = re.compile(r"[ \t]\n|\t")
#: Columns after which the emitter would break a line, and a length that stays below it with all that stands before.
_WIDTH = 1 << 20
_LONG = _WIDTH >> 1
#: Bytes of a key that stands before its value; a longer one gets a line of its own.
_LONGEST_KEY = 127


class _Dumper(_BaseDumper):
    """Quotes every text that some reader could take for another type; says what occurs twice a second time."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _is_plain(text: str) -> bool:
    return _PLAIN.match(text) is not None and not text.endswith((" ", ".")) and text.lower() not in _WORDS


def _has_lines(text: str) -> bool:
    return "\n" in text.strip() and not _SPOILS_LINES.search(text)


def _represent_text(dumper: Any, text: str) -> Any:
    style = None if _is_plain(text) else "|" if _has_lines(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


class _Unusual(Exception):
    """The document has something of which only PyYAML knows the text."""


def dump_document(document: dict[str, Any]) -> str:
    """One document, without its ``---``."""
    try:
        return _collection(document, "")[0] + "\n"
    except _Unusual:
        return pyyaml_text(document)


def pyyaml_text(data: Any) -> str:
    """The text that PyYAML writes of ``data``: what :func:`dump_document` gives, and the reference for it."""
    return str(
        yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None)
    )


def _collection(value: Any, indent: str) -> tuple[str, bool]:
    """A mapping or list as it stands behind ``indent`` or ``- ``, and whether it is one of the ``{...}``, ``[...]``.

    It is one of these where nothing in it is a collection or has quotes that the emitter did not choose itself.
    """
    parts: list[str] = []
    bare = True
    if value.__class__ is dict:
        for key, item in value.items():
            name, bare_key = _key(key)
            kind = item.__class__
            if kind is int:
                text, bare_item = str(item), True
            elif kind is str:
                text, bare_item = _text(item, indent)
            elif kind is dict or kind is list:
                # A list in a mapping is not indented.
                inside = indent if kind is list else indent + "  "
                text, inline = _collection(item, inside)
                bare_item = False
                if not inline:
                    parts.append(f"{name}:\n{inside}{text}")
                    bare = False
                    continue
            else:
                text, bare_item = _word(item), True
            parts.append(f"{name}: {text}")
            if not (bare_item and bare_key):
                bare = False
        brackets = "{}"
    elif value.__class__ is list:
        for item in value:
            kind = item.__class__
            if kind is str:
                text, bare_item = _text(item, indent)
            elif kind is dict or kind is list:
                text, bare_item = _collection(item, indent + "  ")[0], False
            else:
                text, bare_item = str(item) if kind is int else _word(item), True
            parts.append(text)
            if not bare_item:
                bare = False
        if not bare:
            return f"- {f'{chr(10)}{indent}- '.join(parts)}", False
        brackets = "[]"
    else:
        raise _Unusual
    if not bare:
        return f"\n{indent}".join(parts), False
    text = f"{brackets[0]}{', '.join(parts)}{brackets[1]}"
    if len(text) > _LONG:
        raise _Unusual
    return text, True


@lru_cache(maxsize=4096)
def _key(key: Any) -> tuple[str, bool]:
    if key.__class__ is not str or len(key.encode("utf-8", "surrogatepass")) > _LONGEST_KEY or not _QUOTABLE.match(key):
        raise _Unusual
    return _text(key, "")


def _word(value: Any) -> str:
    if value is None:
        return "null"
    if value.__class__ is bool:
        return "true" if value else "false"
    raise _Unusual


def _text(text: str, indent: str) -> tuple[str, bool]:
    """A text as it stands behind its key, and whether the emitter is free to choose its quotes."""
    if len(text) > _LONG:
        raise _Unusual
    if _is_plain(text):
        # No reader takes these for another type, but YAML reserves them.
        return (f"'{text}'" if text[0] in "`@" else text), True
    if _QUOTABLE.match(text):
        return (f"'{text}'" if "'" not in text else "'" + text.replace("'", "''") + "'"), False
    return _nested_text(text, len(indent) // 2), False


def _nested_text(text: str, depth: int) -> str:
    """The text of several lines, or with escapes, as the emitter writes it that many mappings deep."""
    if text.endswith("\n\n") or not is_safe(text):
        raise _Unusual  # What ends with such a text is marked as the end of its document.
    value: Any = text
    for _ in range(depth + 1):
        value = {"k": value}
    return pyyaml_text(value)[sum(2 * level + 3 for level in range(depth + 1)) :].removesuffix("\n")


def is_safe(text: str) -> bool:
    """Whether the text comes back unchanged from YAML and JSON."""
    return _SAFE.match(text) is not None
