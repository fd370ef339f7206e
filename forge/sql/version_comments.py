"""Version comments, ``/*!80023 ... */``: what a server reads of them, and the text that it logs.

Recorded on 9.7, 10.11 and 11.8: a comment that the server passes over is logged without its ``!``.
"""

from __future__ import annotations

import re

from forge.servers import ServerLine

#: Quoted text and plain comments, which are passed over, or a version comment.
_PIECE = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`"
    r"|/\*(?P<mark>M?!)(?P<version>\d{5,6})?(?P<body>.*?)\*/|/\*.*?\*/|(?:--\s|#)[^\n]*",
    re.DOTALL,
)
_LEADING_LINES = re.compile(r"\A(?:\s*(?:--(?:\s[^\n]*)?|#[^\n]*)(?:\n|\Z))+")


def as_sent(sql: str, line: ServerLine) -> str:
    """The text as the vendor's command-line client sends it.

    Comments on lines of their own in front stay away, as does the semicolon; a comment that no space follows gets one.
    """
    text = _LEADING_LINES.sub("", sql).strip().rstrip(";").rstrip()
    pieces: list[str] = []
    end = 0
    for match in _PIECE.finditer(text):
        plain = match[0].startswith("/*") and match["mark"] is None
        plain &= line.texts.spaces_before_hints or not match[0].startswith("/*+")
        if plain and text[match.end() : match.end() + 1].strip():
            pieces += [text[end : match.end()], " "]
            end = match.end()
    return "".join(pieces) + text[end:]


def read_text(sql: str, line: ServerLine) -> tuple[str, str]:
    """(what the server reads, what it logs): both as long as the text."""
    read: list[str] = []
    logged: list[str] = []
    end = 0
    for match in _PIECE.finditer(sql):
        mark = match["mark"]
        if mark is None or (mark == "M!" and not line.texts.mariadb_comments):
            continue
        read.append(sql[end : match.start()])
        logged.append(sql[end : match.start()])
        whole, body = match[0], match["body"]
        head = len(whole) - len(body) - 2
        if _is_for(match["version"], line):
            read.append(" " * head + body + "  ")
            logged.append(whole)
        else:
            read.append(" " * len(whole))
            logged.append(whole.replace("!", " ", 1))
        end = match.end()
    return "".join(read) + sql[end:], "".join(logged) + sql[end:]


def as_read(sql: str, line: ServerLine) -> str:
    """What the server reads of a statement's text."""
    return read_text(as_sent(sql, line), line)[0]


def as_logged(sql: str, line: ServerLine) -> str:
    """A statement's text as the server logs it, where it does not write it anew."""
    return read_text(as_sent(sql, line), line)[1]


def _is_for(version: str | None, line: ServerLine) -> bool:
    if version is None:
        return True
    number, (major, minor, patch), passed = int(version), line.release, line.texts.passed_comments
    if passed is not None and passed[0] <= number <= passed[1]:
        return False
    return number <= major * 10000 + minor * 100 + patch
