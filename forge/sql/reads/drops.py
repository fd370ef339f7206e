"""What the text of DROP TABLE has beside names."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"\s*DROP\s+TABLES?\s*(IF\s+EXISTS\s*)?(/\*.*?\*/)", re.IGNORECASE | re.DOTALL)


def comment_before_names(sql: str, *, if_exists: bool) -> str:
    """The comment that stands directly before the names, "" if none; ``if_exists``: IF EXISTS is in the text."""
    match = _COMMENT.match(sql)
    return match[2] if match is not None and (match[1] is not None) == if_exists else ""
