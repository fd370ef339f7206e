"""The documents of a listing that are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from forge.binlog.listing.documents import Document
from forge.binlog.selection import Chooser, Selection
from forge.events.transaction_payload import TransactionPayload

_PAYLOAD = TransactionPayload.type_name
#: What the mapping of an event without such a field has: no time or type that is asked for.
_NO_TIME = -1


def chosen_documents(placed: Iterable[tuple[int, Document]], wanted: Selection) -> Iterator[tuple[int, int, Document]]:
    """(number, offset, document) of the wanted events of a file; ``placed`` are all of them with their offsets.

    Of a compressed transaction that is not wanted itself, the events inside that are.  Bytes that are no event have a
    place, but neither time, type, table nor transaction.
    """
    chooser, tables = Chooser(wanted), dict[Any, Document]()
    for number, (offset, document) in enumerate(placed):
        if wanted.stop is not None and offset >= wanted.stop and not wanted.unmet():
            return
        takes = chooser.takes(_described(offset, document, tables))
        inside = document.get("events") if document.get("event") == _PAYLOAD else None
        if isinstance(inside, list):
            chosen = [one for one in inside if chooser.takes(_described(offset, one, tables))]
            if chosen and not takes:
                yield number, offset, document | {"events": chosen}
                continue
        if takes:
            yield number, offset, document


def _described(offset: int, document: Document, tables: dict[Any, Document]) -> dict[str, Any]:
    """The event as forge.binlog.selection is shown it; ``tables`` are those mapped before it, by their ids."""
    shown: dict[str, Any] = {
        "offset": offset, "timestamp": document.get("timestamp", _NO_TIME), "type": document.get("event"),
        "fields": {"gtid": _gtid(document)},
    }  # fmt: skip
    if shown["type"] == "TABLE_MAP":
        tables[document.get("table_id")] = document
        shown["fields"] |= _names(document)
    elif "table_id" in document:
        shown |= _names(tables.get(document["table_id"], {}))
    return shown


def _names(table_map: Document) -> dict[str, Any]:
    return {name: table_map[name] for name in ("database", "table") if name in table_map}


def _gtid(document: Document) -> str | None:
    match document:
        case {"event": "GTID_TAGGED", "uuid": uuid, "tag": tag, "gno": number}:
            return f"{uuid}:{tag}:{number}"
        case {"event": "GTID", "uuid": uuid, "gno": number}:
            return f"{uuid}:{number}"
        case {"event": "MARIADB_GTID", "domain_id": domain, "sequence_number": number, "server_id": server}:
            return f"{domain}-{server}-{number}"
    return None
