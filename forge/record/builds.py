"""The real servers that recordings are made with: which programs they have, and with which options they start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from forge.check.decoders.vendors.program import servers_home

#: Options that make a throw-away server fast; none of them affects the binary log.
_QUICK = (
    "--innodb-buffer-pool-size=8M",
    "--innodb-flush-log-at-trx-commit=0",
    "--sync-binlog=0",
    "--performance-schema=0",
)
_SMALL_INNODB = (
    *_QUICK,
    "--innodb-fast-shutdown=2",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-dump-at-shutdown=0",
    "--innodb-buffer-pool-load-at-startup=0",
)
#: Since 11.4 a server makes itself a TLS key when it starts, which takes seconds, and clients ask for one.
_SMALL_MARIADB = (*_SMALL_INNODB, "--skip-ssl")
#: Before 5.7.7 the default format is STATEMENT, and GTIDs ask for --log-slave-updates.
_OLD_MYSQL = (*_QUICK, "--skip-innodb-doublewrite", "--binlog-format=ROW", "--log-slave-updates")
_SMALL_MYSQL = ("--mysqlx=0", "--secure-file-priv=NULL")
_SMALL_LOG = ("--innodb-log-file-size=1M",)
_SMALL_REDO_LOG = ("--innodb-redo-log-capacity=8388608",)


@dataclass(frozen=True, slots=True)
class Build:
    """How the programs of one unpacked server are called (``<name>.run PROGRAM ARGUMENT...``)."""

    name: str
    title: str
    #: The line whose recordings it makes.
    line: str
    daemon: str
    client: str
    reader: str
    vendor: Literal["mysql", "mariadb"]
    #: Options that this line needs or that make it quick.
    options: tuple[str, ...]
    #: Those that are also given when the data directory is initialized.
    made_with: tuple[str, ...] = ()
    #: Options of the client; ``--binary-mode`` came with MySQL 5.6.3.
    client_options: tuple[str, ...] = ("--binary-mode",)
    #: The vendor's archive, no package of Debian: ``<name>.run`` knows its folder, and makes a data directory with
    #: ``initialize``, since servers before 5.7.6 cannot.
    archive: bool = False
    #: A message in the error log after which a shutdown may hang; the binary logs are closed by then.
    hangs_after: bytes | None = None


def _mysql(
    name: str,
    release: str,
    line: str,
    options: tuple[str, ...],
    made_with: tuple[str, ...] = (),
    *,
    archive: bool = True,
    **more: Any,
) -> Build:
    return Build(
        name, f"MySQL {release}", line, "mysqld", "mysql", "mysqlbinlog", "mysql", (*options, *made_with), made_with,
        archive=archive, **more,
    )  # fmt: skip


def _mariadb(name: str, release: str, line: str) -> Build:
    return Build(
        name, f"MariaDB {release}", line, "mariadbd", "mariadb", "mariadb-binlog", "mariadb",
        _SMALL_MARIADB, client_options=("--binary-mode", "--skip-ssl"),
    )  # fmt: skip


BUILDS: dict[str, Build] = {
    build.name: build
    for build in (
        _mysql(
            "mysql55", "5.5.34", "mysql-5.5", (*_OLD_MYSQL, "--innodb-fast-shutdown=1"), _SMALL_LOG, client_options=(),
            # With fast shutdown 2 it hangs more often than not, with 1 at times.
            hangs_after=b"InnoDB: Starting shutdown",
        ),
        _mysql("mysql56", "5.6.14", "mysql-5.6.14", (*_OLD_MYSQL, "--innodb-fast-shutdown=2"), _SMALL_LOG),
        _mysql("mysql5624", "5.6.24", "mysql-5.6", (*_OLD_MYSQL, "--innodb-fast-shutdown=2")),
        _mysql("mysql80", "8.0.33", "mysql-8.0", (*_SMALL_INNODB, *_SMALL_MYSQL), _SMALL_REDO_LOG),
        _mysql(
            "mysql97", "9.7", "mysql-9.7",
            (*_SMALL_INNODB, *_SMALL_MYSQL, "--auto-generate-certs=0", "--tls-version="), _SMALL_REDO_LOG,
            archive=False,
        ),
        _mariadb("maria101", "10.1.23", "mariadb-10.1"),
        _mariadb("maria102", "10.2.11", "mariadb-10.2"),
        _mariadb("maria105", "10.5", "mariadb-10.5"),
        _mariadb("maria1011", "10.11", "mariadb-10.11"),
        _mariadb("maria114", "11.4.5", "mariadb-11.4"),
        _mariadb("maria118", "11.8", "mariadb-11.8"),
    )
}  # fmt: skip
#: Server line -> the build that stands for it here.
BUILD_OF_LINE = {build.line: build.name for build in BUILDS.values()}
#: Those that Debian's newest releases have: ``make servers``; the others: ``make old-servers``.
TODAY = ("mysql97", "maria1011", "maria118")
LINES_OF_TODAY = tuple(BUILDS[name].line for name in TODAY)


def is_unpacked(name: str = "mysql97", home: Path | None = None) -> bool:
    """Whether the programs of that build are on this machine."""
    return ((home or servers_home()) / f"{name}.run").is_file()


def how_to_get(name: str) -> str:
    """The command that unpacks the build."""
    return "make servers" if name in TODAY else "make old-servers"
