"""Grammar of expressions and literals, by precedence.

Subqueries and what stands in the parentheses of aggregates are passed over, see :class:`Unread`.
"""

from __future__ import annotations

from collections.abc import Callable

from forge.sql.ast.expressions import Call, Cast, CastType, ColumnName, Literal, Node, Unread, Variable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import Token
from forge.sql.parse.sql_literals import is_literal, literal

#: How tightly operators hold their sides.
_NOT, _COMPARISON, _BITS, _SIGN, _POSTFIX = 4, 5, 6, 12, 13
_TIGHTNESS = {
    ":=": 0, "OR": 1, "||": 1, "XOR": 2, "AND": 3, "&&": 3,
    "=": 5, "<=>": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, "<>": 5, "!=": 5, "IS": 5, "IN": 5, "BETWEEN": 5, "LIKE": 5,
    "REGEXP": 5, "RLIKE": 5, "SOUNDS": 5, "MEMBER": 5, "NOT": 5,
    "|": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "DIV": 10, "MOD": 10, "^": 11,
    "COLLATE": 13, "->": 14, "->>": 14,
}  # fmt: skip
#: Other spellings of operators.
_SAME = {"||": "OR", "&&": "AND", "!=": "<>", "MOD": "%", "RLIKE": "REGEXP"}
#: Functions that need no parentheses.
WITHOUT_PARENTHESES = (
    "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP",
    "SESSION_USER", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
)  # fmt: skip
_QUERIES = ("SELECT", "WITH", "TABLE")
_TRIMMED_SIDES = ("BOTH", "LEADING", "TRAILING")


def expression(cursor: Cursor, tightness: int = 0) -> Node:
    """An expression up to the first operator that holds less tightly.  Raises SqlError."""
    try:
        return _expression(cursor, tightness)
    except RecursionError:
        raise SqlError("the expression is nested too deeply", cursor.token.start, expected="fewer levels") from None


def _expression(cursor: Cursor, tightness: int) -> Node:
    left = operand(cursor)
    while True:
        start, word = cursor.token.start, _operator(cursor.token)
        if word not in _TIGHTNESS or _TIGHTNESS[word] < tightness:
            return left
        if word == "NOT" and not cursor.following().is_word("IN", "BETWEEN", "LIKE", "REGEXP", "RLIKE"):
            return left
        cursor.advance()
        left = _binary(cursor, left, word, start)


def _operator(token: Token) -> str:
    return token.text.upper() if token.kind in ("mark", "word") else ""


def _binary(cursor: Cursor, left: Node, word: str, start: int) -> Node:
    """The operation whose left side and operator are taken."""
    if word == "NOT":
        return Call("NOT", (_binary(cursor, left, cursor.advance().text.upper(), start),), start)
    if word == "IS":
        negated = cursor.accept("NOT")
        kind = cursor.accept_any("NULL", "TRUE", "FALSE", "UNKNOWN") or cursor.wrong("NULL, TRUE or FALSE")
        call = Call(f"IS {'NULL' if kind == 'UNKNOWN' else kind}", (left,), start)
        return Call("NOT", (call,), start) if negated else call
    if word == "IN":
        return Call("IN", (left, *_arguments(cursor)), start)
    if word == "BETWEEN":
        low = expression(cursor, _BITS)
        cursor.expect("AND")
        return Call("BETWEEN", (left, low, expression(cursor, _BITS)), start)
    if word == "COLLATE":
        name = cursor.advance().text
        return Call("COLLATE", (left, Literal(name)), start)
    if word == "SOUNDS":
        cursor.expect("LIKE")
    if word == "MEMBER":
        cursor.accept("OF")
    if word in ("=", "<=>", "<", "<=", ">", ">=", "<>", "!=") and cursor.accept_any("ALL", "ANY", "SOME"):
        return Call(word, (left, operand(cursor)), start)
    right = expression(cursor, _TIGHTNESS[word] + (word != ":="))
    if word == "LIKE" and cursor.accept("ESCAPE"):
        return Call("LIKE", (left, right, expression(cursor, _BITS)), start)
    return Call(_SAME.get(word, word), (left, right), start)


def operand(cursor: Cursor) -> Node:
    """What stands between operators, with its signs."""
    token = cursor.token
    if token.kind == "mark":
        return _marked(cursor, token)
    if is_literal(cursor):
        return literal(cursor)
    if token.kind == "word":
        word = token.text.upper()
        if word in _PREFIXES:
            cursor.advance()
            return Call(word, (expression(cursor, _PREFIXES[word]),), token.start)
        if word == "CASE":
            return _case(cursor)
        if word == "INTERVAL":
            return _interval(cursor)
        if word == "EXISTS":
            cursor.advance()
            return Call(word, (operand(cursor),), token.start)
        if cursor.following().is_mark("("):
            return _called(cursor, word)
        if word in WITHOUT_PARENTHESES or word == "DEFAULT":
            cursor.advance()
            return Call(word, (), token.start)
        if word in ("NEXT", "PREVIOUS") and cursor.following().is_word("VALUE"):
            cursor.accept(word, "VALUE", "FOR")
            return Call(f"{word} VALUE", (_column(cursor),), token.start)
    return _column(cursor) if token.is_name else cursor.wrong("an expression")


_PREFIXES = {"NOT": _NOT, "BINARY": _SIGN}


def _marked(cursor: Cursor, token: Token) -> Node:
    """What begins with a mark: a sign, a parenthesis, a variable."""
    if token.text == "(":
        if _begins_query(cursor):
            return _passed_over(cursor)
        parts = _arguments(cursor)
        if not parts:
            cursor.wrong("an expression")
        return parts[0] if len(parts) == 1 else Call("ROW", parts, token.start)
    if token.text in ("@", "@@"):
        return _variable(cursor)
    if token.text == "." and cursor.following().kind == "number":
        return literal(cursor)
    if token.text in ("-", "+", "~", "!"):
        cursor.advance()
        operand = expression(cursor, _SIGN)
        name = {"-": "NEG", "!": "NOT"}.get(token.text, token.text)
        return operand if token.text == "+" else Call(name, (operand,), token.start)
    if token.text == "?":
        cursor.advance()
        return Unread("?")
    return cursor.wrong("an expression")


def _begins_query(cursor: Cursor) -> bool:
    """Whether a query in parentheses comes next, however many."""
    depth = 0
    while cursor.following(depth).is_mark("("):
        depth += 1
    return _is_query(cursor, depth)


def _is_query(cursor: Cursor, distance: int) -> bool:
    """Whether a query begins so many tokens on; VALUES alone is a function."""
    first = cursor.following(distance)
    return first.is_word(*_QUERIES) or (first.is_word("VALUES") and cursor.following(distance + 1).is_word("ROW"))


def _passed_over(cursor: Cursor) -> Unread:
    start = cursor.token.start
    return Unread(cursor.sql[start : cursor.balanced_end()])


def _variable(cursor: Cursor) -> Variable:
    """``@a``, ``@a.b``, ``@'any name'``, ``@@global.name``."""
    first = cursor.advance()
    name, end = first.text, first.end
    while cursor.token.start == end and (cursor.token.kind in ("word", "name", "string") or cursor.token.is_mark(".")):
        token = cursor.advance()
        name, end = name + token.text, token.end
    if end == first.end:
        cursor.wrong("the name of a variable")
    return Variable(name.lower(), first.start)


def _column(cursor: Cursor) -> Node:
    start = cursor.token.start
    names = [cursor.name("column")]
    while len(names) < 3 and cursor.accept_mark("."):
        if cursor.accept_mark("*"):
            return Unread(f"{'.'.join(names)}.*")
        names.append(cursor.name("column"))
    behind = [*reversed(names), None, None]
    return ColumnName(names[-1], behind[1], behind[2], start)


def _case(cursor: Cursor) -> Call:
    """CASE; ``CASE x WHEN 1`` is ``CASE WHEN x = 1``."""
    start = cursor.advance().start
    subject = None if cursor.token.is_word("WHEN") else expression(cursor)
    parts: list[Node] = []
    while cursor.accept("WHEN"):
        condition = expression(cursor)
        cursor.expect("THEN")
        parts += [condition if subject is None else Call("=", (subject, condition), start), expression(cursor)]
    if not parts:
        cursor.wrong("WHEN", ("WHEN",))
    parts.append(expression(cursor) if cursor.accept("ELSE") else Literal(None))
    cursor.expect("END")
    return Call("CASE", tuple(parts), start)


def _interval(cursor: Cursor) -> Call:
    """``INTERVAL 1 DAY``, or the function of that name."""
    start = cursor.advance().start
    amount = expression(cursor)
    if isinstance(amount, Call) and amount.name == "ROW":
        return Call("INTERVAL", amount.arguments, start)
    return Call("INTERVAL", (amount, Literal(cursor.advance().text.upper())), start)


def _called(cursor: Cursor, word: str) -> Node:
    """A function: most have expressions with commas between them."""
    start = cursor.advance().start
    if word in _OWN_GRAMMAR:
        cursor.expect_mark("(")
        found = _OWN_GRAMMAR[word](cursor)
        cursor.expect_mark(")")
        return found
    call = Call(word, _arguments(cursor), start)
    if word == "MATCH" and cursor.accept("AGAINST"):
        return Call("MATCH", (*call.arguments, _passed_over(cursor)), start)
    if cursor.accept("OVER"):
        window = _passed_over(cursor) if cursor.token.is_mark("(") else Unread(cursor.advance().text)
        return Call(word, (*call.arguments, window), start)
    return call


def _arguments(cursor: Cursor) -> tuple[Node, ...]:
    """Expressions in parentheses; what is not written like that is passed over up to the end."""
    first = cursor.token
    if not first.is_mark("("):
        cursor.wrong("'('")
    if cursor.following().is_word("DISTINCT", "ALL") or _is_query(cursor, 1):
        return (_passed_over(cursor),)
    cursor.advance()
    parts: list[Node] = []
    while not cursor.accept_mark(")"):
        parts.append(Unread(cursor.advance().text) if cursor.token.is_mark("*") else expression(cursor))
        if cursor.token.is_word("USING", "ORDER", "SEPARATOR", "AS"):
            parts.append(_rest(cursor))
        if not cursor.token.is_mark(")"):
            cursor.expect_mark(",")
    return tuple(parts)


def _rest(cursor: Cursor) -> Unread:
    """Everything before the parenthesis that closes."""
    start = end = cursor.token.start
    while not cursor.token.is_mark(")") and not cursor.at_end():
        end = cursor.balanced_end() if cursor.token.is_mark("(") else cursor.advance().end
    return Unread(cursor.sql[start:end])


def _cast(cursor: Cursor) -> Cast:
    operand = expression(cursor)
    cursor.expect("AS")
    return Cast(operand, _cast_type(cursor))


def _convert(cursor: Cursor) -> Node:
    operand = expression(cursor)
    if cursor.accept("USING"):
        return Call("CONVERT", (operand, Literal(cursor.advance().text)))
    cursor.expect_mark(",")
    return Cast(operand, _cast_type(cursor))


def _cast_type(cursor: Cursor) -> CastType:
    if cursor.token.kind != "word":
        cursor.wrong("a type")
    name = cursor.advance().text.upper()
    cursor.accept_any("INTEGER", "INT", "PRECISION")
    sizes: list[int] = []
    if cursor.accept_mark("("):
        sizes.append(cursor.integer("a length"))
        while cursor.accept_mark(","):
            sizes.append(cursor.integer("a scale"))
        cursor.expect_mark(")")
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET"):
        cursor.advance()
    return CastType(_TYPES.get(name, name), tuple(sizes), cursor.accept("ARRAY"))


_TYPES = {"INT": "SIGNED", "INTEGER": "SIGNED", "CHARACTER": "CHAR", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}


def _extract(cursor: Cursor) -> Call:
    unit = cursor.advance()
    cursor.expect("FROM")
    return Call("EXTRACT", (Literal(unit.text.upper()), expression(cursor)), unit.start)


def _trim(cursor: Cursor) -> Call:
    """``TRIM(text)``, ``TRIM(what FROM text)``, ``TRIM(LEADING what FROM text)``: the text, what, the side."""
    start = cursor.token.start
    side = cursor.accept_any(*_TRIMMED_SIDES) or ""
    if side and cursor.accept("FROM"):
        return Call("TRIM", (expression(cursor), Literal(" "), Literal(side)), start)
    what = expression(cursor)
    if not cursor.accept("FROM"):
        return Call("TRIM", (what,), start)
    return Call("TRIM", (expression(cursor), what, Literal(side or "BOTH")), start)


def _of_unit(cursor: Cursor) -> Call:
    """TIMESTAMPADD, TIMESTAMPDIFF: a unit, and what else they take."""
    name, start = cursor.sql[cursor.before(2).start : cursor.before(2).end].upper(), cursor.token.start
    unit = Literal(cursor.advance().text.upper().removeprefix("SQL_TSI_"))
    cursor.expect_mark(",")
    first = expression(cursor)
    cursor.expect_mark(",")
    return Call(name, (unit, first, expression(cursor)), start)


def _substring(cursor: Cursor) -> Call:
    """SUBSTRING, with commas or with FROM and FOR."""
    start = cursor.token.start
    parts = [expression(cursor)]
    while cursor.accept_mark(",") or cursor.accept_any("FROM", "FOR"):
        parts.append(expression(cursor))
    return Call("SUBSTRING", tuple(parts), start)


def _position(cursor: Cursor) -> Call:
    start = cursor.token.start
    text = expression(cursor, _BITS)
    cursor.expect("IN")
    return Call("POSITION", (text, expression(cursor)), start)


def _json_value(cursor: Cursor) -> Node:
    """``JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])``."""
    start = cursor.token.start
    document = expression(cursor)
    cursor.expect_mark(",")
    path = expression(cursor)
    returned = _cast_type(cursor) if cursor.accept("RETURNING") else None
    ends = () if cursor.token.is_mark(")") else (_rest(cursor),)
    call = Call("JSON_VALUE", (document, path, *ends), start)
    return call if returned is None else Cast(call, returned)


_OWN_GRAMMAR: dict[str, Callable[[Cursor], Node]] = {
    "CAST": _cast,
    "CONVERT": _convert,
    "EXTRACT": _extract,
    "JSON_VALUE": _json_value,
    "MID": _substring,
    "POSITION": _position,
    "SUBSTR": _substring,
    "SUBSTRING": _substring,
    "TIMESTAMPADD": _of_unit,
    "TIMESTAMPDIFF": _of_unit,
    "TRIM": _trim,
}
