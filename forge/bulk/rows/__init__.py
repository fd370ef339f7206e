"""Rows of Arrow record batches as the log of a server: ``forge.write_rows``.

The reference path (engine, compile) makes what stands around the rows; forge.bulk makes the rows, and stamps the
rest for each transaction.
"""
