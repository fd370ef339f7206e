"""Pictures of events: their bytes, and the text that they were made of."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from forge import build
from forge.cli.app import run
from forge.decode.labels.log import labelled_log

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
CREATE TABLE d.t (id INT PRIMARY KEY, who VARCHAR(20));
INSERT INTO d.t VALUES (1, 'O''Brien & <Sohn> \\\\ \\t');
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("picture") / "log"
    path.write_bytes(build(SCRIPT).data)
    path.with_name("d.sql").write_text(SCRIPT)
    return path


def drawn(log: Path, *arguments: str) -> ElementTree.Element:
    picture = log.with_name("picture.svg")
    assert run(["bytes", str(log), "--svg", "-o", str(picture), *arguments]) == 0
    return ElementTree.fromstring(picture.read_text())


def texts_of(picture: ElementTree.Element, kind: str | None = None) -> list[str]:
    return [
        element.text or ""
        for element in picture.iter("{http://www.w3.org/2000/svg}text")
        if kind is None or element.get("class") == kind
    ]


def _hex(data: bytes) -> str:
    return data[:8].hex(" ") + (" …" if len(data) > 8 else "")


def test_all_bytes_of_an_event_and_the_whole_text_are_in_its_picture(log: Path) -> None:
    picture = drawn(log, "--event", "9", "--beside", str(log.with_name("d.sql")))
    shown_bytes = [text for kind in ("header", "body", "row", "checksum") for text in texts_of(picture, kind)]
    event = next(section for section in labelled_log(log.read_bytes()) if section.index == 9)
    assert shown_bytes == [_hex(run.data) for run in event.runs]
    said = texts_of(picture)[: SCRIPT.count("\n")]
    assert said == SCRIPT.splitlines()
    # A cell has the quotes of its text and no escape more.
    assert any(text.startswith("\"O'Brien & <Sohn>") for text in texts_of(picture, "value"))


def test_everything_lies_within_the_picture(log: Path) -> None:
    picture = drawn(log, "--event", "9")
    width, height = (float(picture.get(name, "")) for name in ("width", "height"))
    for element in picture.iter("{http://www.w3.org/2000/svg}text"):
        assert float(element.get("x", "")) + 7.2 * len(element.text or "") <= width
        assert float(element.get("y", "")) < height


def test_a_picture_of_a_whole_log_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_bytes(
        build(SCRIPT + "".join(f"INSERT INTO d.t VALUES ({number}, 'x');\n" for number in range(2, 32))).data
    )
    assert run(["bytes", str(log), "--svg", "-o", str(tmp_path / "picture.svg")]) == 2
    assert "200 lines" in capfd.readouterr().err
    assert not (tmp_path / "picture.svg").exists()


def test_the_picture_of_the_readme_is_what_the_command_draws(tmp_path: Path) -> None:
    """docs/bytes.md has the command that draws it again."""
    shown = (ROOT / "docs/pictures/orders.sql").read_text()
    log = tmp_path / "log"
    log.write_bytes(build(shown).data)
    picture = tmp_path / "orders.svg"
    arguments = ["--event", "9", "--svg", "--beside", str(ROOT / "docs/pictures/orders.sql"), "-o", str(picture)]
    assert run(["bytes", str(log), *arguments]) == 0
    assert picture.read_text() == (ROOT / "docs/pictures/orders.svg").read_text()
    assert "docs/pictures/orders.svg" in (ROOT / "README.md").read_text()
