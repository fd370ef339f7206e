"""What stands behind the header line of each kind of event, taken from a vendor's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from forge.events.plain import to_text
from forge.vendors.assembling.printed_events import PrintedEvent, PrintedText
from forge.vendors.assembling.said_settings import SaidSettings
from forge.vendors.assembling.text_scanner import Scanner

_VALUES = re.compile(rb"(\w+) ?= ?(\w+)")
_USE_LINE = re.compile(rb"use `(?:[^`]|``)*`[^\n]*\n", re.DOTALL)
_BLOCK = re.compile(rb"(?:/\*!\d+ )?BINLOG '\n")
_ROWS = re.compile(rb"(Write|Update|Delete)(_compressed)?_rows(?:_partial|_v1)?: table id (\d+)|Write_compressed")
_MAPPED = re.compile(rb"Table_map: `(.*?)`\.`")
_DEFINER = re.compile(rb"DEFINER\s*=\s*[`'\"]?([^`'\"@\s]*)[`'\"]?@[`'\"]?([^`'\"\s]*)[`'\"]?", re.IGNORECASE)
_NAMED = re.compile(
    rb"(?:DATABASE|SCHEMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?`?([^\s`;/]+)`?|`?(\w+)`?\.`?\w", re.IGNORECASE
)
_GTID_NEXT = re.compile(rb"SET @@SESSION\.GTID_NEXT= ?'([^']*)'")
_OF_SESSION = re.compile(rb"/\*[M!]*\d{5,6} SET @@session\.(\w+)=(\d+)\*/", re.IGNORECASE)
XA_ID = re.compile(rb"X'([0-9a-f]*)',X'([0-9a-f]*)',(-?\d+)")
_USER_VAR = re.compile(rb"SET @`((?:[^`]|``)*)`:=", re.DOTALL)
_CREATED = re.compile(rb"Start: binlog v (\d+), server v (.*) created (\d{6} [ \d]\d:\d\d:\d\d)( at startup)?")
_FILE_BLOCK = re.compile(rb"#(Begin_load_query|Append_block|Delete_file): file_id[:=] ?(\d+)[^\n]*\n")
_ROTATE = re.compile(rb"Rotate to (.*)  pos: (\d+)", re.DOTALL)
Take = Callable[[PrintedEvent, bytes], None]


class EventLines:
    """``kinds``: how what stands behind the tab begins, the kind of event, and what takes its lines."""

    def __init__(self, scanner: Scanner, settings: SaidSettings, text: PrintedText) -> None:
        self.scanner = scanner
        self.settings = settings
        self.text = text
        #: What the text said last in front of MariaDB's GTIDs.
        self.of_gtids: dict[str, int] = {}
        self.kinds: list[tuple[bytes, str, Take]] = [
            (b"\tStart: ", "FORMAT_DESCRIPTION", self._format_description),
            (b"\tQuery", "QUERY", self._query),
            (b"\tTable_map: ", "TABLE_MAP", self._table_map),
            (b"\tWrite_", "ROWS", self._rows),
            (b"\tUpdate_", "ROWS", self._rows),
            (b"\tDelete_", "ROWS", self._rows),
            (b"\tXid = ", "XID", self._numbers),
            (b"\tGtid list [", "GTID_LIST", self._gtid_list),
            (b"\tGTID ", "MARIADB_GTID", self._mariadb_gtid),
            (b"\tGTID", "GTID", self._gtid),
            (b"\tAnonymous_G", "GTID", self._gtid),
            (b"\tPrevious-GTIDs", "PREVIOUS_GTIDS", self._previous_gtids),
            (b"\tRows_query", "ROWS_QUERY", self._rows_query),
            (b"\tAnnotate_rows:", "ANNOTATE_ROWS", self._annotate),
            (b"\tXA PREPARE ", "XA_PREPARE", self._xa_prepare),
            (b"\tXID = ", "XA_PREPARE", self._xa_prepare),
            (b"\tTransaction_Payload", "TRANSACTION_PAYLOAD", self._payload),
            (b"\tIntvar", "INTVAR", self._setting),
            (b"\tRand", "RAND", self._setting),
            (b"\tUser_var", "USER_VAR", self._user_var),
            (b"\tExecute_load_query", "EXECUTE_LOAD_QUERY", self._query),
            (b"\tRotate to ", "ROTATE", self._rotate),
            (b"\tBinlog checkpoint ", "BINLOG_CHECKPOINT", self._rest),
            (b"\tStop", "STOP", self._rest),
            (b"\tIgnorable", "IGNORABLE", self._ignorable),
            (b"View_change_log_event: ", "VIEW_CHANGE", self._rest),
        ]

    def take(self, event: PrintedEvent, rest: bytes) -> bool:
        """Take what a header line says behind its checksum, and the lines behind it; whether the kind is known."""
        for beginning, kind, take in self.kinds:
            if rest.startswith(beginning):
                event.kind = kind
                take(event, rest.lstrip(b"\t"))
                return True
        if (found := self.scanner.take(_FILE_BLOCK)) is not None:
            event.kind = found[1].decode().upper()
            event.fields["file_id"] = int(found[2])
            return True
        if self.scanner.looking_at(b"# Incident: "):
            event.kind = "INCIDENT"
            self.scanner.line()
            return True
        return False

    def _numbers(self, event: PrintedEvent, rest: bytes) -> None:
        event.fields |= {to_text(name).lower(): int(value) for name, value in _VALUES.findall(rest) if value.isdigit()}

    def _rest(self, event: PrintedEvent, rest: bytes) -> None:
        event.fields["rest"] = rest

    def _setting(self, event: PrintedEvent, rest: bytes) -> None:
        event.fields["setting"] = self.scanner.setting() or b""

    def _comments(self) -> Iterator[bytes]:
        while self.scanner.looking_at(b"# ") and not self.scanner.looking_at(b"# at "):
            yield self.scanner.line()[2:]

    def _format_description(self, event: PrintedEvent, rest: bytes) -> None:
        found = _CREATED.match(rest)
        if found is None:
            raise self.scanner.error("the line of the FORMAT_DESCRIPTION does not say its server", at=event.at)
        event.fields |= {"version": found[2], "created": found[3], "at_startup": bool(found[4])}
        for comment in self._comments():
            event.fields["in_use"] = event.fields.get("in_use") or comment.startswith(b"Warning: this binlog is")
            event.fields["relay_log"] = event.fields.get("relay_log") or b"relay log" in comment
        at = self.scanner.at
        if self.scanner.setting() == b"ROLLBACK":
            event.fields["rolls_back"] = True
        else:
            self.scanner.at = at
        if self.scanner.take(_BLOCK) is not None:
            event.raw = self.scanner.block()[0]

    def _settings(self, event: PrintedEvent) -> None:
        """The settings in front of a statement."""
        self.settings.begin()
        while True:
            at = self.scanner.at
            if (found := self.scanner.take(_USE_LINE)) is not None:
                setting: bytes | None = found[0].rstrip(b"\n").removesuffix(self.scanner.delimiter)
            else:
                setting = self.scanner.setting()
            if setting is None or not self.settings.take(setting):
                self.scanner.at = at
                break
        event.fields["said"] = dict(self.settings.of_event)
        event.fields["last"] = dict(self.settings.last)
        if (database := self.settings.of_event.get("database")) is not None:
            self.text.databases[database] = None

    def _query(self, event: PrintedEvent, rest: bytes) -> None:
        self._numbers(event, rest)
        event.fields["compressed"] = rest.startswith(b"Query_compressed")
        self._settings(event)
        self.text.threads[event.fields.get("thread_id", 0)] = None
        if self.scanner.take(_BLOCK) is not None:
            # START ALTER and COMMIT ALTER of MariaDB are bytes, and their text a comment.
            event.raw = self.scanner.block()[0]
            event.fields |= {"text": b"", "names": []}
            while self.scanner.looking_at(b"### "):
                self.scanner.line()
            return
        text = event.fields["text"] = self.scanner.statement()
        head = text[:4096]
        for user, host in _DEFINER.findall(head):
            self.text.users[to_text(user), to_text(host)] = None
        event.fields["names"] = [to_text(one or other) for one, other in _NAMED.findall(head)]

    def _table_map(self, event: PrintedEvent, rest: bytes) -> None:
        if (found := _MAPPED.match(rest)) is not None:
            event.fields["database"] = to_text(found[1].replace(b"``", b"`"))
            self.text.databases[event.fields["database"]] = None

    def _rows(self, event: PrintedEvent, rest: bytes) -> None:
        event.fields["compressed"] = b"ompressed" in rest.split(b":")[0]

    def _gtid_list(self, event: PrintedEvent, rest: bytes) -> None:
        while not rest.endswith(b"]") and self.scanner.looking_at(b"# "):
            rest += self.scanner.line()[2:]
        event.fields["gtids"] = [tuple(map(int, gtid)) for gtid in re.findall(rb"(\d+)-(\d+)-(\d+)", rest)]

    def _mariadb_gtid(self, event: PrintedEvent, rest: bytes) -> None:
        fields, words = event.fields, rest.split(b" ")
        fields["words"] = words[2:]
        found = re.match(rb"GTID (\d+)-(\d+)-(\d+)", rest)
        if found is None:
            raise self.scanner.error("the line of this GTID does not say it", at=event.at)
        fields["domain_id"], fields["sequence_number"] = int(found[1]), int(found[3])
        self._numbers(event, rest)
        if (number := re.search(rb"ALTER id= (\d+)", rest)) is not None:
            fields["start_alter"] = int(number[1])
        while (setting := self._of_session()) is not None:
            self.of_gtids[setting[0]] = setting[1]
        fields["skip_parallel"] = self.of_gtids.get("skip_parallel_replication")
        at = self.scanner.at
        if self.scanner.looking_at(b"START TRANSACTION\n"):
            self.scanner.line()
            self.scanner.line()
            fields["begins"] = True
        elif self.scanner.looking_at(b"XA START "):
            fields["xa"] = XA_ID.search(self.scanner.setting() or b"")
        else:
            self.scanner.at = at

    def _of_session(self) -> tuple[str, int] | None:
        at = self.scanner.at
        setting = self.scanner.setting()
        found = None if setting is None else _OF_SESSION.fullmatch(setting)
        if found is None:
            self.scanner.at = at
            return None
        return found[1].decode().lower(), int(found[2])

    def _gtid(self, event: PrintedEvent, rest: bytes) -> None:
        fields = event.fields
        fields["anonymous"] = rest.startswith(b"Anonymous")
        self._numbers(event, rest)
        fields["by_row"] = {b"yes": True, b"no": False}.get(dict(_VALUES.findall(rest)).get(b"rbr_only", b""))
        while True:
            at = self.scanner.at
            if self.scanner.looking_at(b"# at ") or self.scanner.ended:
                return
            if self.scanner.looking_at(b"# "):
                self.scanner.line()
                continue
            setting = self.scanner.setting()
            if setting is None:
                self.scanner.at = at
                return
            if (found := _OF_SESSION.fullmatch(setting)) is not None:
                fields[found[1].decode().lower()] = int(found[2])
            elif (found := _GTID_NEXT.match(setting)) is not None:
                fields["gtid"] = to_text(found[1])
                return
            elif not setting.startswith(b"/*!50718 SET TRANSACTION"):
                self.scanner.at = at
                return

    def _previous_gtids(self, event: PrintedEvent, rest: bytes) -> None:
        lines = []
        for line in self._comments():
            lines.append(line)
            if not line.endswith(b","):
                break
        event.fields["gtids"] = to_text(b"".join(lines))

    def _rows_query(self, event: PrintedEvent, rest: bytes) -> None:
        lines, end = [], event.head.end if event.head else 0
        ending = b"# at %d\n" % end
        while self.scanner.looking_at(b"# ") and not self.scanner.looking_at(ending):
            lines.append(self.scanner.line()[2:])
        if not self.scanner.looking_at(ending):
            # Inside of a compressed transaction each event has the same place.
            cut = [place for place, line in enumerate(lines) if re.fullmatch(rb"at \d+", line)]
            if cut:
                back = sum(len(line) + 3 for line in lines[cut[-1] :])
                self.scanner.at -= back
                del lines[cut[-1] :]
        event.fields["text"] = re.sub(rb"\\\\", rb"\\", b"\n".join(lines))

    def _annotate(self, event: PrintedEvent, rest: bytes) -> None:
        lines = []
        while self.scanner.looking_at(b"#Q> "):
            lines.append(self.scanner.line()[4:])
        event.fields["text"] = b"\n".join(lines)

    def _xa_prepare(self, event: PrintedEvent, rest: bytes) -> None:
        found = XA_ID.search(rest)
        if found is None:
            raise self.scanner.error("the line of this XA PREPARE does not say its id", at=event.at)
        event.fields["xa"] = found
        event.fields["one_phase"] = self.scanner.line().endswith(b" ONE PHASE")
        self.scanner.line()

    def _payload(self, event: PrintedEvent, rest: bytes) -> None:
        self._numbers(event, rest)
        event.fields["plain"] = b"=NONE" in rest
        event.inner = []

    def _user_var(self, event: PrintedEvent, rest: bytes) -> None:
        fields = event.fields
        while self.scanner.looking_at(b"/*!\\C", b"SET @@session", b"# Ignored (Unknown"):
            line = self.scanner.line()
            if (found := re.search(rb"collation_connection=(\d+)", line)) is not None:
                fields["collation"] = int(found[1])
        start = self.scanner.at
        found = self.scanner.take(_USER_VAR)
        if found is None:
            raise self.scanner.error("the user variable is not set here", expected="SET @`name`:=", at=start)
        fields["name"] = to_text(found[1].replace(b"``", b"`"))
        fields["value"] = self.scanner.setting() or b""
        charsets = self.settings.last.get("charset")
        fields["connection"] = charsets[0][1] if charsets else None
        while self.scanner.looking_at(b"/*!\\C", b"SET @@session.character_set_client"):
            self.scanner.line()

    def _rotate(self, event: PrintedEvent, rest: bytes) -> None:
        found = _ROTATE.match(rest)
        if found is None:
            raise self.scanner.error("the line of this ROTATE does not say the next file", at=event.at)
        event.fields |= {"file": to_text(found[1]), "position": int(found[2])}

    def _ignorable(self, event: PrintedEvent, rest: bytes) -> None:
        if self.scanner.looking_at(b"# "):
            event.fields["rest"] = self.scanner.line()
