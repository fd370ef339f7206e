"""A family of cases from one file: every combination of the values in its ``matrix``.

A key of the matrix, or of ``--set``, that begins with a field of the scenario (``server``, ``session.row_image``)
replaces that field; every other key is a parameter of the template.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct, field

from forge.engine.dictionary.json_cells import TAGS
from forge.errors import ScenarioError, nearest
from forge.located import Located, Place, load
from forge.scenario.convert import convert
from forge.scenario.model import Scenario
from forge.scenario.script import is_script, script_document
from forge.scenario.template import Rendered, check_parameters, is_template, render

_FIELDS = frozenset(item.encode_name for item in msgspec.structs.fields(Scenario)) - {"matrix"}
_BLOCK = re.compile(r"^matrix[ ]*:.*(?:\n(?:[ \t#].*)?$)*", re.MULTILINE)
#: What a template has in it that is not copied as it is.
_MARKS = re.compile(r"\0|\{[{%#]")
EXCLUDE = "exclude"
#: More cases than this come from a mistake.
_MOST_CASES = 1_000_000

#: Parameters of a template, and fields to replace by dotted path.
Settings = Mapping[str, Any]


class OptionSettings(dict[str, Any]):
    """Settings that were options of a command line: an error about a value names its option."""

    def __init__(self) -> None:
        super().__init__()
        self._options: dict[str, str] = {}

    def add(self, key: str, value: Any, option: str) -> None:
        """Set ``key``; ``option`` is the option as it was written, such as ``--server mysql-8.4``."""
        self[key] = value
        self._options[key] = option

    def option(self, key: str) -> str | None:
        """The option that set ``key``."""
        return self._options.get(key)


class Case(Struct, frozen=True):
    """One member of a family; ``choices`` are its values of the matrix, by key."""

    name: str
    scenario: Scenario
    choices: dict[str, Any] = field(default_factory=dict)


def parse_settings(words: Sequence[str], *, server: str | None = None) -> OptionSettings:
    """The words of ``--set key=value``, whose values are YAML, and the server line of ``--server``, as settings.

    Raises ScenarioError.
    """
    settings = OptionSettings()
    for word in words:
        key, mark, value = word.partition("=")
        option = f"--set {word}"
        if not mark or not key:
            raise ScenarioError(f"--set {word!r} sets nothing", expected="--set key=value")
        try:
            settings.add(key, load(value, tags=TAGS).value, option)
        except ScenarioError as error:
            raise ScenarioError(error.problem, file=option, expected=error.expected) from None
    if server is not None:
        settings.add("server", server, f"--server {server}")
    return settings


def expand(text: str, *, file: str | None = None, settings: Settings | None = None) -> Iterator[Case]:
    """The cases of a scenario's text, one after the other, in the order of the matrix.

    A text without matrix is one case.  Names are stable: ``first-day[server=mysql-9.7,row_image=full]``.
    Raises ScenarioError (file, line).
    """
    source = _Source(text, file, settings or {})
    for choices in source.combinations():
        scenario = source.scenario(choices, choices)
        name = scenario.scenario
        if choices:
            name += f"[{','.join(choice_words(choices))}]"
        yield Case(name, _renamed(scenario, name), choices)


def choice_words(choices: Mapping[str, Any]) -> list[str]:
    """Each choice as names of cases have it: ``row_image=full``."""
    labels = _labels(list(choices))
    return [f"{labels[key]}={_shown(value)}" for key, value in choices.items()]


def base_scenario(text: str, *, file: str | None = None, settings: Settings | None = None) -> Scenario:
    """The scenario as declared, without its matrix; a template parameter that only the matrix gives has its
    first value.

    Raises ScenarioError (file, line).
    """
    source = _Source(text, file, settings or {})
    first = next(source.combinations(), {})
    scenario = source.scenario({key: value for key, value in first.items() if not _is_field(key)}, {})
    return _renamed(scenario, scenario.scenario)


def document(text: str, *, file: str | None = None, settings: Settings | None = None) -> dict[str, Any]:
    """The scenario as its tree, with ``settings`` in it.  Raises ScenarioError (file, line)."""
    tree: dict[str, Any] = _Source(text, file, settings or {}).located({}, {}).value
    return tree


class _Source:
    """A scenario's text with its matrix."""

    def __init__(self, text: str, file: str | None, settings: Settings) -> None:
        self.text = text
        self.file = file
        self.settings = settings
        self.script = script = is_script(text, file)
        self.template = not script and is_template(file, text)
        self.tree: Located | None = None
        if not self.template:
            self.tree = script_document(text, file, self._server(settings)) if script else _document(text, file, None)
        parameters = {key: value for key, value in settings.items() if not _is_field(key)}
        self.matrix = self._matrix(parameters)
        self.excluded = _excluded(self.matrix)
        declared = self.matrix.value if isinstance(self.matrix.value, dict) else {}
        self.axes = {key: values for key, values in declared.items() if key != EXCLUDE}
        self._check_parameters([key for key in parameters if key not in self.axes])

    def _check_parameters(self, names: Sequence[str]) -> None:
        """Raise ScenarioError for a parameter that nothing in the file uses."""
        for name in names:
            place = self._option(name) or self.file
            if self.template:
                check_parameters(self.text, [name], file=place)
                continue
            raise ScenarioError(
                f"the scenario has no field {name!r}, and it is not a template with parameters",
                file=place,
                expected=f"a field such as {', '.join(sorted(_FIELDS))}",
                suggestion=nearest(name, _FIELDS),
            )

    @staticmethod
    def _server(settings: Settings) -> str | None:
        """The server line that settings name, of which a script's comments are read."""
        server = settings.get("server")
        return server if isinstance(server, str) else None

    def _option(self, key: str) -> str | None:
        return self.settings.option(key) if isinstance(self.settings, OptionSettings) else None

    def _matrix(self, parameters: Settings) -> Located:
        """The matrix with its lines; of a template it is read before the rest is rendered."""
        if self.tree is not None:
            value = self.tree.value.get("matrix") if isinstance(self.tree.value, dict) else None
            return _checked(self.tree.inside("matrix") if value is not None else load(""))
        match = _BLOCK.search(self.text)
        if match is None:
            return load("")
        first_line = self.text.count("\n", 0, match.start()) + 1
        if _MARKS.search(match[0]):
            rendered = render(match[0], parameters, file=self.file, first_line=first_line)
        else:
            rendered = Rendered(match[0], list(range(first_line, first_line + match[0].count("\n") + 1)))
        block = _document(rendered.text, self.file, tuple(rendered.lines))
        return _checked(block.inside("matrix"))

    def combinations(self) -> Iterator[dict[str, Any]]:
        """Values by key, for every combination that is not excluded; a key that ``--set`` fixes has that value."""
        axes = {key: [self.settings[key]] if key in self.settings else values for key, values in self.axes.items()}
        total = 1
        for values in axes.values():
            total *= len(values)
        if total > _MOST_CASES:
            raise ScenarioError(
                f"the matrix has {total} combinations",
                file=self.file,
                line=self.matrix.line(()),
                expected=f"at most {_MOST_CASES}",
            )
        for values in itertools.product(*axes.values()):
            choices = dict(zip(axes, values, strict=True))
            if not any(all(choices[key] == value for key, value in pattern.items()) for pattern in self.excluded):
                yield choices

    def scenario(self, parameters: Settings, overrides: Settings) -> Scenario:
        """The scenario with these parameters and with these fields replaced."""
        return convert(self.located(parameters, overrides))

    def located(self, parameters: Settings, overrides: Settings) -> Located:
        """Its tree.  Raises ScenarioError."""
        located = self._located({**parameters, **self.settings})
        if isinstance(located.value, dict):
            located.value.pop("matrix", None)
            for key, value in {**overrides, **self.settings}.items():
                if _is_field(key):
                    _override(located, key, value, self._place(key, value))
        return located

    def _place(self, key: str, value: Any) -> Place | None:
        """Where a value that replaces a field comes from: an option, or a line of the matrix."""
        option = self._option(key)
        if option is not None:
            return Place(option)
        values = self.axes.get(key, [])
        if value not in values:
            return None
        return Place(self.file, self.matrix.line((key, values.index(value))))

    def _located(self, parameters: Settings) -> Located:
        if self.script and self._server(parameters) != self._server(self.settings):
            return script_document(self.text, self.file, self._server(parameters)).copy()
        if self.tree is not None:
            return self.tree.copy()
        names = {key: value for key, value in parameters.items() if key.isidentifier()}
        # The matrix was read by itself; all of it again for each of its cases would be most of the work.
        rest = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), self.text, count=1)
        rendered = render(rest, names, file=self.file)
        return _document(rendered.text, self.file, tuple(rendered.lines)).copy()


@lru_cache(maxsize=16)
def _document(text: str, file: str | None, lines: tuple[int, ...] | None) -> Located:
    """The document in a text, which is not to be changed: the cases of a matrix often have the same."""
    return load(text, file=file, lines=lines, tags=TAGS)


def _is_field(key: str) -> bool:
    return key.partition(".")[0] in _FIELDS


def _checked(matrix: Located) -> Located:
    """The matrix if it maps keys to lists.  Raises ScenarioError."""
    if matrix.value is None:
        return matrix
    if not isinstance(matrix.value, dict):
        raise matrix.error("the matrix is no mapping", (), expected="keys with lists of values")
    for key, values in matrix.value.items():
        if not isinstance(values, list) or not values:
            raise matrix.error(f"matrix.{key} has no values", (key,), expected="a list")
    return matrix


def _excluded(matrix: Located) -> list[dict[str, Any]]:
    if not isinstance(matrix.value, dict):
        return []
    axes = [key for key in matrix.value if key != EXCLUDE]
    patterns: list[dict[str, Any]] = matrix.value.get(EXCLUDE, [])
    for number, pattern in enumerate(patterns):
        path = (EXCLUDE, number)
        if not isinstance(pattern, dict) or not pattern:
            raise matrix.error("this excludes nothing", path, expected="a mapping of keys of the matrix to values")
        for key, value in pattern.items():
            if key not in axes:
                expected = f"one of {', '.join(axes)}"
                problem = f"the matrix has no key {key!r}"
                raise matrix.error(problem, (*path, key), expected=expected, suggestion=nearest(key, axes))
            if value not in matrix.value[key]:
                shown = ", ".join(_shown(item) for item in matrix.value[key])
                problem = f"matrix.{key} has no value {_shown(value)}"
                raise matrix.error(problem, (*path, key), expected=f"one of {shown}")
    return patterns


def _override(located: Located, key: str, value: Any, place: Place | None) -> None:
    """Replace the field at a dotted path with a value from ``place`` (None: unknown).  Raises ScenarioError."""
    tree: dict[str, Any] = located.value
    path = key.split(".")
    if place is not None:
        located.replaced(path, place)
    *steps, last = path
    for step in steps:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            raise located.error(f"{key} is inside {step}, which is no mapping", path)
        tree = inner
    tree[last] = copy.deepcopy(value)


def _renamed(scenario: Scenario, name: str) -> Scenario:
    renamed = msgspec.structs.replace(scenario, scenario=name)
    renamed.__dict__["located"] = scenario.origin
    return renamed


def _labels(keys: list[str]) -> dict[str, str]:
    """Short labels: the last word of a dotted path, unless two keys would share it."""
    lasts = [key.rpartition(".")[2] for key in keys]
    return {key: last if lasts.count(last) == 1 else key for key, last in zip(keys, lasts, strict=True)}


def _shown(value: Any) -> str:
    """A value in a case's name: text as it is, a mapping by its ``name``, everything else as JSON."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return str(value["name"])
    if isinstance(value, str):
        return value
    return json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
