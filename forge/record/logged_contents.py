"""What the tables of a plan hold at the end, as a file in row format: statement format logs no rows to look at."""

from __future__ import annotations

from dataclasses import replace

from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.plan.changes import RowChange
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction


def contents_logged(plan: Plan) -> bytes:
    """A file that inserts the rows of every table of the plan."""
    plain = Session(
        row_metadata=plan.session.row_metadata, mysql56_temporal_format=plan.session.mysql56_temporal_format
    )
    groups = tuple(
        Transaction((RowsStatement("insert", plan.tables[name], tuple(RowChange(None, row) for row in rows)),), "")
        for name, rows in plan.contents.items()
        if rows
    )
    return write_binlog(compile_plan(replace(plan, session=plain, groups=groups, file_steps=(), event_steps=())))
