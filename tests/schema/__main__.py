"""The JSON Schema of scenario files, for editors, generated from the declared form.

``python -m tests.schema > forge/scenario/scenario.schema.json`` publishes it anew.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import Any

import msgspec

from forge.plan import facts, metadata_forms, session
from forge.scenario.model import Scenario
from forge.servers import server_names
from tests.schema.rules import add_rules

SCHEMA_ID = "urn:binlog-forge:scenario"
_FIELD = re.compile(r"((?:^    #: .*\n(?:    #  ?.*\n)*)+)    (\w+):", re.MULTILINE)

#: Fields of the session whose names say enough to a reader of the code.
_SESSION = {
    "row_image": "Columns in row images (binlog_row_image): all, changed and key ones, all but unneeded BLOB and TEXT.",
    "rows_query": "Log the SQL text of statements (binlog_rows_query_log_events).",
    "gtid": "Transactions have GTIDs; without, they are anonymous.",
    "checksum": "Checksum of every event (binlog_checksum).",
    "binlog_row_event_max_size": "Rows of a statement are split into events of about this many bytes.",
    "server_id": "Number of the server in every event.",
    "compression_level": "Level of the payloads' zstd compression.",
    "foreign_key_checks": "SET foreign_key_checks.",
    "unique_checks": "SET unique_checks.",
    "auto_increment_increment": "SET auto_increment_increment: the distance of generated numbers.",
    "auto_increment_offset": "SET auto_increment_offset: the first of them.",
    "lc_time_names": "SET lc_time_names, such as de_DE.",
    "facts": "What a recording tells of its session and a scenario cannot decide.",
}


def made_schema() -> dict[str, Any]:
    """The schema, generated from the declared form."""
    schema: dict[str, Any] = msgspec.json.schema(Scenario)
    definitions = schema.pop("$defs")
    top = definitions.pop("Scenario")
    for name, definition in definitions.items():
        described = (getattr(module, name, None) for module in (session, facts, metadata_forms))
        _describe(definition, _comments(next(filter(None, described), None)))
        if "description" in definition:
            definition["description"] = " ".join(definition["description"].split("\n\n")[0].split())
    _describe(definitions["Session"], _SESSION)
    top["properties"]["server"]["enum"] = list(server_names())
    add_rules(top, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **top,
        "title": "binlog-forge scenario",
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The file that the package contains."""
    return json.dumps(made_schema(), indent=2, ensure_ascii=False) + "\n"


def _comments(struct: type | None) -> dict[str, str]:
    """The ``#:`` comments above the fields of the compiler's structures, which have no descriptions of their own."""
    if struct is None:
        return {}
    return {
        name: " ".join(line.strip().removeprefix("#:").strip() for line in comment.splitlines())
        for comment, name in _FIELD.findall(inspect.getsource(struct))
    }


def _describe(definition: dict[str, Any], descriptions: dict[str, str]) -> None:
    for name, text in descriptions.items():
        if name in definition.get("properties", {}):
            definition["properties"][name].setdefault("description", text)


if __name__ == "__main__":
    sys.stdout.write(schema_text())
