"""``forge bytes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from forge.cli.inputs import errors_in, open_log, shown
from forge.cli.output import refuse_inputs, write_output
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
@stdout_option()
def command(file: str, event: int | None, as_json: bool, as_html: bool, output: str, keyring: Keyring | None) -> None:
    """Label each byte of the binary log FILE (- for standard input): offset, bytes, field, value, rule.

    Of a damaged file, what can be read is labelled, and the rest is raw; exit code 3 with the first error.

    \b
    Example:
      forge bytes binlog.000001 --event 4
      forge bytes binlog.000001 --html -o binlog.html
    """
    from forge.decode.byte_view import html_page, section_object, text_lines
    from forge.decode.labels.log import labelled_log

    if as_json and as_html:
        raise ScenarioError("--json and --html are two forms of the output", expected="one of them")
    refuse_inputs([output], [file])
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
            write_output(output, html_page(shown(file), chosen()))
        elif as_json:
            write_output(output, (msgspec.json.encode(section_object(section)).decode() + "\n" for section in chosen()))
        else:
            write_output(output, (line + "\n" for section in chosen() for line in text_lines(section)))
    if problems:
        with errors_in(file):
            raise problems[0]
