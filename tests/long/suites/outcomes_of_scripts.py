"""What becomes of a script: which of its statements we take, and whether our bytes are the server's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from forge.binlog.difference import first_difference_of_files
from forge.compile import compile_files, write_files
from forge.errors import ForgeError, FormatError, ScenarioError
from forge.plan.plan import Plan
from forge.record.facts import facts_of
from forge.record.statuses import statuses_of
from forge.scenario import load_scenario, plan
from forge.servers import server_line
from tests.long.suites.mysqltest import Sent
from tests.long.suites.servers import ScriptServer

#: Statements that no log shows by themselves.
_SILENT = re.compile(
    r"(?is)(/\*.*?\*/\s*)*(select|show|explain|set|use|begin|start|commit|rollback|savepoint|release|prepare|deallocate|"
    r"lock|unlock|do|handler|desc|describe|checksum|help|with|values|table|check)\b"
)
_DELIMITER = "/-forge-/"
#: How often the server is asked again, without what one of the two did not take.
_ROUNDS = 4


@dataclass(slots=True)
class Outcome:
    """``logged`` statements that the server took and a log shows; of these ``taken`` by us, others with their reasons.

    ``identical`` says whether the log of what both take has our bytes; else ``difference`` says where it has not.
    """

    script: str
    logged: int = 0
    taken: int = 0
    reasons: list[tuple[str, str]] = field(default_factory=list)
    identical: bool = False
    difference: str = ""
    left: str = ""


def outcome_of(script: str, sent: Sequence[Sent], server: ScriptServer, line: str, scratch: Path) -> Outcome:
    """Run a script's statements on the server and through us.  Raises Stuck and RecordingError as the server."""
    outcome = Outcome(script)
    opening = [Sent(sql, "", script, 0) for sql in ("CREATE DATABASE test", "USE test")]
    used = {one.connection for one in sent if one.connection}
    opening += [Sent("USE test", name, script, 0) for name in sorted(used)]
    kept = [*opening, *sent]
    errors, log = server.run([(one.connection, one.sql) for one in kept])
    kept = [one for one, error in zip(kept, errors, strict=True) if error is None]
    outcome.logged = sum(_is_logged(one) for one in kept)
    for _ in range(_ROUNDS):
        planned, kept = _planned(kept, line, scratch, outcome)
        if planned is None:
            return outcome
        errors, log = server.run([(one.connection, one.sql) for one in kept])
        refused = [(one, error) for one, error in zip(kept, errors, strict=True) if error is not None]
        if not refused:
            break
        for one, error in refused:
            if _is_logged(one):
                outcome.reasons.append(("the server, without what is refused before: " + _brief(error), one.sql))
        kept = [one for one, error in zip(kept, errors, strict=True) if error is None]
    outcome.taken = sum(_is_logged(one) for one in kept)
    (scratch.with_suffix(".000001")).write_bytes(log)
    outcome.difference = _difference(scratch, log, line)
    outcome.identical = not outcome.difference
    return outcome


def _is_logged(one: Sent) -> bool:
    return _SILENT.match(one.sql) is None


def _planned(kept: list[Sent], line: str, scratch: Path, outcome: Outcome) -> tuple[Plan | None, list[Sent]]:
    """The plan of what we take of the statements, and these."""
    while kept:
        places = _write(kept, line, scratch)
        try:
            planned = plan(load_scenario(scratch, {"server": line}))
            compile_files(planned)
            return planned, kept
        except ScenarioError as error:
            number = places.get(error.line or 0)
            if number is None:
                outcome.left = str(error)
                return None, kept
            if _is_logged(kept[number]):
                outcome.reasons.append((_brief(str(error)), kept[number].sql))
            kept = kept[:number] + kept[number + 1 :]
    return None, kept


def _write(kept: Sequence[Sent], line: str, scratch: Path) -> dict[int, int]:
    """The script's text for us: the number of the statement by line."""
    lines, places = [f"DELIMITER {_DELIMITER}"], {}
    if server_line(line).family == "mariadb":
        lines.insert(0, "-- forge: session: {rows_query: true}")
    connection = "" if all(not one.connection for one in kept) else None
    for number, one in enumerate(kept):
        if one.connection != connection:
            connection = one.connection
            lines.append(f"-- forge: connection: {connection or 'main'}")
        places.update(dict.fromkeys(range(len(lines) + 1, len(lines) + 2 + one.sql.count("\n")), number))
        lines += (one.sql + _DELIMITER).split("\n")
    lines.append(f"FLUSH BINARY LOGS{_DELIMITER}")
    scratch.write_text("\n".join(lines) + "\n", "utf-8", "surrogateescape")
    return places


def _difference(scratch: Path, log: bytes, line: str) -> str:
    try:
        facts = facts_of(log)
        settings = {"server": line, "session.facts": msgspec.to_builtins(facts)}
        planned = plan(load_scenario(scratch, settings))
        facts = msgspec.structs.replace(facts, statuses=statuses_of(planned, [log]))
        settings["session.facts"] = msgspec.to_builtins(facts)
        planned = plan(load_scenario(scratch, settings))
        compiled = write_files(planned, compile_files(planned))[0]
    except (ForgeError, FormatError) as error:
        return f"cannot be compared: {error}"
    found = first_difference_of_files(["log"], [log], [compiled], ("recorded", "compiled"))
    return "" if found is None else str(found)


def _brief(message: str) -> str:
    """A reason without the names of a script."""
    message = re.sub(r"^\S+?\.sql:\d+(:\d+)?: ", "", message)
    message = re.sub(r"ERROR (\d+).*?:", r"error \1:", message)
    message = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "...", message)
    return re.sub(r"\b\d+\b", "N", message)[:160]
