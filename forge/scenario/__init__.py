"""What a user declares, in YAML, CREATE TABLE text or Python, and what it means for tables and their rows.

In Python::

    from forge.scenario import Scenario, delete, insert, plan, update

    scenario = (
        Scenario("first-day", tables=["CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60), qty INT)"])
        .transaction(insert("shop.orders", {"id": 1, "who": "Ann"}, {"id": 2, "who": {"faker": "name"}}))
        .transaction(update("shop.orders", where={"id": 1}, set={"qty": 3}), delete("shop.orders", where={"id": 2}))
    )
    plan(scenario).contents
"""

from forge.engine.requests.rows import LoadData
from forge.engine.requests.statements import PlacedEvent, Statement
from forge.engine.requests.transactions import Transaction, Xa, XaName
from forge.plan.facts import Facts
from forge.plan.metadata_forms import AddedRecord, MetadataForms, PackedSizes
from forge.plan.session import Session
from forge.scenario.build import (
    change_session,
    ddl,
    delete,
    event,
    flush_binary_logs,
    insert,
    insert_many,
    load_data,
    logged,
    release_savepoint,
    replace,
    restart,
    rollback_to,
    savepoint,
    update,
)
from forge.scenario.load import iterate_cases, load_cases, load_scenario
from forge.scenario.matrix import Case, expand, parse_settings
from forge.scenario.model import Scenario
from forge.scenario.planning import plan
from forge.scenario.schema import json_schema
from forge.scenario.table_model import ColumnDeclaration, KeyDeclaration, TableDeclaration

__all__ = [
    "AddedRecord",
    "Case",
    "ColumnDeclaration",
    "Facts",
    "KeyDeclaration",
    "LoadData",
    "MetadataForms",
    "PackedSizes",
    "PlacedEvent",
    "Scenario",
    "Session",
    "Statement",
    "TableDeclaration",
    "Transaction",
    "Xa",
    "XaName",
    "change_session",
    "ddl",
    "delete",
    "event",
    "expand",
    "flush_binary_logs",
    "insert",
    "insert_many",
    "iterate_cases",
    "json_schema",
    "load_cases",
    "load_data",
    "load_scenario",
    "logged",
    "parse_settings",
    "plan",
    "release_savepoint",
    "replace",
    "restart",
    "rollback_to",
    "savepoint",
    "update",
]
