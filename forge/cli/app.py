"""The command group, and what a user sees when a command fails: one line, never a traceback.

Exit codes: 0 done; 1 a check found a difference; 2 the request is wrong (usage, scenario, missing file); 3 the bytes
are wrong; 69 a program or library is missing; 70 an error of ours; 130 interrupted; 141 the reader of our output went
away.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from forge import __version__
from forge.errors import ForgeError, brief, escaped, nearest

EXIT_USAGE = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

#: What a shell sets when it asks for its completion script, or for the words that may follow.
COMPLETE = "_FORGE_COMPLETE"

#: What one would do -> command -> (module with an attribute ``command``, help line); the first in need comes first.
#: A module is imported when its command is called.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Make a log": {
        "build": ("forge.cli.commands.build", "Compile a scenario, or a SQL script, into a binary log."),
        "fixture": ("forge.cli.commands.fixture", "Make a test in another language of a scenario's log and rows."),
        "generate": ("forge.cli.commands.generate", "Write the logs of any number of rows, and the state they leave."),
        "record": ("forge.cli.commands.record", "Run a scenario on a real server and keep its binary log."),
    },
    "Look at a log": {
        "info": ("forge.cli.commands.changed.info", "Tell on one page what binary logs are, and what they hold."),
        "dump": ("forge.cli.commands.dump", "Show what every correct reader must see in a binary log."),
        "tables": ("forge.cli.commands.tables", "List the tables of binary logs, with rows and bytes by operation."),
        "schema-of": ("forge.cli.commands.schema_of", "Print a CREATE TABLE for every table map of a binary log."),
    },
    "Take rows out": {
        "rows": ("forge.cli.commands.rows", "Write the changed rows of a table as Parquet, Arrow, CSV or JSON lines."),
        "sql": ("forge.cli.commands.changed.sql", "Write the changed rows as SQL, or the SQL that takes them back."),
    },
    "Take a log apart": {
        "bytes": ("forge.cli.commands.bytes", "Label each byte of a binary log with its field, value and rule."),
        "disasm": ("forge.cli.commands.disasm", "Write a binary log as an editable listing."),
        "asm": ("forge.cli.commands.asm", "Make the binary log that a listing describes."),
        "facts": ("forge.cli.commands.facts", "Print the times and ids of the session that wrote a binary log."),
        "decrypt": ("forge.cli.commands.encryption.decrypt", "Decrypt a binary log with the keys of a keyring."),
        "encrypt": ("forge.cli.commands.encryption.encrypt", "Encrypt a binary log as MySQL or MariaDB does."),
    },
    "Compare": {
        "diff": ("forge.cli.commands.diff", "Show where two binary logs differ, by event, field, row and cell."),
        "check": ("forge.cli.commands.check", "Compare what decoders read in a binary log."),
        "compat": ("forge.cli.commands.compat", "Show how a consumer of another server line reads a log."),
        "replay": ("forge.cli.commands.changed.replay", "Say what a replica with other tables makes of binary logs."),
        "verify": ("forge.cli.commands.verify", "Compile recorded scenarios and compare with the recordings."),
    },
    "Test a decoder": {
        "conform": ("forge.cli.commands.conform", "Hold a decoder in any language against the cases of a kit."),
        "corpus": ("forge.cli.commands.corpus", "Build, search and unpack the conformance corpus."),
        "fuzz": ("forge.cli.commands.fuzz", "Look for changed logs that a decoder in any language gets wrong."),
        "shrink": ("forge.cli.commands.shrink", "Make a log smaller while a decoder does the same with it."),
    },
    "Maintain": {
        "servers": ("forge.cli.commands.servers", "List the server lines: what each writes, and how that is known."),
        "scenario": ("forge.cli.commands.scenario", "Print a SQL script as a scenario in YAML."),
        "schema": ("forge.cli.commands.schema", "Print a JSON Schema: of scenarios, of the decode, or of listings."),
        "warm-up": ("forge.cli.commands.warm_up", "Compile the kernels for rows in bulk ahead of their first use."),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            word = nearest(args[0], COMMANDS)
            hint = f"; did you mean {word!r}?" if word else f"; there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in group.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", prog_name="forge", message="%(prog)s %(version)s")
def cli() -> None:
    """Binary logs of MySQL and MariaDB: made from SQL, read, taken apart, compared.

    \b
    Example:
      forge build shop.sql -o shop.000001     the log that a server would have written
      forge info shop.000001                  what a log is and holds, on one page
      forge dump shop.000001 --rows           its events and rows
      forge rows shop.000001 --table shop.orders
      forge sql shop.000001 --flashback       the SQL that takes its changes back

    `forge COMMAND --help` has an example for each command.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code.  ``FORGE_DEBUG=1`` lets tracebacks through."""
    debug = os.environ.get("FORGE_DEBUG", "") not in ("", "0")
    try:
        try:
            # Not cli.main(): it turns a broken pipe into exit code 1 and prints a line of its own for Ctrl-C.
            if arguments is None and COMPLETE in os.environ:
                return _complete(os.environ[COMPLETE])
            with cli.make_context("forge", list(sys.argv[1:] if arguments is None else arguments)) as context:
                cli.invoke(context)
        finally:
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.ClickException as error:
        return _usage_error(error)
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # What Python still holds for stdout would raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except ForgeError as error:
        if debug:
            raise
        _say(str(error))
        return error.exit_code
    except OSError as error:
        if debug:
            raise
        return _system_error(error)
    except Exception as error:  # A person gets a sentence; FORGE_DEBUG=1 shows the rest.
        if debug:
            raise
        _say(
            f"an error of ours, {type(error).__name__}: {error}; please report it with the command"
            " and its input (FORGE_DEBUG=1 shows the traceback)"
        )
        return EXIT_INTERNAL


def _complete(instruction: str) -> int:
    """Answer a shell: its completion script (``bash_source``), or what may follow (``bash_complete``)."""
    from click.shell_completion import shell_complete

    code = shell_complete(cli, {}, "forge", COMPLETE, instruction)
    if code:
        raise click.UsageError(f"{COMPLETE} is {instruction!r}; expected bash_source, zsh_source or fish_source")
    return code


def _say(message: str) -> None:
    line = escaped(" ".join(message.split()))
    print(f"forge: {line}", file=sys.stderr)  # noqa: T201


def _usage_error(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return EXIT_USAGE
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" (see `{context.command_path} --help`)" if context is not None else ""
    message = brief(error.format_message()).rstrip(".")
    _say(message[:1].lower() + message[1:] + hint)
    return EXIT_USAGE


def _system_error(error: OSError) -> int:
    reason = error.strerror or str(error)
    _say(f"{error.filename}: {reason}" if error.filename is not None else reason)
    # What was asked for is not there, or is not what it was said to be; anything else is the machine's trouble.
    wrong_request = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, FileExistsError)
    return EXIT_USAGE if isinstance(error, wrong_request) else 1
