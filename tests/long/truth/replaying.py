"""A case on a real server: its files applied, the rows that SELECT gives laid beside the canonical decode's."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from forge.binlog.reader import read_events
from forge.corpus.cases import Case, cases_of, shipped_folders
from forge.errors import ForgeError
from forge.events.format_description import FormatDescription
from forge.plan.plan import Plan
from forge.record.client import RecordingError
from forge.record.contents import answered, asked_tables, questions
from forge.record.contents_difference import decoded_contents, planned_contents, table_difference
from forge.render.schema_of import schemas_of
from forge.render.sql import replay_script
from forge.scenario import Scenario, plan
from forge.scenario.matrix import base_scenario
from forge.scenario.table_model import TableDeclaration
from forge.servers import server_line
from forge.servers.features import Family
from tests.long.vendors.applier import Applier, ServerEnded

#: Builds that apply logs of a family.
_BUILDS = {"mysql": ("mysql97",), "mariadb": ("maria1011", "maria118")}


@dataclass(slots=True)
class Replayed:
    """What came of a case on a server: how many cells of how many tables were compared, and what differs."""

    tables: int = 0
    cells: int = 0
    differences: list[str] = field(default_factory=list)


def builds_for(line: str) -> tuple[str, ...]:
    """The builds that may apply logs of a line: MySQL has given up row events from before 5.6."""
    own = server_line(line)
    return _BUILDS["mariadb" if own.rows.version < 2 else own.family]


@cache
def _of_file(relative: str) -> dict[str, Case]:
    name, _, within = relative.partition("/")
    folder = dict(shipped_folders())[name]
    return {case.id: case for case in cases_of(folder / Path(within), folder, name)}


def planned(case: str, file: str) -> Plan:
    """What happens in a case of the shipped corpus.  Raises ScenarioError."""
    found = _of_file(file)[case]
    return plan(base_scenario(found.text, file=found.file, settings=found.settings))


def found(log: bytes) -> Plan:
    """What is there before the file of a finding: its tables, empty.  Raises ScenarioError."""
    description = next(iter(read_events(log))).event.body
    version = description.server_version if isinstance(description, FormatDescription) else ""
    line = "mariadb-11.8" if "MariaDB" in version else "mysql-5.5" if version < "5.6" else "mysql-9.7"
    tables: list[str | TableDeclaration] = [schema.create_table().rstrip(";\n") for schema in schemas_of(log)]
    return plan(Scenario("found", server=line, tables=tables, existing=True))


def replayed(of_case: Plan, files: list[bytes], applier: Applier, *, is_whole: bool = True) -> Replayed:
    """Apply the files on a fresh server and compare what its tables hold.  Raises nothing for any case.

    ``is_whole``: the plan has all that the files have.
    """
    result = Replayed()
    try:
        applied = applier.apply(files, before=_before(of_case, applier.build.vendor))
    except (ServerEnded, RecordingError) as error:
        result.differences.append(f"before: {error}")
        return result
    if applied.number:
        result.differences.append(f"applier: {applied.number} {applied.error}")
        return result
    try:
        expected = [decoded_contents(of_case, files)]
        if is_whole and not (of_case.session.edits or of_case.session.torn):
            expected.append(planned_contents(of_case))
    except ForgeError as error:
        result.differences.append(f"decode: {error}")
        return result
    names = {name: None for contents in expected for name in contents}
    asked = {table.full_name: table for table in asked_tables(of_case) if table.full_name in names}
    one = replace(of_case, tables=asked)
    try:
        selected = answered(one, applier.server.run_sql(questions(one)))
    except ForgeError as error:
        result.differences.append(f"select: {error}")
        return result
    for name in asked:
        result.tables += 1
        result.cells += sum(map(len, selected[name].rows))
        in_decodes = (contents[name] for contents in expected if name in contents)
        for rows in in_decodes:
            if any(len(row) != len(selected[name].forms) for row in rows.rows):
                result.differences.append(f"columns: the rows of {name} in the file have others than the table")
            elif (difference := table_difference(name, selected[name], rows)) is not None:
                result.differences.append(f"rows: {difference}")
    result.differences = list(dict.fromkeys(result.differences))
    return result


def _before(of_case: Plan, family: Family) -> str:
    """Statements that make on a server of the family what is there before the log begins."""
    if not of_case.existing:
        return ""
    if family == "mariadb" != server_line(of_case.server).family:
        of_case = replace(of_case, server="mariadb-10.11")
    groups = of_case.groups[: of_case.existing]
    return replay_script(
        replace(of_case, groups=groups, existing=0, file_steps=(), event_steps=(), turns=(), reconnects=())
    )
