"""``forge bytes``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from forge.cli.inputs import errors_in, open_log, read_text, shown
from forge.cli.output import STDOUT, echo, refuse_inputs, write_files, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, stdout_option
from forge.errors import FormatError, ScenarioError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.decode.labels.runs import LabelledSection


@click.command()
@click.argument("file", type=FILE)
@click.option("--event", "event", type=click.IntRange(min=0), metavar="N", help="Only the event with this number.")
@keyring_options
@json_option("One JSON object per section, with all bytes.")
@click.option("--html", "as_html", is_flag=True, help="A page of HTML that needs nothing but itself.")
@click.option("--svg", "as_svg", is_flag=True, help="A picture of an event or two.")
@click.option("--beside", type=FILE, metavar="FILE", help="A text that stands left of the bytes in the picture.")
@stdout_option()
def command(
    file: str,
    event: int | None,
    as_json: bool,
    as_html: bool,
    as_svg: bool,
    beside: str | None,
    output: str,
    keyring: Keyring | None,
) -> None:
    """Label each byte of the binary log FILE (- for standard input): offset, bytes, field, value, rule.

    Of a damaged file, what can be read is labelled, and the rest is raw; exit code 3 with the first error. HTML of a
    large log is several pages, if it goes to a file: binlog.html, binlog.2.html and so on.

    \b
    Example:
      forge bytes binlog.000001 --event 4
      forge bytes binlog.000001 --html -o binlog.html
      forge bytes shop.000001 --event 9 --svg --beside shop.sql -o picture.svg
    """
    from forge.decode.byte_picture import svg_picture
    from forge.decode.byte_view import html_pages, section_object, text_lines
    from forge.decode.labels.log import labelled_log

    if as_json + as_html + as_svg > 1:
        raise ScenarioError("--json, --html and --svg are forms of the output", expected="one of them")
    if beside is not None and not as_svg:
        raise ScenarioError("--beside is the text beside a picture", expected="--svg with it")
    refuse_inputs([output], [file] if beside is None else [file, beside])
    problems: list[FormatError] = []

    def chosen() -> Iterator[LabelledSection]:
        last = None
        for section in labelled_log(log):
            last = section.index if section.index is not None else last
            if event is not None and section.index != event:
                continue
            problems.extend(section.problems())
            yield section
            if event is not None:
                return
        if event is not None:
            count = 0 if last is None else last + 1
            raise ScenarioError(f"{shown(file)} has no event {event}", expected=f"less than {count}, its whole events")

    with open_log(file, keyring=keyring) as log:
        if as_html:
            _write_pages(output, file, html_pages(shown(file), chosen(), _names(output)))
        elif as_svg:
            write_output(output, svg_picture(chosen(), "" if beside is None else read_text(beside)))
        elif as_json:
            write_output(output, (msgspec.json.encode(section_object(section)).decode() + "\n" for section in chosen()))
        else:
            write_output(output, (line + "\n" for section in chosen() for line in text_lines(section)))
    if problems:
        with errors_in(file):
            raise problems[0]


def _names(output: str) -> Callable[[int], str] | None:
    """``binlog.html``, ``binlog.2.html`` and so on; None where there is one page: what is no file has no others."""
    path = Path(output)
    if output == STDOUT or (path.exists() and not path.is_file()):
        return None
    return lambda number: path.name if number == 0 else f"{path.stem}.{number + 1}{path.suffix}"


def _write_pages(output: str, file: str, pages: Iterator[tuple[str, str]]) -> None:
    targets: list[str] = []

    def files() -> Iterator[tuple[str, str]]:
        for name, page in pages:
            targets.append(str(Path(output).with_name(name)) if name else output)
            refuse_inputs(targets[-1:], [file])
            yield targets[-1], page

    write_files(files())
    if len(targets) > 1:
        echo(f"{output}: the first of {len(targets)} pages, up to {targets[-1]}", err=True)
