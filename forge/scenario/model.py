"""The declared form of a scenario: what a YAML file, or the same in Python, may say.

These structures are the single source of the file format: YAML is converted to them (``forge.scenario.convert``), and
the JSON Schema for editors is generated from them (``forge.scenario.schema``).  A *cell* is a literal or a generator
(``forge.scenario.generators``); what a column accepts is checked when the scenario is planned.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from forge.engine.requests.statements import Statement
from forge.errors import Phase, Verdict
from forge.located import Located
from forge.plan.metadata_forms import MetadataForms
from forge.plan.session import Session
from forge.scenario.table_model import TableDeclaration


class XaName(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Identifier of an XA transaction."""

    gtrid: Annotated[Any, Meta(description="Global transaction: text, or {hex: ...}; at most 64 bytes.")]
    bqual: Annotated[Any, Meta(description="Branch qualifier: text, or {hex: ...}; at most 64 bytes.")] = ""
    format_id: Annotated[int, Meta(ge=0, le=2**31 - 1, description="Number of the identifier's format.")] = 1


class Xa(XaName, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An XA transaction: its identifier, and what comes after XA END."""

    one_phase: Annotated[bool, Meta(description="XA COMMIT ... ONE PHASE, without XA PREPARE.")] = False
    end: Annotated[
        Literal["commit", "rollback", "prepared"],
        Meta(
            description="After XA PREPARE: XA COMMIT, XA ROLLBACK, or nothing, for a later transaction with"
            " `xa_commit` or `xa_rollback` to end it."
        ),
    ] = "commit"

    def __post_init__(self) -> None:
        if self.one_phase and self.end != "commit":
            raise ValueError("`one_phase` commits: `end` is commit")


class Transaction(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Statements that end together, with their circumstances; or the second phase of an XA transaction."""

    statements: list[Statement] = []
    database: Annotated[
        str | None, Meta(description="USE of that database before it; it stays the session's until another is named.")
    ] = None
    explicit: Annotated[
        bool | None,
        Meta(description="true: BEGIN ... COMMIT also around a single statement, which otherwise commits by itself."),
    ] = None
    end: Annotated[
        Literal["commit", "rollback"],
        Meta(description="COMMIT or ROLLBACK; an XA transaction that is rolled back here was never prepared."),
    ] = "commit"
    xa: Annotated[Xa | None, Meta(description="The statements run between XA START and XA END.")] = None
    xa_commit: Annotated[XaName | None, Meta(description="XA COMMIT of a transaction prepared before.")] = None
    xa_rollback: Annotated[XaName | None, Meta(description="XA ROLLBACK of a transaction prepared before.")] = None

    def __post_init__(self) -> None:
        ends = [name for name in ("xa_commit", "xa_rollback") if getattr(self, name) is not None]
        if ends and (len(ends) > 1 or self.statements or self.xa is not None or self.end != "commit"):
            raise ValueError(f"`{ends[0]}` stands by itself in a transaction")
        if not ends and not self.statements:
            raise ValueError("a transaction has at least one statement, or `xa_commit` or `xa_rollback`")
        if self.xa is not None and self.explicit is False:
            raise ValueError("`xa` is a block of its own: no `explicit`")


class _Named(Struct, frozen=True):
    scenario: Annotated[str, Meta(min_length=1, description="Name of the scenario.")]


class Scenario(_Named, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, dict=True):
    """What happens on a server: tables, and the transactions that change them."""

    description: str | None = None
    server: Annotated[str, Meta(description="Server line whose binlog is made.")] = "mysql-9.7"
    session: Annotated[Session, Meta(description="Settings of the server and the session.")] = Session()
    seed: Annotated[int, Meta(description="Seed of all generated cells.")] = 0
    tables: Annotated[
        list[str | TableDeclaration], Meta(description="Tables to begin with: CREATE TABLE text, or in pieces.")
    ] = []
    transactions: Annotated[
        list[list[Statement] | Transaction],
        Meta(description="Transactions in order of commit: lists of statements."),
    ] = []
    tags: Annotated[list[str], Meta(description="Words by which cases of a corpus are chosen.")] = []
    verdict: Annotated[
        Verdict | None,
        Meta(
            description="What a correct reader does with the bytes: read them, stop with an error, or either;"
            " by default read them, or what follows from session.metadata."
        ),
    ] = None
    phase: Annotated[
        Phase | None,
        Meta(description="Where a reader that stops should find the error; needed with `verdict: reject`."),
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
            raise ValueError("`phase` says where a reader stops: it goes with `verdict: reject` or `verdict: may`")
        if getattr(self.session, "torn", None) is not None and self.verdict is None:
            raise ValueError("session.torn leaves part of a file: say by `verdict` what a reader makes of it")
        forms = getattr(self.session, "metadata", None)
        if not isinstance(forms, MetadataForms):
            return  # made in Python of plain mappings, which are checked when the scenario is planned
        told = forms.verdict
        if told is None and self.verdict is None:
            raise ValueError("session.metadata has bytes of your own: say by `verdict` what a reader makes of them")
        if told not in (None, "accept") and self.verdict not in (None, told):
            raise ValueError(f"the verdict of what session.metadata forces is {told}, not {self.verdict}")

    @property
    def expected(self) -> tuple[Verdict, Phase | None]:
        """The verdict and the phase in which a reader that stops finds the error, declared or by session.metadata."""
        if self.verdict is not None:
            return self.verdict, self.phase
        told = self.session.metadata.verdict or "accept"
        return told, None if told == "accept" else "metadata"

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
    ) -> Scenario:
        """The scenario with one more transaction at its end."""
        one: list[Statement] | Transaction = list(statements)
        if explicit is not None or end != "commit" or xa is not None or database is not None:
            one = Transaction(statements=list(statements), explicit=explicit, end=end, xa=xa, database=database)
        return msgspec.structs.replace(self, transactions=[*self.transactions, one])

    def ddl(self, text: str) -> Scenario:
        """The scenario with one more data definition statement at its end."""
        return self.transaction(Statement(ddl=text))
