"""The vendors' suites as scripts, run by us and by the server of their line: ``python -m tests.long.suites``.

Each statement that a log shows is taken by us, or refused with a reason; the log of what both take has our bytes, or
its first difference is named.  The counts are ``OUT/LINE.json``, and ``--page FILE`` writes them as a page.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from forge.check.decoders.vendors.program import servers_home
from forge.cli.progress import progress
from forge.errors import EnvironmentMissing
from forge.record.client import RecordingError
from tests.long.suites.mysqltest import statements_of
from tests.long.suites.outcomes_of_scripts import Outcome, outcome_of
from tests.long.suites.page import page_of
from tests.long.suites.servers import ScriptServer, Stuck

#: The folder of each line's suites, which `make suites` unpacks.
ROOTS = {
    "mysql-9.7": "suites-mysql97/usr/lib/mysql-test",
    "mariadb-10.11": "suites-maria1011/usr/share/mysql/mysql-test",
    "mariadb-11.8": "suites-maria118/usr/share/mariadb/mariadb-test",
}


def outcomes_of_line(line: str, out: Path, suites: list[str], each: int, only: str) -> list[Outcome]:
    """The outcomes of the scripts of a line's suites, of each suite every so many."""
    root = servers_home() / ROOTS[line]
    if not root.is_dir():
        raise EnvironmentMissing(f"the suites of {line} are not unpacked: run `make suites`")
    scripts = [path for suite in suites for path in sorted((root / "suite" / suite / "t").glob("*.test"))]
    scripts = [path for path in scripts if only in path.name][::each]
    folder = out / line
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    server = ScriptServer(line).__enter__()
    try:
        for path in progress(scripts, total=len(scripts), label=line):
            name = f"{path.parent.parent.name}/{path.stem}"
            sent = statements_of(path, root)
            if not sent:
                continue
            try:
                outcomes.append(outcome_of(name, sent, server, line, folder / f"{path.stem}.sql"))
            except (Stuck, RecordingError) as error:
                outcomes.append(Outcome(name, left=f"left: {error}"[:200]))
                server.__exit__()
                server = ScriptServer(line).__enter__()
            except Exception as error:  # noqa: BLE001  # An error of ours is a find; the other scripts go on.
                outcomes.append(Outcome(name, left=f"an error of ours, {type(error).__name__}: {error}"[:200]))
            (out / f"{line}.json").write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
    finally:
        server.__exit__()
    return outcomes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/suites"))
    parser.add_argument("--line", action="append", choices=ROOTS, help="default: all that there are")
    parser.add_argument("--suite", action="append", help="default: binlog and rpl")
    parser.add_argument("--each", type=int, default=1, help="only every so many scripts of a suite")
    parser.add_argument("--only", default="", help="only scripts with this in their names")
    parser.add_argument("--page", type=Path, help="write the page of all results that stand in OUT")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for line in options.line or ROOTS:
        try:
            outcomes_of_line(line, options.out, options.suite or ["binlog", "rpl"], options.each, options.only)
        except EnvironmentMissing as error:
            sys.stderr.write(f"{line}: {error}\n")
    results = {line: options.out / f"{line}.json" for line in ROOTS}
    text = page_of(
        {line: json.loads(path.read_text()) for line, path in results.items() if path.exists()}, options.each
    )
    if options.page is not None:
        options.page.write_text(text)
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
