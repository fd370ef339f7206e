"""The search: batches of cases of one field on one server, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from forge.errors import ForgeError
from tests.long.live.cases import Draw
from tests.long.live.differences import Difference, differences, known_differences
from tests.long.live.literals import draw_literals
from tests.long.live.ours import CaseOutcome, session_of, tried
from tests.long.live.statements import draw_statements
from tests.long.live.theirs import asked

RUNS = Path(__file__).parent / "runs.jsonl"
FIELDS: dict[str, Draw] = {"literals": draw_literals, "statements": draw_statements}
#: Cases that share a server.
BATCH = 300


#: Values of sql_mode, beside the default and none.
_MODES = (
    "STRICT_ALL_TABLES", "TRADITIONAL", "ANSI", "NO_ENGINE_SUBSTITUTION", "NO_ZERO_IN_DATE,NO_ZERO_DATE",
    "ALLOW_INVALID_DATES,STRICT_TRANS_TABLES", "NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES,NO_ZERO_DATE",
)  # fmt: skip
_FRACTIONS = {"mysql": "TIME_TRUNCATE_FRACTIONAL", "mariadb": "TIME_ROUND_FRACTIONAL,STRICT_TRANS_TABLES"}
#: Time zones, most often UTC.
_ZONES = (*["+00:00"] * 5, "SYSTEM", "+05:30", "-12:59")


@dataclass(slots=True)
class Run:
    """Cases of a field from the ``first`` on; ``known`` and ``new`` are differences, ``seconds`` what they took."""

    field: str
    server: str
    seed: int
    first: int
    count: int = 0
    statements: int = 0
    known: int = 0
    new: int = 0
    seconds: int = 0


def batch(field: str, server: str, seed: int, first: int) -> tuple[int, list[Difference]]:
    """The cases from ``first`` (a multiple of BATCH) on: how many statements were compared, and the differences.

    Raises RecordingError if the server ends, EnvironmentMissing if there is none.
    """
    draws = Random(f"{field}/{seed}/{first}")
    mode = draws.choice((None, None, "", *_MODES, _FRACTIONS[server.partition("-")[0]]))
    session = session_of(mode, draws.choice(("full", "full", "minimal", "noblob")), draws.choice(_ZONES))
    outcomes: list[CaseOutcome] = []
    for number in range(first, first + BATCH):
        case = FIELDS[field](Random(f"{field}/{seed}/{number}"), f"d.t{number - first}")
        try:
            outcomes.append(tried(case, server, session))
        except ForgeError:
            raise
        except Exception as error:
            error.add_note(f"in case {number} of {field}, seed {seed}: {case.table}")
            raise
    answers = asked(server, session, outcomes)
    found = list(differences(server, session, outcomes, answers))
    return sum(len(one.outcomes) for one in outcomes), found


def is_known(difference: Difference) -> bool:
    """Whether known.toml has it."""
    return any(known.covers(difference) for known in known_differences())
