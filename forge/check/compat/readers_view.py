"""An event as a reader of an older or foreign line has it: without the parts that came after that line."""

from __future__ import annotations

from typing import Any

from forge.check.compat.features_used import RECORD_FEATURES
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.gtid import AnonymousGtid
from forge.events.mariadb_compressed import QueryCompressed
from forge.events.optional_metadata import MetadataRecord
from forge.events.query import Query
from forge.events.status_vars import StatusVariables
from forge.events.table_map import TableMap
from forge.servers import ServerLine
from forge.servers.features import features


def as_seen(event: Event, line: ServerLine) -> Event:
    """The event as readers of the line have it.

    A TABLE_MAP is read up to its null bits by lines without optional metadata, and later records are passed over by
    the others; a GTID event is read up to where its fields end in the line's own, status variables up to the first that
    the line does not know.
    """
    body = event.body
    if isinstance(body, TableMap):
        return event.replace(body=body.replace(optional_metadata=_records(body, line)))
    if isinstance(body, AnonymousGtid):
        gone: dict[str, Any] = {}
        if not line.knows("commit_timestamps"):
            gone |= dict.fromkeys(("commit_timestamp", "transaction_length"), None)
        if not line.knows("gtid_server_version"):
            gone |= dict.fromkeys(("server_version", "commit_group_ticket"), None)
        if not line.knows("logical_clock"):
            gone |= dict.fromkeys(("clock_type", "last_committed", "sequence_number"), None)
        return event.replace(body=body.replace(**gone)) if gone else event
    if isinstance(body, (Query, ExecuteLoadQuery, QueryCompressed)):
        return event.replace(body=body.replace(status_variables=_known(body.status_variables, line)))
    return event


def _records(body: TableMap, line: ServerLine) -> tuple[MetadataRecord, ...]:
    """The optional metadata that the line knows; a record has a length and can be passed over."""
    if not line.knows("row_metadata"):
        return ()
    needed = ((record, RECORD_FEATURES.get(record.type_code)) for record in body.optional_metadata)
    return tuple(record for record, name in needed if name is None or line.knows(name))


def _known(variables: StatusVariables, line: ServerLine) -> StatusVariables:
    """A variable has no length: behind the first unknown one nothing can be read."""
    for place, (name, _) in enumerate(variables):
        if name in features() and not line.knows(name):
            return variables[:place]
    return variables
