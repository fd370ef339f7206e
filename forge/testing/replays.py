"""Hypothesis strategies for tests of appliers: a log, a replica's definition, and what the replica has at the end."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from forge.errors import UnsupportedError
from forge.logs import Log, build
from forge.replay.end_state import State, replay
from forge.scenario.matrix import base_scenario

#: Types of the source, and what a replica may have in their place.
_TYPES = {
    "INT": ("INT", "BIGINT", "SMALLINT", "INT UNSIGNED"),
    "VARCHAR(20)": ("VARCHAR(20)", "VARCHAR(40)", "VARCHAR(5)", "TEXT"),
    "DECIMAL(8,2)": ("DECIMAL(8,2)", "DECIMAL(12,4)"),
}
_VALUES = {
    "INT": st.integers(-(2**31), 2**31 - 1).map(str),
    "VARCHAR(20)": st.text("abé ", max_size=20).map(lambda text: f"'{text}'"),
    "DECIMAL(8,2)": st.integers(-99999999, 99999999).map(lambda number: f"{number / 100:.2f}"),
}
_KEYS = ("PRIMARY KEY (id)", "UNIQUE (id)", "KEY (id)", "")
_CONVERSIONS = ("", "ALL_NON_LOSSY", "ALL_LOSSY,ALL_NON_LOSSY")


@dataclass(frozen=True, slots=True)
class ReplayedLog:
    """A log, the SQL text of the replica's tables, its variables, and its state (with its error) at the end."""

    log: Log
    onto: str
    settings: dict[str, str]
    state: State


@st.composite
def replayed_logs(draw: st.DrawFn, line: str = "mysql-9.7") -> ReplayedLog:
    """A log of a table ``d.t`` whose definition on a replica of the line may be another one."""
    types = draw(st.lists(st.sampled_from(sorted(_TYPES)), min_size=1, max_size=3))
    theirs = [draw(st.sampled_from(_TYPES[name])) for name in types]
    keys = draw(st.sampled_from(_KEYS)), draw(st.sampled_from(_KEYS))
    rows = [
        ", ".join([str(number), *(draw(st.one_of(st.just("NULL"), _VALUES[name])) for name in types)])
        for number in range(draw(st.integers(1, 3)))
    ]
    source = _definition(types, keys[0], "")
    target = _definition(theirs, keys[1], draw(st.sampled_from(("", ", more INT DEFAULT 5"))))
    changes = [f"UPDATE d.t SET c0 = {draw(_VALUES[types[0]])} WHERE id = 0", "DELETE FROM d.t WHERE id = 1"]
    inserts = [f"INSERT INTO d.t VALUES ({row})" for row in rows]
    head = f"-- forge: server: {line}\n-- forge: session: {{row_image: {draw(st.sampled_from(('full', 'minimal')))}}}\n"
    log = build(base_scenario(head + ";\n".join(["CREATE DATABASE d", source, *inserts, *changes]) + ";\n"))
    onto = f"-- forge: server: {line}\nCREATE DATABASE d;\n{target};\n"
    mode = draw(st.sampled_from(("STRICT", "IDEMPOTENT")))
    settings = {"replica_type_conversions": draw(st.sampled_from(_CONVERSIONS)), "replica_exec_mode": mode}
    try:
        return ReplayedLog(log, onto, settings, replay(log, onto=onto, settings=settings, rows_only=True))
    except UnsupportedError:
        raise UnsatisfiedAssumption from None


def _definition(types: list[str], key: str, more: str) -> str:
    columns = ", ".join(f"c{number} {name}" for number, name in enumerate(types))
    return f"CREATE TABLE d.t (id INT NOT NULL, {columns}{more}{', ' + key if key else ''})"
