"""Rules for the project's files that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "forge").rglob("*.py"))

#: Pages that no user has.  Put together here, so that this file does not name them.
_INNER_PAGES = re.compile("|".join([r"\bro" + r"ws\.md\b", r"\beve" + r"nts\.md\b"]).encode())
#: ``*+``, ``++``, ``?+``, ``{2}+`` and ``(?>``; not ``/*+``, which opens an optimizer hint.
_POSSESSIVE = re.compile(r"(?<![\\/])\*\+|(?<!\\)(?:\+\+|\?\+|\}\+)|\(\?>")


@cache
def tracked_files() -> list[str]:
    """Names of the project's files: git's list, or all that an unpacked source archive has."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    folders = [ROOT / name for name in ("forge", "templates", "corpora", "tests", "docs", ".ci")]
    return [str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()]


def test_the_top_level_has_only_what_belongs_there() -> None:
    folders = {".ci", ".github", "corpora", "docs", "forge", "templates", "tests"}
    files = {
        ".gitignore", "action.yml", "CHANGELOG.md", "Containerfile", "CONTRIBUTING.md", "LICENSE", "Makefile",
        "README.md", "SECURITY.md", "hatch_build.py", "mkdocs.yml", "pyproject.toml", "requirements-test.lock",
        "requirements.lock",
    }  # fmt: skip
    assert {Path(name).parts[0] for name in tracked_files()} - folders - files == set()


def test_no_tracked_file_is_large() -> None:
    sizes = {name: (ROOT / name).stat().st_size for name in tracked_files()}
    assert {name: size for name, size in sizes.items() if size > 2 << 20} == {}


def files_with(pattern: re.Pattern[bytes]) -> list[str]:
    """Names of the tracked text files in which ``pattern`` is found."""
    contents = ((name, (ROOT / name).read_bytes()) for name in tracked_files())
    return [name for name, data in contents if b"\0" not in data and pattern.search(data)]


def test_no_tracked_file_names_a_home_folder_or_a_registry() -> None:
    # Put together here, so that this file does not name them.
    words = ["/ro" + "ot/", "/ho" + "me/[a-z]", "index" + "-url", "file" + "s.pythonhosted", "pypi" + r"\.org"]
    assert files_with(re.compile("|".join(words).encode())) == []


def test_no_tracked_file_has_both_sides_of_a_conflict() -> None:
    assert files_with(re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)) == []


def test_no_tracked_file_cites_a_page_that_users_do_not_have() -> None:
    assert files_with(_INNER_PAGES) == []


def test_no_folder_has_more_than_25_modules_beside_each_other_but_the_one_with_a_module_per_event() -> None:
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in MODULES if path.name != "__init__.py")
    assert {folder: count for folder, count in folders.items() if count > 25} == {
        "forge/events": folders["forge/events"]
    }


def test_the_declarations_of_a_scenario_stay_small() -> None:
    """Scripts of SQL are no declarations."""
    paths = [path for path in (ROOT / "forge" / "scenario").rglob("*.py") if path.parent.name != "script"]
    assert sum(len(path.read_text().splitlines()) for path in paths) < 3000


def _patterns_that_old_pythons_get_wrong(source: str) -> Iterator[str]:
    """String constants with a possessive quantifier or an atomic group."""
    if not _POSSESSIVE.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if _POSSESSIVE.search(text):
                yield text


def test_no_pattern_is_possessive_or_atomic() -> None:
    """``re`` gets these wrong before Python 3.11.5: they end in the middle of what they repeat."""
    offenders = [
        f"{path.relative_to(ROOT)}: {text!r}"
        for path in MODULES
        for text in _patterns_that_old_pythons_get_wrong(path.read_text())
    ]
    assert offenders == []


def test_a_possessive_or_atomic_pattern_is_recognised() -> None:
    patterns = ["(?:ab)*+", "a++", "a?+", "a{2}+", "(?>a|ab)", r"\++", r"\*+", "/*+ hint */", "a+"]
    wrong = [text for text in patterns if list(_patterns_that_old_pythons_get_wrong(repr(text)))]
    assert wrong == ["(?:ab)*+", "a++", "a?+", "a{2}+", "(?>a|ab)"]
