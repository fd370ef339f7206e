"""Rows in bulk as lines of text, by Arrow's functions on whole columns."""
