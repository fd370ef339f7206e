"""What a real server says of many cases, which it is asked in one session."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.record.builds import BUILD_OF_LINE
from forge.record.client import RecordingError
from forge.record.contents import Contents, answered, questions
from forge.record.server import RealServer
from forge.record.session import options_for
from forge.render.sql import replay_script
from forge.scenario import Scenario, plan
from tests.long.live.ours import CaseOutcome, Logged, logged_by_text

_ERROR = re.compile(r"^ERROR (\d+) \(\w+\) at line (\d+): (.*)$", re.MULTILINE)
_NEXT = "next case "
#: Seconds that a batch may take, and how many times longer than usual a server: the machine may be busy.
BATCH_LIMIT = 1500.0
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Answers:
    """Errors by (case, statement), what each text logged, in order, and what each case's table holds afterwards."""

    errors: dict[tuple[int, int], str]
    logged: dict[str, list[Logged]]
    contents: dict[int, Contents]


def asked(server: str, session: Session, cases: Sequence[CaseOutcome]) -> Answers:
    """Run the statements of all cases on a fresh server.

    Raises RecordingError if the server does not live through them, EnvironmentMissing if there is none.
    """
    opening = plan(Scenario("live", server=server, session=session, tables=["CREATE TABLE d.opened (a INT)"]))
    lines = replay_script(opening).rstrip("\n").split("\n")
    places: dict[int, tuple[int, int]] = {}
    for number, case in enumerate(cases):
        for index, outcome in enumerate(case.outcomes):
            if not outcome.sql:
                continue
            places[len(lines) + 1] = number, index
            lines += f"{outcome.sql};".split("\n")
    with RealServer(None, BUILD_OF_LINE[server], options_for(opening), patience=_PATIENCE) as running:
        complaints = _run(running, "\n".join(lines) + "\n")
        errors = {places[int(line)]: f"{code} {message}" for code, line, message in _ERROR.findall(complaints)}
        contents = _contents(running, {n: case.plan for n, case in enumerate(cases) if _agree(n, case, errors)})
        running.stop()
        log = b"".join(path.read_bytes() for path in running.binlog_files())
    return Answers(errors, logged_by_text(log), contents)


def _agree(number: int, case: CaseOutcome, errors: dict[tuple[int, int], str]) -> bool:
    """Whether the server took what we took, and nothing else."""
    return all((one.refused is None) != ((number, index) in errors) for index, one in enumerate(case.outcomes))


def _contents(running: RealServer, plans: dict[int, Plan | None]) -> dict[int, Contents]:
    """What the tables of the cases hold."""
    asked = {number: planned for number, planned in plans.items() if planned is not None}
    text = "".join(f"SELECT '{_NEXT}{number}';\n{questions(planned)}" for number, planned in asked.items())
    parts = running.run_sql(text).split(_NEXT)[1:]
    return {
        number: answered(planned, part.partition("\n")[2])
        for (number, planned), part in zip(asked.items(), parts, strict=True)
    }


def _run(running: RealServer, script: str) -> str:
    """What the client complains of; it goes on behind what the server refuses."""
    process = subprocess.run(
        [*running.client_command, "--force"], check=False, input=script.encode("utf-8", "surrogateescape"),
        capture_output=True, timeout=BATCH_LIMIT, cwd=running.client_folder,
    )  # fmt: skip
    complaints = process.stderr.decode("utf-8", "replace")
    if "ERROR 2013" in complaints or "ERROR 2006" in complaints:
        raise RecordingError(f"{running.build.title} ended the connection: {complaints[-300:]}")
    return complaints
