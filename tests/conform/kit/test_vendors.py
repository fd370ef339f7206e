"""What the vendors' own programs did with each case, beside its verdict."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("pyarrow")

from forge.conform.kit.registry import read_registry
from forge.conform.kit.vendors import OfCase, VendorsDid, read_vendors, vendors_path
from forge.conform.kit.withheld import withheld_cases
from forge.errors import ScenarioError
from tests.long.vendors.listed import refusals, vendors_text

ROWS = list(read_vendors().values())


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cases, by a regular expression over their names, whose verdict is right although vendors do otherwise, and why.

    ``says`` is what a vendor's program says then.
    """

    case: str
    why: str
    says: str = ""

    def is_about(self, row: OfCase, refusal: str = "") -> bool:
        return bool(re.search(self.case, row.case) and re.search(self.says, refusal))


LISTED = msgspec.convert(tomllib.loads(vendors_path().with_suffix(".toml").read_text("utf-8")), dict[str, list[Known]])


def test_the_rows_are_of_cases_that_have_an_id_and_are_not_withheld() -> None:
    ids = {row.case for row in read_registry().rows}
    assert [row.case for row in ROWS if row.case not in ids] == [], "make verdicts"
    assert withheld_cases().isdisjoint(row.case for row in ROWS)


def test_a_case_is_to_be_rejected_only_where_its_vendor_refuses_it_or_its_definition_leaves_no_choice() -> None:
    silent = [row for row in ROWS if row.verdict == "reject" and not refusals(row.did, row.server)]
    assert [row.case for row in silent if not any(one.is_about(row) for one in LISTED["definition"])] == []


def test_no_case_that_is_to_be_accepted_is_refused_by_its_vendor_without_a_reason() -> None:
    refused = [(row, word) for row in ROWS if row.verdict == "accept" for word in refusals(row.did, row.server)]
    assert [
        f"{row.case}: {word}" for row, word in refused if not any(one.is_about(row, word) for one in LISTED["refused"])
    ] == []


def test_a_definition_is_named_for_cases_that_are_to_be_rejected_alone() -> None:
    rejected = [row for row in ROWS if row.verdict == "reject"]
    assert [one.case for one in LISTED["definition"] if not any(one.is_about(row) for row in rejected)] == []


def test_the_programs_of_both_families_are_asked_about_old_row_events() -> None:
    did = VendorsDid(mysqlbinlog="stops: a", mysql="applies", mariadb_binlog="says: b", mariadb="applies")
    assert refusals(did, "mysql-5.5") == ["stops: a", "says: b"]
    assert refusals(did, "mysql-9.7") == ["stops: a"]
    assert refusals(did, "mariadb-11.8") == ["says: b"]


def test_the_list_is_read_as_it_is_written(tmp_path: Path) -> None:
    did = VendorsDid(mysqlbinlog="reads", mysql="stops: 1032")
    row = OfCase(case="a[server=mysql-9.7]", server="mysql-9.7", verdict="may", digest="0" * 16, did=did)
    (tmp_path / "vendors.tsv").write_text(vendors_text([row]))
    assert read_vendors(tmp_path / "vendors.tsv") == {row.case: row}
    assert read_vendors(tmp_path / "none.tsv") == {}
    (tmp_path / "vendors.tsv").write_text(vendors_text([row]).replace("may", "perhaps"))
    with pytest.raises(ScenarioError, match="the verdict is 'perhaps'"):
        read_vendors(tmp_path / "vendors.tsv")
