"""Functions and blocks are found in sources of each language."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.power.foreign.decoders import Part
from tests.power.foreign.figures import figures
from tests.power.foreign.left_out import LeftOut, entries
from tests.power.foreign.sources import Source

pytestmark = pytest.mark.unit

GO = """\
package replication

func (e *GTIDEvent) Decode(data []byte) error {
	if len(data) < 42 {
		return nil
	}
	for {
		break
	}
	return nil
}

func plain() {
}
"""
RUST = """\
impl<'de> MyDeserialize<'de> for GtidEvent {
    fn deserialize(buf: &mut ParseBuf<'de>) -> io::Result<Self> {
        match kind {
            1 => Ok(Self::One),
            _ => {
                Err(wrong())
            }
        }
    }
}

pub fn alone() -> u8 { 1 }
"""
JAVA = """\
public class Reader {
    static {
        prepare();
    }

    public Reader(File file) {
        this(file, null);
    }

    protected Serializable deserializeTiny(ByteArrayInputStream in) throws IOException {
        if (asBytes) {
            return read(1);
        } else if (other(in)) {
            return null;
        }
        return in.read();
    }

    abstract int size();
}
"""


def source(folder: Path, name: str, text: str) -> Source:
    path = folder / name
    path.write_text(text)
    return Source(name, path)


@pytest.mark.parametrize(
    ("name", "text", "functions"),
    [
        ("event.go", GO, {"GTIDEvent.Decode": range(3, 12), "plain": range(13, 15)}),
        ("event.rs", RUST, {"GtidEvent.deserialize": range(2, 10), "alone": range(12, 13)}),
        ("Reader.java", JAVA, {"static": range(2, 5), "Reader": range(6, 9), "deserializeTiny": range(10, 18)}),
    ],
)
def test_functions_are_found_with_all_of_their_lines(
    tmp_path: Path, name: str, text: str, functions: dict[str, range]
) -> None:
    found = source(tmp_path, name, text)
    assert {one.name: one.lines for one in found.functions} == functions
    for function, lines in functions.items():
        assert found.function_at(lines.start) == function
    assert found.function_at(1) == "-"


def test_a_block_is_a_line_with_all_that_is_indented_deeper_below_it(tmp_path: Path) -> None:
    go, rust = source(tmp_path, "event.go", GO), source(tmp_path, "event.rs", RUST)
    assert go.blocks("GTIDEvent.Decode", "if len(data) < 42 {") == [range(4, 7)]
    assert rust.blocks("GtidEvent.deserialize", "1 => Ok(Self::One),") == [range(4, 5)]
    assert rust.blocks("GtidEvent.deserialize", "_ => {") == [range(5, 8)]
    assert rust.blocks("alone", "_ => {") == []


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        (LeftOut("go-mysql", "event.go", "", "", "of a server"), [range(1, 15)]),
        (LeftOut("go-mysql", "*", "plain|Dump", "", "prints"), [range(13, 15)]),
        (LeftOut("go-mysql", "event.go", "GTIDEvent.Decode", "for {", "never"), [range(7, 10)]),
        (LeftOut("go-mysql", "other.go", "plain", "", "prints"), []),
    ],
)
def test_an_entry_means_a_file_or_functions_or_blocks(tmp_path: Path, entry: LeftOut, lines: list[range]) -> None:
    assert entry.lines(source(tmp_path, "event.go", GO)) == lines


def test_what_a_log_reaches_counts_whatever_the_list_says(tmp_path: Path) -> None:
    name = "replication/backup.go"
    path = tmp_path / "backup.go"
    path.write_text(GO)
    parts = [Part(name, 4, 5, 3, True), Part(name, 7, 8, 2, False)]
    found = figures("go-mysql", parts, {name: Source(name, path)})
    assert (found["every"], found["counted"], found["hit"]) == (5, 3, 3)
    assert found["left out"] == {"copies the stream of a server into files": 2}
    assert not found["missed"]
    found = figures("another", parts, {name: Source(name, path)})
    assert (found["counted"], found["hit"]) == (5, 3)
    assert found["missed"] == {f"{name}: GTIDEvent.Decode": [(7, "for {", 2)]}


def test_every_entry_of_the_list_has_a_reason() -> None:
    listed = list(entries())
    assert len({(one.decoder, one.file, one.function, one.text) for one in listed}) == len(listed)
    assert all(one.reason for one in listed)
