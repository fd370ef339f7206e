"""``forge decrypt`` and ``forge encrypt``."""
