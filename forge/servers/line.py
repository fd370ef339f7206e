"""A server line: its name, its release, the facts that it states or inherits, and the features that it has."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from forge.errors import ScenarioError
from forge.servers.facts.applier import Applier
from forge.servers.facts.ddl import Definitions
from forge.servers.facts.framing import Framing
from forge.servers.facts.grammar import Grammar
from forge.servers.facts.groups import Groups
from forge.servers.facts.query import Queries
from forge.servers.facts.rows import Rows
from forge.servers.facts.settings import Settings
from forge.servers.facts.table_map import TableMaps
from forge.servers.facts.texts import Texts
from forge.servers.facts.values import Dialect
from forge.servers.features import Family, Release, feature, release


class ServerLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What servers of one line write, by subject.  :func:`forge.servers.loading.evidence` says how we know."""

    name: str
    #: Whose log it is: the key of the few tables where MySQL and MariaDB are different designs.
    family: Family
    #: The version string that FORMAT_DESCRIPTION has where no recording gives another.
    server_version: str
    #: The release of the real server that recordings of this line are made with; None if none is available.
    recorded: str | None = None
    settings: Settings
    framing: Framing
    groups: Groups
    rows: Rows
    table_map: TableMaps
    query: Queries
    ddl: Definitions
    values: Dialect
    grammar: Grammar
    texts: Texts
    applier: Applier

    @property
    def post_header_bytes(self) -> bytes:
        """The post-header lengths of FORMAT_DESCRIPTION, one byte for each type."""
        return bytes.fromhex(self.framing.post_header_lengths)

    @property
    def release(self) -> Release:
        """The release that stands for the line, e.g. (5, 7, 44)."""
        return release(self.server_version)

    def knows(self, name: str) -> bool:
        """Whether servers of this line have the feature of ``features.toml``."""
        if name in self.framing.missing_features:
            return False
        return name in self.framing.private_features or feature(name).is_in(self.family, self.release)

    def require(self, name: str) -> None:
        """Raises ScenarioError, which says since when the feature exists, if the line does not have it."""
        if not self.knows(name):
            raise ScenarioError(
                f"{self.name} does not have {feature(name).title}", expected=feature(name).history(self.family)
            )

    def require_parsed(self, names: Iterable[str]) -> None:
        """Raises ScenarioError for a feature of a statement's text that the line has not, and does not pass over."""
        for name in names:
            if feature(name).reaction(self.family).effect == "refuse":
                self.require(name)


#: The subjects of facts, in the order of the TOML files.
SUBJECTS: dict[str, type[msgspec.Struct]] = {
    field.name: field.type
    for field in msgspec.structs.fields(ServerLine)
    if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
}
