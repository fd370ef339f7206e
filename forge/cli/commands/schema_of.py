"""``forge schema-of``."""

from __future__ import annotations

import json

import click

from forge.cli.inputs import errors_in, open_log
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, json_option


@click.command()
@click.argument("file", type=FILE)
@click.option("--columns", is_flag=True, help="Print columns and their properties instead of SQL.")
@json_option("One JSON object per table map, with the same list of columns.")
def command(file: str, columns: bool, as_json: bool) -> None:
    """Print a CREATE TABLE for every table map of the binary log FILE (- for standard input).

    With full metadata a table map has nearly the whole definition, with minimal metadata signs and character sets. What
    the event leaves out is marked as unknown. A table that is mapped again without a change is printed once.

    \b
    Example:
      forge schema-of binlog.000001
      forge schema-of binlog.000001 --columns
      forge schema-of binlog.000001 --json
    """
    from forge.render.schema_of import TableSchema, schemas_of

    def shown(schema: TableSchema) -> str:
        if as_json:
            return json.dumps(schema.as_json(), ensure_ascii=False) + "\n"
        return (
            f"-- event {schema.index} at {schema.offset}\n{schema.column_list() if columns else schema.create_table()}"
        )

    with errors_in(file), open_log(file) as log:
        write_output(STDOUT, map(shown, schemas_of(log)))
