"""Arguments and options that several commands have, and what a shell completes them to."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection
    from forge.conform.testee import Limits
    from forge.scenario.matrix import OptionSettings


class _NamedPath(click.Path):
    """A path that is not empty: an empty one is mostly a variable of a shell that is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("the name is empty; expected a path", param, ctx)
        return super().convert(value, param, ctx)


#: A file, or ``-``; and a folder.  A missing one is told where it is opened.
FILE = _NamedPath(allow_dash=True, readable=False)
FOLDER = _NamedPath(file_okay=False, readable=False, path_type=Path)
#: What may be a file or a folder.
FILE_OR_FOLDER = _NamedPath(readable=False, path_type=Path)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def grouped(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Options that belong together: the command takes, as ``name``, what ``make`` makes of their values."""

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def taking(*arguments: Any, **given: Any) -> Any:
            values = {option: given.pop(option) for option in names}
            return command(*arguments, **given, **{name: make(**values)})

        before = len(getattr(taking, "__click_params__", ()))
        for option in reversed(options):
            option(taking)
        names = [parameter.name for parameter in taking.__click_params__[before:]]  # type: ignore[attr-defined]
        return taking

    return with_options


def json_option(help: str) -> Decorator:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def output_option(help: str = "Output file (- for standard output).", *, metavar: str = "FILE") -> Decorator:
    """``-o``, which the command cannot do without."""
    return click.option("-o", "--output", required=True, type=FILE, metavar=metavar, help=help)


def stdout_option(help: str = "Output file (default: standard output).", *, metavar: str = "FILE") -> Decorator:
    """``-o`` of a command that writes to standard output without it."""
    return click.option("-o", "--output", default="-", type=FILE, metavar=metavar, help=help)


def out_option(help: str, *, required: bool = False) -> Decorator:
    """``-o`` for a folder."""
    return click.option("-o", "--out", required=required, type=FOLDER, metavar="DIR", help=help)


def testee_option(help: str) -> Decorator:
    """``--testee``."""
    return click.option("--testee", metavar="COMMAND", help=help)


def level_option(help: str) -> Decorator:
    """``--level``: how much of a log is compared."""
    return click.option("--level", type=click.Choice(["frames", "events", "rows"]), help=help)


def jobs_option(help: str) -> Decorator:
    """``-j``: how many processes."""
    return click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help=help)


def timeout_option(seconds: float, of: str = "a file") -> Decorator:
    """``--timeout``: how long a decoder may take."""
    help = f"Seconds for {of} (default {seconds:g})."
    return click.option("--timeout", type=click.FloatRange(0.1), default=seconds, metavar="S", help=help)


def limits_options(seconds: float, memory: int, of: str = "a file") -> Decorator:
    """``--timeout`` and ``--memory`` of a testee, as ``limits``."""
    help = f"Memory of {'a' if of == 'a file' else 'the'} testee (default {memory})."
    with_memory = click.option("--memory", type=click.IntRange(16), default=memory, metavar="MIB", help=help)
    return grouped("limits", _limits, timeout_option(seconds, of), with_memory)


def _limits(timeout: float, memory: int) -> Limits:
    from forge.conform.testee import Limits

    return Limits(seconds=timeout, memory=memory << 20)


_SET = click.option(
    "--set", "parameters", multiple=True, metavar="KEY=VALUE",
    help="Set a parameter of the template, or replace a field of the scenario (session.row_image=minimal). Repeatable.",
)  # fmt: skip


def server_option(*names: str, help: str, required: bool = False) -> Decorator:
    """An option that names a server line."""
    return click.option(*names, metavar="LINE", required=required, shell_complete=complete_servers, help=help)


def settings_options(server: str | None = None) -> Decorator:
    """``--set``, and ``--server`` where its help is given, as ``settings``: what is changed in a scenario."""
    options = [_SET] if server is None else [_SET, server_option("--server", help=server)]
    return grouped("settings", _settings, *options)


def _settings(parameters: tuple[str, ...], server: str | None = None) -> OptionSettings:
    from forge.scenario.matrix import parse_settings

    return parse_settings(parameters, server=server)


def case_option(help: str) -> Decorator:
    """``--case`` of a scenario's matrix."""
    return click.option("--case", "case_name", metavar="NAME", help=help)


_KEYS = (
    click.option(
        "--keys", "keys", type=FILE, envvar="FORGE_KEYS", metavar="FILE",
        help="Keyring of encrypted logs: MySQL's component_keyring_file, MariaDB's file_key_management (FORGE_KEYS).",
    ),
    click.option("--key", "key", metavar="HEX", help="The key of encrypted logs itself."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Keys:
    """What ``--keys`` and ``--key`` say."""

    keys: str | None
    key: str | None

    @property
    def files(self) -> list[str]:
        """The file of the keyring."""
        return [] if self.keys is None else [self.keys]

    def keyring(self) -> Keyring | None:
        """The keyring that the options name; None without them.  Raises OSError and ScenarioError."""
        from forge.binlog.encryption.keyring import Keyring, key_of_hex, read_keyring
        from forge.cli.inputs import read_bytes

        if self.key is not None:
            return Keyring(only=key_of_hex(self.key))
        return None if self.keys is None else read_keyring(read_bytes(self.keys), file=self.keys)


#: ``--keys`` and ``--key``, with which a command opens encrypted logs: the keyring, and what the options say of one.
keyring_options = grouped("keyring", lambda keys, key: Keys(keys, key).keyring(), *_KEYS)
keys_options = grouped("keys", Keys, *_KEYS)


_TABLES = click.option(
    "--table", "tables", multiple=True, metavar="DB.TABLE",
    help="Only events of that table; shop.* is all of a database. Repeatable.",
)  # fmt: skip
_DATABASES = click.option(
    "--database", "databases", multiple=True, metavar="DB", help="Only events of tables of that database. Repeatable."
)
_SELECTION = (
    click.option("--type", "types", multiple=True, metavar="NAME", help="Only events of that type. Repeatable."),
    click.option("--gtid", "gtids", multiple=True, metavar="GTID", help="Only that transaction (UUID:1-5: several)."),
    click.option(
        "--start-position", "start", type=click.IntRange(min=0), metavar="N", help="Only events from there on."
    ),
    click.option("--stop-position", "stop", type=click.IntRange(min=0), metavar="N", help="Only events before that."),
    click.option("--since", metavar="TIME", help="Only events from then on (YYYY-MM-DD hh:mm:ss in UTC, or seconds)."),
    click.option("--until", metavar="TIME", help="Only events before that time."),
)


def selection_options(*, tables: bool = True) -> Decorator:
    """The options that choose events, as ``events``."""
    return grouped("events", _selection, *((_TABLES, _DATABASES, *_SELECTION) if tables else _SELECTION))


def _selection(*, tables: tuple[str, ...] = (), databases: tuple[str, ...] = (), **wanted: Any) -> Selection:
    from forge.binlog.selection import selection

    return selection(tables=(*tables, *(f"{name}.*" for name in databases)), **wanted)


#: ``--table`` and ``--database``, as ``events``.
table_options = grouped("events", _selection, _TABLES, _DATABASES)

_OFFSET = re.compile(r"([+-])([01]?\d):([0-5]\d)")


def _minutes(time_zone: str) -> int:
    """Minutes from UTC.  Raises ScenarioError."""
    from forge.errors import ScenarioError

    found = _OFFSET.fullmatch(time_zone)
    if found is None:
        raise ScenarioError(
            f"{time_zone!r} is no time zone",
            expected="an offset such as +02:00 (a zone with summer time has an hour twice)",
        )
    minutes = int(found[2]) * 60 + int(found[3])
    return -minutes if found[1] == "-" else minutes


_TIME_ZONE = click.option(
    "--time-zone", default="+00:00", show_default=True, metavar="OFFSET", help="The zone of times, such as +02:00."
)
#: ``--time-zone``, as ``minutes`` from UTC.
time_zone_option = grouped("minutes", _minutes, _TIME_ZONE)


def complete_servers(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The server lines that begin with what was typed."""
    from forge.servers import server_names

    return _beginning(typed, server_names())


def complete_decoders(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The decoders that begin with what was typed."""
    from forge.check.decoders.table import available_decoders

    return _beginning(typed, (decoder.name for decoder in available_decoders()))


def complete_languages(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The languages of fixtures that begin with what was typed."""
    from forge.testing.fixtures.languages import LANGUAGES

    return _beginning(typed, LANGUAGES)


def complete_readers(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The readers of fixtures that begin with what was typed, of the language if it was given."""
    from forge.testing.fixtures.languages import READERS

    language = context.params.get("language")
    return _beginning(typed, (name for name, one in READERS.items() if language in (None, one.language)))


def complete_engines(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The fuzzers that begin with what was typed."""
    from forge.conform.fuzz.export import ENGINES

    return _beginning(typed, ENGINES)


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(typed)]
