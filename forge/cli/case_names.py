"""Names of folders for the cases of a family."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

#: Bytes of a name; file systems take 255.
_LONGEST = 200


def folder_names(cases: Sequence[str]) -> list[str]:
    """A folder's name for each case: ``family[server=mysql-8.0,gtid=true]`` is ``family,server=mysql-8.0,gtid=true``.

    Characters that shells or file systems take for something else become ``_``.  A name that was shortened, or that
    two cases would share (upper and lower case are one on some file systems), ends with a hash of the case's name.
    """
    plain = [_plain(case) for case in cases]
    counts = Counter(name.casefold() for name in plain)
    return [
        name if counts[name.casefold()] == 1 and len(name.encode()) <= _LONGEST else _hashed(name, case)
        for name, case in zip(plain, cases, strict=True)
    ]


def _plain(case: str) -> str:
    name = re.sub(r"[^\w.=,+-]", "_", case.removesuffix("]").replace("[", ",", 1))
    return "_" + name[1:] if name[:1] in (".", "-") else name


def _hashed(name: str, case: str) -> str:
    cut = name.encode()[: _LONGEST - 9].decode(errors="ignore")
    return f"{cut}~{hashlib.sha256(case.encode()).hexdigest()[:8]}"
