"""Rows in bulk: Arrow record batches to and from row images, by compiled kernels.

Needs the extra ``rows`` (pyarrow, numpy, numba).  The layouts of ``forge.values`` and ``forge.events`` are the
reference: kernels are held equal to them by tests, and whatever a kernel does not take goes through them.
"""

from __future__ import annotations

from forge.bulk import kernel_sources  # noqa: F401  It looks at files before any kernel is imported.
from forge.errors import EnvironmentMissing, with_extra
from forge.resources import missing_for_rows

if _MISSING := missing_for_rows():
    raise EnvironmentMissing(f"rows in bulk need {' and '.join(_MISSING)}: {with_extra('rows')}")
