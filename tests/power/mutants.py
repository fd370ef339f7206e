"""Small changes of a decoder's code: one operator, number, condition, bound or result at a time."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from tests.power.tracing import At, Place

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Div: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip

#: Line, line of the statement, words, function, and what makes the change.
_Found = tuple[int, int, str, Place, Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a file: ``number`` counts the places of the file that can be changed.

    ``statement`` is the first line of the statement that ``line`` is in.  ``name`` is what it is known by as long as
    its function stays as it is, wherever in the file that stands.
    """

    path: Path
    number: int
    line: int
    statement: int
    what: str
    function: Place
    name: str

    @property
    def at(self) -> At:
        """The statement."""
        return str(self.path), self.statement


def mutants_of(path: Path) -> list[Mutant]:
    """All changes of the functions of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    digests = _digests(tree, path)
    counts = Counter[Place]()
    found = []
    for number, (line, statement, what, place, _) in enumerate(_places(tree, path)):
        counts[place] += 1
        name = f"{path.parent.name}/{path.name}: {place[1]} {digests[place]} {counts[place]} {what}"
        found.append(Mutant(path, number, line, statement, what, place, name))
    return found


def _digests(tree: ast.Module, path: Path) -> dict[Place, str]:
    """A digest of the code of each function, as its places name it."""
    found: dict[Place, str] = {}

    def visit(node: ast.AST, names: list[str]) -> None:
        for child in ast.iter_child_nodes(node):
            inner = names
            if isinstance(child, ast.ClassDef):
                inner = [*names, child.name]
            elif isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                code = hashlib.sha256(ast.dump(child).encode()).hexdigest()[:8]
                found[str(path), ".".join([*names, child.name]), first] = code
                inner = [*names, child.name, "<locals>"]
            visit(child, inner)

    visit(tree, [])
    return found


def mutated(mutant: Mutant) -> CodeType:
    """The file's code with the change made."""
    tree = ast.parse(mutant.path.read_text("utf-8"))
    for number, (*_, change) in enumerate(_places(tree, mutant.path)):
        if number == mutant.number:
            change()
            break
    return compile(ast.fix_missing_locations(tree), str(mutant.path), "exec")


class _Finder(ast.NodeVisitor):
    """Collects the places of a tree that can be changed, each with a function that changes it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.names: list[str] = []
        self.function: list[Place] = []
        self.found: list[_Found] = []
        self.statement = 0

    def visit(self, node: ast.AST) -> None:
        outer = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node.lineno
        super().visit(node)
        self.statement = outer

    def add(self, node: ast.AST, what: str, change: Callable[[], None]) -> None:
        if self.function:
            line = getattr(node, "lineno", self.statement)
            self.found.append((line, self.statement, what, self.function[-1], change))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        self.function.append((self.path, ".".join([*self.names, node.name]), first))
        self.names += [node.name, "<locals>"]
        for statement in node.body:
            is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_docstring:
                self.visit(statement)
        del self.names[-2:]
        self.function.pop()

    def visit_Raise(self, node: ast.Raise) -> None:
        """What an error says is nobody's business here."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nor what a text is made of."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            other = _COMPARED[type(operator)]

            def change(index: int = index, other: type[ast.cmpop] = other) -> None:
                node.ops[index] = other()

            self.add(node, f"{type(operator).__name__} is {other.__name__}", change)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _COMPUTED.get(type(node.op))
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if other is not None and not is_text:
            self.add(node, f"{type(node.op).__name__} is {other.__name__}", lambda: setattr(node, "op", other()))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        other = _COMPUTED.get(type(node.op))
        if other is not None:
            self.add(node, f"{type(node.op).__name__}= is {other.__name__}=", lambda: setattr(node, "op", other()))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        self.add(node, f"{type(node.op).__name__} is {other.__name__}", lambda: setattr(node, "op", other()))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(node, "Not is left out", lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand)))
        elif isinstance(node.op, (ast.USub, ast.Invert)):
            self.add(node, f"{type(node.op).__name__} is left out", lambda: setattr(node, "op", ast.UAdd()))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(node, f"{value} is {not value}", lambda: setattr(node, "value", not value))
        elif isinstance(value, int):
            self.add(node, f"{value} is {value + 1}", lambda: setattr(node, "value", value + 1))

    def visit_If(self, node: ast.If) -> None:
        self.add(node, "the condition is turned round", lambda: setattr(node, "test", _turned(node.test)))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add(node, "the condition is turned round", lambda: setattr(node, "test", _turned(node.test)))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        # None for False is no other answer.
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and (node.value.value is None or node.value.value is False)
        ):
            self.add(node, "None is returned", lambda: setattr(node, "value", ast.Constant(None)))
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for name in ("lower", "upper"):
            bound = getattr(node, name)
            if bound is not None and not isinstance(bound, ast.Constant):

                def change(name: str = name, bound: ast.expr = bound) -> None:
                    setattr(node, name, ast.BinOp(copy.copy(bound), ast.Add(), ast.Constant(1)))

                self.add(bound, f"the {name} bound is one more", change)
        self.generic_visit(node)


def _turned(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _places(tree: ast.Module, path: Path) -> Iterator[_Found]:
    finder = _Finder(path)
    finder.visit(tree)
    yield from finder.found
