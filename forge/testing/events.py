"""Hypothesis strategies for events and files of events, aimed at the boundaries of their fields.

An event's strategy is made of its layout (forge/testing/fields.py); the few whose fields depend on each other in
ways that a layout does not tell have one of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from forge.binlog.writer import Item
from forge.errors import ScenarioError, nearest
from forge.events.event import Event, RawBody
from forge.events.format_description import FormatDescription
from forge.events.gtid_tagged import GtidTagged
from forge.events.heartbeat import Heartbeat
from forge.events.layout import Body
from forge.events.registry import EVENT_NAMES, EVENT_TYPES
from forge.events.start_v3 import StartV3
from forge.events.table_map import TableMap
from forge.events.user_var import UserVar
from forge.testing.fields import Strategy, field_values, signed, texts, unsigned


def bodies_of(kind: type[Body]) -> Strategy:
    """Bodies of one type."""
    if kind in _HAND_MADE:
        return _HAND_MADE[kind]()
    return field_values(kind, _FIELDS.get(kind, {})).map(lambda fields: kind(**fields))


def bodies() -> st.SearchStrategy[Body]:
    """Any body but FORMAT_DESCRIPTION (which changes the framing), or raw bytes of an unknown type."""
    unknown = st.integers(0, 255).filter(lambda code: code not in EVENT_TYPES)
    kinds = [bodies_of(kind) for kind in EVENT_TYPES.values() if kind is not FormatDescription]
    return st.one_of(*kinds, st.builds(RawBody, unknown, st.binary(max_size=20)))


def events(types: Sequence[str] = ()) -> st.SearchStrategy[Event]:
    """Events of any type but FORMAT_DESCRIPTION, or of the types with these names.  Raises ScenarioError for others."""
    chosen = st.one_of(*(bodies_of(_type_named(name)) for name in types)) if types else bodies()
    return st.builds(Event, body=chosen, timestamp=unsigned(32), server_id=unsigned(32), flags=unsigned(16))


def _type_named(name: str) -> type[Body]:
    named = {EVENT_NAMES[code]: kind for code, kind in EVENT_TYPES.items()}
    if name.upper() not in named:
        raise ScenarioError(f"there is no event type {name!r}", suggestion=nearest(name.upper(), named))
    return named[name.upper()]


def files(max_events: int = 6) -> st.SearchStrategy[list[Item]]:
    """A FORMAT_DESCRIPTION and some events, in any order and not necessarily sensible."""
    description = st.builds(Event, body=bodies_of(FormatDescription), timestamp=unsigned(32), server_id=unsigned(32))
    return st.builds(lambda head, rest: [head, *rest], description, st.lists(events(), max_size=max_events))


def _descriptions() -> Strategy:
    # The entry of type 15 is its own length, which says whether the event has a checksum.
    lengths = st.sampled_from((27, 38, 41, 42)).map(lambda n: bytes(14) + bytes([57 + n]) + bytes(n - 15))
    return st.builds(
        FormatDescription,
        server_version=st.text("0123456789.-MariaDBlog", max_size=49),
        created=unsigned(32),
        post_header_lengths=lengths,
        checksum_algorithm=st.sampled_from((0, 1)),
    )


def _starts() -> Strategy:
    version = st.text("0123456789.-log", max_size=49)
    return st.builds(StartV3, binlog_version=st.sampled_from((1, 3)), server_version=version, created=unsigned(32))


def _tagged_gtids() -> Strategy:
    return st.builds(
        GtidTagged,
        gtid_flags=unsigned(8),
        uuid=st.uuids().map(str),
        gno=signed(64),
        tag=st.text("abc_", max_size=32),
        last_committed=signed(64),
        sequence_number=signed(64),
        commit_timestamp=unsigned(64),
        original_commit_timestamp=st.none() | unsigned(64),
        transaction_length=unsigned(64),
        server_version=unsigned(32),
        commit_group_ticket=st.none() | unsigned(64),
    )


def _user_vars() -> Strategy:
    content = unsigned(32), st.binary(max_size=12)
    flags, data_type = st.none() | unsigned(8), st.none() | texts()
    return st.one_of(
        st.builds(UserVar, name=texts()),
        st.builds(UserVar, name=texts(), value=st.tuples(st.sampled_from((0, 1, 3, 4)), *content), data_type=data_type),
        st.builds(UserVar, name=texts(), value=st.tuples(unsigned(3), *content), value_flags=flags),
        st.builds(
            UserVar,
            name=texts(),
            value=st.tuples(st.just(2), *content),
            value_flags=unsigned(8),
            data_type=data_type,
        ),
    )


def _heartbeats() -> Strategy:
    # No file's name has a NUL, by which MariaDB's position in front of it is told.
    names = texts().filter(lambda text: "\0" not in text)
    return st.builds(Heartbeat, position=st.none() | st.integers(1 << 32, (1 << 56) - 1), file_name=names)


_HAND_MADE: dict[type[Body], Callable[[], Strategy]] = {
    FormatDescription: _descriptions,
    GtidTagged: _tagged_gtids,
    Heartbeat: _heartbeats,
    StartV3: _starts,
    UserVar: _user_vars,
}

#: Fields whose values a layout does not tell.
_FIELDS: dict[type[Body], dict[str, Strategy]] = {
    TableMap: {
        # Bytes that are no whole record of optional metadata.
        # Only in files whose FORMAT_DESCRIPTION is that of the time.
        "bare": st.just(False),
        "metadata_tail": st.sampled_from((None, b"\x01", b"\x01\xff", b"\x04\x7f\x01a", b"\x01\xfb\x01\x01\x00")),
    },
}
