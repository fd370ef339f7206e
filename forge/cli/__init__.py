"""The command line, ``forge``: commands, progress, and how an error is shown."""

from __future__ import annotations


def main() -> None:
    """Run the command line of this process and exit with its code."""
    from forge.cli.app import run

    raise SystemExit(run())
