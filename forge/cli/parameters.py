"""The option ``--set KEY=VALUE`` of commands that read scenarios."""

from __future__ import annotations

import click

parameters_option = click.option(
    "--set", "parameters", multiple=True, metavar="KEY=VALUE",
    help="A parameter of the template, or a field of the scenario (session.row_image=minimal); may be given again.",
)  # fmt: skip
