"""SET in a script: settings of a scenario's session, and user variables."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct

from forge.engine.requests.sql_rows import Saved, computed
from forge.errors import ScenarioError
from forge.located import Place
from forge.scenario.script.script_clients import Transactions
from forge.servers import ServerLine
from forge.sql.ast.changes import Setting
from forge.sql.ast.expressions import Variable
from forge.sql.errors import SqlError, at_offset
from forge.sql.lexer import Modes
from forge.sql.parse.changes import parse_settings

#: Fields of a scenario's ``set`` by the names of the system variables, where they differ.
_VARIABLES = {
    "binlog_row_image": "row_image",
    "binlog_row_value_options": "row_value_options",
    "binlog_row_metadata": "row_metadata",
    "binlog_rows_query_log_events": "rows_query",
    "binlog_annotate_row_events": "rows_query",
    "binlog_transaction_compression": "compression",
    "binlog_transaction_compression_level_zstd": "compression_level",
    "storage_engine": "default_storage_engine",
}
#: Variables that no field says and that would change what is logged, and what to write instead.
_REFUSED = {
    "insert_id": "the number among the values of the INSERT",
    "last_insert_id": "the number instead of LAST_INSERT_ID()",
    "pseudo_thread_id": "`-- forge: session: {facts: ...}` at the head of the script",
    "rand_seed1": "`-- forge: rand_seeds: [1, 2]` in front of the statement",
    "rand_seed2": "`-- forge: rand_seeds: [1, 2]` in front of the statement",
    "character set": "SET NAMES",
    "charset": "SET NAMES",
}
_ONOFF = {"on": True, "off": False, "1": True, "0": False, "true": True, "false": False}
_LOWER = ("row_image", "row_metadata", "binlog_format", "names")


def _fields() -> dict[str, str]:
    """The settings of ``set``, and of what kind their values are."""
    from forge.engine.requests.settings import SessionChange

    kinds = {}
    for name, hint in SessionChange.__annotations__.items():
        text = str(hint)
        kinds[name] = "bool" if "bool" in text else "int" if "int |" in text or "[int" in text else "str"
    return kinds


class SettingsOfScript(Struct, frozen=True):
    """What SET changes for the client that sends it."""

    transactions: Transactions
    kinds: dict[str, str]

    @classmethod
    def of(cls, transactions: Transactions) -> SettingsOfScript:
        return cls(transactions, _fields())

    def set(self, sql: str, place: Place, line: ServerLine, modes: Modes) -> None:
        """Takes a SET statement.  Raises SqlError for what has no setting in a scenario and would change a log."""
        changes: dict[str, Any] = {}
        for setting in parse_settings(sql, line.grammar, modes):
            with at_offset(setting.start):
                self._setting(setting, changes)
        client = self.transactions.client
        if not changes:
            return
        client.settings |= changes
        if client.open:
            self.transactions.add({"set": changes}, place)
        else:
            self.transactions.emit([{"set": changes}], [place], {})

    def _setting(self, setting: Setting, changes: dict[str, Any]) -> None:
        client = self.transactions.client
        if setting.scope == "@":
            client.variables[setting.name] = self._value(setting)
            client.untold.add(setting.name)
        elif setting.name == "autocommit":
            client.autocommit = str(self._value(setting)).lower() in ("1", "on", "true", "none")
            if client.autocommit:
                self.transactions.commit_open()
        elif setting.name in ("gtid_next", "gtid_seq_no"):
            value = self._value(setting)
            client.gtid = None if str(value).upper() == "AUTOMATIC" else value
        elif setting.name == "sql_log_bin":
            if str(self._word(setting)).lower() in ("0", "off", "false"):
                raise SqlError(
                    "SET sql_log_bin = 0 is not supported yet", setting.start, expected="no statements with it"
                )
        elif setting.name in _REFUSED:
            raise SqlError(f"SET {setting.name} is not supported", setting.start, expected=_REFUSED[setting.name])
        else:
            name = _VARIABLES.get(setting.name, setting.name)
            if name in self.kinds and not (setting.scope == "global" and name not in _GLOBAL):
                changes[name] = self._taken(name, setting)

    def _word(self, setting: Setting) -> Any:
        value = self._value(setting)
        return value.value if isinstance(value, Saved) else value

    def _taken(self, name: str, setting: Setting) -> Any:
        value = self._word(setting)
        if value is None:
            return self._default(name)
        kind = self.kinds[name]
        if name == "timestamp":
            return _moment(value)
        if kind == "bool":
            word = str(value).lower()
            if word not in _ONOFF:
                raise SqlError(f"{setting.name} is {value!r}", setting.start, expected="ON or OFF")
            return _ONOFF[word]
        if name in _LOWER and isinstance(value, str):
            return value.lower()
        if name == "row_value_options":
            return value.upper() or None
        return str(value) if kind == "str" else value

    def _default(self, name: str) -> Any:
        """What DEFAULT is of a setting that has no null: what a session begins with."""
        from forge.plan.session import Session

        return getattr(Session(), name, None)

    def _value(self, setting: Setting) -> Any:
        """What SET gives a variable: a literal, the value of another variable, or what is computed of them."""
        if setting.value is None:
            return None
        tree, client = setting.value.tree, self.transactions.client
        if isinstance(tree, Variable):
            if not tree.name.startswith("@@"):
                return client.variables.get(tree.name[1:])
            name = tree.name.removeprefix("@@").rpartition(".")[2]
            name = _VARIABLES.get(name, name)
            return Saved(client.settings.get(name))
        try:
            return computed(setting.value, client.variables)
        except ScenarioError as error:
            raise SqlError(error.problem, setting.value.start, expected="a literal") from None


#: Settings that a session takes from SET GLOBAL.
_GLOBAL = (
    "row_metadata", "binlog_transaction_dependency_tracking", "log_bin_use_v1_row_events", "log_bin_compress",
    "log_bin_compress_min_len",
)  # fmt: skip


def _moment(value: Any) -> str | None:
    """SET timestamp: seconds since 1970, with digits behind the point; 0 is the clock."""
    seconds = Decimal(str(value))
    if not seconds:
        return None
    text = datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S")
    digits = f"{seconds % 1:.6f}"[2:].rstrip("0")
    return f"{text}.{digits}" if digits else text
