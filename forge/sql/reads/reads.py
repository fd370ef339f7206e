"""What the text of a statement reads beside rows: user variables, system variables, functions.

Found by tokens, without understanding the statement: a word before a parenthesis is taken for a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forge.sql.lexer import Token, tokenize
from forge.sql.reads.assigns import Assigned, assigned_at, last_insert_source
from forge.sql.reads.calls import Call
from forge.sql.reads.conditionals import Conditional, conditionals

#: Functions that may be written without parentheses.
_WITHOUT_PARENTHESES = frozenset((
    "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP",
    "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
))  # fmt: skip
_SCOPES = ("GLOBAL", "SESSION", "LOCAL", "PERSIST")


@dataclass(frozen=True, slots=True)
class Reads:
    """``variables`` are user variables in the order in which servers come upon them; those that an UPDATE or ON
    DUPLICATE KEY UPDATE assigns from are in ``assigned``.  Names are lower-case.  ``words`` are the words that are
    neither names nor functions.
    """

    variables: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    calls: frozenset[Call] = frozenset()
    #: Of the calls: those in SET and ON DUPLICATE KEY UPDATE, and those in the second and later rows of VALUES.
    late_calls: frozenset[Call] = frozenset()
    row_calls: frozenset[Call] = frozenset()
    system_variables: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    #: The tables that the text names: (database or "", name).
    tables: frozenset[tuple[str, str]] = frozenset()
    #: The user variables that it assigns to, and those of ``variables`` and ``assigned`` that it does so before.
    targets: tuple[Assigned, ...] = ()
    shadowed: frozenset[str] = frozenset()
    #: What LAST_INSERT_ID(expression) is given: see :func:`last_insert_source`.
    last_insert: str | int | None = None
    #: Parts that may not be evaluated, and the variables and functions that are read outside of them.
    conditionals: tuple[Conditional, ...] = ()
    sure_variables: frozenset[str] = frozenset()
    sure_calls: frozenset[str] = frozenset()
    #: How often each word or name stands in the text, in lower case.
    named: dict[str, int] = field(default_factory=dict)

    def calls_without_arguments(self, name: str) -> bool:
        return any(call.name == name and call.is_empty for call in self.calls)


def reads_of(sql: str) -> Reads:
    """What the statement reads.  Raises SqlError for text that is no statement."""
    tokens = tokenize(sql)
    early: list[tuple[int, str]] = []
    late: list[tuple[int, str]] = []
    targets: list[tuple[bool, Assigned]] = []
    calls: set[Call] = set()
    late_calls: set[Call] = set()
    row_calls: set[Call] = set()
    system: set[str] = set()
    words: set[str] = set()
    named: dict[str, int] = {}
    # A server resolves WHERE and ORDER BY of an UPDATE before it evaluates SET.
    in_set = False
    rows = _Rows()
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        rows.pass_by(token)
        if token.is_word("DUPLICATE") or (token.is_word("SET") and tokens[0].is_word("UPDATE")):
            in_set = True
        elif token.is_word("WHERE", "ORDER", "LIMIT"):
            in_set = False
        if before is not None and before.is_mark("@") and before.end == token.start:
            name, behind = _variable(tokens, index)
            if tokens[behind].is_mark(":="):
                targets.append((in_set, assigned_at(tokens, behind, name)))
            else:
                (late if in_set else early).append((index, name))
        elif before is not None and before.is_mark("@@"):
            scoped = token.text.upper() in _SCOPES and tokens[index + 1].is_mark(".")
            system.add(tokens[index + 2].text.lower() if scoped else token.text.lower())
        elif token.kind == "word" and not (before is not None and before.is_mark(".")):
            if tokens[index + 1].is_mark("(") or token.text.upper() in _WITHOUT_PARENTHESES:
                (late_calls if in_set else row_calls if rows.count > 1 else calls).add(_call(tokens, index))
            words.add(token.text.upper())
        if token.kind in ("word", "name"):
            named[token.text.lower()] = named.get(token.text.lower(), 0) + 1
    variables = tuple(dict.fromkeys(name for _, name in early))
    assigned = tuple(name for name in dict.fromkeys(name for _, name in late) if name not in variables)
    # Each read and each assignment in the order in which they happen.
    reads = [(False, index, name) for index, name in early] + [(True, index, name) for index, name in late]
    made = [(is_late, one.end, one.name) for is_late, one in targets]
    shadowed = {
        name
        for *_, name in made
        if min(m for m in made if m[2] == name) < min((r for r in reads if r[2] == name), default=(True, 0, ""))
    }
    every = frozenset(calls | late_calls | row_calls)
    sets = (frozenset(late_calls - calls), frozenset(row_calls - calls))
    tables = frozenset(_tables(tokens))
    places = dict([*early, *late])
    parts = conditionals(sql, tokens, places)
    inside = {at for one in parts for at in range(one.start, one.end)}
    return Reads(
        conditionals=tuple(parts),
        sure_variables=frozenset(name for at, name in places.items() if at not in inside),
        sure_calls=frozenset(token.text.upper() for at, token in enumerate(tokens) if at not in inside),
        variables=variables,
        assigned=assigned,
        calls=every,
        late_calls=sets[0],
        row_calls=sets[1],
        system_variables=frozenset(system),
        words=frozenset(words),
        tables=tables,
        targets=tuple(one for _, one in targets),
        shadowed=frozenset(shadowed),
        last_insert=last_insert_source(tokens),
        named=named,
    )


@dataclass(slots=True)
class _Rows:
    """Counts the rows of VALUES."""

    count: int = 0
    depth: int = 0
    inside: bool = False

    def pass_by(self, token: Token) -> None:
        if self.depth == 0 and token.kind == "word":
            self.inside = token.is_word("VALUES", "VALUE")
            self.count = self.count if self.inside else 0
        if token.is_mark("("):
            self.count += self.inside and self.depth == 0
            self.depth += 1
        elif token.is_mark(")"):
            self.depth -= 1


#: Words behind which a table is named, and those that end a list of tables.
_BEFORE_TABLE = ("FROM", "JOIN", "STRAIGHT_JOIN", "INTO", "USING")
_AFTER_TABLES = (
    "WHERE",
    "GROUP",
    "ORDER",
    "HAVING",
    "LIMIT",
    "SET",
    "SELECT",
    "VALUES",
    "UNION",
    "ON",
    "FOR",
    "WINDOW",
)
_MODIFIERS = ("LOW_PRIORITY", "IGNORE", "QUICK", "TABLE")


def _tables(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """The tables that are named, as far as tokens tell."""
    #: Whether a list of tables is being read, for each open parenthesis.
    lists = [tokens[0].is_word("UPDATE")]
    expected = tokens[0].is_word("UPDATE", "INSERT", "REPLACE", "DELETE")
    index = min(1, len(tokens) - 1)
    while tokens[index].kind != "end":
        token, start = tokens[index], index
        index += 1
        if token.is_mark("("):
            lists.append(lists[-1] and expected)
        elif token.is_mark(")"):
            lists = lists[:-1] or [False]
        elif token.is_mark(","):
            expected = lists[-1]
        elif token.is_word(*_BEFORE_TABLE):
            lists[-1] = expected = True
        elif token.is_word(*_AFTER_TABLES):
            lists[-1] = expected = False
        elif expected and token.kind in ("word", "name") and not token.is_word(*_MODIFIERS):
            expected = False
            if tokens[index].is_mark(".") and tokens[index + 1].kind in ("word", "name"):
                index += 2
                yield tokens[start].text, tokens[index - 1].text
            else:
                yield "", token.text


def _variable(tokens: list[Token], index: int) -> tuple[str, int]:
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


def _call(tokens: list[Token], index: int) -> Call:
    name = tokens[index].text.upper()
    if not tokens[index + 1].is_mark("("):
        return Call(name)
    depth, digits, text = 0, None, False
    at = index + 1
    while tokens[at].kind != "end":
        token = tokens[at]
        depth += token.is_mark("(") - token.is_mark(")")
        if depth == 0:
            break
        if depth == 1 and token.kind == "number" and token.text.isdigit() and digits is None:
            digits = int(token.text[:9])
        text = text or (depth == 1 and token.kind == "string")
        at += 1
    return Call(name, is_empty=at == index + 2, digits=digits or 0, has_text=text)
