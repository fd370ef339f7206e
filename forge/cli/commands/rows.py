"""``forge rows``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import STDIN, errors_in, file_paths, open_log, pays_in_bulk, shown
from forge.cli.output import STDOUT, Utf8, echo, output_file, refuse_inputs, write_output
from forge.cli.parameters import FILE, grouped, keyring_options, selection_options, stdout_option
from forge.cli.progress import progress, progress_to
from forge.cli.schema_files import schema_option
from forge.errors import FormatError, ScenarioError, UnsupportedError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection


#: Characters for which a CSV field stands in quotes, and the end of a line (RFC 4180).
_CSV_MARKS, _CSV_END = ',"\r\n', "\r\n"


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which rows are written."""

    table: str | None
    columns: tuple[str, ...] | None
    images: Any


@dataclass(frozen=True, slots=True)
class _Form:
    """How rows are written."""

    form: str
    compression: Any
    on_odd: Any


def _asked(table: str | None, columns: str | None, images: Any) -> _Asked:
    return _Asked(table, None if columns is None else tuple(columns.split(",")), images)


_ROWS = (
    click.option("--table", metavar="DATABASE.TABLE", help="The table; needless where the log has one."),
    click.option("--columns", metavar="NAMES", help="Columns, with commas between; all unless given."),
    click.option(
        "--images", type=click.Choice(["after", "before", "both"]), default="after", show_default=True,
        help="Which image of an update is shown.",
    ),
)  # fmt: skip
_FORMS = (
    click.option(
        "--format", "form", type=click.Choice(["parquet", "arrow", "csv", "jsonl"]), default="jsonl",
        show_default=True, help="parquet and arrow need the extra `rows`.",
    ),
    click.option(
        "--compression", type=click.Choice(["snappy", "zstd", "none"]), default="snappy", show_default=True,
        help="parquet: how its pages are compressed; zstd gives a smaller file and takes longer.",
    ),
    click.option(
        "--on-odd", type=click.Choice(["error", "null", "text"]), default="error", show_default=True,
        help="parquet, arrow: what becomes of a value that Arrow cannot say, such as the date 0000-00-00.",
    ),
)  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@grouped("asked", _asked, *_ROWS)
@grouped("form", _Form, *_FORMS)
@stdout_option("The file to write; standard output unless given.", metavar="OUT")
@keyring_options
@selection_options(tables=False)
@schema_option()
def command(
    files: tuple[str, ...], asked: _Asked, form: _Form, output: str, keyring: Keyring | None, events: Selection
) -> None:
    """Write the changed rows of one table of the binary logs FILE... as records.

    A record has the row's columns and, beside them, the operation, file, position, event number, timestamp, server id
    and GTID. CSV and JSON lines have the exact values of `forge dump`; a column that an image leaves out has no key in
    JSON and nothing in CSV. Columns whose names the log does not have are @1, @2, ... Where the columns of the table
    change, CSV has those of all definitions; parquet and arrow have a file for each: rows.parquet, rows.2.parquet ....

    \b
    Example:
      forge rows binlog.000001 --table shop.orders
      forge rows binlog.000001 binlog.000002 --table shop.orders --format parquet -o orders.parquet
      forge rows binlog.000001 --table shop.orders --columns id,status --format csv -o orders.csv
      forge rows binlog.0* --table shop.orders --since '2024-02-29 10:00:00' --type DELETE_ROWS
      forge rows encrypted.000001 --keys keyring.json
    """
    refuse_inputs([output], files)
    if form.form in ("csv", "jsonl"):
        lines = _lines(files, asked, form.form, events, keyring)
        write_output(output, lines, exact=form.form == "csv")
    else:
        _arrow_records(files, asked, form, events, keyring, output)


def _lines(
    files: tuple[str, ...], asked: _Asked, form: Any, wanted: Selection, keyring: Keyring | None
) -> Iterator[str | Utf8]:
    """In bulk as far as that goes, and the rest by the reference path."""
    done = 0
    if _are_many(files):
        from forge.bulk.lines.cell_texts import Unsaid
        from forge.bulk.lines.record_lines import AskedLines, record_lines

        names = {Path(file): shown(file) for file in files}
        with progress_to("bytes") as show, suppress(Unsaid):
            total = sum(path.stat().st_size for path in names)
            told: Callable[[int], None] = lambda read: show(min(read, total), total)  # noqa: E731
            for count, lines in record_lines(
                AskedLines(names, form, asked.table, asked.columns, asked.images, wanted, keyring, told)
            ):
                yield Utf8(lines)
                done += count
            return
    for record in islice(_text_records(files, asked, form, wanted, keyring), done, None):
        yield from record


def _are_many(files: tuple[str, ...]) -> bool:
    """Whether rows in bulk are quicker, their start included, and can be had: of different files, no pipes."""
    return len({Path(file) for file in files}) == len(files) and pays_in_bulk(*files)


def _text_records(
    files: tuple[str, ...], asked: _Asked, form: str, wanted: Selection, keyring: Keyring | None
) -> Iterator[Iterable[str]]:
    """The pieces of each line."""
    from forge.decode.decode import canonical_events, events_without_rows
    from forge.decode.records import BESIDE, RecordReader

    reader = RecordReader(asked.table, asked.columns, asked.images)
    header = form == "csv"
    if (header or asked.columns) and STDIN not in files:
        # A header has the columns of all definitions; what is wrong with bytes is said behind the rows before them.
        with suppress(FormatError, UnsupportedError):
            for file in files:
                with open_log(file, keyring=keyring) as log:
                    reader.meet(events_without_rows(log))
            reader.check()
    for file in progress(files, total=len(files), label="files"):
        with errors_in(file), open_log(file, keyring=keyring) as log:
            chosen = wanted.rows_of(canonical_events(log, in_pieces=True), reader.is_known)
            for record in reader.records(shown(file), chosen):
                if header:
                    yield [_csv_line([*reader.fields(), *BESIDE])]
                    header = False
                if form == "csv":
                    yield _csv_pieces([record.get(name) for name in (*reader.fields(), *BESIDE)])
                else:
                    yield _json_line(record)
    reader.check()
    if header:
        yield [_csv_line([*reader.fields(), *BESIDE])]


def _json_line(record: dict[str, Any]) -> Iterator[str]:
    """A large value is not there once more for each step of writing it."""
    from forge.decode.pieces import LARGE, json_pieces

    if any(isinstance(value, str) and len(value) >= LARGE for value in record.values()):
        yield from json_pieces(record)
        yield "\n"
    else:
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _csv_pieces(values: list[Any]) -> Iterator[str]:
    """As :func:`_csv_line`, but for a large value, which is written a piece at a time."""
    from forge.decode.pieces import LARGE

    if not any(isinstance(value, str) and len(value) >= LARGE for value in values):
        yield _csv_line(values)
        return
    for number, value in enumerate(values):
        if number:
            yield ","
        if isinstance(value, str) and len(value) >= LARGE:
            quote = '"' if any(mark in value for mark in _CSV_MARKS) else ""
            yield quote
            for at in range(0, len(value), LARGE):
                yield value[at : at + LARGE].replace('"', '""')
            yield quote
        else:
            yield _csv_field(value)
    yield _CSV_END


def _csv_line(values: list[Any]) -> str:
    return ",".join(map(_csv_field, values)) + _CSV_END


def _csv_field(value: Any) -> str:
    """NULL is nothing, the empty text is two quotes (RFC 4180 has no NULL)."""
    from forge.events.plain import csv_field

    if value is None:
        return ""
    return csv_field(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _arrow_records(
    files: tuple[str, ...], asked: _Asked, form: _Form, wanted: Selection, keyring: Keyring | None, output: str
) -> None:
    """A file for each definition of the table: the columns of a file are of one type each."""
    from forge.bulk.parquet import write_parquet
    from forge.bulk.reading.rows import read_rows

    paths = file_paths(files)
    total = sum(path.stat().st_size for path in paths)
    written: list[str] = []
    with progress_to("bytes") as show, ExitStack() as opened:
        told: Callable[[int], None] = lambda read: show(min(read, total), total)  # noqa: E731
        reading = partial(
            read_rows, paths, images=asked.images, on_odd=form.on_odd, columns=asked.columns, wanted=wanted,
            keyring=keyring, progress=told,
        )  # fmt: skip
        for schema, batches in _parts(reading, asked.table):
            target = _part_name(output, len(written))
            refuse_inputs([target], files)
            written.append(target)
            file = opened.enter_context(output_file(target))
            if form.form == "parquet":
                write_parquet(schema, batches, file, form.compression)
            else:
                _write_arrow(schema, batches, file)
    for target in written[1:]:
        echo(f"{target}: rows from where the columns of the table change", err=True)


def _parts(reading: Any, table: str | None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """(schema, batches) of each definition of the table, which is the only one unless it is named.

    Batches have to be taken before the next definition is asked for.
    """
    from forge.decode.records import several_tables

    pairs = reading(table, parts=True) if table is not None else reading()
    following = next(pairs, None)
    if following is None:
        if table is None:
            raise ScenarioError("no table has rows in the log")
        empty = reading(table)
        yield empty.schema, empty
        return
    first = following[0]

    def batches(schema: Any) -> Iterator[Any]:
        nonlocal following
        while following is not None and following[1].schema == schema:
            yield following[1]
            following = next(pairs, None)
            if following is not None and following[0] != first:
                raise several_tables(first, following[0])

    while following is not None:
        schema = following[1].schema
        yield schema, batches(schema)


def _part_name(output: str, number: int) -> str:
    """``rows.parquet``, ``rows.2.parquet`` and so on."""
    if number == 0:
        return output
    path = Path(output)
    if output == STDOUT or (path.exists() and not path.is_file()):
        raise ScenarioError(
            "the columns of the table change, and there is one output for all",
            expected="-o FILE, which makes a file for each part; or --start-position and --stop-position",
        )
    return str(path.with_name(f"{path.stem}.{number + 1}{path.suffix}"))


def _write_arrow(schema: Any, batches: Any, file: Any) -> None:
    """An IPC file, which has one dictionary a column, to which a later batch may add words."""
    import pyarrow as pa

    plain = {"_file": pa.string(), "_gtid": pa.string()}
    schema = pa.schema([field.with_type(plain.get(field.name, field.type)) for field in schema])
    words: dict[int, Any] = {}
    with pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for batch in batches:
            cast = batch.cast(schema)
            columns = [_with_words(column, words, number) for number, column in enumerate(cast.columns)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _with_words(column: Any, words: dict[int, Any], number: int) -> Any:
    """The column with one dictionary for all batches so far: earlier words keep their indexes, new ones follow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return column
    before = words.setdefault(number, column.dictionary)
    if column.dictionary.equals(before):
        return column
    new = column.dictionary.filter(pc.invert(pc.is_in(column.dictionary, value_set=before)))
    words[number] = both = pa.concat_arrays([before, new])
    places = pc.index_in(column.dictionary, value_set=both).take(column.indices)
    return pa.DictionaryArray.from_arrays(places.cast(column.type.index_type), both)
