"""When a server would call two strings equal, approximately.

An approximation used to refuse duplicate keys and to decide whether a comparison must be made binary-exact; it is not
a sort order.  Exact are ``binary`` and the ``_bin`` collations (PAD SPACE included).  All others fold as Unicode folds:

- ``_cs``: nothing is folded, unless the collation also ignores accents;
- ``_ci``, ``_as_ci``: case folded;
- ``_ai_ci``, ``general``, ``unicode`` and the language collations made from it: accents removed as well
  (NFKD, combining marks dropped).

Not modelled: tailorings (Danish aa, Hungarian digraphs, what Swedish keeps apart from a), characters without weight,
and that utf8mb4_general_ci and older call all characters above U+FFFF equal.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from forge.charsets.collations import collation

#: 8-bit and East Asian sets whose _ci collations fold case and keep accents; their names say nothing of it.
_KEEPS_ACCENTS = ("big5", "gbk", "gb2312", "gb18030", "sjis", "cp932", "euckr", "ujis", "eucjpms", "ascii", "tis620")


@cache
def _folding(collation_id: int) -> tuple[bool, bool, bool]:
    """(fold case, drop accents, drop trailing spaces)."""
    found = collation(collation_id)
    if found.charset == "binary":
        return False, False, False
    parts = found.name.split("_")
    fold = "ci" in parts or parts[-1] == "w2"
    keeps_accents = "as" in parts or "bin" in parts or found.charset in _KEEPS_ACCENTS
    drop = not keeps_accents and (fold or "ai" in parts)
    return fold, drop, found.pad_space


@cache
def is_exact(collation_id: int) -> bool:
    """Whether equal under this collation means equal code points (but for trailing spaces if PAD SPACE)."""
    fold, drop, _ = _folding(collation_id)
    return not fold and not drop


def compare_key(collation_id: int, text: str) -> str:
    """A key that is equal for two strings when the server's collation calls them equal (see the module's text)."""
    fold, drop, pad = _folding(collation_id)
    if drop:
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in decomposed if not unicodedata.combining(character))
    if fold:
        text = unicodedata.normalize("NFC", text.casefold())
    return text.rstrip(" ") if pad else text
