"""What stops an applier: the server's error, with the rule that says so."""

from __future__ import annotations

from dataclasses import dataclass

#: Names of the engine's errors, as texts about rows end with them.
HANDLER_ERRORS = {
    "not_found": "HA_ERR_KEY_NOT_FOUND",
    "end_of_file": "HA_ERR_END_OF_FILE",
    "duplicate": "HA_ERR_FOUND_DUPP_KEY",
    "no_parent": "HA_ERR_NO_REFERENCED_ROW",
    "referenced": "HA_ERR_ROW_IS_REFERENCED",
    "partition": "HA_ERR_NO_PARTITION_FOUND",
    "corrupt": "HA_ERR_CORRUPT_EVENT",
    "none": "No Error!",
}
#: Errors that ``IDEMPOTENT`` passes over (idempotent_error_code in sql/log_event.cc).
PASSED_OVER = frozenset((1032, 1062, 1451, 1452))


@dataclass(frozen=True, slots=True)
class StopError(Exception):
    """The applier stops: the number and the text of the server's error, and the rule.

    ``handler`` is a name of :data:`HANDLER_ERRORS` for errors of one row; "" for those of the event.
    """

    code: int
    text: str
    rule: str
    handler: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.text} ({self.rule})"


@dataclass(frozen=True, slots=True)
class AppliedError:
    """The error at which a replay ended: where, and what the server shows of it."""

    code: int
    text: str
    #: The rule that says so: ``R2: ...`` of WL#5092, or a name of docs/replay.md.
    rule: str
    #: Name of the log, number and offset of the event in it, and the number of its row, from 1 (0: the whole event).
    file: str
    event: int
    offset: int
    row: int
    table: str

    def __str__(self) -> str:
        return f"{self.file}: event {self.event} at {self.offset}: error {self.code}: {self.text} [{self.rule}]"
