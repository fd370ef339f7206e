"""Dependencies of many transactions at once are those of the reference path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np

from forge.bulk.generating.dependencies import DependencyClock
from forge.compile.groups.dependency import Writeset
from forge.plan.changes import RowChange
from forge.plan.effects import ForeignKeyEffects
from forge.plan.grouping.groups import LoggedTransaction
from forge.plan.statements import RowsStatement
from forge.plan.tables import Key, KeyPart, Table, TableColumn
from forge.values.declaration.sqltype import SqlType

pytestmark = pytest.mark.slow

TABLE = Table("s", "t", (TableColumn("id", SqlType("INT")),), (Key("PRIMARY", "primary", (KeyPart(0),)),))

#: Rows that a transaction writes, whether nothing may run beside it, and whether it has rows without a key.
Written = tuple[list[int], bool, bool]


def reference(transaction: Written) -> LoggedTransaction:
    rows, alone, keyless = transaction
    changes = tuple(RowChange(None, (row,)) for row in rows)
    statement = RowsStatement("insert", TABLE, changes, foreign_keys=ForeignKeyEffects(is_parent=alone))
    return LoggedTransaction((statement,), "s", in_block=False, writes=(statement,), keyless=keyless)


@given(
    st.lists(
        st.one_of(
            st.none(),  # a definition
            st.tuples(
                st.lists(st.integers(1, 30), min_size=1, max_size=8),
                st.sampled_from([False] * 7 + [True]),
                st.booleans(),
            ),
        ),
        max_size=60,
    ),
    st.integers(1, 40),
    st.integers(1, 9),
)
@settings(max_examples=200, deadline=None)
def test_each_transaction_depends_on_what_the_reference_says(
    transactions: list[Written | None], limit: int, together: int
) -> None:
    model, clock = Writeset(limit), DependencyClock(limit)
    waiting: list[Written] = []
    expected: list[int] = []
    found: list[int] = []

    def take() -> None:
        if waiting:
            cuts = np.cumsum([0, *(len(rows) for rows, _, _ in waiting)])
            entries = np.array([row for rows, _, _ in waiting for row in rows], np.uint64) << np.uint64(17)
            alone = np.array([alone for _, alone, _ in waiting])
            keyless = np.array([keyless for _, _, keyless in waiting])
            found.extend(clock.next(len(found) + 1, cuts, entries, alone, keyless).tolist())
            waiting.clear()

    for transaction in transactions:
        expected.append(model.next(None if transaction is None else reference(transaction))[0])
        if transaction is None:
            take()
            found.append(len(found))
            clock.restart(len(found))
        else:
            waiting.append(transaction)
            if len(waiting) == together:
                take()
    take()
    assert found == expected
