"""Facts about what a declared type and a declared value become."""

from __future__ import annotations

from typing import Literal

import msgspec


class Dialect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about what a declared type and a declared value become."""

    #: TIME, DATETIME and TIMESTAMP have the forms from before 5.6.
    old_temporals: bool
    #: JSON is LONGTEXT.
    json_is_text: bool
    #: Such a column has CHECK (json_valid(column)) by itself.
    json_is_checked: bool
    #: VECTOR is VARBINARY, and needs a dimension.
    vector_is_varbinary: bool
    #: Geometry columns count as character columns of the binary collation.
    geometry_is_character: bool
    #: TEXT and BLOB take literal defaults.
    literal_lob_defaults: bool
    #: Fraction digits of DECIMAL.
    max_scale: int
    #: Bytes of VARCHAR and VARBINARY (MariaDB counts what a row of nothing else leaves).
    max_varchar: int
    #: BIT(0) is BIT(1).
    zero_bit_is_one: bool
    #: TEXT(0) and BLOB(0) are the smallest type; else as without a length.
    zero_text_is_smallest: bool
    #: Members of ENUM and SET have 255 characters at most.
    limits_members: bool
    #: The text 0 is an index of ENUM, and means the empty member.
    zero_text_is_index: bool
    #: The index of the ENUM that a NOT NULL column gets for NULL without strict mode.
    implicit_member: int
    #: A SET drops the bits of a number that no member has; else the number is none.
    set_drops_high_bits: bool
    #: FLOAT and DOUBLE keep -0.0; else they store 0.
    keeps_negative_zero: bool
    #: A DOUBLE of 2^63 and more becomes the 64-bit integer -2^63; else 2^63 - 1.
    wraps_large_doubles: bool
    #: Digits of 2^64 and more behind a minus are the largest value of an UNSIGNED integer.
    wraps_large_digits: bool
    #: Every white space may stand before the text of an integer; else only spaces and tabs.
    skips_line_ends: bool
    #: The text of an IPv4 address is taken for an INET6.
    maps_inet4: bool
    #: Whose rules of well-formed text hold (forge.charsets).
    well_formed: Literal["mysql", "mariadb"]
    #: Bytes that are not of the column's set become ? without strict mode; else the text ends before them.
    marks_malformed_text: bool
    #: WKB of any byte order and SRID is taken, and bytes behind it are dropped.
    lenient_wkb: bool
    #: WKB of geographic reference systems has the axes in the system's order, latitude mostly first.
    orders_axes: bool
    #: The zero date is taken, unless sql_mode says otherwise.
    takes_zero_dates: bool
    #: Other dates with a zero month or day are taken, unless sql_mode says otherwise.
    takes_zero_parts: bool
    #: Days to 31 are taken in every month of a DATE or DATETIME, unless sql_mode says otherwise.
    takes_invalid_dates: bool
    #: IS NULL finds the zero date beside an OR, too.
    null_finds_zero_dates: bool
    #: NULL in a TIMESTAMP NOT NULL is the current time.
    null_is_now: bool
    #: A time is rounded to the column's fraction digits; else it is cut, unless sql_mode says otherwise.
    rounds_fractions: bool
    #: So is that of a DATE, to the next day perhaps; else it is cut in every mode.
    rounds_dates: bool
    #: A TIME takes the time of a text whose date has a day to 31 in any month, and zeros; else sql_mode decides, and a
    #: day without a year and a month is 24 hours.
    times_of_invalid_dates: bool
    #: The text of a DATETIME or TIMESTAMP may end in a UTC offset, so that reading one asks for the session's time
    #: zone.
    takes_offsets: bool
    #: Minutes that a session's time zone is ahead of UTC at most; behind it, it is one minute less.
    largest_utc_offset: int
    #: Without strict mode, what stands behind a date is dropped, an offset too.
    drops_offsets: bool
    #: A number that is taken for a date loses its fraction.
    cuts_number_dates: bool
    #: Numbers of seven digits are dates of years before 1000.
    short_dates: bool
    #: The largest TIMESTAMP in seconds (MariaDB counts them unsigned from 11.5 on).
    last_timestamp: int
    #: TIMESTAMP takes the fractions of the second 0, whose seconds alone would mean the zero timestamp.
    timestamp_of_second_zero: bool
    #: A TIME may begin with a plus sign, and have a T behind a date; an empty text and a bare fraction are none.
    marked_clocks: bool
    #: A TIME is no number whose fraction is the last microsecond of a second.
    last_microsecond_is_none: bool
    #: The largest TIME is 838:59:59.999999; else it has no fraction.
    largest_time_has_fraction: bool
    #: A quotient has more digits than it shows.
    quotients_keep_groups: bool
    #: Without strict mode, a number beyond 8385959 is the largest TIME, whatever its seconds.
    large_numbers_are_times: bool
    #: Without strict mode, a number of more than 9999 hours is no TIME.
    long_hours_are_no_time: bool
    #: 32 hours of a TIME in a JSON document become a day: 838 hours are stored as 630.
    json_days_of_32_hours: bool
    #: DEFAULT x'41' of a number is text; else it is a number, as 0x41 is.
    hex_defaults_are_text: bool
    #: The SRID of a column has to be one of a reference system.
    knows_reference_systems: bool
    #: The geometries of a GEOMETRYCOLLECTION column: collections and those of several parts, or any.
    collection_holds: Literal["several", "any"]
    #: The WKT of a LINESTRING may have a single point.
    short_lines: bool
    #: Of the session, not of a line: minutes that the clock, and texts of TIMESTAMP, are ahead of UTC.
    utc_offset: int = 0
