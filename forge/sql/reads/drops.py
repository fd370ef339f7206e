"""The comment of DROP TABLE that MariaDB keeps."""

from __future__ import annotations

from forge.sql.errors import SqlError
from forge.sql.lexer import Token, scan


def comment_before_names(sql: str) -> str:
    """The comment directly before the names of DROP TABLE, which stays (recorded on 10.11 and 11.8); "" if none."""
    try:
        tokens = list(scan(sql))
    except SqlError:
        return ""
    index = _behind(tokens, 0, ("DROP",), ("TABLE", "TABLES"))
    if index is None:
        return ""
    index = _behind(tokens, index, ("IF",), ("EXISTS",)) or index
    comment, following = tokens[index], tokens[index + 1] if index + 1 < len(tokens) else None
    if comment.kind != "comment" or not comment.text.startswith("/*") or following is None or following.is_word("IF"):
        return ""
    return comment.text


def _behind(tokens: list[Token], index: int, *words: tuple[str, ...]) -> int | None:
    """The index behind one of each of the words, in this order; None if others stand there."""
    for choices in words:
        if index + 1 >= len(tokens) or not tokens[index].is_word(*choices):
            return None
        index += 1
    return index
