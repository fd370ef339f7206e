"""The declared form of a scenario: what a YAML file, or the same in Python, may say.

These structures are the single source of the file format: YAML is converted to them (``forge.scenario.convert``), and
the JSON Schema for editors is generated from them (``forge.scenario.schema``).  A *cell* is a literal or a generator
(``forge.scenario.generators``); what a column accepts is checked when the scenario is planned.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct, field

from forge.compile.metadata_forms import MetadataForms
from forge.compile.model import EventPlace, Session
from forge.errors import Phase, Verdict
from forge.located import Located
from forge.scenario.load_model import LoadData

#: A cell: a literal, or a generator such as {faker: name}.
Cell = Any
#: What a correct reader does with the bytes: it has to read them, it has to stop with an error, or it may do either.
#: Conditions on columns: {column: literal | [literals] | null | {lt|le|gt|ge|ne|between: ...}}.
Where = dict[str, Any]

TableName = Annotated[
    str, Meta(description="Name of a table, `database.table`; without a database, that of the session is meant.")
]


class ColumnDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A column of a table that is declared in pieces."""

    name: Annotated[str, Meta(description="Name of the column, as it is (no quoting).")]
    type: Annotated[str, Meta(description="SQL type with its attributes, e.g. `VARCHAR(60) CHARACTER SET latin1`.")]
    nullable: Annotated[bool | None, Meta(description="false: NOT NULL. By default a column takes NULL.")] = None
    default: Annotated[
        Any, Meta(description="Literal default; `CURRENT_TIMESTAMP(n)` and `(expression)` are taken as SQL.")
    ] = msgspec.UNSET
    on_update: Annotated[str | None, Meta(description="`CURRENT_TIMESTAMP(n)`.")] = None
    auto_increment: bool = False
    visible: Annotated[bool, Meta(description="false: INVISIBLE.")] = True


class KeyDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A key of a table: exactly one of primary, unique and index, with its columns (`name(10)` for a prefix)."""

    primary: list[str] | None = None
    unique: list[str] | None = None
    index: list[str] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        _exactly_one(self, ("primary", "unique", "index"), "a key")


class TableDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A table declared in pieces; it is rendered to CREATE TABLE text, which is what gets logged."""

    table: TableName
    columns: Annotated[list[ColumnDeclaration], Meta(min_length=1)]
    keys: list[KeyDeclaration] = []
    charset: Annotated[str | None, Meta(description="Default character set of the table.")] = None
    collation: Annotated[str | None, Meta(description="Default collation of the table.")] = None


SetByTrigger = Annotated[
    dict[str, Any] | None, Meta(description="What a BEFORE trigger gives columns (SET NEW.column): column to cell.")
]


class _NewRows(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    into: TableName
    rows: Annotated[
        Annotated[list[dict[str, Any] | list[Any]], Meta(min_length=1)] | None,
        Meta(description="Mappings of column to cell, or lists of cells in the order of `columns`."),
    ] = None
    columns: Annotated[list[str] | None, Meta(description="Columns that rows written as lists give values for.")] = None
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None, Meta(description="How many rows to make of `row`.")
    ] = None
    row: Annotated[dict[str, Any] | None, Meta(description="The row to make `count` times, with generators.")] = None
    column_list: Annotated[
        bool, Meta(description="false: VALUES without a list of columns, with DEFAULT for cells that are not given.")
    ] = True
    select: Annotated[
        str | None,
        Meta(description="A SELECT that gives these rows, in this order; it stands in place of VALUES."),
    ] = None
    set_by_trigger: SetByTrigger = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.row is None):
            what = "a replace" if isinstance(self, Replace) else "an insert"
            raise ValueError(f"{what} has either `rows` or `count` and `row`")
        if (self.count is None) != (self.row is None):
            raise ValueError("`count` and `row` go together")
        if self.columns is not None and self.rows is None:
            raise ValueError("`columns` goes with `rows` that are lists")


class Insert(_NewRows, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """INSERT: rows as mappings of column to cell, as lists under `columns`, or `count` times the same `row`."""

    ignore: Annotated[
        bool, Meta(description="INSERT IGNORE: rows whose keys exist are skipped, impossible values are clipped.")
    ] = False
    on_duplicate_key_update: Annotated[
        Annotated[dict[str, Any], Meta(min_length=1)] | None,
        Meta(
            description="New values for the row that has the key already: column to cell, or to `{values: column}`"
            " for what the new row has there.",
        ),
    ] = None


class Replace(_NewRows, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """REPLACE: as `insert`; rows that have the same primary or unique key make place for the new ones."""


class Update(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """UPDATE of all rows that meet every condition; without `where`, of all rows."""

    table: TableName
    set: Annotated[dict[str, Any], Meta(min_length=1, description="New values: column to cell.")]
    where: Annotated[Where | None, Meta(description="Conditions that all have to hold, by column.")] = None
    set_by_trigger: SetByTrigger = None


class Delete(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """DELETE of all rows that meet every condition; without `where`, of all rows."""

    table: TableName = field(name="from")
    where: Annotated[Where | None, Meta(description="Conditions that all have to hold, by column.")] = None


class PlacedEvent(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An event that no statement logs: informational, private, or of an unknown type (WL#4033)."""

    type: Annotated[str | int, Meta(description="Name of the event type, such as `ROWS_QUERY`, or its number.")]
    text: Annotated[
        str | None,
        Meta(description="What the body says: a statement's text, a message, a file name; else the body as UTF-8."),
    ] = None
    hex: Annotated[str | None, Meta(description="The body, as hex; without text and hex it is empty.")] = None
    ignorable: Annotated[
        bool | None, Meta(description="The flag IGNORABLE; by default only on IGNORABLE and ROWS_QUERY.")
    ] = None
    flags: Annotated[list[str], Meta(description="Further flags of the header, such as `ARTIFICIAL`.")] = []
    place: Annotated[
        EventPlace,
        Meta(
            description="`here`; `begin` between GTID and BEGIN and `rows` between TABLE_MAP and rows of the next"
            " statement, inside a transaction; `description` after FORMAT_DESCRIPTION, `head` before the file's first"
            " group, `end` as the file's last event, by itself."
        ),
    ] = "here"
    timestamp: Annotated[Annotated[int, Meta(ge=0, le=2**32 - 1)] | None, Meta(description="Seconds.")] = None
    server_id: Annotated[Annotated[int, Meta(ge=0, le=2**32 - 1)] | None, Meta(description="Server of the header.")] = (
        None
    )
    post_header_length: Annotated[
        Annotated[int, Meta(ge=0, le=255)] | None,
        Meta(description="Lists the type in FORMAT_DESCRIPTION, with this length: readers refuse types beyond it."),
    ] = None

    def __post_init__(self) -> None:
        if self.text is not None and self.hex is not None:
            raise ValueError("an event has either `text` or `hex`")


#: Kinds of statements: each statement has exactly one.
KINDS = (
    "insert", "replace", "update", "delete", "load_data",
    "savepoint", "rollback_to", "release_savepoint", "ddl", "flush", "restart", "event",
)  # fmt: skip


class Statement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One statement: exactly one of insert, replace, update, delete, load_data, savepoint, rollback_to,
    release_savepoint, ddl, flush, restart and event.
    """

    insert: Insert | None = None
    replace: Replace | None = None
    update: Update | None = None
    delete: Delete | None = None
    load_data: LoadData | None = None
    savepoint: Annotated[str | None, Meta(description="SAVEPOINT of that name.")] = None
    rollback_to: Annotated[str | None, Meta(description="ROLLBACK TO SAVEPOINT of that name.")] = None
    release_savepoint: Annotated[str | None, Meta(description="RELEASE SAVEPOINT of that name.")] = None
    ddl: Annotated[
        str | None, Meta(description="A data definition statement as SQL text; it is a transaction of its own.")
    ] = None
    flush: Annotated[
        Literal["binary_logs"] | None,
        Meta(description="FLUSH BINARY LOGS: the log goes on in the next file; stands by itself, as ddl does."),
    ] = None
    restart: Annotated[
        Literal["clean", "crash"] | None,
        Meta(
            description="The server is shut down (`clean`) or killed (`crash`) and started again, which begins another"
            " file; stands by itself, as ddl does."
        ),
    ] = None
    event: Annotated[
        PlacedEvent | None,
        Meta(description="An event that no statement logs; by itself it stands between the groups."),
    ] = None
    query: Annotated[
        str | None,
        Meta(
            description="SQL text to log (ROWS_QUERY) and to replay instead of the text made from the statement;"
            " it has to do the same."
        ),
    ] = None
    rows_query: Annotated[
        bool | None,
        Meta(description="The statement's text is logged beside its rows, or not, whatever session.rows_query says."),
    ] = None
    user_variables: Annotated[
        dict[str, Any] | None,
        Meta(
            description="User variables that are SET before the statement, for its `query` and those of later ones:"
            " literals, or {unsigned|real|decimal|hex: ...}, {text: ..., collation: ...}."
        ),
    ] = None
    further: Annotated[
        list[Further],
        Meta(description="Row changes that triggers make as part of the statement, or the statement in other tables."),
    ] = []
    locks: Annotated[
        list[str] | None,
        Meta(
            description="The tables that the server opens for writing besides the statement's own, in its order; by"
            " default those of foreign keys and of `further`."
        ),
    ] = None
    rand_seeds: Annotated[
        tuple[
            Annotated[int, Meta(ge=0, le=2**32 - 1)],
            Annotated[int, Meta(ge=0, le=2**32 - 1)],
        ]
        | None,
        Meta(description="rand_seed1 and rand_seed2, SET before a statement whose `query` calls RAND()."),
    ] = None

    def __post_init__(self) -> None:
        _exactly_one(self, KINDS, "a statement")
        if self.query is not None and (self.target is None or self.load_data is not None):
            raise ValueError("`query` goes with insert, replace, update or delete")
        if self.rows_query is not None and self.target is None:
            raise ValueError("`rows_query` goes with statements that change rows")
        if (self.further or self.locks is not None) and self.target is None:
            raise ValueError("`further` and `locks` go with insert, replace, update or delete")

    @property
    def target(self) -> str | None:
        """The table that the statement changes, as it names it; None if it changes no rows itself."""
        new = self.insert or self.replace or self.load_data
        if new is not None:
            return new.into
        changes = self.update or self.delete
        return None if changes is None else changes.table


class Further(Statement, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A statement that changes rows as part of another one."""

    row: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Number of the row that it belongs to, of those that the other changes; the last by default."),
    ] = None
    before: Annotated[bool, Meta(description="true: a BEFORE trigger, which changes its rows first.")] = False
    joined: Annotated[
        bool,
        Meta(description="true: no trigger; the other is an UPDATE or DELETE of several tables, with its `query`."),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is None:
            raise ValueError("`further` has insert, replace, update and delete")


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


def insert(
    into: str,
    *rows: dict[str, Cell],
    query: str | None = None,
    ignore: bool = False,
    on_duplicate_key_update: dict[str, Cell] | None = None,
) -> Statement:
    """INSERT of the given rows: ``insert("shop.orders", {"who": "Ann"}, {"who": {"faker": "name"}})``."""
    new = Insert(into=into, rows=list(rows), ignore=ignore, on_duplicate_key_update=on_duplicate_key_update)
    return Statement(insert=new, query=query)


def replace(into: str, *rows: dict[str, Cell], query: str | None = None) -> Statement:
    """REPLACE of the given rows: ``replace("shop.orders", {"id": 1, "who": "Ann"})``."""
    return Statement(replace=Replace(into=into, rows=list(rows)), query=query)


def insert_many(into: str, count: int, row: dict[str, Cell]) -> Statement:
    """INSERT of ``count`` generated rows: ``insert_many("shop.orders", 50, {"who": {"faker": "name"}})``."""
    return Statement(insert=Insert(into=into, count=count, row=row))


def load_data(into: str, rows: list[list[Cell]] | None = None, **how: Any) -> Statement:
    """LOAD DATA of a file with these rows: ``load_data("shop.orders", [["Ann", 2]], columns=["who", "qty"])``."""
    return Statement(load_data=LoadData(into=into, rows=rows, **how))


def update(table: str, *, set: dict[str, Cell], where: Where | None = None, query: str | None = None) -> Statement:
    """UPDATE: ``update("shop.orders", where={"id": 1}, set={"qty": 3})``."""
    return Statement(update=Update(table=table, set=set, where=where), query=query)


def delete(table: str, *, where: Where | None = None, query: str | None = None) -> Statement:
    """DELETE: ``delete("shop.orders", where={"id": [1, 2]})``."""
    return Statement(delete=Delete(table=table, where=where), query=query)


def ddl(text: str) -> Statement:
    """A data definition statement."""
    return Statement(ddl=text)


def flush_binary_logs() -> Statement:
    """FLUSH BINARY LOGS: the log goes on in the next file."""
    return Statement(flush="binary_logs")


def restart(*, crash: bool = False) -> Statement:
    """The server is shut down, or killed, and started again."""
    return Statement(restart="crash" if crash else "clean")


def savepoint(name: str) -> Statement:
    """SAVEPOINT."""
    return Statement(savepoint=name)


def rollback_to(name: str) -> Statement:
    """ROLLBACK TO SAVEPOINT."""
    return Statement(rollback_to=name)


def release_savepoint(name: str) -> Statement:
    """RELEASE SAVEPOINT."""
    return Statement(release_savepoint=name)


def event(
    type: str | int,
    *,
    text: str | None = None,
    hex: str | None = None,
    ignorable: bool | None = None,
    place: EventPlace = "here",
    post_header_length: int | None = None,
) -> Statement:
    """An event that no statement logs: ``event(200, hex="00ff", ignorable=True)``."""
    placed = PlacedEvent(
        type=type, text=text, hex=hex, ignorable=ignorable, place=place, post_header_length=post_header_length
    )
    return Statement(event=placed)


def _exactly_one(struct: Struct, names: tuple[str, ...], what: str) -> None:
    given = [name for name in names if getattr(struct, name) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        raise ValueError(f"{what} has exactly one of {', '.join(names)}; here are {found}")
