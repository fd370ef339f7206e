"""What the kernel that prints events is told and tells: numbers and memories in a table of words."""

from __future__ import annotations

from typing import Final

#: Bytes of a word.
WORD: Final = 8

# The numbers: where the next event is in the buffer and where the rows go on that have begun (-1: none have); where the
# buffer ends, its place in the file, and the place that is not to be reached; the bytes of a checksum; and what has
# been written to each of the three texts.
AT, ROW_AT, END, PLACE, STOP, TAIL, HEAD_AT, BODY_AT, BLOCK_AT = range(9)
# What is printed: BINLOG statements, rows; whether text is held outside.
BLOCKS, ROWS, HELD = range(9, 12)
# The state of the printer.
IN_TRANSACTION, BEGINS, UNFINISHED, SEEN_GTID, TELLS_KEYS, MAPPED_COUNT = range(12, 18)
# The time of the last header, that of which the zone is asked, and the number of shapes of statements.
MOMENT, ASKED, QUERIES = range(18, 21)
# MariaDB's: whether it is its program, rows of the statement, whether they are counted, the settings in force (-1:
# none), the last GTID's number, whether threads are told of, and what has been written to the heads that are held.
MARIADB, ROW_COUNT, COUNTS, PARALLEL, DOMAIN, SERVER = range(21, 27)
# What is printed alone, of events whose heads have been: nothing is, the rows, BINLOG statements.
ALONE: Final = 27
ROWS_ALONE, BLOCKS_ALONE = 1, 2
# And the bytes of the event, or of two that are printed together.
LAST_NUMBER, TELLS_THREADS, HELD_AT, TAKEN = range(28, 32)

#: The memories, two words each, behind the numbers.
_FIRST: Final = 32
(
    BUFFER, TEXTS, IDS, MAPS, LAYOUTS, STEPS, MAPPED, SHAPES, ZONES, CLOCK, HEAD, BODY, BLOCK, SCRATCH, STACK,
    HELD_HEADS,
) = range(_FIRST, _FIRST + 32, 2)  # fmt: skip
COUNT: Final = _FIRST + 32

#: Why the kernel returned: no whole event is left; a text is full; the next event, or what is left of the rows of this
#: one, is for the reference path; a table map, a layout or a time zone is not known; a statement has ended whose text
#: is held elsewhere.
NO_MORE, FULL, ODD, ODD_ROWS, NEW_MAP, NEW_LAYOUT, NEW_ZONE, ENDS = range(8)

#: Why it goes on.
DONE: Final = -1

# Records of table maps (MAPS), in words: the bytes behind the table id, the text before and behind the number of the
# table, that where generated keys are told of, the first layout, and whether the kernel prints it.
MAP_AT, MAP_SIZE, BEFORE_AT, BEFORE_SIZE, BEHIND_AT, BEHIND_SIZE, KEYED_AT, KEYED_SIZE, FIRST, USABLE = range(10)
MAP_WORDS: Final = 10
# Records of layouts: the type, the bytes before the rows, the next layout of the table, whether the kernel prints it,
# what stands before a row and before all of them, and the steps of the two images (a count of -1: there is none).
(
    TYPE, HEADER_AT, HEADER_SIZE, NEXT, PRINTED, PREFIX_AT, PREFIX_SIZE, EVENT_AT, EVENT_SIZE, BEFORE, BEFORE_COUNT,
    AFTER, AFTER_COUNT,
) = range(13)  # fmt: skip
LAYOUT_WORDS: Final = 13
# Records of steps: how a cell is printed, its size or that of its length, what the kind has to know; what stands behind
# the cell, and in place of NULL.
KIND, SIZE, OF, BEHIND, BEHIND_COUNT, NULL, NULL_COUNT = range(7)
STEP_WORDS: Final = 8
# Records of shapes of statements: the bytes behind the time that it took, the flags of the event, the text before and
# behind the time, and what becomes of the transaction.
QUERY_AT, QUERY_SIZE, FLAGS, FORE_AT, FORE_SIZE, HIND_AT, HIND_SIZE, EFFECT = range(8)
SHAPE_WORDS: Final = 8
#: What a statement does: begins a transaction, ends it, or neither.
NEITHER, STARTS, ENDS_IT = range(3)
# Records of time zones: the first second, the one behind the last, the offset, and the name.
SINCE, UNTIL, OFFSET, NAME_AT, NAME_SIZE = range(5)
ZONE_WORDS: Final = 5
#: Zones that are kept, and tables that are mapped at a time.
ZONE_COUNT: Final = 4
MOST_MAPPED: Final = 16
#: How the cells of a column are printed: the kinds with a fixed size, then those with a length in front.
(INTEGER, YEAR, FLOAT, DOUBLE, BITS, SECONDS, DATE, DATETIME, TIME, DECIMAL, NUMBER, MEMBERS, TEXT, JSON) = range(14)
