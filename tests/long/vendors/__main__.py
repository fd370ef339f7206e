"""``python -m tests.long.vendors``: what the vendors' own programs do with each case, into corpora/kit/vendors.tsv.

Rows whose bytes are what they were are kept, unless ``--again``.  A case that ends a server is named, and gets no row:
it has to be withheld (SECURITY.md).  What is known is written every half minute: a run that is ended goes on there.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec

from forge.conform.kit.vendors import (
    OfCase,
    VendorsDid,
    bytes_digest,
    read_vendors,
    vendors_path,
)
from forge.conform.kit.withheld import withheld_cases
from forge.corpus.manifest import read_entries
from tests.long.vendors.asking import asked
from tests.long.vendors.listed import vendors_text

#: Seconds between two writings of the list.
_PAUSE = 30.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("out/corpus"), help="a built corpus (default: out/corpus)")
    parser.add_argument("--again", action="store_true", help="ask for all cases, also those that have a row")
    parser.add_argument("--verdict", action="append", help="only cases with this verdict")
    given = parser.parse_args()
    known = read_vendors()
    withheld = withheld_cases()
    entries = {entry.case: entry for entry in read_entries(given.corpus) if entry.files and entry.case not in withheld}
    rows = {
        case: msgspec.structs.replace(row, verdict=entries[case].verdict)
        for case, row in known.items()
        if case in entries
    }
    wanted = {
        case
        for case, entry in entries.items()
        if (not given.verdict or entry.verdict in given.verdict)
        and (given.again or case not in rows or rows[case].digest != bytes_digest(entry.files))
    }
    found: dict[str, dict[str, str]] = {}
    ended: list[str] = []
    written = time.monotonic()
    for case, words in asked(given.corpus, wanted):
        of_case = found.setdefault(case, {})
        of_case.update(words)
        if "ends" in of_case.values():
            ended.append(case)
        if len(of_case) == len(VendorsDid.__struct_fields__) and "ends" not in of_case.values():
            entry = entries[case]
            did = VendorsDid(**of_case)
            rows[case] = OfCase(
                case=case, server=entry.server, verdict=entry.verdict, digest=bytes_digest(entry.files), did=did
            )
        if time.monotonic() - written > _PAUSE:
            vendors_path().write_text(vendors_text(rows.values()), "utf-8")
            written = time.monotonic()
    vendors_path().write_text(vendors_text(rows.values()), "utf-8")
    for case in sorted(set(ended)):
        sys.stdout.write(f"{case}: it ends a server, and has to be withheld\n")
    sys.stdout.write(f"{len(wanted)} cases asked for, {len(rows)} of {len(entries)} have a row\n")
    return 1 if ended else 0


if __name__ == "__main__":
    sys.exit(main())
