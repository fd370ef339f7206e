"""``python -m tests.long.applied [FOLDER...]``: ``forge sql`` of every recording, on a fresh server of its line.

What the tables hold then must be what was recorded, and nothing after ``--flashback``.  A difference is printed; the
exit code is 1 if there is one.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from forge.errors import EnvironmentMissing, ForgeError
from forge.record.recording import CONTENTS
from tests.long.applied.applying import Servers, differences

RECORDINGS = Path(__file__).resolve().parents[3] / "corpora" / "recordings"


def main() -> int:
    folders = [Path(name) for name in sys.argv[1:]] or sorted(path.parent for path in RECORDINGS.rglob(CONTENTS))
    counts = {"equal": 0, "otherwise": 0, "without a server": 0}
    with ExitStack() as stack:
        servers = Servers(stack)
        for folder in folders:
            try:
                found = list(differences(folder, servers))
            except EnvironmentMissing:
                counts["without a server"] += 1
                continue
            except ForgeError as error:
                servers.forget()
                found = [f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"]
            counts["otherwise" if found else "equal"] += 1
            for line in found[:4]:
                sys.stdout.write(f"{folder}: {line}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{counts}\n")
    return int(counts["otherwise"] > 0)


if __name__ == "__main__":
    sys.exit(main())
