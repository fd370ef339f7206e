"""JSON documents in bulk: binary to the server's text, and text to the server's binary, by compiled kernels.

:mod:`forge.values.json` is the reference.  A kernel takes what servers write and what is usual; a row that it does not
take goes through the reference, which has the last word on every value and on every error.
"""
