"""The option ``--set KEY=VALUE`` of commands that read scenarios."""

from __future__ import annotations

from typing import Any

import click


class _KeyValue(click.ParamType[tuple[str, str]]):
    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        key, equals, rest = str(value).partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        return key, rest


def _as_dict(_context: click.Context, _option: click.Parameter, pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return dict(pairs)


parameters_option = click.option(
    "--set", "parameters", multiple=True, type=_KeyValue(), callback=_as_dict,
    help="A parameter of the scenario's template (may be given again).",
)  # fmt: skip
