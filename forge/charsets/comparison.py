"""When a server would call two strings equal.

An approximation, used to refuse duplicate keys, to find conflicts between transactions and to decide whether a
comparison must be made binary-exact; it is not a sort order.

Exact are ``binary`` and the ``_bin`` collations.  The others fold character by character as the servers' WEIGHT_STRING
does for single characters (see ``forge.charsets.folding``).  Not modelled are contractions (Danish aa, Hungarian
dzs, Czech ch: several characters that weigh as one) and characters above U+1FFFF, which only fold as Unicode says.
PAD SPACE collations ignore trailing spaces, and characters that weigh as a space.  What is compared is what a column
would hold: characters that a set stores as the same bytes are the same.
"""

from __future__ import annotations

from functools import cache

from forge.charsets.collations import Collation, collation
from forge.charsets.folding import Folding, folding, place_of
from forge.charsets.registry import charset
from forge.charsets.unicode import UNICODE
from forge.errors import FormatError, ScenarioError


@cache
def _table(collation_id: int) -> tuple[str | None, Folding | None, bool]:
    """(character set if it changes what it is given, how characters fold, whether trailing spaces are dropped)."""
    entry = collation(collation_id)
    table = None if _compares_code_points(entry) else folding(*place_of(entry))
    return (None if entry.charset in UNICODE else entry.charset), table, entry.pad_space


def folding_of(collation_id: int) -> Folding | None:
    """How a collation folds characters; None if it compares them as they are.  Raises ScenarioError if unknown."""
    return _table(collation_id)[1]


def as_stored(charset_name: str, text: str) -> str:
    """``text`` after it was in a column of the set; unchanged if the set cannot hold it."""
    stored = charset(charset_name)
    try:
        return stored.decode(stored.encode(text))
    except (ScenarioError, FormatError):
        return text


def _compares_code_points(entry: Collation) -> bool:
    return entry.name == "binary" or entry.name.endswith("_bin") or entry.name.endswith("_nopad_bin")


@cache
def is_exact(collation_id: int) -> bool:
    """Whether equal under this collation means equal code points (but for trailing spaces if PAD SPACE)."""
    return _compares_code_points(collation(collation_id))


def compare_key(collation_id: int, text: str) -> str:
    """A key that is equal for two strings when the server's collation calls them equal (see the module's text).

    Raises ScenarioError if there is no such collation.
    """
    charset_name, table, pad_space = _table(collation_id)
    if charset_name and not text.isascii():
        text = as_stored(charset_name, text)
    key = text if table is None else text.translate(table)
    return key.rstrip(" ") if pad_space else key
