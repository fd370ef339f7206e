"""``python -m tests.long.truth``: accept cases drawn at random, replayed on real servers.

The files of a case are the relay log of a fresh server; what SELECT gives of its tables then is laid beside the end
state of the canonical decode, and beside what the scenario says.  Every difference needs a reason in ``reasons.toml``:
one without is printed, and the exit code is 1.  A run goes on where the last one of its seed ended, and is counted in
pieces in ``runs.jsonl``.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from forge.conform.findings.records import findings_dir, read_finding
from forge.conform.kit.withheld import withheld_cases
from forge.corpus.manifest import Entry, read_bytes_of, read_entries
from forge.errors import ForgeError, ScenarioError
from tests.counted_runs import behind, count_run
from tests.long.truth.replaying import builds_for, found, planned, replayed
from tests.long.vendors.applier import Applier

_HERE = Path(__file__).parent
_RUNS = _HERE / "runs.jsonl"
#: Cases that are counted together.
_PIECE = 50
#: Larger cases are not replayed: bytes.
_LARGEST = 4 << 20


class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A class of differences: what they say, of which cases and builds (regular expressions), and why."""

    name: str
    why: str
    says: str
    case: str = ""
    build: str = ""

    def explains(self, case: str, build: str, difference: str) -> bool:
        of = ((self.says, difference), (self.case, case), (self.build, build))
        return all(re.search(pattern, text) for pattern, text in of)


def read_reasons() -> list[Reason]:
    """The reasons, in the order in which they are asked."""
    return msgspec.convert(tomllib.loads((_HERE / "reasons.toml").read_text("utf-8"))["reason"], list[Reason])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("out/corpus"), help="a built corpus (default: out/corpus)")
    parser.add_argument("--count", type=int, default=1000, help="how many cases are drawn (default: 1,000)")
    parser.add_argument("--first", type=int, help="number of the first (default: behind the counted ones)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", action="append", help="these cases in the place of drawn ones")
    parser.add_argument(
        "--findings", action="store_true", help="the values that findings call right in the place of cases"
    )
    given = parser.parse_args()
    if given.findings:
        return _findings(read_reasons())
    order = given.case or _order(given.corpus, given.seed)
    first = 0 if given.case else behind(_RUNS, seed=given.seed) if given.first is None else given.first
    last = min(first + given.count, len(order))
    reasons = read_reasons()
    unexplained = 0
    with ExitStack() as stack:
        appliers: dict[str, Applier] = {}
        for start in range(first, last, _PIECE):
            told: Counter[str] = Counter()
            by_reason: Counter[str] = Counter()
            drawn = set(order[start : min(start + _PIECE, last)])
            for row in read_bytes_of(given.corpus, drawn):
                for build in builds_for(row["server"]):
                    if build not in appliers:
                        appliers[build] = stack.enter_context(Applier(build))
                    _tell(row, build, appliers[build], reasons, told, by_reason)
            new = told.pop("unexplained", 0)
            unexplained += new
            line = {
                "seed": given.seed,
                "first": start,
                "count": len(drawn),
                **told,
                "reasons": dict(sorted(by_reason.items())),
            }
            count_run(_RUNS, line, counts=not (given.case or new))
            sys.stdout.flush()
    return 1 if unexplained else 0


def _findings(reasons: list[Reason]) -> int:
    """Replay the files of all findings about a cell; the exit code."""
    told: Counter[str] = Counter()
    by_reason: Counter[str] = Counter()
    with ExitStack() as stack:
        appliers: dict[str, Applier] = {}
        for path in sorted(findings_dir().glob("*.toml")):
            made = read_finding(path).made
            if made is None or made.cell is None:
                continue
            told["findings"] += 1
            try:
                of_finding = found(made.data)
            except ForgeError as error:
                _sort(path.stem, "no server", [f"plan: {error}"], reasons, told, by_reason)
                continue
            for build in builds_for(of_finding.server):
                if build not in appliers:
                    appliers[build] = stack.enter_context(Applier(build))
                result = replayed(of_finding, [made.data], appliers[build], is_whole=False)
                told["replays"] += 1
                told["cells"] += result.cells
                _sort(path.stem, build, result.differences, reasons, told, by_reason)
    sys.stdout.write(f"{dict(told)} {dict(sorted(by_reason.items()))}\n")
    return 1 if told["unexplained"] else 0


def _order(corpus: Path, seed: int) -> list[str]:
    """All cases that may be drawn, in the order of the seed."""
    withheld = withheld_cases()
    cases = sorted(entry.case for entry in read_entries(corpus) if _may_be_drawn(entry) and entry.case not in withheld)
    random.Random(seed).shuffle(cases)
    return cases


def _may_be_drawn(entry: Entry) -> bool:
    return entry.verdict == "accept" and 0 < sum(file.size for file in entry.files) <= _LARGEST


def _tell(
    row: dict[str, Any],
    build: str,
    applier: Applier,
    reasons: list[Reason],
    told: Counter[str],
    by_reason: Counter[str],
) -> None:
    case = row["case"]
    try:
        of_case = planned(case, row["file"])
    except (ScenarioError, KeyError) as error:
        sys.stdout.write(f"{case}: it is not what it was when the corpus was built: {error}\n")
        return
    result = replayed(of_case, [file["bytes"] for file in row["files"]], applier)
    told["replays"] += 1
    told["tables"] += result.tables
    told["cells"] += result.cells
    _sort(case, build, result.differences, reasons, told, by_reason)


def _sort(
    case: str,
    build: str,
    differences: list[str],
    reasons: list[Reason],
    told: Counter[str],
    by_reason: Counter[str],
) -> None:
    """Count the differences by their reasons, and print those without."""
    for difference in differences:
        reason = next((one.name for one in reasons if one.explains(case, build, difference)), None)
        if reason is not None:
            by_reason[reason] += 1
            continue
        told["unexplained"] += 1
        sys.stdout.write(f"{case} on {build}: {difference}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
