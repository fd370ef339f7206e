"""A volume's log is what ``forge build`` makes of the same statements, byte for byte."""

from __future__ import annotations

import re
from itertools import groupby, product
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.binlog import read_events
from forge.bulk.generating.generate import generate
from forge.bulk.generating.setup import requested
from forge.compile import compile_files, write_files
from forge.events.gtid import Gtid
from forge.events.mariadb_gtid import MariadbGtid
from forge.scenario import Facts, Scenario, Statement, Transaction, delete, insert, plan, update
from forge.scenario.convert import checked
from tests.bulk.generating.shop import KEYS, Row, changes, logs, shop
from tests.recorded import every

pytestmark = pytest.mark.slow


def statements_of(rows: list[tuple[str, Row]], updated: dict[str, list[str]]) -> list[Statement]:
    """The statements of one transaction."""
    made = []
    for (table, operation), part in groupby(rows, key=lambda row: (row[0], row[1]["_operation"])):
        of_statement = [row for _, row in part]
        first, keys = of_statement[0], KEYS[table]
        if operation == "insert":
            made.append(insert(table, *(row["after"] for row in of_statement)))
        elif operation == "update":
            assert len(of_statement) == 1
            where = {name: first["before"][name] for name in keys}
            made.append(update(table, where=where, set={name: first["after"][name] for name in updated[table]}))
        else:
            # All items of an order go with it.
            made.append(delete(table, where={keys[0]: first["before"][keys[0]]}))
    return made


def compiled(scenario: Scenario, path: Path) -> bytes:
    """What the reference path makes of the statements that the log shows."""
    setup = requested(scenario, ROWS, 1)
    updated = {
        table.name: [column.name for column in table.definition.columns if column.name.lower() in table.updated]
        for table in setup.tables
    }
    transactions: list[Any] = []
    for _, group in groupby(changes([path]), key=lambda row: row[1]["_gtid"]):
        statements = statements_of(list(group), updated)
        transactions.append(Transaction(statements=statements, explicit=len(statements) > 1))
    events = [placed.event for placed in read_events(path.read_bytes())]
    groups = [event for event in events if isinstance(event.body, (Gtid, MariadbGtid))]
    facts = Facts(
        timestamps=[[event.timestamp] for event in groups],
        commit_timestamps=[
            event.body.commit_timestamp[0]
            for event in groups
            if isinstance(event.body, Gtid) and event.body.commit_timestamp is not None
        ],
        opened=events[0].timestamp,
        closed=events[-1].timestamp,
    )
    session = msgspec.structs.replace(scenario.session, facts=facts)
    planned = plan(checked(msgspec.structs.replace(scenario, volume=None, transactions=transactions, session=session)))
    [log] = write_files(planned, compile_files(planned))
    return log


ROWS = 150


LINES, IMAGES = ("mysql-9.7", "mysql-8.0", "mariadb-11.8", "mariadb-10.11"), ("full", "minimal", "noblob")
#: Each line with each image and with both keys.
COMBINATIONS = list(product(LINES, IMAGES, ("foreign keys", "references")))


@pytest.mark.parametrize(("line", "image", "keys"), every(5, COMBINATIONS))
def test_the_bytes_are_those_of_the_reference_path(tmp_path: Path, line: str, image: str, keys: str) -> None:
    scenario = shop(**{"server": line, "session.gtid": line.startswith("mysql"), "session.row_image": image})
    if keys == "references":
        # Without foreign keys transactions of different rows may run beside each other.
        tables = [re.sub(r",\s*FOREIGN KEY.*", "", str(table)) for table in scenario.tables]
        scenario = msgspec.structs.replace(scenario, tables=list(tables))
    assert scenario.volume is not None
    # Without the definition that adds a column.
    orders = scenario.volume.tables["shop.orders"]
    customer_id = {"customer_id": orders.columns["customer_id"]}
    declared = scenario.volume.tables | {"shop.orders": msgspec.structs.replace(orders, columns=customer_id)}
    volume = msgspec.structs.replace(scenario.volume, tables=declared, definitions=[], sessions=1)
    scenario = checked(msgspec.structs.replace(scenario, volume=volume))
    # A full image shows which columns the statements set.
    full = msgspec.structs.replace(scenario, session=msgspec.structs.replace(scenario.session, row_image="full"))
    generate(full, tmp_path / "full", rows=ROWS, files=1)
    generate(scenario, tmp_path / "out", rows=ROWS, files=1)
    [shown], [path] = logs(tmp_path / "full"), logs(tmp_path / "out")
    assert path.read_bytes() == compiled(scenario, shown)
