"""SET in a script: settings of a scenario's session, and user variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forge.scenario.script.script_clients import Transactions
from forge.scenario.script.script_rows import literal
from forge.sql.ast.changes import Setting
from forge.sql.ast.expressions import Variable
from forge.sql.errors import SqlError
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
#: Variables that are no setting of a scenario and would change what is logged.
_REFUSED = ("sql_log_bin", "insert_id", "last_insert_id", "gtid_seq_no", "pseudo_thread_id", "rand_seed1", "rand_seed2")
_ONOFF = {"on": True, "off": False, "1": True, "0": False, "true": True, "false": False}
_LOWER = ("row_image", "row_metadata", "binlog_format")


@dataclass(frozen=True, slots=True)
class _Saved:
    """The value of a system variable that a user variable keeps; None is the server's default."""

    value: Any


def _fields() -> dict[str, str]:
    """The settings of ``set``, and of what kind their values are."""
    from forge.engine.requests.settings import SessionChange

    kinds = {}
    for name, hint in SessionChange.__annotations__.items():
        text = str(hint)
        kinds[name] = "bool" if "bool" in text else "int" if "int |" in text or "[int" in text else "str"
    return kinds


@dataclass(frozen=True, slots=True)
class SettingsOfScript:
    """What SET changes for the client that sends it."""

    transactions: Transactions

    def set(self, sql: str, line: int) -> None:
        """Takes a SET statement.  Raises SqlError for what has no setting in a scenario and would change a log."""
        changes: dict[str, Any] = {}
        for setting in parse_settings(sql):
            self._setting(setting, changes)
        if not changes:
            return
        client = self.transactions.client
        client.settings |= changes
        if client.open is not None:
            self.transactions.add({"set": changes}, line)
        else:
            self.transactions.emit([{"set": changes}], [line], {})

    def _setting(self, setting: Setting, changes: dict[str, Any]) -> None:
        if setting.scope == "@":
            self.transactions.client.variables[setting.name] = self._value(setting)
        elif setting.name == "autocommit":
            value = self._value(setting)
            self.transactions.client.autocommit = str(value).lower() in ("1", "on", "none")
            if self.transactions.client.autocommit:
                self.transactions.commit_open()
        elif setting.name == "gtid_next":
            value = str(self._value(setting))
            self.transactions.client.gtid = None if value.upper() == "AUTOMATIC" else value
        elif setting.name in _REFUSED:
            raise SqlError(f"SET {setting.name} is not supported yet", setting.start)
        elif setting.name == "character set":
            raise SqlError("SET CHARACTER SET is not supported yet", setting.start, expected="SET NAMES")
        else:
            name = _VARIABLES.get(setting.name, setting.name)
            if name in _fields():
                changes[name] = self._taken(name, setting)

    def _taken(self, name: str, setting: Setting) -> Any:
        value = self._value(setting)
        if isinstance(value, _Saved):
            return value.value
        kind = _fields()[name]
        if kind == "bool" and value is not None:
            word = str(value).lower()
            if word not in _ONOFF:
                raise SqlError(f"{setting.name} is {value!r}", setting.start, expected="ON or OFF")
            return _ONOFF[word]
        if name in _LOWER and isinstance(value, str):
            return value.lower()
        return str(value) if kind == "str" and value is not None else value

    def _value(self, setting: Setting) -> Any:
        """What SET gives a variable: a literal, or the value of another variable."""
        if setting.value is None:
            return None
        tree = setting.value.tree
        if isinstance(tree, Variable) and tree.name.startswith("@@"):
            name = tree.name.removeprefix("@@").rpartition(".")[2]
            name = _VARIABLES.get(name, name)
            return _Saved(self.transactions.client.settings.get(name))
        found, value = literal(tree, self.transactions.client.variables)
        if not found:
            raise SqlError(f"SET {setting.name} to an expression is not supported yet", setting.value.start)
        return value
