"""Optional metadata in the forms that a scenario forces."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from forge.errors import ScenarioError, nearest
from forge.events.optional_metadata import METADATA_CODES, MetadataRecord, build_value
from forge.events.packed import pack_int
from forge.events.plain import to_bytes
from forge.plan.metadata_faults import FAULTS, DescribedTable
from forge.plan.metadata_forms import MetadataForms, PackedSizes
from forge.values.base import Column


def check_forced(forms: MetadataForms, mapped: Collection[str]) -> None:
    """Raises ScenarioError if nothing is forced, because no rows of the tables meant are logged (``mapped``)."""
    for name in forms.tables:
        if name not in mapped:
            raise ScenarioError(
                f"session.metadata names table {name!r}, but the log has no rows of it",
                expected=f"one of {', '.join(sorted(mapped))}" if mapped else "a table whose rows change",
                suggestion=nearest(name, mapped),
            )
    if forms != MetadataForms() and not mapped:
        raise ScenarioError(
            "session.metadata has no effect: the log has no rows of any table", expected="a table whose rows change"
        )


def forced_metadata(
    forms: MetadataForms, records: Sequence[MetadataRecord], columns: Sequence[Column], *, mariadb: bool
) -> tuple[tuple[MetadataRecord, ...], bytes | None]:
    """The server's records in these forms, and bytes behind them that are no record.

    Raises ScenarioError for a fault that the table's records cannot have.
    """
    metadata = DescribedTable([item for item in records if item.type_name not in forms.omit], columns, mariadb)
    for name, value in forms.replace.items():
        metadata.put(name, bytes.fromhex(value))
    if forms.fault is not None:
        try:
            FAULTS[forms.fault].make(metadata)
        except ScenarioError as error:
            problem = f"the metadata fault {forms.fault} is impossible here: {error.problem}"
            expected = "session.metadata.tables with tables that have it"
            raise ScenarioError(problem, expected=expected) from None
    sized = [_sized(forms, item) for item in _ordered(forms, metadata.records)]
    placed = [item for record in sized for item in [record] * (1 + (record.type_name in forms.repeat))]
    for added in forms.add:
        place = len(placed) if added.at is None else added.at
        placed.insert(place, MetadataRecord(added.type, bytes.fromhex(added.hex), forms.lengths.record))
    tail = metadata.tail
    if forms.append is not None:
        tail = (tail or b"") + bytes.fromhex(forms.append)
    return tuple(placed), tail


def _ordered(forms: MetadataForms, records: list[MetadataRecord]) -> list[MetadataRecord]:
    if forms.order == "server":
        return records
    if forms.order == "reversed":
        return records[::-1]
    first: list[str] = list(forms.order)
    return sorted(records, key=lambda item: first.index(item.type_name) if item.type_name in first else len(first))


def _sized(forms: MetadataForms, item: MetadataRecord) -> MetadataRecord:
    lengths = forms.lengths
    value = item.value
    if (lengths.count or lengths.text or lengths.value) and not isinstance(value, (bytes, str)):
        value = _packed(item.type_code, value, lengths)
    size = lengths.record
    if size is not None and len(pack_int(len(build_value(item)))) > size:
        raise ScenarioError(f"the {item.type_name} record needs more than {size} bytes for its length")
    return MetadataRecord(item.type_code, value, size)


def _packed(code: int, value: Any, sizes: PackedSizes) -> bytes:
    """The value of a record with packed integers of these sizes; a size that is too small is not taken."""

    def number(value: int, size: int | None) -> bytes:
        return pack_int(value, max(size or 0, len(pack_int(value))))

    def text(name: bytes) -> bytes:
        return number(len(name), sizes.text) + name

    if code == METADATA_CODES["column_name"]:
        return b"".join(text(to_bytes(name)) for name in value)
    if code in (METADATA_CODES["set_members"], METADATA_CODES["enum_members"]):
        return b"".join(number(len(each), sizes.count) + b"".join(map(text, each)) for each in value)
    return b"".join(number(item, sizes.value) for item in _flat(value))


def _flat(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else [number for item in value for number in _flat(item)]
