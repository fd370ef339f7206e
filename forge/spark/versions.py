"""Which releases of PySpark are supported, and what an older one lacks."""

from __future__ import annotations

import re
from typing import Final

from forge.errors import EnvironmentMissing

Release = tuple[int, int]

#: Releases that the tests run with (``make spark-versions``).
OLDEST: Final[Release] = (4, 0)
NEWEST: Final[Release] = (4, 3)
#: Since when PySpark has what not every supported release has (the headings of its reference say so).
PUSHED_FILTERS: Final[Release] = (4, 1)
STREAM_ARROW_WRITERS: Final[Release] = (4, 1)
READ_LIMITS: Final[Release] = (4, 2)
JAVA_25: Final[Release] = (4, 1)


def spark_release() -> Release:
    """Major and minor version of the PySpark that is installed.  Raises EnvironmentMissing for none and an old one."""
    try:
        from pyspark import __version__ as text
    except ImportError as error:
        raise EnvironmentMissing("PySpark is not installed: `pip install binlog-forge[spark]`") from error
    found = re.match(r"(\d+)\.(\d+)", text)
    release = (int(found[1]), int(found[2])) if found else NEWEST
    if release < OLDEST:
        raise EnvironmentMissing(f"PySpark {text} is too old: binlog-forge needs {_text(OLDEST)} to {_text(NEWEST)}")
    return release


def require_release(least: Release, what: str) -> None:
    """Raises EnvironmentMissing if the PySpark that is installed is older: ``what`` it lacks begins the sentence."""
    release = spark_release()
    if release < least:
        raise EnvironmentMissing(f"{what} needs PySpark {_text(least)} or newer, and {_text(release)} is installed")


def _text(release: Release) -> str:
    return f"{release[0]}.{release[1]}"
