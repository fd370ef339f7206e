"""Facts about server lines, as data: what each line writes, and the features that it has.

Code asks the line (``line.rows.null_padding``, ``line.knows("row_images")``), never the version number.
``docs/add-a-server-line.md`` shows how a line is added.
"""

from __future__ import annotations

from forge.servers.line import ServerLine
from forge.servers.loading import server_line, server_names
from forge.servers.locales import locale_names

__all__ = ["ServerLine", "locale_names", "server_line", "server_names"]
