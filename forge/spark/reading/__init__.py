"""Rows of splits as Spark takes them: of one table, of all, or events; which splits can hold rows that are wanted."""
