"""The QUERY events that a printed statement may have been.

The text shows a setting where it changes, and does not show some at all; header flags are nowhere.  What servers write
is one of few forms, and the printed length and checksum say which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

from forge.charsets.collations import known_collations
from forge.events.event import SUPPRESS_USE
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, POST_HEADERS, FormatContext
from forge.events.layout import Body
from forge.events.mariadb_compressed import compressed_query
from forge.events.plain import to_bytes, to_text
from forge.events.query import Query
from forge.events.status_vars import WRITING_ORDER, StatusVariables, size_of_variables
from forge.vendors.assembling.deviations import by_deviation
from forge.vendors.assembling.printed_events import PrintedEvent, PrintedText
from forge.vendors.session_lines import OF_TRANSACTIONS, OF_XA, THREAD_SPECIFIC

#: Forms that are tried of one event: of its size, and where no size is known; and databases that several may be of.
_LIMIT = 20_000
_FEW = 200
_MOST_NAMES = 6
#: Seconds: the session was told its time, and the clocks of its statements stand.
_SET_TIME = 1 << 20
_OWN, _OVER_MAX = "own", 254
_FLAGS = (0, SUPPRESS_USE, THREAD_SPECIFIC, SUPPRESS_USE | THREAD_SPECIFIC)
_MORE_FLAGS = (0x40, 0x100, 0x200, 0x10)
_WITHOUT_USE = re.compile(
    rb"\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|XA |(CREATE|DROP|ALTER)\s+(DATABASE|SCHEMA))", re.IGNORECASE
)
_OF_DATABASE = re.compile(
    rb"\s*(?:CREATE|DROP|ALTER)\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?`?([^`\s/;]+)", re.IGNORECASE
)
_TEMPORARY = re.compile(rb"\s*(CREATE|DROP)\s+TEMPORARY\s", re.IGNORECASE)
_UPDATED = tuple(range(1, 8))


@dataclass(slots=True)
class QueryForms:
    """The forms of one text's statements; what was found of one is what is likely for the next of its kind."""

    text: PrintedText
    #: The database that the text changed to last.
    database: str = ""
    #: That of the last statement.
    recent: str = ""
    likely: dict[tuple[bytes, str], Any] = field(default_factory=dict)

    def forms(self, event: PrintedEvent, format: FormatContext, sizes: set[int]) -> Iterator[tuple[Body, list[int]]]:
        """Bodies, each with the header flags that it may have; only those of these ``sizes`` if there are any."""
        fields = event.fields
        text = fields["text"]
        chosen = self._choices(event, format)
        usual = self._usual(event, chosen)
        names, choices = list(chosen), list(chosen.values())
        key = _key(text)
        flags = self._first(key, "flags", _flags(text))
        frame = HEADER_SIZE + POST_HEADERS[2] + 1 + len(text) + CHECKSUM_SIZE * format.checksum
        common = {name: fields.get(name, 0) for name in ("thread_id", "exec_time", "error_code")}
        known = sizes if not fields["compressed"] and event.kind == "QUERY" else set()
        widths = [[_width(name, value) for value in values] for name, values in zip(names, choices, strict=True)]
        counts = [range(len(values)) for values in choices]
        for places in chain(by_deviation(usual, _LIMIT), by_deviation(counts, _LIMIT if sizes else _FEW)):
            if known and frame + _sum(widths, places, names, choices) not in known:
                continue
            values = {name: of[place] for name, of, place in zip(names, choices, places, strict=True)}
            database = values.pop("database")
            status = _status(values, database)
            possible = self._possible(event, database, flags)
            if event.kind == "EXECUTE_LOAD_QUERY":
                yield _load_query(event, status, database, common), possible
                continue
            query = Query(**common, status_variables=status, database=database, query=to_text(text))
            yield compressed_query(query) if fields["compressed"] else query, possible

    def _possible(self, event: PrintedEvent, database: str, flags: list[int]) -> list[int]:
        """The header flags with which a program would have printed, or not printed, the line ``use``."""
        fields = event.fields
        if "database" in fields["said"]:
            return [flag for flag in flags if not flag & SUPPRESS_USE]
        trivial = self.text.mariadb and fields["text"].startswith(OF_TRANSACTIONS + OF_XA)
        if database in (self.database, "") or trivial:
            return flags
        return [flag for flag in flags if flag & SUPPRESS_USE]

    def found(self, event: PrintedEvent, body: Any, flags: int) -> None:
        """An event was found to be that."""
        text = event.fields.get("text", b"")
        key = _key(text)
        said = event.fields.get("said", {})
        self.likely[key, "flags"] = flags
        self.recent = body.database or self.recent
        status = dict(body.status_variables)
        for name in ("charset",):
            if name in status:
                self.likely[b"", name] = status[name]
        for name in _REMEMBERED:
            self.likely[key, name] = status.get(name)
        names = status.get("updated_databases")
        self.likely[key, "updated_databases"] = _OWN if names == (body.database,) else names
        self.likely[key, "database"] = body.database
        trivial = text.startswith(OF_TRANSACTIONS + OF_XA)
        if flags & SUPPRESS_USE:
            self.database = self.database if trivial else ""
        elif "database" in said or not (self.text.mariadb and trivial):
            self.database = body.database

    def _first(self, key: tuple[bytes, ...] | bytes, name: str, values: list[Any]) -> list[Any]:
        """The values with the likely one in front."""
        likely = self.likely.get((key, name), values[0])  # type: ignore[arg-type]
        return [likely, *(value for value in values if value != likely)] if likely in values else values

    def _choices(self, event: PrintedEvent, format: FormatContext) -> dict[str, list[Any]]:
        """What is to be chosen, by name; the likely ones first."""
        fields = event.fields
        said, last, key = fields["said"], fields["last"], _key(fields["text"])
        named = [name for name in dict.fromkeys(fields.get("names", ())) if name]
        everywhere = list(self.text.databases)[:20]
        choices: dict[str, list[Any]] = {}
        if "database" in said:
            choices["database"] = [said["database"]]
        else:
            created = _OF_DATABASE.match(fields["text"])
            known = list(dict.fromkeys([self.database or self.recent, *named, "", *everywhere]))
            if created is not None:
                known = list(dict.fromkeys([to_text(created[1]), *known]))
            stays = created is not None or (self.database and not _WITHOUT_USE.match(fields["text"]))
            choices["database"] = known if stays else self._first(key, "database", known)
        for name in ("flags2", "sql_mode"):
            choices[name] = [said[name]] if name in said else [last[name], None] if name in last else [None]
        choices["catalog"] = ["std", None]
        choices["charset"] = self._charsets(said, last)
        increment = last.get("auto_increment", (1, 1))
        choices["auto_increment"] = [increment] if increment != (1, 1) else [None]
        for name in ("lc_time_names", "charset_database"):
            choices[name] = [last[name]] if last.get(name) else [None]
        zone = last.get("time_zone")
        choices["time_zone"] = [zone] if "time_zone" in said or zone is None else [zone, None]
        # Accounts and rights are tables of that one.
        everywhere += [] if "mysql" in everywhere else ["mysql"]
        own = self._of_mariadb if format.mariadb else self._of_mysql
        choices |= own(fields, said, last, [*dict.fromkeys([*named, *everywhere])])
        choices["table_map_for_update"] = [None, *_UPDATED]
        for name in _REMEMBERED:
            if name in choices:
                choices[name] = self._first(key, name, choices[name])
        return choices

    def _usual(self, event: PrintedEvent, choices: dict[str, list[Any]]) -> list[list[int]]:
        """The places of the choices that are tried first where no checksum tells forms of one size apart."""
        if event.head is None or event.head.checksum is not None:
            return []
        fields = event.fields
        text = fields["text"].upper()
        usual: list[str] = []
        usual += [] if fields.get("exec_time", 0) > _SET_TIME else ["hrnow", "microseconds"]
        usual += [] if b"DEFINER" in text else ["invoker"]
        usual += [] if text.lstrip().startswith((b"UPDATE", b"DELETE", b"BEGIN")) else ["table_map_for_update"]
        places = {name: _places(values) for name, values in choices.items()}
        places |= {name: [0] for name in _ALWAYS if name in choices}
        places |= {name: [choices[name].index(None)] for name in usual if None in choices.get(name, ())}
        return [*places.values()]

    def _charsets(self, said: dict[str, Any], last: dict[str, Any]) -> list[Any]:
        if "charset" not in last:
            return [None]
        likely = self.likely.get((b"", "charset"))
        found = [tuple(one) for one in last["charset"]]
        if likely in found and "charset" not in said:
            return [likely, None]
        if likely in found:
            found = [likely, *(one for one in found if one != likely)]
        return found if "charset" in said else [*found[:1], None, *found[1:]]

    def _of_mysql(self, fields: Any, said: Any, last: Any, names: list[str]) -> dict[str, list[Any]]:
        several = [
            tuple(sorted(group, reverse=True)) for count in (2, 3) for group in combinations(names[:_MOST_NAMES], count)
        ]
        collation = last.get("default_collation_for_utf8mb4")
        stays = "default_collation_for_utf8mb4" in said or collation is None
        updated = [None, _OWN, _OVER_MAX, *((name,) for name in names), *several]
        likely = self.likely.get((_key(fields["text"]), "updated_databases"))
        if likely is not None:
            updated = [likely, *(one for one in updated if one != likely)]
        return {
            "updated_databases": updated,
            "microseconds": [said["fraction"]] if "fraction" in said else [None, 0],
            "invoker": [None, *dict.fromkeys([*self.text.users, ("root", "localhost"), ("", "")])],
            "ddl_xid": [fields["xid"]] if "xid" in fields else [None, *fields.get("near_xids", ())],
            "default_collation_for_utf8mb4": [collation] if stays else [collation, None],
            "enable_cascade_triggers": [None, 0, 1],
            **{name: [said.get(name)] for name in _EACH_TIME},
        }

    def _of_mariadb(self, fields: Any, said: Any, last: Any, names: list[str]) -> dict[str, list[Any]]:
        xid = fields.get("xid", 0)
        collations = said.get("character_set_collations")
        return {
            "character_set_collations": [None, ()] if collations is None else [_pairs(collations)],
            "hrnow": [said["fraction"]] if "fraction" in said else [None, 0],
            "mariadb_ddl_xid": [xid] if xid else [None, 0, *fields.get("near_xids", ())],
            "invoker": [None, *self.text.users, ("root", "localhost")],
        }


_ALWAYS = (
    "catalog", "flags2", "sql_mode", "charset", "default_collation_for_utf8mb4", "enable_cascade_triggers",
    "character_set_collations", "mariadb_ddl_xid",
)  # fmt: skip
_EACH_TIME = ("explicit_defaults_for_timestamp", "sql_require_primary_key", "default_table_encryption")
_REMEMBERED = (
    "catalog", "time_zone", "microseconds", "hrnow", "invoker", "enable_cascade_triggers", "table_map_for_update",
    "auto_increment", "default_collation_for_utf8mb4", "flags2", "sql_mode",
)  # fmt: skip


def _key(text: bytes) -> bytes:
    """What statements have in common whose events are alike."""
    return b" ".join(text[:80].upper().split(None, 2)[:2])


def _flags(text: bytes) -> list[int]:
    """Header flags, those that a server gives such a text first."""
    usual = SUPPRESS_USE if _WITHOUT_USE.match(text) else THREAD_SPECIFIC if _TEMPORARY.match(text) else 0
    plain = sorted(_FLAGS, key=lambda flags: flags != usual)
    return [*plain, *(one | more for more in _MORE_FLAGS for one in plain)]


def _places(values: list[Any]) -> list[int]:
    """The places of the values, but for that of no database behind others."""
    return [place for place, value in enumerate(values) if value != "" or not place]


def _width(name: str, value: Any) -> int:
    """The bytes that a choice takes; those of the own database's name come with that."""
    if value is None or value == _OWN:
        return 0
    return len(to_bytes(value)) if name == "database" else size_of_variables(((name, value),))


def _sum(widths: list[list[int]], places: tuple[int, ...], names: list[str], choices: list[list[Any]]) -> int:
    total = sum(map(list.__getitem__, widths, places))
    own = names.index("updated_databases") if "updated_databases" in names else None
    if own is not None and choices[own][places[own]] == _OWN:
        database = names.index("database")
        total += size_of_variables((("updated_databases", (choices[database][places[database]],)),))
    return total


def _status(values: dict[str, Any], database: str) -> StatusVariables:
    if values.get("updated_databases") == _OWN:
        values["updated_databases"] = (database,)
    return tuple((name, values[name]) for name in WRITING_ORDER if values.get(name) is not None)


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    """``utf8mb3=utf8mb3_uca1400_ai_ci,…`` as numbers: of the character set's own collation, and of the chosen one."""
    by_name = {one.name: one.id for one in known_collations()}
    pairs = [part.split("=", 1) for part in text.split(",") if "=" in part]
    return tuple((by_name.get(f"{charset}_general_ci", 0), by_name.get(name, 0)) for charset, name in pairs)


def _load_query(event: PrintedEvent, status: StatusVariables, database: str, common: dict[str, int]) -> Body:
    """The printed statement loads the file that the printer wrote."""
    text = event.fields["text"]
    mark = b" LOCAL INFILE '"
    start = max(text.find(mark), 0)
    end = text.find(b"' ", start + len(mark)) + 1
    rest = text[end:]
    duplicates = 2 if rest.startswith(b" REPLACE") else 0
    query = text[:start] + b" INFILE '" + text[start + len(mark) : end] + rest
    stop = start + len(b" INFILE '") + end - start - len(mark) + (len(b" REPLACE") if duplicates else 0) + len(b" INTO")
    return ExecuteLoadQuery(
        **common, status_variables=status, database=database, query=to_text(query),
        file_id=event.fields.get("file_id", 0), file_name_start=start, file_name_end=stop, duplicates=duplicates,
    )  # fmt: skip
