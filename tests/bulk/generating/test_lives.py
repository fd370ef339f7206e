"""When rows live: any range of moments gives its part of the whole, and the end is what all changes lead to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np

from forge.bulk.generating.cell_sources import drawn_numbers
from forge.bulk.generating.draws import parents_of, skewed_ranks, zipf_table
from forge.bulk.generating.lives import DELETE, INSERT, SPAN, UPDATE, changes_between, changes_of, owners_of, states_of
from forge.bulk.generating.planned_tables import PlannedTable, planned_tables
from forge.bulk.generating.volume_calendar import calendar_of
from forge.plan.tables import Table
from forge.scenario import Scenario, counter_hash, plan
from forge.scenario.volume_model import Volume, VolumeSizes, VolumeTable, VolumeUpdates

pytestmark = pytest.mark.slow


def definitions() -> list[Table]:
    texts = [
        "CREATE TABLE s.customers (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE s.orders (id INT PRIMARY KEY, customer_id INT, v INT)",
        "CREATE TABLE s.items (order_id INT, line INT, v INT, PRIMARY KEY (order_id, line))",
    ]
    return list(plan(Scenario("s", tables=list(texts))).tables.values())


TABLES = definitions()
MEANS = st.sampled_from([0.0, 0.3, 2.0, 9.0])


@st.composite
def volumes(draw: st.DrawFn) -> list[PlannedTable]:
    def table(**more: object) -> VolumeTable:
        return VolumeTable(
            share=draw(st.sampled_from([0.3, 1, 4])),
            updates=VolumeUpdates(mean=draw(MEANS)),
            **more,  # type: ignore[arg-type]
        )

    def root() -> VolumeTable:
        sizes = draw(st.sampled_from([1, 5, VolumeSizes(mean=1), VolumeSizes(mean=3, max=7)]))
        group = draw(st.sampled_from([1, 3]))
        return table(
            deletes=draw(st.sampled_from([0, 0.2, 1])), rows_per_transaction=sizes, changes_per_transaction=group
        )

    declared = {"s.customers": root(), "s.orders": root(), "s.items": table(inside="s.orders")}
    volume = Volume(tables=declared, lifetime=draw(st.sampled_from([0.001, 0.1, 1.0])))
    return planned_tables(TABLES, [()] * len(TABLES), volume, draw(st.integers(3, 400)), draw(st.integers(0, 5)))


def all_changes(table: PlannedTable, ends: Sequence[int]) -> list[tuple[int, ...]]:
    made = [changes_between(table.lives, begin, end) for begin, end in pairwise(ends)]
    return sorted(change[:-1] for each in made for change in each.tolist())


@given(volumes(), st.lists(st.integers(0, SPAN), max_size=6))
@settings(max_examples=60, deadline=None)
def test_ranges_of_moments_that_follow_each_other_have_all_changes_once(
    tables: list[PlannedTable], cuts: list[int]
) -> None:
    for table in tables:
        assert all_changes(table, [0, *sorted(cuts), SPAN]) == all_changes(table, [0, SPAN])


@given(volumes())
@settings(max_examples=60, deadline=None)
def test_rows_are_inserted_once_then_updated_in_order_then_deleted(tables: list[PlannedTable]) -> None:
    _, orders, items = tables
    for table in tables:
        versions: dict[int, int] = {}
        gone: set[int] = set()
        inserted: Counter[int] = Counter()
        owner = tables[table.owner] if table.owner is not None else table
        steps = [(*change, True) for change in all_changes(table, [0, SPAN])]
        if owner is not table:
            steps += [(*change, False) for change in all_changes(owner, [0, SPAN]) if change[1] != UPDATE]
        for _moment, kind, first, count, version, own in sorted(steps, key=lambda step: step[0]):
            rows = range(first, first + count)
            if not own:
                begin, end = items.lives.inside_of(np.array([first, first + count])).tolist()
                rows = range(begin, end)
            for row in rows:
                if kind == INSERT:
                    inserted[row] += 1
                    versions[row] = 0
                elif kind == UPDATE:
                    assert row not in gone
                    assert versions[row] == version - 1
                    versions[row] = version
                else:
                    assert own is False or versions[row] == version
                    gone.add(row)
                    assert kind == DELETE
        assert inserted == Counter(range(table.lives.rows))
        expected = [-1 if row in gone else versions[row] for row in range(table.lives.rows)]
        assert states_of(*table.lives.arguments, 0, table.lives.rows, SPAN).tolist() == expected
    assert orders.inside == (items.index,)


@given(volumes())
@settings(max_examples=60, deadline=None)
def test_rows_inside_others_are_in_the_order_of_their_owners(tables: list[PlannedTable]) -> None:
    _, orders, items = tables
    rows = np.arange(items.lives.rows)
    owners = np.asarray(owners_of(*items.lives.arguments, rows))
    firsts = items.lives.inside_of(np.arange(orders.lives.rows + 1))
    assert firsts.tolist() == np.searchsorted(owners, np.arange(orders.lives.rows + 1)).tolist()


@given(volumes(), st.sampled_from([None, 0.7, 2.0]))
@settings(max_examples=60, deadline=None)
def test_a_row_refers_to_one_that_is_there_before_it_and_stays(tables: list[PlannedTable], zipf: float | None) -> None:
    customers, orders, _ = tables
    parents = parents_of(orders.lives, customers.lives, np.uint64(7), zipf, np.arange(orders.lives.rows))
    assert parents.min() >= 0
    assert states_of(*customers.lives.arguments, 0, customers.lives.rows, SPAN)[parents].min() >= 0
    nothing = np.zeros(orders.lives.rows, np.int64)
    there = changes_of(*customers.lives.arguments, parents, nothing)
    needed = changes_of(*orders.lives.arguments, np.arange(orders.lives.rows), nothing)
    assert (there < needed).all()


@given(st.integers(0, (1 << 64) - 1), st.lists(st.integers(0, 1 << 40), min_size=1))
@settings(max_examples=30, deadline=None)
def test_a_kernel_draws_what_the_reference_path_draws(key: int, counters: list[int]) -> None:
    drawn = drawn_numbers(np.uint64(key), np.array(counters, np.int64))
    assert drawn.tolist() == [counter_hash.drawn(key, counter) for counter in counters]


def test_zipf_ranks_are_as_likely_as_their_weights() -> None:
    ranks = skewed_ranks(np.uint64(3), np.arange(200_000), *zipf_table(1.0, 10_000))
    counts = np.bincount(ranks, minlength=10_000)
    weights = 1 / np.arange(1, 10_001)
    expected = weights / weights.sum() * 200_000
    assert np.abs(counts[:20] / expected[:20] - 1).max() < 0.1
    assert abs(counts[1000:].sum() / expected[1000:].sum() - 1) < 0.05
    assert ranks.max() < 10_000


@pytest.mark.parametrize("rate", ["even", "daily", [0.0] * 12 + [1.0] * 12])
def test_times_never_go_back_and_stay_in_their_days(rate: object) -> None:
    volume = Volume(rate=rate, days=2.5)  # type: ignore[arg-type]
    times = calendar_of(volume).times(np.linspace(0, SPAN - 1, 5000).astype(np.int64))
    assert (np.diff(times) >= 0).all()
    start = 1704153600_000000
    assert start <= times[0]
    assert times[-1] <= start + int(2.5 * 86400_000000)
    if isinstance(rate, list):
        assert set((times // 3_600_000_000 % 24).tolist()) <= set(range(12, 24)) | {0}
