"""``python -m tests.long.printed [--seed N] [FOLDER...]``: the vendors' text of every log, with options from a seed.

What we print is held against what each program of the real servers prints: text, messages, exit code.  A difference is
printed; the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random

from forge.check.decoder import DecodingEnded
from tests.vendors.comparing import PROGRAMS, drawn_options, ours, theirs

RECORDINGS = Path(__file__).resolve().parents[3] / "corpora" / "recordings"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", type=Path, default=[RECORDINGS])
    arguments = parser.parse_args()
    files = sorted(path for folder in arguments.folders for path in folder.rglob("*.[0-9]*") if path.is_file())
    different = 0
    for flavour in PROGRAMS:
        draws, equal, ended = Random(f"{arguments.seed} {flavour}"), 0, 0
        for path in files:
            try:
                options = drawn_options(draws, flavour, theirs(flavour, path, []).out)
                wanted = theirs(flavour, path, options)
            except DecodingEnded:
                ended += 1
                continue
            if ours(flavour, path, options) == wanted:
                equal += 1
            else:
                sys.stdout.write(f"{flavour}: {path} {' '.join(options)}\n")
        sys.stdout.write(f"{flavour}: {equal} of {len(files) - ended} equal; the program crashed at {ended}\n")
        sys.stdout.flush()
        different += len(files) - ended - equal
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
