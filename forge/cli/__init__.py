"""The command line, ``forge``: commands, progress, and how an error is shown."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process and exit with its code."""
    try:
        from forge.cli.app import run

        code = run()
    except KeyboardInterrupt:
        # While modules were imported: there is nothing to clean up, and nothing yet that says so in a sentence.
        print("forge: interrupted", file=sys.stderr)  # noqa: T201
        code = 130
    raise SystemExit(code)
