"""The JSON Schema of scenario files, for editors; made of the declared form."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import msgspec

from forge.scenario.model import Scenario
from forge.servers import server_names

SCHEMA_ID = "urn:binlog-forge:scenario"
_FILE = "scenario.schema.json"

#: What the compiler's own structures say of their fields in comments.
_SESSION = {
    "row_image": "Columns in row images: all, changed and key ones, or all but unneeded BLOB and TEXT.",
    "row_metadata": "Optional metadata of TABLE_MAP (binlog_row_metadata); none is MariaDB's NO_LOG.",
    "rows_query": "Log the SQL text of statements (binlog_rows_query_log_events).",
    "gtid": "Transactions have GTIDs; without, they are anonymous.",
    "checksum": "Checksum of every event.",
    "binlog_row_event_max_size": "Rows of a statement are split into events of about this many bytes.",
    "server_id": "Number of the server in every event.",
    "database": "Current database of the session; by default that of the first table.",
    "timestamp": "SET timestamp for all statements: YYYY-MM-DD hh:mm:ss[.ffffff] in UTC.",
    "ends_with": "How the file ends: server shutdown, rotation, or not at all (crash, or still in use).",
    "foreign_key_checks": "SET foreign_key_checks.",
    "unique_checks": "SET unique_checks.",
    "compression": "Transactions travel as compressed payloads (binlog_transaction_compression).",
    "compression_level": "Level of zstd.",
    "mysql56_temporal_format": "MariaDB: false stores TIME, DATETIME, TIMESTAMP in the forms of before 5.6.",
    "metadata_charset": "Form of TABLE_MAP's character-set records: the server's choice, or forced.",
    "metadata_primary_key": "Form of TABLE_MAP's primary-key record: the server's choice, or forced.",
    "facts": "What a recording tells of its session and a scenario cannot decide.",
}


def json_schema() -> dict[str, Any]:
    """The schema, made anew."""
    schema: dict[str, Any] = msgspec.json.schema(Scenario)
    definitions = schema.pop("$defs")
    top = definitions.pop("Scenario")
    _describe(definitions["Session"], _SESSION)
    top["properties"]["server"]["examples"] = list(server_names())
    for definition in definitions.values():
        _without_python_names(definition)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **top,
        "title": "binlog-forge scenario",
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as it lies in the package."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def published_schema() -> dict[str, Any]:
    """The schema that is published with the package."""
    schema: dict[str, Any] = json.loads(files("forge.scenario").joinpath(_FILE).read_text("utf-8"))
    return schema


def _describe(definition: dict[str, Any], descriptions: dict[str, str]) -> None:
    for name, text in descriptions.items():
        if name in definition["properties"]:
            definition["properties"][name]["description"] = text


def _without_python_names(definition: dict[str, Any]) -> None:
    """Docstrings describe Python's side as well; editors show the first paragraph."""
    if "description" in definition:
        definition["description"] = " ".join(definition["description"].split("\n\n")[0].split())
