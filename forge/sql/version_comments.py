"""Version comments, ``/*!80023 ... */``: what a server reads of them, and the text that it logs.

Recorded on 9.7, 10.11 and 11.8: a comment that the server passes over is logged without its ``!``, and one
inside it with ``(*`` and ``*)``.
"""

from __future__ import annotations

from forge.servers import ServerLine
from forge.sql.errors import SqlError
from forge.sql.lexer import Token, scan


def start_of_statement(sql: str) -> int:
    """The place behind white space and comments on lines of their own, which a client keeps to itself."""
    if sql[:1].isalpha():
        return 0
    try:
        for token in scan(sql):
            if token.kind != "comment" or token.text.startswith("/*"):
                return token.start
    except SqlError:
        return 0
    return len(sql)


def as_sent(sql: str, line: ServerLine) -> str:
    """The text as the vendor's command-line client sends it.

    Comments on lines of their own in front stay away, as does the semicolon; a comment that no space follows gets one.
    """
    text = sql[start_of_statement(sql) :].rstrip().rstrip(";").rstrip()
    if "/*" not in text:
        return text
    pieces: list[str] = []
    end = 0
    for token in scan(text):
        if _gets_space(token, line) and text[token.end : token.end + 1].strip():
            pieces += [text[end : token.end], " "]
            end = token.end
    return "".join(pieces) + text[end:]


def _gets_space(token: Token, line: ServerLine) -> bool:
    """Whether the client takes it for a plain comment: not a version comment, nor a hint that it knows."""
    if token.kind != "comment" or not token.text.startswith("/*") or token.version is not None:
        return False
    return line.texts.spaces_before_hints or not token.text.startswith("/*+")


def read_text(sql: str, line: ServerLine) -> tuple[str, str]:
    """(what the server reads, what it logs): both as long as the text."""
    if "/*" not in sql:
        return sql, sql
    read: list[str] = []
    logged: list[str] = []
    end = 0
    for token in scan(sql):
        if token.version is None:
            continue
        mark, version = token.version
        if mark == "M!" and not line.texts.mariadb_comments:
            continue
        read.append(sql[end : token.start])
        logged.append(sql[end : token.start])
        if _is_for(version, line):
            head = len(f"/*{mark}{version or ''}")
            read.append(" " * head + token.text[head:-2] + "  ")
            logged.append(token.text)
        else:
            read.append(" " * len(token.text))
            logged.append(_passed_over(token.text))
        end = token.end
    return "".join(read) + sql[end:], "".join(logged) + sql[end:]


def _passed_over(comment: str) -> str:
    """A version comment as it is logged where the server does not read it, with what stands in comments inside it."""
    inner = comment[2:-2].replace("!", " ", 1).replace("/*", "(*").replace("*/", "*)")
    return f"/*{inner}*/"


def as_read(sql: str, line: ServerLine) -> str:
    """What the server reads of a statement's text.

    Its places are those of the text from :func:`start_of_statement` on, but for the spaces behind comments.
    """
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
