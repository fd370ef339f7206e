"""Server lines from files: what inherits, what is refused, and how every fact is known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from forge.errors import ScenarioError
from forge.servers import server_line, server_names
from forge.servers.features import Family
from forge.servers.line import SUBJECTS
from forge.servers.loading import complete_line, evidence, load_line, nearest_line, newest_line

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "forge" / "servers" / "lines"
RESOLVED_FILE = Path(__file__).with_name("resolved.json")
#: What the lines say, by fact: pairs of a value and the lines that have it.  ``python tests/servers/test_loading.py``
#: writes the file anew.
RESOLVED = json.loads(RESOLVED_FILE.read_text())

HEIR = 'like = "mysql-9.7"\nserver_version = "9.8.0"\n'


def folder_with(tmp_path: Path, **contents: str) -> Path:
    """The two complete lines, and others by name (an underscore stands for a hyphen, two for a dot)."""
    for name in ("mysql-9.7", "mariadb-10.11"):
        (tmp_path / f"{name}.toml").write_text((LINES / f"{name}.toml").read_text())
    for name, content in contents.items():
        (tmp_path / f"{name.replace('__', '.').replace('_', '-')}.toml").write_text(content)
    return tmp_path


def facts_of(name: str) -> dict[str, Any]:
    line = server_line(name)
    return {
        f"{subject}.{field.name}": json.loads(msgspec.json.encode(getattr(getattr(line, subject), field.name)))
        for subject, record in SUBJECTS.items()
        for field in msgspec.structs.fields(record)
        if field.required
    }


def test_a_change_of_a_line_shows_in_every_line_that_inherits_it() -> None:
    """A fact that a complete line changes is one of all its heirs: that is meant, or it is seen here."""
    resolved = {name: facts_of(name) for _, names in RESOLVED["rows.flags"] for name in names}
    for fact, values in RESOLVED.items():
        for value, names in values:
            assert {name: resolved[name][fact] for name in names} == dict.fromkeys(names, value), fact
    assert set(facts_of("mysql-9.7")) == set(RESOLVED)


def test_a_line_is_as_the_one_that_it_is_like_but_for_what_it_states(tmp_path: Path) -> None:
    stated = HEIR + '[rows]\nflags = { value = 3, evidence = "reference: made up" }\n'
    line = load_line("mysql-9.8", folder_with(tmp_path, mysql_9__8=stated))
    like = server_line("mysql-9.7")
    assert line.rows == msgspec.structs.replace(like.rows, flags=3)
    assert (line.name, line.family, line.release) == ("mysql-9.8", "mysql", (9, 8, 0))
    assert (
        msgspec.structs.replace(
            line, name=like.name, server_version=like.server_version, rows=like.rows, recorded=like.recorded
        )
        == like
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (HEIR + "[rows]\nflag = { value = 3, evidence = 'x' }",
         r"mysql-9\.8\.toml: unknown fact rows\.flag; did you mean 'rows\.flags'\?"),
        (HEIR + "[groups]\ncached_positions = { value = true, evidence = 'x' }",
         r"unknown fact groups\.cached_positions; did you mean 'framing\.cached_positions'\?"),
        (HEIR + "[rows]\nflags = { value = 'none at all', evidence = 'x' }",
         r"mysql-9\.8\.toml: rows\.flags is 'none at all'; expected `int`"),
        (HEIR + "[rows]\nflags = 3",
         r"mysql-9\.8\.toml: rows\.flags is 3; expected { value = \.\.\., evidence = \"\.\.\.\" }"),
        (HEIR + "[rows]\nversion = { value = 3, evidence = 'x' }", r"mysql-9\.8\.toml: rows\.version is 3"),
        (HEIR + "[rows]\nflags = { value = 3 }", r"mysql-9\.8\.toml: rows\.flags is {'value': 3}; expected"),
        (HEIR + "[rows]\nflags = { value = 3, evidence = ' ' }", r"mysql-9\.8\.toml: rows\.flags has no evidence"),
        (HEIR + "[row]\nflags = 3", r"mysql-9\.8\.toml: unknown key 'row'; .*did you mean 'rows'\?"),
        (HEIR + "rows = 3", r"mysql-9\.8\.toml: rows is 3; expected a table of facts"),
        (HEIR + "rows =", r"mysql-9\.8\.toml: this is no TOML: "),
        ('like = "mysql-9.6"', r"mysql-9\.8\.toml: unknown server line 'mysql-9\.6'; .*did you mean 'mysql-9\.\d'\?"),
        ('like = "mysql-9.8"', r"mysql-9\.8\.toml: the line is like itself: mysql-9\.8 -> mysql-9\.8"),
        ('like = 3', r"mysql-9\.8\.toml: like is 3; expected text"),
        ('family = "mysql"\nserver_version = "9.8.0"', r"mysql-9\.8\.toml: the fact settings\.\w+ is missing"),
        (HEIR + 'family = "drizzle"', r"mysql-9\.8\.toml: unknown family 'drizzle'; expected mysql or mariadb"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_line_is_refused_with_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence) as caught:
        load_line("mysql-9.8", folder_with(tmp_path, mysql_9__8=content))
    assert "\n" not in str(caught.value)


def test_lines_that_are_like_each_other_are_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, mysql_9__8='like = "mysql-9.9"', mysql_9__9='like = "mysql-9.8"')
    with pytest.raises(ScenarioError, match=r"like itself: mysql-9\.8 -> mysql-9\.9 -> mysql-9\.8"):
        load_line("mysql-9.8", folder)


def test_a_line_that_nobody_knows_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match=r"unknown server line 'mysql-8\.9'; .* did you mean 'mysql-8\.\d'\?"):
        server_line("mysql-8.9")


def test_the_complete_lines_inherit_from_no_other() -> None:
    for family in ("mysql", "mariadb"):
        line = complete_line(family)
        assert line.family == family
        assert {source.line for source in evidence(line.name).values()} == {line.name}


_SOURCE_FILE = re.compile(r"(?:[a-z_]+/)*[a-z_]+\.(?:cc|h)\b")


def _is_evidence(source: str) -> bool:
    """Whether the source is of a kind that docs/add-a-server-line.md names, and is there if it is ours."""
    if source.startswith("corpora/"):
        return (ROOT / source).is_dir()
    if source.startswith("docs/"):
        page, _, section = source.partition("#")
        return section in _sections(ROOT / page) if section else (ROOT / page).is_file()
    return source.startswith(("recorded: ", "reference: ", "absent: ", "WL#", "MDEV-")) or bool(
        _SOURCE_FILE.match(source)
    )


def _sections(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_what_was_recorded_on_a_line_is_not_inherited(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, mysql_9__8=HEIR, mysql_9__9='like = "mysql-9.8"\nrecorded = "9.9.0"')
    assert [load_line(name, folder).recorded for name in ("mysql-9.8", "mysql-9.9")] == [None, "9.9.0"]


def test_the_version_of_a_recorded_line_is_that_of_the_server_that_recorded_it() -> None:
    recorded = {name: server_line(name) for name in server_names() if server_line(name).recorded is not None}
    assert {name: line.recorded for name, line in recorded.items()} == {
        name: ".".join(map(str, line.release)) for name, line in recorded.items()
    }


@pytest.mark.parametrize("name", server_names())
def test_every_fact_has_evidence_that_can_be_looked_up(name: str) -> None:
    sources = evidence(name)
    assert set(sources) == set(facts_of(name))
    assert {fact: source.source for fact, source in sources.items() if not _is_evidence(source.source)} == {}


@pytest.mark.parametrize("name", [name for name in server_names() if name not in ("mysql-9.7", "mariadb-10.11")])
def test_a_line_says_who_states_what_it_inherits(name: str) -> None:
    assert {source.line for source in evidence(name).values()} - {name}


@pytest.mark.parametrize("family", get_args(Family))
def test_the_newest_line_of_a_family_has_the_last_release(family: Family) -> None:
    of_family = [line for line in map(server_line, server_names()) if line.family == family]
    assert newest_line(family).release == max(line.release for line in of_family)
    assert newest_line(family).family == family


def resolved_text() -> str:
    """The file as it has to be: a value and its lines in each row, recorded lines and those that were there."""
    names = {name for _, names in RESOLVED["rows.flags"] for name in names}
    names |= {name for name in server_names() if server_line(name).recorded is not None}
    resolved = {name: facts_of(name) for name in sorted(names)}
    found: dict[str, list[tuple[Any, list[str]]]] = {}
    for name, facts in resolved.items():
        for fact, value in facts.items():
            pairs = found.setdefault(fact, [])
            # JSON tells 1 from true.
            same = next((names for one, names in pairs if json.dumps(one) == json.dumps(value)), None)
            if same is None:
                pairs.append((value, [name]))
            else:
                same.append(name)
    rows = (
        f"  {json.dumps(fact)}: [\n" + ",\n".join(f"    {json.dumps(pair)}" for pair in found[fact]) + "\n  ]"
        for fact in sorted(found)
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("mysql-8.0.36", "mysql-8.0.32"),
        ("mysql-9.8", "mysql-9.7"),
        ("mysql-5.77", "mysql-5.7"),
        ("mysql-1.0", "mysql-3.23"),
        ("mariadb-10.12", "mariadb-10.11"),
        ("mariadb-11", "mariadb-10.11"),
        ("MariaDB 11.7", "mariadb-11.4"),
        ("8.4", "mysql-8.4"),
        ("MySQL-8.4", "mysql-8.4"),
        ("10.5.29", "mariadb-10.5"),
        ("mysql-8.0-percon", "mysql-8.0-percona"),
        ("postgres", None),
    ],
)
def test_a_line_that_is_not_there_has_a_nearest_one(said: str, meant: str | None) -> None:
    assert nearest_line(said, server_names()) == meant


if __name__ == "__main__":
    RESOLVED_FILE.write_text(resolved_text())
