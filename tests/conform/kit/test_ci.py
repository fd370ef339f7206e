"""A decoder's CI with what a kit has for it: testees to begin with, a workflow, the action, the container file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from forge.conform.forms import FORMS, Forms
from forge.conform.kit.protocol import parse_answer
from forge.resources import templates_dir

ROOT = Path(__file__).parents[3]
HOME = templates_dir() / "kit" / "ci"
#: What each language needs: a toolchain that is not here leaves its test unrun.
NEEDS = {"go": "go", "java": "javac", "node": "node", "python": "python3", "rust": "cargo"}
#: The program `forge` of this checkout.
FORGE = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m forge "$@"\n'


def needed(language: str) -> None:
    if shutil.which(NEEDS[language]) is None:
        pytest.skip(f"THE TESTEE TO BEGIN WITH IN {language.upper()} WAS NOT RUN: {NEEDS[language]} is not here")


def ran(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "conformance/run", *options], cwd=folder, env=os.environ | {"FORGE": str(folder.parent / "forge")},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.fixture
def repository(request: pytest.FixtureRequest, kit: Path, tmp_path: Path) -> Path:
    """A repository into which the files of a language were copied, with an archive of a kit."""
    language: str = request.param
    needed(language)
    folder = tmp_path / "repository"
    shutil.copytree(kit / "ci" / language, folder)
    (tmp_path / "forge").write_text(FORGE)
    (tmp_path / "forge").chmod(0o755)
    archive = shutil.make_archive(str(tmp_path / "kit"), "gztar", kit.parent, kit.name)
    shutil.copy(archive, folder / "conformance")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("repository", NEEDS, indirect=True)
def test_ci_is_red_then_green_by_the_expected_failures_and_red_when_one_is_not_listed(repository: Path) -> None:
    listed = repository / "conformance" / "expected-failures.txt"
    first = ran(repository)
    assert first.returncode == 1, first.stdout + first.stderr
    assert "to be filled in" in first.stdout, first.stdout + first.stderr
    assert ran(repository, "--write-expected-failures", "expected-failures.txt").returncode == 0
    green = ran(repository, "--junit", "results.xml")
    assert green.returncode == 0, green.stdout + green.stderr
    assert (repository / "conformance" / "results.xml").is_file()
    lines = listed.read_text().splitlines(keepends=True)
    listed.write_text("".join(lines[:-1]))
    red = ran(repository)
    assert red.returncode == 1
    assert lines[-1].split()[0] in red.stdout


@pytest.mark.parametrize("language", NEEDS)
def test_a_repository_gets_a_workflow_and_a_testee_of_its_language(language: str, kit: Path) -> None:
    folder = kit / "ci" / language
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "conformance.yml").read_text())
    steps = workflow["jobs"]["conformance"]["steps"]
    assert steps[-1]["run"].split()[:2] == ["sh", "conformance/run"]
    assert {"run", "build", "expected-failures.txt", ".gitignore"} <= {
        path.name for path in folder.glob("conformance/*")
    }


def test_the_protocol_of_the_kit_has_every_form(kit: Path) -> None:
    text = (kit / "PROTOCOL.md").read_text()
    for kind, forms in FORMS.items():
        [line] = (line for line in text.splitlines() if line.startswith(f"| `{kind}` |"))
        assert all(f"`{word}`: " in line for word in forms)
    answers = re.search(r"The answers to these:\n\n```json\n(.*?)```", text, re.DOTALL)
    assert answers is not None
    hello, *_ = [parse_answer(line.encode()) for line in answers[1].splitlines()]
    assert hello.hello is not None
    Forms(hello.hello.forms)


def test_the_action_hands_its_inputs_to_conform(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    [step] = action["runs"]["steps"]
    for name, value in (("python3", 'mkdir -p "$3/bin"; cp "$0" "$3/bin/pip"; cp "$0.forge" "$3/bin/forge"\n'),):
        (tmp_path / name).write_text(f'#!/bin/sh\n[ "$1" = -m ] || exit 0\n{value}')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3.forge").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "python3.forge").chmod(0o755)
    inputs = {name: f"the {name}" for name in action["inputs"]}
    inputs["report"] = ""
    given = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
    }
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": "."}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        env=environment | given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "conform", "the testee", "--kit", "the kit", "--tags", "the tags",
        "--expected-failures", "the expected-failures",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_container_file_copies_all_that_the_package_is_built_from(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    source = tmp_path / "src"
    source.mkdir()
    for line in re.findall(r"^COPY (.*)$", (ROOT / "Containerfile").read_text(), re.MULTILINE):
        *names, _ = line.split()
        for name in names:
            path = ROOT / name
            target = source / name
            shutil.copytree(path, target) if path.is_dir() else shutil.copy(path, target)
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=source, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"forge/cli/app.py", "forge/_data/templates/kit/ci/common/run"} <= set(names)
    assert any(name.startswith("forge/_data/corpora/volumes/") for name in names)
