"""``forge sql`` of a recording, run on a server of its line: what the tables hold then, and after ``--flashback``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from click.testing import CliRunner
from msgspec import structs

from forge.cli.commands.changed.sql import command
from forge.plan.plan import Plan
from forge.record.builds import BUILD_OF_LINE
from forge.record.contents import Contents, TableContents, answered, questions
from forge.record.recording import CONTENTS, SCENARIO, recorded_settings
from forge.record.server import RealServer
from forge.scenario.load import load_scenario
from forge.scenario.planning import plan as planned

#: Databases of the servers' own.
_OWN = ("mysql", "sys", "information_schema", "performance_schema")


class Servers:
    """The servers that were started, one a build and set of options that matter, for the time of a ``with`` block."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started: dict[tuple[str, tuple[str, ...]], RealServer] = {}

    def forget(self) -> None:
        """Take new servers from now on: one may hold a transaction that nobody ends."""
        for server in self._started.values():
            server.kill()
        self._started.clear()

    def of(self, plan: Plan) -> RealServer:
        """The server for a plan, without databases.  Raises EnvironmentMissing."""
        session = plan.session
        options = []
        if session.lower_case_table_names:
            options.append(f"--lower-case-table-names={session.lower_case_table_names}")
        if not session.mysql56_temporal_format:
            options.append("--mysql56-temporal-format=OFF")
        build = BUILD_OF_LINE[plan.server]
        key = (build, tuple(options))
        if key not in self._started:
            self._started[key] = self._stack.enter_context(RealServer(None, build, options))
        server = self._started[key]
        for name in server.run_sql("SHOW DATABASES;\n").split("\n"):
            if name and name.lower() not in _OWN:
                server.run_sql(f"SET foreign_key_checks = 0;\nDROP DATABASE `{name.replace('`', '``')}`;\n")
        return server


def plan_of(folder: Path) -> Plan:
    """The plan of a recording's scenario."""
    return planned(load_scenario(folder / SCENARIO, recorded_settings(folder)))


def differences(folder: Path, servers: Servers) -> Iterator[str]:
    """What is otherwise after the SQL of a recording, and after its flashback.  Raises ForgeError."""
    plan = plan_of(folder)
    recorded: Contents = msgspec.json.decode((folder / CONTENTS).read_bytes(), type=Contents)
    logs = [str(path) for path in sorted(binlogs_of(folder), key=lambda path: int(path.suffix[1:]))]
    server = servers.of(plan)
    forth, unsaid = sql_of(*logs, "--statements")
    of_the_past = [line for line in unsaid if "a row of the p" in line]
    yield from (line for line in unsaid if line not in of_the_past)
    # Servers without accounts log a name that they do not take.
    server.run_sql(forth.replace("DEFINER=``@``", "").replace("DEFINER=``", ""))
    asked = replace_unknown(plan, recorded)
    if of_the_past:
        return
    yield from _unequal(answered(asked, server.run_sql(questions(asked))), recorded, "after the SQL")
    back, unsaid = sql_of(*logs, "--flashback")
    if unsaid or _other_changes(back):
        return
    server.run_sql(back)
    empty = {name: TableContents(table.columns, table.forms, []) for name, table in recorded.items()}
    yield from _unequal(answered(asked, server.run_sql(questions(asked))), empty, "after the flashback")


def binlogs_of(folder: Path) -> list[Path]:
    """The logs of a recording."""
    return [path for path in folder.iterdir() if path.suffix[1:].isdigit()]


def _other_changes(back: str) -> bool:
    """Whether the log has changes of rows or tables that are no row events: those are listed, and stay."""
    listed = [line.split() for line in back.splitlines() if line.startswith("--   ")]
    words = {" ".join(line[1:3]).upper() for line in listed if len(line) > 2}
    return any(not text.startswith(("CREATE DATABASE", "CREATE TABLE", "CREATE SCHEMA")) for text in words)


def replace_unknown(plan: Plan, recorded: Contents) -> Plan:
    """The plan with the tables alone that were asked for."""
    return structs.replace(plan, tables={name: table for name, table in plan.tables.items() if name in recorded})


def sql_of(*arguments: str) -> tuple[str, list[str]]:
    """What ``forge sql`` writes, and what it says of changes that it does not write."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "made.sql"
        result = CliRunner().invoke(command, [*arguments, "-o", str(output)])
        text = output.read_text("utf-8", "surrogateescape") if output.exists() else ""
    said = [line for line in result.stderr.splitlines() if ": row " in line or ": the rows of" in line]
    if result.exception is not None and not isinstance(result.exception, SystemExit) and not said:
        raise result.exception
    return text, said


def _unequal(found: Contents, wanted: Contents, when: str) -> Iterator[str]:
    for name, table in wanted.items():
        have, want = (Counter(map(tuple, one.rows)) for one in (found[name], table))
        for row in list((want - have).elements())[:3]:
            yield f"{when} {name} lacks {row}"[:400]
        for row in list((have - want).elements())[:3]:
            yield f"{when} {name} has {row}"[:400]
