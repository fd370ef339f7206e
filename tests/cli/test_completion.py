"""What a shell gets that completes `forge`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def forge(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from forge.cli import main; main()"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def completions(words: str) -> list[str]:
    """What may stand in the place of the last word; a type of file stands with a colon."""
    answer = forge(_FORGE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1)).stdout
    pairs = [line.split(",", 1) for line in answer.splitlines()]
    return [word if kind == "plain" else f":{kind}" for kind, word in pairs]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script_and_not_the_help(shell: str) -> None:
    answer = forge(_FORGE_COMPLETE=f"{shell}_source")
    assert answer.returncode == 0
    assert f"_FORGE_COMPLETE={shell}_complete" in answer.stdout
    assert "Usage" not in answer.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("forge dis", ["disasm"]),
        ("forge corpus ", ["build", "export", "extract", "findings", "freeze", "show"]),
        (
            "forge dump --",
            [
                "--as",
                "--database",
                "--gtid",
                "--help",
                "--json",
                "--key",
                "--keys",
                "--rows",
                "--safe",
                "--schema",
                "--since",
                "--start-position",
                "--stop-position",
                "--table",
                "--type",
                "--until",
            ],
        ),
        ("forge corpus show --cov", ["--coverage"]),
        ("forge build --server mariadb-12", ["mariadb-12.0", "mariadb-12.1", "mariadb-12.2", "mariadb-12.3"]),
        ("forge schema ", ["decode", "listing", "scenario"]),
        ("forge dump ", [":file"]),
        ("forge corpus build --out ", [":dir"]),
        ("forge nothing --", ["--help", "--version"]),
    ],
)
def test_commands_options_and_their_values_are_completed(words: str, expected: list[str]) -> None:
    assert sorted(completions(words)) == expected


def test_an_unknown_shell_is_one_line_with_exit_code_2() -> None:
    answer = forge(_FORGE_COMPLETE="nsh_source")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("forge: _FORGE_COMPLETE is 'nsh_source'; expected bash_source")
