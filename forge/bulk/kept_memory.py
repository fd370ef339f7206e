"""Memory that is freed stays with the process, for what needs as much next."""

from __future__ import annotations


def keep_memory() -> None:
    """Have blocks of up to 31 MiB kept when they are freed.

    glibc gives blocks above a threshold back to the system and takes each page of the next one anew: up to half the
    time of a small read.  A large block that is freed raises the threshold to its size (malloc/malloc.c, at most
    32 MiB), and to twice that what it keeps at the end of its memory.
    """
    bytearray(31 << 20)
