"""The decoders that are measured: which files their code is in, how one reads a log, and what no file can reach."""

from __future__ import annotations

import importlib
import importlib.util
import io
import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.power.logs import Log
from tests.power.own_reader import all_of

ROOT = Path(__file__).parents[2]
_TESTEE = ROOT / "corpora" / "testees" / "python-mysql-replication" / "testee.py"
_PLACE_IN_MEMORY = re.compile(" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Subject:
    """``read`` gives all that the decoder shows of a log, and how it ended, as one text.

    ``beside``: other code that has a say in what is shown.
    ``unreachable``: functions that no file reaches, by the end of their name, with the reason.
    ``decodes``: whether all other functions decode; else those count that a log reaches.
    """

    name: str
    files: tuple[Path, ...]
    beside: tuple[Path, ...]
    read: Callable[[Log], str]
    unreachable: tuple[tuple[str, str], ...]
    decodes: bool


def _modules(*names: str) -> tuple[Path, ...]:
    """The source files of modules; of a package (``name.*``) those of all its modules."""
    files: list[Path] = []
    for name in names:
        spec = importlib.util.find_spec(name.removesuffix(".*"))
        assert spec is not None
        assert spec.origin is not None
        path = Path(spec.origin)
        files += sorted(path.parent.rglob("*.py")) if name.endswith(".*") else [path]
    return tuple(files)


def python_mysql_replication() -> Subject:
    """The decoder that is installed with the extra ``test``, driven as the shipped testee drives it."""
    testee = _testee()
    logging.getLogger("pymysqlreplication").setLevel(logging.CRITICAL)
    package = "pymysqlreplication"
    names = ("event", "row_event", "packet", "json_binary", "bitmap", "column", "table", "util.bytes")
    for name in names:
        importlib.import_module(f"{package}.{name}")
    wrapper = importlib.import_module(f"{package}.packet").BinLogPacketWrapper
    # Also the events that its stream leaves out unless it is asked for them.
    every = frozenset(wrapper._BinLogPacketWrapper__event_map.values())

    def read(log: Log) -> str:
        feed, shown = None, []
        try:
            for _, raw in testee.packets(io.BytesIO(log.data)):
                feed = feed or testee.Feed(log.flavor, testee.has_checksums(raw))
                feed.allowed = every
                event = feed.event(raw)
                if event is None:
                    continue
                if isinstance(event, testee.RowsEvent):
                    _ = event.rows
                shown.append(_shown(event))
        except Exception as error:  # noqa: BLE001  # Whatever it is, it is the decoder's answer.
            shown.append(type(error).__name__)
        return repr(shown)

    return Subject(
        "python-mysql-replication",
        _modules(*(f"{package}.{name}" for name in names)),
        (_TESTEE,),
        read,
        (
            ("_dump", "prints an event; a decoder does not call it"),
            ("dump", "prints an event; a decoder does not call it"),
            ("__repr__", "prints an object"),
            ("__str__", "prints an object"),
            ("__eq__", "compares two objects"),
            ("__ne__", "compares two objects"),
            ("__hash__", "compares two objects"),
            ("serializable_data", "a form of a column for callers"),
            ("__fetch_rows_by_names", "asks a server for columns"),
            ("_get_dbms", "asks a server"),
            ("to_dict|to_json", "a form of an event for callers"),
            ("read_length_coded_string|read_int16|read_int32|unpack_int32", "nothing calls it"),
            ("payload", "the packet of the network"),
            ("rewind", "the packet of the network"),
            ("__getattr__", "passes a call on to the packet of the network"),
        ),
        decodes=True,
    )


def _testee() -> ModuleType:
    spec = importlib.util.spec_from_file_location("power_testee", _TESTEE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["power_testee"] = module
    spec.loader.exec_module(module)
    return module


#: What every event has of its surroundings: TABLE_MAP shows the columns, FORMAT_DESCRIPTION the lengths.
_HIDDEN = frozenset(("_ctl_connection", "complete", "dbms", "event", "table_map", "_post_header_lengths"))
_PLAIN = (int, str, bytes, float, type(None))


def _shown(value: Any, depth: int = 0) -> Any:
    """What an object of the decoder has, whatever it is."""
    if isinstance(value, _PLAIN):
        return value
    if depth > 12:
        return "..."
    if isinstance(value, dict):
        return [(_shown(key, depth + 1), _shown(item, depth + 1)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_shown(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if type(value).__module__.startswith("pymysqlreplication") and hasattr(value, "__dict__"):
        of_rows = hasattr(value, "number_of_columns")
        kept = {
            name: item for name, item in vars(value).items()
            if name not in _HIDDEN and not (of_rows and name == "columns")
        }  # fmt: skip
        kinds = [one for one in type(value).__mro__ if one.__module__.startswith("pymysqlreplication")]
        asked = [name for kind in kinds for name, one in vars(kind).items() if isinstance(one, property)]
        told = [(name, _told(value, name, depth)) for name in asked if name != "rows"]
        return [type(value).__name__, _shown(kept, depth + 1), told]
    return _PLACE_IN_MEMORY.sub("", repr(value))


def _told(value: Any, name: str, depth: int) -> Any:
    """What a property gives."""
    try:
        return _shown(getattr(value, name), depth + 1)
    except Exception as error:  # noqa: BLE001  # Its answer, too.
        return type(error).__name__


def forge_decoder() -> Subject:
    """Our own reader: layouts, values, and the canonical decode."""
    return Subject(
        "binlog-forge",
        (
            *_modules("forge.events.*", "forge.values.*"),
            *_modules("forge.binlog.reader", "forge.binlog.payload", "forge.binlog.logged", "forge.binlog.mapped"),
            *_modules("forge.decode.cells", "forge.decode.decode", "forge.decode.expected"),
            *_modules("forge.decode.table_maps"),
        ),
        (
            ROOT / "tests" / "power" / "own_reader.py",
            *(
                path
                for folder in ("decode", "binlog", "charsets")
                for path in sorted((ROOT / "forge" / folder).rglob("*.py"))
            ),
        ),
        lambda log: all_of(log.data),
        (
            (r"_?build|built?_\w+|_?encode\w*|_lay_out|_container|giv\w+|give|\w*writer\w*", "writes"),
            (r"[us]varint", "writes"),
            (r"accept\w*|number_of|unknown|find_member|cell|_stored_fraction|_parser|fields_of|_date", "writes"),
            (r"size_of_variables|_kept_size|_builds_to|length_of|_status_length|pack|carried", "writes"),
            (
                r"torn|first_line|short_name|type_label|_?wrong|bad_value|bad_metadata|too_large",
                "makes the text of an error",
            ),
            (r"canonical_shape|shape_with|summary|statement|statements", "describes or prints events, and reads none"),
        ),
        decodes=False,
    )


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "python-mysql-replication": python_mysql_replication,
    "binlog-forge": forge_decoder,
}
