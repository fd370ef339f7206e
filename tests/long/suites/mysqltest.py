"""Scripts of the vendors' test suites, cut into the statements that one server is sent, in their order.

Of mysqltest's language what decides on statements is followed: delimiters, connections, ``let`` of texts and numbers,
``while`` and ``if`` over them, ``source`` of other parts of the suites.  A statement that holds a variable which only a
server could give is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: How often a loop is gone through at most, and how deep files name files.
TURNS, DEPTH = 20, 6
_COMMANDS = {
    "append_file", "assert", "break", "cat_file", "change_user", "character_set", "chmod", "connect", "connection",
    "copy_file", "copy_files_wildcard", "dec", "delimiter", "diff_files", "die", "dirty_close",
    "disable_abort_on_error", "disable_async_client", "disable_cursor_protocol", "disable_connect_log",
    "disable_info", "disable_metadata", "disable_parsing", "disable_ps2_protocol", "disable_ps_protocol",
    "disable_query_log", "disable_reconnect", "disable_result_log", "disable_service_connection",
    "disable_session_track_info", "disable_testcase", "disable_view_protocol", "disable_warnings", "disconnect",
    "echo", "enable_abort_on_error", "enable_async_client", "enable_connect_log", "enable_cursor_protocol",
    "enable_info", "enable_metadata", "enable_parsing", "enable_ps2_protocol", "enable_ps_protocol",
    "enable_query_log", "enable_reconnect", "enable_result_log", "enable_service_connection",
    "enable_session_track_info", "enable_testcase", "enable_view_protocol", "enable_warnings", "end", "end_timer",
    "error", "eval", "evalp", "exec", "exec_in_background", "execw", "exit", "expr", "file_exists", "force_cpdir",
    "force_rmdir", "horizontal_results", "inc", "let", "list_files", "list_files_append_file",
    "list_files_write_file", "lowercase_result", "mkdir", "move_file", "output", "partially_sorted_result", "perl",
    "ping", "query", "query_attributes", "query_get_value", "query_horizontal", "query_vertical", "real_sleep",
    "reap", "remove_file", "remove_files_wildcard", "replace_column", "replace_numeric_round", "replace_regex",
    "replace_result", "require", "reset_connection", "result_format", "rmdir", "rpl_sync", "save_master_pos", "send",
    "send_eval", "send_quit", "send_shutdown", "shutdown_server", "skip", "skip_if_hypergraph", "sleep",
    "sorted_result", "source", "start_timer", "sync_slave_with_master", "sync_with_master", "system",
    "vertical_results", "wait_for_slave_to_stop", "write_file", "write_line",
}  # fmt: skip
_SENDING = ("send", "eval", "evalp", "send_eval", "query", "query_vertical", "query_horizontal")
#: Commands whose text goes on to a line of its own.
_WITH_TEXT = {"write_file": 1, "append_file": 1, "perl": 0}
#: Other servers: what is sent to them is no part of the log of the first.
_ELSEWHERE = re.compile(r"(?i)slave|replica|server_?[2-9]|rpl_.*[2-9]$")
#: What steers servers and replicas, or begins and removes files of the log: the runner has its own.
_STEERS = re.compile(
    r"(?is)(change|start\s+(slave|replica|all|group)|stop|reset|purge|kill|shutdown|restart|install|uninstall|binlog|clone"
    r"|call\s+mtr\.|flush\s+((local|no_write_to_binlog)\s+)?((binary|relay|engine|error|slow|general)\s+)?logs|backup|show"
    r"|[;{}().]|set\s+(@@)?(global|persist)\b|set\s+(session\s+|@@session\.)?debug|\w+\s*\$)"
)
_FIRST_WORD = re.compile(r"(\w*)(.*)", re.DOTALL)
_NAME = re.compile(r"\$\{?(\w+)\}?")
_STEPS_TO_REPLICA = re.compile(
    r"sync_slave_sql_with_master|sync_slave_io|sync_to_replica|sync_slave_with|rpl_connection_slave"
)


@dataclass(frozen=True, slots=True)
class Sent:
    """A statement, the connection that sends it, and where it stands."""

    sql: str
    connection: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A command or statement with its line; a block has what stands between its braces."""

    text: str
    line: int
    block: tuple[_Piece, ...] | None = None


def statements_of(script: Path, root: Path) -> list[Sent]:
    """What a script sends to its first server.  Raises nothing: what is not understood is left out."""
    reading = _Reading(root)
    reading.run_file(script)
    return reading.sent


@dataclass(slots=True)
class _Cutter:
    text: str
    at: int = 0
    delimiter: str = ";"

    def pieces(self, *, inner: bool = False) -> Iterator[_Piece]:
        while True:
            self._skip_blank()
            if self.at >= len(self.text):
                return
            line = self.text.count("\n", 0, self.at) + 1
            if self.text[self.at] == "}":
                self.at += 1
                if inner:
                    return
            elif self.text.startswith("--", self.at) and not self.text.startswith("-- forge", self.at):
                end = self._end_of_line()
                words, self.at = self.text[self.at : end].lstrip("- \t").rstrip(), end
                yield from self._command(words.removesuffix(self.delimiter), line)
            elif match := re.compile(r"(?:if|while)\s*(?=\()", re.IGNORECASE).match(self.text, self.at):
                yield self._block(match, line)
            else:
                yield from self._command(self._statement(), line)

    def _skip_blank(self) -> None:
        while match := re.compile(r"\s+|#[^\n]*|\{").match(self.text, self.at):
            self.at = match.end()

    def _end_of_line(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _command(self, text: str, line: int) -> Iterator[_Piece]:
        word = (re.match(r"[a-z_0-9]+", text.lower()) or [""])[0]
        if word == "delimiter":
            self.delimiter = text[len(word) :].strip() or ";"
        elif word in _WITH_TEXT:
            words = text.split()[1 + _WITH_TEXT[word] :]
            end = re.compile(rf"^{re.escape(words[0] if words else 'EOF')}\s*$", re.MULTILINE).search(
                self.text, self.at
            )
            self.at = end.end() if end else len(self.text)
        elif text.strip():
            yield _Piece(text.strip(), line)

    def _statement(self) -> str:
        """Up to the delimiter, which quotes hide."""
        quoted = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|\n[ \t]*\#[^\n]*|."""
        piece = re.compile(f"(?P<end>{re.escape(self.delimiter)})|{quoted}", re.DOTALL)
        start = self.at
        for match in piece.finditer(self.text, start):
            if match["end"]:
                self.at = match.end()
                return self.text[start : match.start()]
        self.at = len(self.text)
        return self.text[start:]

    def _block(self, match: re.Match[str], line: int) -> _Piece:
        start, depth = self.at, 0
        self.at = match.end()
        while self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not depth:
                break
        head = self.text[start : self.at]
        while self.at < len(self.text) and self.text[self.at] != "{":
            self.at += 1
        self.at += 1
        return _Piece(head, line, tuple(self.pieces(inner=True)))


@dataclass(slots=True)
class _Reading:
    root: Path
    connection: str = ""
    elsewhere: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    depth: int = 0

    def run_file(self, path: Path) -> None:
        try:
            text = path.read_text("utf-8", "surrogateescape")
        except OSError:
            return
        if self.depth < DEPTH:
            self.depth += 1
            self._run(tuple(_Cutter(text).pieces()), str(path.relative_to(self.root)))
            self.depth -= 1

    def _run(self, pieces: tuple[_Piece, ...], file: str) -> None:
        for piece in pieces:
            if piece.block is not None:
                turns = TURNS if piece.text.lower().startswith("while") else 1
                while turns and self._holds(piece.text):
                    self._run(piece.block, file)
                    turns -= 1
                continue
            word, rest = _FIRST_WORD.fullmatch(piece.text).groups()  # type: ignore[union-attr]
            word = word.lower()
            if word not in _COMMANDS:
                self._send(piece.text, file, piece.line)
            elif word in _SENDING:
                self._send(self._filled(rest.strip()), file, piece.line)
            else:
                self._do(word, rest.strip())

    def _send(self, sql: str | None, file: str, line: int) -> None:
        sql = (sql or "").strip().rstrip(";").rstrip()
        if sql and not self.elsewhere and not _STEERS.match(sql):
            self.sent.append(Sent(sql, self.connection, file, line))

    def _do(self, word: str, rest: str) -> None:
        if word == "let":
            name, _, value = rest.lstrip("$").partition("=")
            filled = self._filled(value.strip())
            if filled is None or filled.startswith("`") or "query_get_value" in filled:
                self.variables.pop(name.strip(), None)
            else:
                self.variables[name.strip()] = filled
        elif word in ("inc", "dec"):
            name = rest.lstrip("$").strip()
            if self.variables.get(name, "").lstrip("-").isdigit():
                self.variables[name] = str(int(self.variables[name]) + (1 if word == "inc" else -1))
        elif word == "source":
            self._source(self._filled(rest) or "")
        elif word == "connect":
            self._turn_to(rest.strip("() ").partition(",")[0].strip())
        elif word == "connection":
            self._turn_to(self._filled(rest) or "elsewhere_slave")
        elif word == "sync_slave_with_master":
            self.elsewhere = True

    def _turn_to(self, name: str) -> None:
        self.elsewhere = _ELSEWHERE.search(name) is not None
        if not self.elsewhere:
            self.connection = "" if name in ("default", "master", "source", "server_1") else re.sub(r"\W", "_", name)

    def _source(self, name: str) -> None:
        if _STEPS_TO_REPLICA.search(name):
            self.elsewhere = True
        elif re.search(r"rpl_connection_(master|source)|connection_source|init_source_replica|master-slave", name):
            self._turn_to("master")
        elif name and not name.startswith("include/") and ".." not in name:
            self.run_file(self.root / name)

    def _filled(self, text: str) -> str | None:
        """The text with the values of its variables; None if one is not known."""
        known = {name: self.variables.get(name) for name in _NAME.findall(text)}
        if any(value is None for value in known.values()):
            return None
        return _NAME.sub(lambda match: known[match[1]] or "", text)

    def _holds(self, head: str) -> bool:
        """Whether a condition over known variables holds; over others, it does not."""
        words = head[head.index("(") + 1 : -1].strip()
        wanted = not words.startswith("!")
        filled = self._filled(words.lstrip("! "))
        if filled is None or "`" in filled:
            return False
        sides = re.split(r"(==|!=|<=|>=|<|>)", filled)
        if len(sides) == 3:
            left, right = (side.strip().strip("'\"") for side in sides[::2])
            numbers = [int(side) if side.lstrip("-").isdigit() else None for side in (left, right)]
            found = {"==": left == right, "!=": left != right}.get(sides[1])
            if found is None:
                if None in numbers:
                    return False
                order = (numbers[0] or 0) - (numbers[1] or 0)
                found = {"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}[sides[1]]
            return found == wanted
        return (filled.strip() not in ("", "0")) == wanted
