"""Each byte of a log has one label: of recordings, and of what damage leaves of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.binlog.payload import payload_bytes
from forge.binlog.reader import MAGIC, read_events
from forge.binlog.writer import Item, write_binlog
from forge.decode import byte_view
from forge.decode.byte_view import html_pages, section_object, text_lines
from forge.decode.expected import expected_of
from forge.decode.labels.layouts import LayoutLabels
from forge.decode.labels.log import labelled_log
from forge.decode.labels.runs import LabelledRun, LabelledSection, Labels
from forge.events.event import Event, RawBody, decode_event, encode_event
from forge.events.format import FormatContext
from forge.events.gtid_list import GtidList
from forge.events.layout import Body
from forge.events.registry import EVENT_TYPES
from forge.events.transaction_payload import TransactionPayload
from forge.events.user_var import UserVar
from forge.resources import corpora_dir
from forge.testing.events import bodies_of, files
from tests.recorded import ALL_LOGS, LOGS

_HOME = corpora_dir() / "recordings"
_SMALL = [path for path in LOGS if path.stat().st_size < 20_000]


def _recording(name: str) -> Path:
    return next(path for path in ALL_LOGS if path.relative_to(_HOME).parts[0] == name)


#: Logs of every kind of event and of row image, and of both families.
_CHOSEN = [
    _recording(name)
    for name in (
        "integers", "json", "compressed", "compressed-events", "tagged-gtids", "statements", "metadata", "decimals",
        "images-partial-json-tables", "mariadb-domains-mariadb-10.11", "relay-log", "checks-off",
    )
]  # fmt: skip


def laid_end_to_end(runs: tuple[LabelledRun, ...], start: int) -> bytes:
    """The bytes of runs that must follow one another from ``start`` on."""
    at = start
    for run in runs:
        assert run.offset == at
        assert run.data
        assert run.field
        at += len(run.data)
    return b"".join(run.data for run in runs)


def labelled_bytes(data: bytes) -> bytes:
    whole = b""
    for section in labelled_log(data):
        assert section.offset == len(whole)
        whole += laid_end_to_end(section.runs, section.offset)
        for inner in section.inner:
            laid_end_to_end(inner.runs, inner.offset)
    return whole


def all_runs(sections: Iterator[LabelledSection] | tuple[LabelledSection, ...]) -> Iterator[LabelledRun]:
    for section in sections:
        yield from section.runs
        yield from all_runs(section.inner)


@pytest.mark.parametrize("path", _CHOSEN, ids=lambda path: path.relative_to(_HOME).parts[0])
def test_every_byte_of_a_recording_has_one_label_and_none_is_raw(path: Path) -> None:
    data = path.read_bytes()
    assert labelled_bytes(data) == data
    assert [run for run in all_runs(labelled_log(data)) if run.field == "raw"] == []
    assert [problem for section in labelled_log(data) for problem in section.problems()] == []


@pytest.mark.slow
def test_every_byte_of_all_recordings_has_one_label() -> None:
    for path in _SMALL[::2]:
        data = path.read_bytes()
        assert labelled_bytes(data) == data, path


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_byte_of_a_damaged_log_has_one_label(draw: st.DataObject) -> None:
    data = bytearray(draw.draw(st.sampled_from([path for path in _CHOSEN if path.stat().st_size < 6000])).read_bytes())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    torn = bytes(data[: draw.draw(st.integers(0, len(data)))]) if draw.draw(st.booleans()) else bytes(data)
    assert labelled_bytes(torn) == torn
    for section in labelled_log(torn):
        assert list(text_lines(section))


@settings(max_examples=30, deadline=None)
@given(files())
def test_every_byte_of_any_events_has_one_label(items: list[Item]) -> None:
    data = write_binlog(items)
    assert labelled_bytes(data) == data


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=lambda kind: kind.type_name)
def test_the_body_of_every_event_type_is_labelled_by_its_layout(kind: type[Body]) -> None:
    @settings(max_examples=5, deadline=None)
    @given(bodies_of(kind))
    def held(body: Body) -> None:
        raw = encode_event(Event(body=body), 4, FormatContext())
        if isinstance(decode_event(raw, 4, FormatContext()).body, RawBody):
            return
        assert labelled_bytes(MAGIC + raw) == MAGIC + raw
        (_, section) = labelled_log(MAGIC + raw)
        assert "raw" not in [run.field for run in section.runs]

    held()


def test_the_cells_of_a_row_event_are_those_of_the_decode() -> None:
    data = _recording("integers").read_bytes()
    cells = [
        cell["raw"]
        for row in expected_of(data).rows
        for image in (row["before"], row["after"])
        for cell in image or ()
        if cell["raw"] is not None
    ]
    labelled = [
        run.data.hex() for run in all_runs(labelled_log(data)) if ".column " in run.field and "row " in run.field
    ]
    assert labelled == cells


def test_the_events_of_a_payload_are_all_of_its_unpacked_bytes() -> None:
    data = _recording("compressed").read_bytes()
    placed = [item for item in read_events(data) if isinstance(item.event.body, TransactionPayload)]
    assert placed
    sections = {section.index: section for section in labelled_log(data)}
    for item in placed:
        assert isinstance(item.event.body, TransactionPayload)
        inside = b"".join(run.data for inner in sections[item.index].inner for run in inner.runs)
        assert inside == payload_bytes(item.event.body)


def test_a_wrong_checksum_is_said_beside_its_bytes() -> None:
    data = bytearray(_CHOSEN[0].read_bytes())
    data[-1] ^= 1
    *_, last = labelled_log(bytes(data))
    assert last.problem is not None
    assert last.problem.phase == "checksum"
    assert "does not hold" in str(last.runs[-1].rule)
    assert section_object(last)["problem"]["phase"] == "checksum"


def test_a_torn_event_is_raw_behind_its_header_and_says_why() -> None:
    data = _CHOSEN[0].read_bytes()[:-3]
    *_, last = labelled_log(data)
    assert [run.field for run in last.runs if not run.field.startswith("header")] == ["raw"]
    assert last.problem is not None
    assert "bytes, but only" in last.problem.rule


def test_a_count_that_counts_something_else_says_what_it_counts() -> None:
    body = UserVar(name="x", is_null=1, value=None).build(FormatContext())
    right = Labels(body)
    LayoutLabels(right, FormatContext()).body(UserVar.layout, {})
    wrong = Labels(GtidList(count_and_flags=0x10000000, gtids=()).build(FormatContext()))
    LayoutLabels(wrong, FormatContext()).body(GtidList.layout, {})
    assert "what it counts" not in str(right.runs)
    assert wrong.runs[0].rule == "u32, little-endian; what it counts is 0"


class _Outside(HTMLParser):
    """The addresses that a page asks for, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.asked += [
            str(value) for name, value in attrs if name in ("src", "href") and not str(value).startswith("#")
        ]


def test_a_page_asks_for_nothing_and_escapes_what_a_log_says() -> None:
    data = _recording("statements").read_bytes()
    [(_, page)] = html_pages("<script>a.000001", labelled_log(data), None)
    reader = _Outside()
    reader.feed(page)
    assert reader.asked == []
    assert "script" not in reader.tags
    assert "url(" not in page
    assert "@import" not in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_a_large_log_has_pages_that_lead_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_view, "_RUNS_OF_A_PAGE", 100)
    data = _recording("statements").read_bytes()
    pages = list(html_pages("a.000001", labelled_log(data), lambda number: f"a.{number}.html"))
    assert [name for name, _ in pages] == [f"a.{number}.html" for number in range(len(pages))]
    links = [re.findall(r'href="(a[^"]*)"', page) for _, page in pages]
    assert links[0] == ["a.1.html"] * 2
    assert links[1] == ["a.0.html", "a.0.html", "a.2.html"] * 2
    assert links[-1] == ["a.0.html", f"a.{len(pages) - 2}.html"] * 2
    [(_, whole)] = html_pages("a.000001", labelled_log(data), None)
    titles = re.compile(r'id="event-\d+"')
    assert [one for _, page in pages for one in titles.findall(page)] == titles.findall(whole)


def test_chosen_events_have_the_labels_that_they_have_in_the_whole_log() -> None:
    for path in _CHOSEN:
        data = path.read_bytes()
        whole = [section for section in labelled_log(data) if section.index is not None]
        rows = {section.index for section in whole if section.index is not None and "ROWS" in section.title}
        chosen = [section for section in labelled_log(data, rows) if section.index is not None]
        assert chosen == [section for section in whole if section.index in rows]
