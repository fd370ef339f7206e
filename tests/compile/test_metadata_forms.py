"""Optional metadata in other forms than the server's: what our reader makes of each is what its verdict says."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.binlog import read_events, write_binlog
from forge.binlog.listing import assemble, listing_text
from forge.compile import compile_plan
from forge.decode.decode import canonical_events, canonical_rows
from forge.errors import FormatError, ScenarioError
from forge.events.table_map import TableMap
from forge.plan.metadata_faults import FAULTS
from forge.plan.metadata_forms import MetadataForms, PackedSizes
from forge.plan.session import Session
from forge.render.schema_of import schemas_of
from forge.scenario import Scenario, expand, insert, plan

DOCS = Path(__file__).parents[2] / "docs" / "metadata.md"
FAMILIES = Path(__file__).parents[2] / "corpora" / "scenarios" / "metadata"
#: The only fault that a table with all kinds of columns cannot have.
NO_COLUMNS = "record_without_columns"
VECTORS = "v VECTOR(3), w VECTOR(2), "
TABLE = (
    "CREATE TABLE f.t (id INT, u INT UNSIGNED NOT NULL, a VARCHAR(9) CHARACTER SET latin1, b CHAR(4), c TEXT,"
    " d VARBINARY(5), e ENUM('x','y') CHARACTER SET latin1, f ENUM('p','é'), s SET('m','n') CHARACTER SET latin1,"
    " n TINYINT UNSIGNED INVISIBLE, {vectors}g POINT, h GEOMETRY, PRIMARY KEY (u)) CHARACTER SET utf8mb4"
)
ROW = {"id": -1, "u": 4294967295, "a": "é", "b": "é", "c": "日", "d": {"hex": "00ff"}, "e": "y", "f": "é", "s": "m,n"}


def scenario(forms: MetadataForms, *, server: str = "mysql-9.7", **more: Any) -> Scenario:
    vectors = VECTORS if server == "mysql-9.7" else ""
    row = {**ROW, "n": 255, "g": "POINT(1 2)"} | ({"v": [1, 2, 3]} if vectors else {})
    return Scenario(
        scenario="t",
        server=server,
        session=Session(row_metadata="full", metadata=forms),
        tables=[TABLE.format(vectors=vectors)],
        **more,
    ).transaction(insert("f.t", row, {"u": 1}))


def made(forms: MetadataForms, server: str = "mysql-9.7") -> bytes:
    return write_binlog(compile_plan(plan(scenario(forms, server=server))))


def rows_of(data: bytes) -> list[Any]:
    return [change.after and tuple(cell.raw for cell in change.after) for change in canonical_rows(data)]


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if fault.strict])
def test_a_fault_that_leaves_only_guesses_is_refused_with_phase_rule_and_offset(fault: str) -> None:
    data = made(MetadataForms(fault=fault))
    (mapped,) = (placed for placed in read_events(data) if isinstance(placed.event.body, TableMap))
    for reader in (canonical_events, schemas_of):
        with pytest.raises(FormatError) as caught:
            list(reader(data))
        assert (caught.value.phase, caught.value.event_index) == ("metadata", mapped.index)
        assert caught.value.rule
        assert caught.value.offset is not None
        assert mapped.offset + 19 < caught.value.offset < mapped.offset + len(mapped.raw)


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if not fault.strict and name != NO_COLUMNS])
def test_a_fault_with_one_meaning_decodes_to_the_rows_of_the_table_without_it(fault: str) -> None:
    assert rows_of(made(MetadataForms(fault=fault))) == rows_of(made(MetadataForms()))


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
@pytest.mark.parametrize("fault", list(FAULTS))
def test_the_listing_of_a_fault_assembles_to_the_same_bytes(fault: str, server: str) -> None:
    try:
        data = made(MetadataForms(fault=fault), server)
    except ScenarioError as error:
        # MariaDB has no visibility and no vector_dimensions, and this fault needs a table without geometry columns.
        assert "has no v" in error.problem or fault == NO_COLUMNS
        return
    assert assemble("".join(listing_text(data))) == data


def test_a_listing_shows_the_rest_of_a_block_as_bytes_and_records_with_long_lengths_by_number() -> None:
    cut = "".join(listing_text(made(MetadataForms(fault="record_type_only"))))
    assert re.search(r"metadata_tail: ['\"]01['\"]", cut)
    assert "column_name" in cut
    long = "".join(listing_text(made(MetadataForms(lengths=PackedSizes(record=3)))))
    assert "- - 1\n  - '01100000'\n  - 3\n" in long


@pytest.mark.slow
@pytest.mark.parametrize("family", ["faults", "geometry-faults", "vector-faults", "encodings", "forms"])
def test_every_case_of_the_shipped_families_reads_as_its_verdict_says(family: str) -> None:
    path = FAMILIES / f"{family}.yaml"
    for case in expand(path.read_text("utf-8"), file=path.name):
        if case.scenario.server != ("mariadb-11.8" if family == "faults" else "mysql-9.7"):
            continue
        data = write_binlog(compile_plan(plan(case.scenario)))
        fault = FAULTS.get(case.scenario.session.metadata.fault or "")
        try:
            assert sum(1 for _ in canonical_events(data))
            stopped = None
        except FormatError as error:
            stopped = error.phase
        assert stopped == ("metadata" if fault is not None and fault.strict else None), case.name


@pytest.mark.parametrize(
    ("forms", "verdict"),
    [
        ({}, "accept"),
        ({"charset": "column", "order": "reversed", "lengths": {"record": 9}, "omit": ["column_name"]}, "accept"),
        ({"add": [{"type": 14, "hex": "00"}]}, "accept"),
        ({"add": [{"type": 0}]}, "may"),
        ({"charset": "both"}, "may"),
        ({"repeat": ["visibility"]}, "may"),
        ({"repeat": ["visibility"], "fault": "dimensions_missing"}, "reject"),
        ({"fault": "signedness_long"}, "may"),
        ({"add": [{"type": 1, "hex": "00"}]}, None),
        ({"append": "00"}, None),
        ({"replace": {"signedness": "00"}}, None),
    ],
)
def test_the_gravest_of_what_is_forced_gives_the_verdict(forms: dict[str, Any], verdict: str | None) -> None:
    assert msgspec.convert(forms, MetadataForms).verdict == verdict


def test_a_scenario_has_the_verdict_of_what_it_forces_and_cannot_declare_another() -> None:
    assert scenario(MetadataForms(fault="dimensions_missing")).expected == ("reject", "metadata")
    assert scenario(MetadataForms(fault="signedness_long")).expected == ("may", "metadata")
    assert scenario(MetadataForms()).expected == ("accept", None)
    with pytest.raises(ValueError, match="implies the verdict may, not accept"):
        scenario(MetadataForms(fault="key_column_twice"), verdict="accept")
    with pytest.raises(ValueError, match="`verdict` must say"):
        scenario(MetadataForms(append="00"))
    assert scenario(MetadataForms(append="00"), verdict="may").expected == ("may", None)


def test_what_cannot_be_forced_says_why() -> None:
    with pytest.raises(ValueError, match="did you mean 'name_missing'"):
        MetadataForms(fault="names_missing")
    with pytest.raises(ValueError, match="not hexadecimal"):
        MetadataForms(append="zz")
    bare = Scenario(
        scenario="t",
        session=Session(row_metadata="full", metadata=MetadataForms(fault="set_list_missing")),
        tables=["CREATE TABLE d.t (a INT)"],
    ).transaction(insert("d.t", {"a": 1}))
    with pytest.raises(ScenarioError, match="is impossible here: this table has no set_members record"):
        compile_plan(plan(bare))


def test_forms_are_those_of_the_tables_named() -> None:
    both = Scenario(
        scenario="t",
        session=Session(row_metadata="full", metadata=MetadataForms(tables=["d.t"], omit=["column_name"])),
        tables=["CREATE TABLE d.t (a INT)", "CREATE TABLE d.u (a INT)"],
    ).transaction(insert("d.t", {"a": 1}), insert("d.u", {"a": 1}))
    maps = {e.body.table: e.body.records() for e in compile_plan(plan(both)) if isinstance(e.body, TableMap)}
    assert "column_name" not in maps["t"]
    assert maps["u"]["column_name"] == ("a",)


def test_forms_of_a_table_without_rows_are_an_error() -> None:
    empty = Scenario(
        scenario="t", session=Session(metadata=MetadataForms(charset="column")), tables=["CREATE TABLE d.t (a INT)"]
    )
    with pytest.raises(ScenarioError, match="has no effect"):
        compile_plan(plan(empty))
    elsewhere = msgspec.structs.replace(empty, session=Session(metadata=MetadataForms(tables=["d.tt"])))
    with pytest.raises(ScenarioError, match=r"table 'd.tt', but the log has no rows of it; .* did you mean 'd.t'"):
        compile_plan(plan(elsewhere.transaction(insert("d.t", {"a": 1}))))


def test_a_record_of_an_unknown_type_stands_where_it_was_put_and_nothing_is_read_of_it() -> None:
    forms = msgspec.convert({"add": [{"type": 200, "hex": "0101", "at": 1}, {"type": 14}]}, MetadataForms)
    (body,) = (e.body for e in compile_plan(plan(scenario(forms))) if isinstance(e.body, TableMap))
    kinds = [record.type_code for record in body.optional_metadata]
    assert (kinds[1], kinds[-1]) == (200, 14)
    (schema,) = schemas_of(made(forms))
    (plain,) = schemas_of(made(MetadataForms()))
    assert schema.create_table() == plain.create_table()


def test_the_page_has_every_fault_with_its_verdict() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (may|may, strict|reject) \|", DOCS.read_text("utf-8"), re.MULTILINE)
    for row, (name, fault) in zip_longest(rows, FAULTS.items()):
        verdict = "may, strict" if fault.strict and fault.verdict == "may" else fault.verdict
        assert row == (name, fault.description, verdict)


def test_the_page_names_every_field() -> None:
    words = MetadataForms.__struct_encode_fields__
    assert [word for word in words if f"| `{word}`" not in DOCS.read_text("utf-8").replace("`omit`, `", "| `")] == [
        "omit"
    ]
