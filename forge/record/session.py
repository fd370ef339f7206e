"""Running a plan on a fresh real server and keeping the binary log that it wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge.compile.files.own import own_events
from forge.errors import EnvironmentMissing, ScenarioError
from forge.plan.metadata_forms import MetadataForms
from forge.plan.plan import Plan
from forge.plan.session import PayloadForms, RelayLog, Session, on_line
from forge.plan.statement_text import LoadFile
from forge.plan.transactions import Transaction
from forge.record.builds import BUILD_OF_LINE
from forge.record.client import Client
from forge.record.replica import (
    applying_replica,
    follow,
    free_port,
    replica_of,
    source_options,
    wait_until_applied,
    wait_until_stored,
)
from forge.record.server import RealServer
from forge.render.sql import replay_sessions
from forge.servers import ServerLine, server_line
from forge.servers.features import Family

#: The server rounds binlog_row_event_max_size down to multiples of this (sys_vars.cc).
EVENT_SIZE_STEP = 256
#: max_binlog_size is a multiple of this, on all servers (sys_vars.cc).
SMALLEST_FILE = 4096


@dataclass(frozen=True, slots=True)
class Recorded:
    """The binary logs of a session, and how they came about."""

    #: (name, bytes) of each file, in their order.
    files: tuple[tuple[str, bytes], ...]
    #: The index file.
    index: bytes
    server_version: str
    build: str
    options: tuple[str, ...]
    #: What the tables hold afterwards is asked with these statements' answers; empty if none were given.
    answers: str = ""

    @property
    def binlog(self) -> bytes:
        """The file of a session that made one."""
        return self.files[0][1]


def options_for(plan: Plan) -> list[str]:
    """The server options under which the plan's session has to be recorded.

    Raises ScenarioError for a session that no real server can have.
    """
    line = server_line(plan.server)
    session = on_line(plan.session, line)
    _check_recordable(session)
    if next(own_events(plan), None) is not None:
        raise ScenarioError("no server writes the events that the scenario places", expected="no `event` in it")
    common = [
        f"--server-id={session.server_id}",
        *([f"--binlog-checksum={(session.checksum or 'none').upper()}"] if line.knows("checksums") else []),
        f"--binlog-row-event-max-size={session.binlog_row_event_max_size}",
    ]
    if any(True for _ in loads_of(plan)):
        common += ["--local-infile=ON", "--secure-file-priv="]
    if session.lower_case_table_names:
        common.append(f"--lower-case-table-names={session.lower_case_table_names}")
    if session.max_binlog_size is not None:
        common.append(f"--max-binlog-size={session.max_binlog_size}")
    if any(step.kind == "crash" for step in plan.file_steps):
        # What the binary log has must be in the tables again after a crash.
        common.append("--innodb-flush-log-at-trx-commit=1")
    if line.query.explicit_timestamps_set_by == "server":
        common.append(f"--explicit-defaults-for-timestamp={int(bool(session.explicit_defaults_for_timestamp))}")
    return [*common, *_VENDOR_OPTIONS[line.family](session, line)]


def _mysql_options(session: Session, line: ServerLine) -> list[str]:
    on_off, history = "ON" if session.gtid else "OFF", session.dependency_history
    gtid = [f"--gtid-mode={on_off}", f"--enforce-gtid-consistency={on_off}"]
    return [
        *(gtid if line.knows("gtid") else []),
        *([f"--binlog-row-metadata={session.row_metadata.upper()}"] if line.knows("row_metadata") else []),
        *([] if history is None else [f"--binlog-transaction-dependency-history-size={history}"]),
    ]


def _mariadb_options(session: Session, line: ServerLine) -> list[str]:
    metadata = "NO_LOG" if session.row_metadata == "none" else session.row_metadata.upper()
    temporals = [] if session.mysql56_temporal_format else ["--mysql56-temporal-format=OFF"]
    compress = ["--log-bin-compress", f"--log-bin-compress-min-len={session.log_bin_compress_min_len}"]
    return [
        "--binlog-format=ROW",
        *([f"--binlog-row-metadata={metadata}"] if line.knows("row_metadata") else []), *temporals,
        *(compress if session.log_bin_compress else []),
        *(["--binlog-legacy-event-pos"] if session.binlog_legacy_event_pos else []),
    ]  # fmt: skip


_VENDOR_OPTIONS: dict[Family, Callable[[Session, ServerLine], list[str]]] = {
    "mysql": _mysql_options,
    "mariadb": _mariadb_options,
}


def record_plan(plan: Plan, home: Path | None = None, *, ask: str = "") -> Recorded:
    """Run the plan on a fresh server and return its binary log, ended as the session says.

    ``ask`` are queries to run afterwards.  Raises EnvironmentMissing if the server is not on this machine,
    RecordingError if it refuses a statement, ScenarioError if no server can have such a session.
    """
    build = BUILD_OF_LINE.get(plan.server)
    if build is None:
        raise EnvironmentMissing(
            f"there is no real server of line {plan.server} to record on; there is {', '.join(BUILD_OF_LINE)}"
        )
    options = options_for(plan)
    if plan.session.relay_log is not None:
        return _record_relay(plan, plan.session.relay_log, home, ask)
    if any(settings.source is not None for settings in _settings_of(plan)):
        return _record_replicated(plan, home, ask)
    with RealServer(home, build, options, log_name=plan.session.log_name) as server:
        _put_files(plan, server)
        _run(plan, server)
        answers = server.run_sql(ask) if ask else ""
        return _ended(plan, server, server, options, answers)


def _record_relay(plan: Plan, relay: RelayLog, home: Path | None, ask: str) -> Recorded:
    """As :func:`record_plan`, of the relay log of a replica."""
    options, port = options_for(plan), free_port()
    build = BUILD_OF_LINE[plan.server]
    with RealServer(home, build, [*options, *source_options(port)], log_name=plan.session.log_name) as source:
        _put_files(plan, source)
        _run(plan, source)
        with replica_of(source, port, relay, home, options, gtid=plan.session.gtid) as replica:
            wait_until_stored(source, replica)
            answers = source.run_sql(ask) if ask else ""
            return _ended(plan, source, replica, options, answers, relay.name)


def _settings_of(plan: Plan) -> Iterator[Session]:
    yield plan.session
    for number in range(len(plan.groups)):
        yield from plan.settings(number)


def _record_replicated(plan: Plan, home: Path | None, ask: str) -> Recorded:
    """As :func:`record_plan`, of the binary log of a replica of one or more sources."""
    if any(step.kind != "flush" for step in plan.file_steps):
        raise ScenarioError("a session with a `source` is not recorded over a restart", expected="no restart")
    session, build = plan.session, BUILD_OF_LINE[plan.server]
    options = options_for(plan)
    sources = {settings.source.server_id for settings in _settings_of(plan) if settings.source is not None}
    own = [*options, *_APPLIER_OPTIONS[server_line(plan.server).family](session)]
    with ExitStack() as stack:
        replica = stack.enter_context(applying_replica(build, home, own, session.log_name))
        servers: dict[int | None, RealServer] = {None: replica}
        for server_id in sorted(sources):
            port = free_port()
            started = RealServer(home, build, [*options, *source_options(port), f"--server-id={server_id}"])
            servers[server_id] = stack.enter_context(started)
            _put_files(plan, started)
            follow(started, port, replica, f"from{server_id}", gtid=session.gtid)
        clients: dict[tuple[int, int | None], Client] = {}
        for part in replay_sessions(plan):
            sender = (part.client, part.source)
            if sender not in clients:
                clients[sender] = stack.enter_context(servers[part.source].client())
            clients[sender].run(part.sql)
            if part.source is not None:
                wait_until_applied(servers[part.source], replica, f"from{part.source}")
        answers = replica.run_sql(ask) if ask else ""
        return _ended(plan, replica, replica, own, answers)


def _mysql_applier(session: Session) -> list[str]:
    compression = f"--binlog-transaction-compression-level-zstd={session.compression_level}"
    return [
        f"--binlog-row-image={session.row_image}",
        f"--binlog-rows-query-log-events={'ON' if session.rows_query else 'OFF'}",
        *(["--binlog-transaction-compression=ON", compression] if session.compression else []),
        *(f"--replicate-ignore-table={name}" for name in session.replicate_ignore_table),
    ]


def _mariadb_applier(session: Session) -> list[str]:
    return [f"--binlog-row-image={session.row_image}"]


_APPLIER_OPTIONS: dict[Family, Callable[[Session], list[str]]] = {
    "mysql": _mysql_applier,
    "mariadb": _mariadb_applier,
}


def _run(plan: Plan, server: RealServer) -> None:
    """Run the plan's statements, in as many sessions as it has."""
    if plan.turns:
        with ExitStack() as stack:
            clients: dict[int, Client] = {}
            for session in replay_sessions(plan):
                if session.restart is not None:
                    stack.close()
                    clients.clear()
                    _start_again(server, session.restart)
                    continue
                if session.client not in clients:
                    clients[session.client] = stack.enter_context(server.client())
                clients[session.client].run(session.sql)
        return
    for session in replay_sessions(plan):
        server.run_sql(session.sql)
        if session.restart is not None:
            _start_again(server, session.restart)


def _start_again(server: RealServer, restart: Literal["restart", "crash"]) -> None:
    if restart == "crash":
        # What was rolled back has reached the redo log as a rule, or not, as chance would have it.
        server.run_sql("FLUSH LOCAL ENGINE LOGS;\n")
        server.kill()
    else:
        server.stop()
    server.start()


def _ended(
    plan: Plan, source: RealServer, server: RealServer, options: list[str], answers: str, relay: str | None = None
) -> Recorded:
    """The logs of ``server``, after it was ended as the session says."""
    version = source.version()
    if plan.session.ends_with == "rotate":
        server.run_sql("FLUSH BINARY LOGS;\n" if relay is None else "FLUSH RELAY LOGS;\n")
    if plan.session.ends_with == "nothing":
        server.kill()
    else:
        server.stop()
    paths = server.binlog_files(relay)
    # The file that the closing ROTATE opened is no part of the session.
    paths = paths[:-1] if plan.session.ends_with == "rotate" else paths
    return Recorded(
        files=tuple((path.name, path.read_bytes()) for path in paths),
        index=server.index_file(relay).read_bytes(),
        server_version=version,
        build=server.build.name,
        options=tuple(options),
        answers=answers,
    )


def _put_files(plan: Plan, server: RealServer) -> None:
    """Give the server the files of LOAD DATA.  Raises ScenarioError for two of one name."""
    contents: dict[tuple[bool, str], bytes] = {}
    for load in loads_of(plan):
        if contents.setdefault((load.local, load.name), load.content) != load.content:
            raise ScenarioError(f"two files of LOAD DATA are called {load.name}", expected="`file:` with another name")
    for (local, name), content in contents.items():
        if not name.startswith("/"):
            server.put_file(name, content, local=local)
        elif not Path(name).is_file() or Path(name).read_bytes() != content:
            raise ScenarioError(f"{name} does not have the bytes of LOAD DATA", expected="them, put there before")


def loads_of(plan: Plan) -> Iterator[LoadFile]:
    """The files that the plan's statements load."""
    for group in plan.groups:
        for statement in group.rows_statements if isinstance(group, Transaction) else ():
            if statement.text.load is not None:
                yield statement.text.load


def _check_recordable(session: Session) -> None:
    size = session.binlog_row_event_max_size or 0
    if size < EVENT_SIZE_STEP or size % EVENT_SIZE_STEP:
        raise ScenarioError(
            f"binlog_row_event_max_size {size} cannot be recorded", expected=f"a multiple of {EVENT_SIZE_STEP}"
        )
    limits = {"max_binlog_size": session.max_binlog_size}
    if session.relay_log is not None:
        limits["relay_log.max_size"] = session.relay_log.max_size
    for name, limit in limits.items():
        if limit is not None and (limit < SMALLEST_FILE or limit % SMALLEST_FILE):
            raise ScenarioError(
                f"{name} {limit} cannot be recorded", expected=f"a multiple of {SMALLEST_FILE}, or none"
            )
    if session.torn is not None:
        raise ScenarioError("session.torn cannot be recorded: what a crash leaves varies", expected="no torn")
    if session.edits:
        raise ScenarioError("session.edits cannot be recorded: no server writes such a file", expected="no edits")
    if session.payload != PayloadForms():
        raise ScenarioError("session.payload cannot be recorded: a real server writes its own form")
    if session.metadata != MetadataForms():
        raise ScenarioError("session.metadata cannot be recorded: a real server writes its own forms")
