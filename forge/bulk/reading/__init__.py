"""Rows of binary logs as Arrow record batches: a window over the file, its events, its tables, its rows."""
