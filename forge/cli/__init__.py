"""The command line, ``forge``: commands, progress, and how an error is shown."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process and exit with its code."""
    try:
        import gc
        import signal

        # Most of what a command makes stays until its end: look for what can go a hundred times less often.
        gc.set_threshold(70_000, 20, 20)

        # An import may drop the exception that Ctrl-C is in Python, and go on: until all is there, it ends the process.
        is_heard = signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL)
        if is_heard:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from forge.cli.app import run

        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
    except KeyboardInterrupt:
        # While modules were imported: there is nothing to clean up, and nothing yet that says so in a sentence.
        print("forge: interrupted", file=sys.stderr)  # noqa: T201
        code = 130
    raise SystemExit(code)
