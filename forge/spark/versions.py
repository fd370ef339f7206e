"""Which releases of PySpark are supported."""

from __future__ import annotations

import re
from typing import Final

from forge.errors import EnvironmentMissing, with_extra

Release = tuple[int, int]

#: Releases that the tests run with (``make spark-versions``).
OLDEST: Final[Release] = (4, 0)
NEWEST: Final[Release] = (4, 3)
#: The first one that runs on Java 25.
JAVA_25: Final[Release] = (4, 1)


def spark_release() -> Release:
    """Major and minor version of the PySpark that is installed.  Raises EnvironmentMissing for none and an old one."""
    try:
        from pyspark import __version__ as text
    except ImportError as error:
        raise EnvironmentMissing(f"PySpark is not installed: {with_extra('spark')}") from error
    found = re.match(r"(\d+)\.(\d+)", text)
    release = (int(found[1]), int(found[2])) if found else NEWEST
    if release < OLDEST:
        raise EnvironmentMissing(f"PySpark {text} is too old: binlog-forge needs {_text(OLDEST)} to {_text(NEWEST)}")
    return release


def _text(release: Release) -> str:
    return f"{release[0]}.{release[1]}"
