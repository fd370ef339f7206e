"""Rows in bulk: Arrow record batches to and from row images, by compiled kernels.

Needs the extra ``rows`` (pyarrow, numpy, numba).  The layouts of ``forge.values`` and ``forge.events`` are the
reference: kernels are held equal to them by tests, and whatever a kernel does not take goes through them.
"""
