"""How MySQL and MariaDB differ in what they take for a column and how they store it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from forge.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class Dialect:
    """Facts of a server line that decide what a declared type and value become (all recorded).

    ``rounds_fractions``: a time is rounded to the column's fsp; MariaDB cuts it unless sql_mode says otherwise.
    ``takes_offsets``: a date's text may end in a UTC offset.
    ``keeps_negative_zero``: of FLOAT and DOUBLE; MariaDB stores 0.
    ``last_timestamp``: the largest TIMESTAMP in seconds; MariaDB counts them unsigned from 11.5 on.
    ``max_scale``: fraction digits of DECIMAL.
    ``max_varchar``: bytes of VARCHAR and VARBINARY (MariaDB counts what a row of nothing else leaves).
    ``maps_inet4``: the text of an IPv4 address is taken for an INET6 (recorded on 11.8, not on 10.11).
    ``orders_axes``: WKB of geographic reference systems has the axes in the system's order, latitude mostly first.
    ``is_mariadb``: JSON is LONGTEXT, VECTOR is VARBINARY, geometry has the binary collation.
    """

    rounds_fractions: bool = True
    takes_offsets: bool = True
    keeps_negative_zero: bool = True
    last_timestamp: int = 2**31 - 1
    max_scale: int = 30
    max_varchar: int = 65535
    maps_inet4: bool = False
    orders_axes: bool = True
    is_mariadb: bool = False


MYSQL = Dialect()
#: A literal's offset came with 8.0.19, rounding with the fractions of 5.6.4 (manual; not recorded).
_OFFSETS, _FRACTIONS = (8, 0), (5, 6)
#: Reference systems came with 8.0 (manual; recorded on 9.7).
_REFERENCE_SYSTEMS = (8, 0)
MARIADB = Dialect(
    rounds_fractions=False,
    takes_offsets=False,
    keeps_negative_zero=False,
    max_scale=38,
    max_varchar=65532,
    orders_axes=False,
    is_mariadb=True,
)
_LONG_TIMESTAMPS = (11, 5)
#: Between 10.11 and 11.8; the line between them was not recorded.
_MAPPED_ADDRESSES = (11, 5)


@cache
def dialect_of(server: str) -> Dialect:
    """The dialect of a family or line: "mysql", "mariadb-11.8".  Raises ScenarioError for another product."""
    family, _, number = server.strip().lower().partition("-")
    if family not in ("mysql", "mariadb"):
        raise ScenarioError(f"unknown server {server!r}", expected="a line such as mysql-9.7 or mariadb-10.11")
    version = tuple(int(part) for part in number.split(".")[:2] if part.isdigit())
    if family == "mysql":
        if not version:
            return MYSQL
        return replace(
            MYSQL,
            takes_offsets=version >= _OFFSETS,
            rounds_fractions=version >= _FRACTIONS,
            orders_axes=version >= _REFERENCE_SYSTEMS,
        )
    known = replace(MARIADB, maps_inet4=version >= _MAPPED_ADDRESSES)
    return replace(known, last_timestamp=2**32 - 1) if version >= _LONG_TIMESTAMPS else known
