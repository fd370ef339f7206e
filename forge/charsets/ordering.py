"""In which order a server's collation puts texts, where that is known: printable ASCII under the common collations.

Recorded with WEIGHT_STRING of MySQL 9.7, MariaDB 10.11 and 11.8.  Elsewhere a server's tables for whole languages and
scripts decide; ``binary`` and ``_bin`` order bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from forge.charsets.collations import collation

#: Printable ASCII without letters, by the weights of the Unicode collation algorithm 5.2 and later, and of 4.0.
_UCA: Final = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_UCA_4: Final = " `^_-,;:!?.'\"()[]{}@*/\\&#%+<=>|~$0123456789"
_PRINTABLE: Final = re.compile(r"[ -~]*\Z")
#: Sets whose general_ci has an order of its own even in ASCII.
_OF_THEIR_OWN: Final = frozenset(("cp866", "geostd8", "koi8u", "latin7", "macce", "swe7"))
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def order_key(collation_id: int, text: str) -> Sequence[object] | None:
    """What texts of a collation are sorted by; None where their order is not known.

    Raises ScenarioError if there is no such collation.
    """
    places = _places(collation_id)
    if places is None or not _PRINTABLE.match(text):
        return None
    shown = text.rstrip(" ") if collation(collation_id).pad_space else text
    primary = [places[character.lower()] for character in shown]
    # Lower case comes first, where the whole text is otherwise equal.
    return [primary, [character.isupper() for character in shown]] if _tells_case(collation_id) else [primary]


@cache
def _tells_case(collation_id: int) -> bool:
    return collation(collation_id).name.endswith("_cs")


@cache
def _places(collation_id: int) -> dict[str, int] | None:
    """The place of each character but capitals; None if the collation is not one of those that are known."""
    entry = collation(collation_id)
    rule = entry.name.removeprefix(f"{entry.charset}_").replace("_nopad", "")
    if rule in ("0900_ai_ci", "0900_as_ci", "0900_as_cs") or re.fullmatch(r"uca1400_a[is]_c[is]", rule):
        order = _UCA + _LETTERS
    elif rule in ("unicode_ci", "unicode_520_ci"):
        order = _UCA_4 + _LETTERS
    elif rule in ("general_ci", "swedish_ci") and entry.charset not in _OF_THEIR_OWN:
        order = "".join(sorted((chr(code) for code in range(0x20, 0x7F) if not chr(code).isupper()), key=str.upper))
    else:
        return None
    return {character: place for place, character in enumerate(order)}


@cache
def hash_weights() -> dict[str, bytes]:
    """What texts are hashed by, by a word of the collation's name: weights of bytes, or of printable ASCII."""
    lines = (Path(__file__).parent / "data" / "hashes.weights").read_text("ascii").splitlines()
    return {word: bytes.fromhex(digits) for word, digits in (line.split() for line in lines if line[0] != "#")}
