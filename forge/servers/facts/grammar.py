"""Facts about the words that the server parses where its family has words of its own."""

from __future__ import annotations

import msgspec


class Grammar(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about the words that the server parses where its family has words of its own."""

    #: The SELECT of a view is logged from its first word to its last; else as it stands.
    trims_views: bool
    #: Expressions have ->, ->>, MEMBER OF and arrays.
    json_expressions: bool
    #: DEFAULT and ON UPDATE CURRENT_TIMESTAMP may have other fraction digits than the column, which decide; the time
    #: may be the DEFAULT of a DATE or TIME without parentheses.
    loose_clock_defaults: bool
    #: DEFAULT LOCALTIME has the fraction digits that it says; else it is CURRENT_TIMESTAMP.
    local_time_default: bool
    #: DEFAULT (1), a literal in parentheses, is the default 1; else it is an expression.
    opens_literal_defaults: bool
    #: Collations of UCA 14 have names without the character set: uca1400_ai_ci.
    short_collations: bool
    #: COLLATE makes text of bytes and JSON, and says nothing of geometries; else they have the collation binary alone.
    bytes_take_collations: bool
