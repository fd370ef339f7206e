"""Rules of the house that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

#: A room imports only from rooms further down (and from the modules beside them that every room may use).
ROOMS = (
    "cli", "spark", "corpus", "testing", "record", "check", "render", "scenario", "engine", "compile", "columnar",
    "plan", "sql", "binlog", "events", "values", "servers", "charsets",
)  # fmt: skip


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / "forge").rglob("*.py")):
        yield path, ast.parse(path.read_text())


def imported(tree: ast.AST, *, top_level_only: bool = False) -> Iterator[str]:
    """Full names of the modules that a module imports; with ``top_level_only``, when it is itself imported."""
    nodes = _top_level(tree) if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _top_level(tree: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(tree, ast.Module)
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield from ast.walk(node) if isinstance(node, (ast.Try, ast.If)) else [node]


def test_only_one_room_imports_spark() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path, tree in modules()
        if (ROOT / "forge" / "spark") not in path.parents
        and any(name.split(".")[0] in ("pyspark", "py4j") for name in imported(tree))
    ]
    assert offenders == []


def test_rooms_import_only_from_rooms_further_down() -> None:
    offenders = []
    for path, tree in modules():
        room = path.relative_to(ROOT / "forge").parts[0]
        if room not in ROOMS:
            continue
        for name in imported(tree):
            words = name.split(".")
            if (
                words[0] == "forge"
                and len(words) > 1
                and words[1] in ROOMS
                and ROOMS.index(words[1]) < ROOMS.index(room)
            ):
                offenders.append(f"{path.relative_to(ROOT)} imports {name}")
    assert offenders == []


def test_the_lock_names_no_registry_and_has_a_hash_for_everything() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert re.findall(r"//|--(?!hash=sha256:)[a-z-]+|\s@\s", lock) == []
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert len(entries) > 40
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_has_every_declared_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        *project["dependencies"],
        *(item for extra in project["optional-dependencies"].values() for item in extra),
    ]
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    names = {re.split(r"[^\w.-]", item)[0].lower().replace("_", "-") for item in declared}
    assert names - locked == set()


def tracked_files() -> list[str]:
    """Names of the project's files: git's list, or all that an unpacked source archive has."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    folders = [ROOT / name for name in ("forge", "templates", "corpora", "tests", "docs", ".ci")]
    return [str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()]


def test_no_tracked_file_names_a_home_folder_or_a_registry() -> None:
    # Put together here, so that this file does not name them.
    words = "|".join(
        ["/ro" + "ot/", "/ho" + "me/[a-z]", "index" + "-url", "file" + "s.pythonhosted", "pypi" + r"\.org"]
    )
    offenders = []
    for name in tracked_files():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data and re.search(words.encode(), data):
            offenders.append(name)
    assert offenders == []


def test_the_wheel_has_the_templates_and_the_corpora(tmp_path: Path) -> None:
    import zipfile

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    for name in ("templates", "corpora"):
        here = {f"forge/_data/{path.relative_to(ROOT)}" for path in (ROOT / name).rglob("*") if path.is_file()}
        assert here
        assert here - packed == set()
    code = "import forge.resources as r; print(r.templates_dir().is_dir(), r.corpora_dir().is_dir(), r.__file__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); {code}"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["True", "True", str(tmp_path / "site/forge/resources.py")]
