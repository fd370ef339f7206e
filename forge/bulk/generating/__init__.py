"""Volume on demand: any number of rows with their lives, as the log of a server, and the state that it leaves.

Nothing is kept of a row: when it is inserted, changed and deleted, and what its cells are, are pure functions of the
seed, the table, the row's number and the version.  So any part of any file can be made anywhere, in any order.
"""

from __future__ import annotations

from importlib import import_module

# It says what is missing, before NumPy is asked for.
import_module("forge.bulk")
