"""A replica on paper: what an applier of a server line makes of a log on tables of its own (docs/replay.md)."""
