"""The one table of event types, used by reader and writer.

Adding an event is a module and a line here: whatever class with a type code is imported stands in the table
(docs/add-an-event.md).
"""

from __future__ import annotations

from forge.errors import ScenarioError
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.heartbeat import Heartbeat, HeartbeatV2
from forge.events.ignorable import Ignorable
from forge.events.incident import Incident
from forge.events.intvar import Intvar
from forge.events.layout import Body
from forge.events.load_files import AppendBlock, BeginLoadQuery, DeleteFile, ExecLoad
from forge.events.load_statement import CreateFile, Load, NewLoad
from forge.events.mariadb_compressed import (
    DeleteRowsCompressed,
    DeleteRowsCompressedV2,
    QueryCompressed,
    UpdateRowsCompressed,
    UpdateRowsCompressedV2,
    WriteRowsCompressed,
    WriteRowsCompressedV2,
)
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.partial_row_data import PartialRowData
from forge.events.polardbx import (
    ConsensusClusterInfo,
    ConsensusEmpty,
    ConsensusLog,
    Gcn,
    PreviousConsensusIndex,
    Sequence,
)
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.rows import (
    DeleteRows,
    DeleteRowsV1,
    PartialUpdateRows,
    PreGaDeleteRows,
    PreGaUpdateRows,
    PreGaWriteRows,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.slave import Slave
from forge.events.start_encryption import StartEncryption
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.events.table_map import TableMap
from forge.events.table_metadata import TableMetadata
from forge.events.transaction_context import TransactionContext
from forge.events.transaction_payload import TransactionPayload
from forge.events.user_var import UserVar
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.servers import ServerLine
from forge.servers.features import feature

_IMPORTED = [item for item in globals().values() if isinstance(item, type) and issubclass(item, Body)]
EVENT_TYPES: dict[int, type[Body]] = {
    body.type_code: body
    for body in sorted((body for body in _IMPORTED if body is not Body), key=lambda body: body.type_code)
}

#: Types that servers know and this version keeps as raw bytes.
RAW_TYPES: dict[int, str] = {
    0: "UNKNOWN",
}

EVENT_NAMES: dict[int, str] = {
    **RAW_TYPES,
    **{code: body.type_name for code, body in EVENT_TYPES.items()},
}
EVENT_CODES: dict[str, int] = {name: code for code, name in EVENT_NAMES.items()}


def features_of_type(type_code: int) -> tuple[str, ...]:
    """What a server must have to read events of the type, by :attr:`Body.features`."""
    body = EVENT_TYPES.get(type_code)
    return () if body is None else body.features


def event_name(type_code: int) -> str:
    """The name of the type, or its number as text where it has none."""
    return EVENT_NAMES.get(type_code, str(type_code))


#: Types of 4.x, which has no list of them: up to USER_VAR.
_TYPES_OF_OLD_FORMATS = 14


def knows_type(line: ServerLine, type_code: int) -> bool:
    """Whether servers of the line know the type: FORMAT_DESCRIPTION lists it, and they have what it needs."""
    listed = len(line.post_header_bytes) or _TYPES_OF_OLD_FORMATS
    needed = features_of_type(type_code)
    private = any(name in line.framing.private_features for name in needed)
    return (0 < type_code <= listed or private) and all(map(line.knows, needed))


def require_type(line: ServerLine, type_code: int) -> None:
    """Raises ScenarioError, which names the type and says since when it exists, if the line does not know it."""
    if knows_type(line, type_code):
        return
    missing = [name for name in features_of_type(type_code) if not line.knows(name)]
    listed = len(line.post_header_bytes) or _TYPES_OF_OLD_FORMATS
    raise ScenarioError(
        f"{line.name} does not have {event_name(type_code)} ({type_code})",
        expected=feature(missing[0]).history(line.family) if missing else f"one of its {listed} event types",
    )
