"""Policy: what a server logs of a plan.

Besides compiling, the engine asks it while a session runs: which groups of the log statements become
(``groups.caches``, ``groups.grouping``), which second they run in (``groups.clock``), and whether one is logged as its
text (``statement_choice``).
"""

from __future__ import annotations

from forge.compile.files.compilation import (
    compile_files,
    compile_plan,
    file_names,
    files_in_pieces,
    index_of_plan,
    write_files,
)

__all__ = ["compile_files", "compile_plan", "file_names", "files_in_pieces", "index_of_plan", "write_files"]
