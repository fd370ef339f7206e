"""The lock files: everything declared, each file with its hash, and where they come from is the user's choice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def locked(lock: str) -> dict[str, str]:
    """The version of each package that a lock file names."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))


@pytest.mark.parametrize(("lock", "least"), [("requirements.lock", 40), ("requirements-test.lock", 20)])
def test_a_lock_names_no_registry_and_has_a_hash_for_everything(lock: str, least: int) -> None:
    text = (ROOT / lock).read_text()
    assert re.findall(r"//|--(?!hash=sha256:)[a-z-]+|\s@\s", text) == []
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > least
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize(("lock", "extras"), [("requirements.lock", EXTRAS), ("requirements-test.lock", ["test"])])
def test_a_lock_has_every_declared_dependency(lock: str, extras: list[str]) -> None:
    declared = [*PROJECT["dependencies"], *(item for extra in extras for item in EXTRAS[extra])]
    names = {re.split(r"[^\w.-]", item)[0].lower().replace("_", "-") for item in declared}
    assert names - locked(lock).keys() == {PROJECT["name"]} & names


def test_the_small_lock_names_the_same_versions_as_the_whole_one() -> None:
    assert locked("requirements-test.lock").items() - locked("requirements.lock").items() == set()
