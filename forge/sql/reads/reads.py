"""What the text of a statement reads beside rows: user variables, system variables, functions.

Found by tokens, without understanding the statement: a word before a parenthesis is taken for a function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from msgspec import Struct, field

from forge.sql.lexer import Token, tokenize
from forge.sql.outline import outline
from forge.sql.reads.assigns import Assigned, assigned_at, last_insert_source
from forge.sql.reads.calls import Call
from forge.sql.reads.tables import named_tables, words_of_queries
from forge.sql.words import inside, outside

#: Functions that may be written without parentheses.
_WITHOUT_PARENTHESES = (
    "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP",
    "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
)  # fmt: skip
_SCOPES = ("GLOBAL", "SESSION", "LOCAL", "PERSIST")


class Reads(Struct, frozen=True):
    """``variables`` are user variables in the order in which servers come upon them; those that an UPDATE or ON
    DUPLICATE KEY UPDATE assigns from are in ``assigned``.  Names are lower-case.  ``words`` are the words outside
    of the arguments of functions.
    """

    variables: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    calls: frozenset[Call] = frozenset()
    #: Of the calls: those in SET and ON DUPLICATE KEY UPDATE.
    late_calls: frozenset[Call] = frozenset()
    system_variables: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    #: The tables that the text names: (database or "", name).
    tables: frozenset[tuple[str, str]] = frozenset()
    #: The user variables that it assigns to.
    targets: tuple[Assigned, ...] = ()
    #: What LAST_INSERT_ID(expression) is given: see :func:`last_insert_source`.
    last_insert: str | int | None = None
    #: How often each word or name stands in the text, in lower case, with the name of a table before it, or "".
    named: dict[tuple[str, str], int] = field(default_factory=dict)

    def mentions(self, column: str, others: Collection[str]) -> int:
        """How often a column stands in the text that is not one of the tables ``others``."""
        wanted = column.lower()
        return sum(count for (table, name), count in self.named.items() if name == wanted and table not in others)

    def calls_without_arguments(self, name: str) -> bool:
        return any(call.name == name and call.is_empty for call in self.calls)


def reads_of(sql: str) -> Reads:
    """What the statement reads.  Raises SqlError for text that is no statement."""
    return _reads_of(outline(sql))


@lru_cache(maxsize=256)
def _reads_of(sql: str) -> Reads:
    tokens = tokenize(sql)
    scan = _Scan(sql, tokens)
    scan.run()
    variables = tuple(dict.fromkeys(scan.early))
    return Reads(
        variables=variables,
        assigned=tuple(name for name in dict.fromkeys(scan.late) if name not in variables),
        calls=frozenset(scan.calls | scan.late_calls),
        late_calls=frozenset(scan.late_calls - scan.calls),
        system_variables=frozenset(scan.system_variables),
        words=frozenset(scan.words),
        tables=frozenset(named_tables(tokens)),
        targets=tuple(scan.targets),
        last_insert=last_insert_source(sql, tokens),
        named=scan.named,
    )


def body_calls(body: str) -> frozenset[Call]:
    """What the body of a trigger calls, in all of its statements.  Raises SqlError for a quote that is not closed."""
    scan = _Scan(body, tokenize(body, several=True))
    scan.run()
    return frozenset(scan.calls | scan.late_calls)


class _Scan:
    """One pass over the tokens of a statement."""

    def __init__(self, sql: str, tokens: Sequence[Token]) -> None:
        self.sql = sql
        self.tokens = tokens
        #: The variables that are read, before SET is evaluated and in it.
        self.early: list[str] = []
        self.late: list[str] = []
        self.targets: list[Assigned] = []
        self.calls: set[Call] = set()
        self.late_calls: set[Call] = set()
        self.system_variables: set[str] = set()
        self.words: set[str] = set()
        self.named: dict[tuple[str, str], int] = {}
        # A server resolves WHERE and ORDER BY of an UPDATE before it evaluates SET.
        self._in_set = False
        self._depth = 0
        self._of_queries = frozenset(words_of_queries(tokens))

    def run(self) -> None:
        index = 0
        while index < len(self.tokens):
            index = self._pass(index)

    def _pass(self, index: int) -> int:
        """Take one token, or a variable; the index of the next."""
        token, before = self.tokens[index], self.tokens[index - 1] if index else None
        self._follow_clauses(token)
        if before is not None and before.is_mark("@") and before.end == token.start:
            name, behind = _variable(self.tokens, index)
            if self.tokens[behind].is_mark(":="):
                self.targets.append(assigned_at(self.sql, self.tokens[behind].end, name))
            else:
                (self.late if self._in_set else self.early).append(name)
            return behind
        if before is not None and before.is_mark("@@"):
            if token.is_word(*_SCOPES) and self.tokens[index + 1].is_mark("."):
                index += 2
            self.system_variables.add(self.tokens[index].text.lower())
            return index + 1
        if token.kind == "word" and not (before is not None and before.is_mark(".")):
            self._word(index)
        if token.is_name:
            column = (self._qualifier(index), token.text.lower())
            self.named[column] = self.named.get(column, 0) + 1
        return index + 1

    def _qualifier(self, index: int) -> str:
        """The name before the name at a token, where there is one."""
        qualified = index > 1 and self.tokens[index - 1].is_mark(".") and self.tokens[index - 2].is_name
        return self.tokens[index - 2].text.lower() if qualified else ""

    def _follow_clauses(self, token: Token) -> None:
        self._depth += token.is_mark("(") - token.is_mark(")")
        if token.is_word("DUPLICATE") or (token.is_word("SET") and self.tokens[0].is_word("UPDATE")):
            self._in_set = True
        elif self._depth == 0 and token.is_word("WHERE", "ORDER", "LIMIT"):
            self._in_set = False

    def _word(self, index: int) -> None:
        token, behind = self.tokens[index], self.tokens[index + 1]
        if behind.is_mark("(") or token.is_word(*_WITHOUT_PARENTHESES):
            (self.late_calls if self._in_set else self.calls).add(_call(self.tokens, index))
        # Neither FROM of TRIM(... FROM ...) nor IGNORE INDEX is a clause.
        if index in self._of_queries and not (token.is_word("IGNORE") and behind.is_word("INDEX", "KEY")):
            self.words.add(token.text.upper())


def _variable(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """The user variable that begins at a token, ``a``, ``a.b``, or anything in quotes; and the token behind it."""
    token = tokens[index]
    name = token.text
    end = token.end
    if token.kind == "word":
        while tokens[index + 1].start == end and (tokens[index + 1].is_mark(".") or tokens[index + 1].kind == "word"):
            index += 1
            name += tokens[index].text
            end = tokens[index].end
    return name.lower(), index + 1


def _call(tokens: Sequence[Token], index: int) -> Call:
    """The function that is called at a token, with what stands between its parentheses."""
    name = tokens[index].text.upper()
    if not tokens[index + 1].is_mark("("):
        return Call(name)
    arguments = list(inside(tokens, index + 1))
    numbers = (int(token.text[:9]) for token in outside(arguments) if token.kind == "number" and token.text.isdigit())
    return Call(name, is_empty=not arguments, digits=next(numbers, 0))
