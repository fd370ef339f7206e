"""The table of decoders.  Adding one is a module in this folder and a line here (docs/add-a-decoder.md)."""

from __future__ import annotations

from importlib import import_module

from forge.check.decoder import Decoder
from forge.errors import ScenarioError, nearest

#: Module and class in this folder, and what the class is made with.
_DECODERS: tuple[tuple[str, ...], ...] = (
    ("forge_decoder:ForgeDecoder",),
    ("python_mysql_replication:PythonMysqlReplication",),
    ("mysqlbinlog:Mysqlbinlog",),
    ("mariadb_binlog:MariadbBinlog", "mariadb-binlog-10.11", "maria1011", "mariadb-10.11"),
    ("mariadb_binlog:MariadbBinlog", "mariadb-binlog-11.8", "maria118", "mariadb-11.8"),
)


def available_decoders() -> list[Decoder]:
    """Every known decoder, ours first; :meth:`Decoder.available` says of each whether it can run here."""
    decoders = []
    for entry, *arguments in _DECODERS:
        module, _, name = entry.partition(":")
        make = getattr(import_module(f"forge.check.decoders.{module}"), name)
        decoders.append(make(*arguments))
    return decoders


def decoder(name: str) -> Decoder:
    """The decoder of that name; ``mariadb-binlog`` is the newest one that is here.

    Raises ScenarioError for an unknown name.
    """
    by_name = {decoder.name: decoder for decoder in available_decoders()}
    if name == "mariadb-binlog":
        newest_first = [decoder for key, decoder in reversed(by_name.items()) if key.startswith(name)]
        return next((decoder for decoder in newest_first if decoder.available() is None), newest_first[0])
    if name not in by_name:
        raise ScenarioError(
            f"unknown decoder {name!r}", expected=f"one of {', '.join(by_name)}", suggestion=nearest(name, by_name)
        )
    return by_name[name]
