"""Facts about files: FORMAT_DESCRIPTION, positions, what a crash leaves, relay logs."""

from __future__ import annotations

from typing import Literal

import msgspec


class Framing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about files: FORMAT_DESCRIPTION, positions, what a crash leaves, relay logs."""

    #: Version of the format: 4 since 5.0; 3 in 4.x and 1 in 3.23, which begin files with START_V3.
    binlog_version: Literal[1, 3, 4]
    #: Post-header lengths of FORMAT_DESCRIPTION, type 1 first, in hexadecimal.
    post_header_lengths: str
    #: Features (forge/servers/features.toml) that no release of the family has, but this line.
    private_features: tuple[str, ...]
    #: Features that its release has, but not this line.
    missing_features: tuple[str, ...]
    #: Flags that the header of every event has beside its own.
    header_flags: int
    #: Types that readers of the line do not decode in a file, older ones than the line among them.
    unread_types: tuple[int, ...]
    #: Readers take the type for a signed byte, and stop at 128 and above.
    signed_types: bool
    #: Events inside a transaction have their position in log_pos (MariaDB 11.4 on: 0).
    cached_positions: bool
    #: PREVIOUS_GTIDS is written with gtid_mode OFF too.
    always_lists_gtids: bool
    #: PREVIOUS_GTIDS has the flag IGNORABLE.
    previous_gtids_ignorable: bool
    #: Starting again after a crash leaves the flag IN_USE in the crashed file.
    crash_leaves_in_use: bool
    #: The lowest server_id; where it is 1, the server takes 0 for 1.
    lowest_server_id: int
    #: What RESET names to begin the log anew.
    reset_words: str
    #: Behind what a relay log that is full is rotated.
    relay_rotation: Literal["group", "event", "unknown"]
    #: Where the source ended without ROTATE, the relay log gets a FORMAT_DESCRIPTION of the replica's.
    relay_marks_interruption: bool
