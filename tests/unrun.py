"""What is left unrun where a program or a log is missing, by kind: it is said aloud, and CI may not leave more.

Reasons of skipped tests that begin with capitals are such; others say that a test has no meaning here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: By kind: what its reasons look like, and how many tests CI may leave unrun.
KINDS = {
    "fixtures of a language": (r"THE FIXTURES OF ", 0),
    "examples of a kit": (r"THE (EXAMPLE|TESTEE TO BEGIN WITH) IN ", 0),
    "testees": (r"THE TESTEE ", 0),
    # Clang is asked for by libFuzzer alone.
    "fuzzing harnesses": (r"THE (HARNESS|TARGET) ", 1),
    # The others lie in repositories that no package has.
    "public logs": (r"NOT COMPARED: ", 33),
    "servers": (r"THE SERVER ", 0),
    "logs of other servers": (r"NOT CHECKED: ", 0),
}
_OTHER = "others"


def counted(reasons: Iterable[str]) -> Counter[str]:
    """How many tests of each kind were left unrun, by the reasons of all skipped ones."""
    loud = (reason.removeprefix("Skipped: ") for reason in reasons)
    return Counter(_kind(reason) for reason in loud if re.match(r"[A-Z]{3,} ", reason))


def _kind(reason: str) -> str:
    return next((kind for kind, (pattern, _) in KINDS.items() if re.match(pattern, reason)), _OTHER)


def beyond(found: Counter[str]) -> list[str]:
    """What CI has to mend, a sentence each."""
    allowed = {kind: most for kind, (_, most) in KINDS.items()}
    return [
        f"{count} {kind} were left unrun in CI, which may leave {allowed.get(kind, 0)}: tests/unrun.py"
        for kind, count in found.items()
        if count > allowed.get(kind, 0)
    ]
