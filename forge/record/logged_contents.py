"""What the tables of a plan hold at the end, as a file in row format: statement format logs no rows to look at."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.compile.facts import Facts
from forge.compile.plan import Plan
from forge.compile.statements import RowChange, RowsStatement
from forge.compile.transactions import Transaction


def contents_logged(plan: Plan) -> bytes:
    """A file that inserts the rows of every table of the plan."""
    session = msgspec.structs.replace(
        plan.session, binlog_format="row", row_image="full", compression=False, max_binlog_size=None, facts=Facts()
    )
    groups = tuple(
        Transaction((RowsStatement("insert", plan.tables[name], tuple(RowChange(None, row) for row in rows), ""),), "")
        for name, rows in plan.contents.items()
        if rows
    )
    return write_binlog(compile_plan(replace(plan, session=session, groups=groups, file_steps=())))
