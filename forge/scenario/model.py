"""The declared form of a scenario: what a YAML file, or the same in Python, may say.

These structures are the single source of the file format: YAML is converted to them (``forge.scenario.convert``), and
the JSON Schema for editors is generated from them (``python -m tests.schema``).  A *cell* is a literal or a generator
(``forge.scenario.generators``); what a column accepts is checked when the scenario is planned.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction, Xa
from forge.errors import Phase, Verdict
from forge.located import Located
from forge.plan.metadata_forms import MetadataForms
from forge.plan.session import Session
from forge.scenario.table_model import TableDeclaration
from forge.scenario.volume_model import Volume


class _Named(Struct, frozen=True):
    scenario: Annotated[str, Meta(min_length=1, description="Name of the scenario.")]


class Scenario(_Named, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, dict=True):
    """What happens on a server: tables, and the transactions that change them."""

    description: str | None = None
    server: Annotated[str, Meta(description="Server line whose binary log is written, such as `mysql-9.7`.")] = (
        "mysql-9.7"
    )
    session: Annotated[Session, Meta(description="Settings of the server and the session.")] = Session()
    seed: Annotated[int, Meta(description="Seed of all generated cells.")] = 0
    tables: Annotated[
        list[str | TableDeclaration],
        Meta(description="Tables that exist at the start: CREATE TABLE text, or a mapping."),
    ] = []
    existing: Annotated[
        bool | list[list[Statement] | Transaction],
        Meta(
            description="The databases and `tables` are there before the log begins: it does not create them."
            " A list has transactions that have happened to them by then."
        ),
    ] = False
    transactions: Annotated[
        list[list[Statement] | Transaction],
        Meta(description="Transactions in order of commit; each is a list of statements."),
    ] = []
    volume: Annotated[
        Volume | None, Meta(description="How much `forge generate` makes happen to the tables, and what rows hold.")
    ] = None
    tags: Annotated[list[str], Meta(description="Words for choosing cases of a corpus.")] = []
    verdict: Annotated[
        Verdict | None,
        Meta(
            description="Whether a correct reader accepts the bytes, rejects them with an error, or may do either;"
            " by default `accept`, or what follows from session.metadata."
        ),
    ] = None
    phase: Annotated[
        Phase | None,
        Meta(description="Where a reader that rejects the bytes finds the error; required with `verdict: reject`."),
    ] = None
    matrix: Annotated[
        dict[str, list[Any]],
        Meta(
            description="Makes a family of cases, one for each combination. A key is a field of the scenario"
            " (`session.row_image`) or a parameter of the template; `exclude` lists combinations to leave out."
        ),
    ] = {}

    def __post_init__(self) -> None:
        if self.verdict == "reject" and self.phase is None:
            raise ValueError(f"`verdict: reject` needs `phase`: one of {', '.join(get_args(Phase))}")
        if self.phase is not None and self.verdict in ("accept", None):
            raise ValueError("`phase` says where a reader stops: it needs `verdict: reject` or `verdict: may`")
        if getattr(self.session, "torn", None) is not None and self.verdict is None:
            raise ValueError(
                "session.torn leaves part of a file: `verdict` must say whether a correct reader accepts it"
            )
        if getattr(self.session, "edits", None) and self.verdict is None:
            raise ValueError("session.edits changes the file: `verdict` must say whether a correct reader accepts it")
        forms = getattr(self.session, "metadata", None)
        if not isinstance(forms, MetadataForms):
            return  # made in Python of plain mappings, which are checked when the scenario is planned
        implied = forms.verdict
        if implied is None and self.verdict is None:
            raise ValueError(
                "session.metadata has bytes of your own: `verdict` must say whether a correct reader accepts them"
            )
        if implied not in (None, "accept") and self.verdict not in (None, implied):
            raise ValueError(f"session.metadata implies the verdict {implied}, not {self.verdict}")

    @property
    def expected(self) -> tuple[Verdict, Phase | None]:
        """The verdict and the phase in which a reader that stops finds the error, declared or by session.metadata."""
        if self.verdict is not None:
            return self.verdict, self.phase
        implied = self.session.metadata.verdict or "accept"
        return implied, None if implied == "accept" else "metadata"

    @property
    def origin(self) -> Located | None:
        """The YAML that the scenario was read from, which knows the lines; None if it was made in Python."""
        located: Located | None = self.__dict__.get("located")
        return located

    def transaction(
        self,
        *statements: Statement,
        explicit: bool | None = None,
        end: Literal["commit", "rollback"] = "commit",
        xa: Xa | None = None,
        database: str | None = None,
        gtid: str | int | None = None,
    ) -> Scenario:
        """The scenario with one more transaction at its end."""
        entry: list[Statement] | Transaction = list(statements)
        how = Transaction(statements=list(statements), explicit=explicit, end=end, xa=xa, database=database, gtid=gtid)
        if how != Transaction(statements=list(statements)):
            entry = how
        return msgspec.structs.replace(self, transactions=[*self.transactions, entry])

    def ddl(self, text: str) -> Scenario:
        """The scenario with one more data definition statement at its end."""
        return self.transaction(Statement(ddl=text))
