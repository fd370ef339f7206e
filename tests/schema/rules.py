"""What the declared form refuses beyond the types of its fields, as rules of the JSON Schema.

The structures check it in ``__post_init__``, generators and conditions when cells are made; this says the same where a
JSON Schema can.  ``tests/scenario/test_schema.py`` holds the two equal.
"""

from __future__ import annotations

from typing import Any

from forge.engine.requests.statements import KINDS
from forge.engine.rows.where import OPERATORS
from forge.engine.session.settings import BOUNDS, LARGEST_ID, LOG_NAME
from forge.events.optional_metadata import OPTIONAL_METADATA
from forge.plan.metadata_faults import FAULTS
from forge.scenario.faker_cells import faker_providers
from forge.servers import locale_names

JsonSchema = dict[str, Any]

#: Statements that change rows, and those of them that take a ``query``.
_CHANGES = ("insert", "replace", "update", "delete", "load_data")
_WITH_QUERY = _CHANGES[:-1]
#: Names of log files, in the form of JSON Schema.
_LOG_NAME = f"^{LOG_NAME.pattern}".replace(r"\Z", "$").replace(r"\0", "")
#: Pairs of hexadecimal digits, with white space between them.
_HEX = r"^\s*([0-9A-Fa-f]{2}\s*)*$"
_INTEGER: JsonSchema = {"type": "integer"}
_LENGTH: JsonSchema = {"type": "integer", "minimum": 0, "maximum": 1 << 24}
_CELL: JsonSchema = {"$ref": "#/$defs/Cell"}


def add_rules(top: JsonSchema, definitions: JsonSchema) -> None:
    """Add the rules to the schema of a scenario and to its definitions."""
    generators = _generators()
    definitions.update({_definition(name): generator for name, generator in generators.items()})
    definitions["Generator"] = {
        "description": "A generated cell: a mapping with the name of a generator.",
        "oneOf": [_reference(name) for name in generators],
    }
    definitions["Cell"] = {
        "description": "A literal; or a mapping with a generator. In a JSON column a mapping is a document: one that"
        " looks like a generator is written `{value: {...}}`.",
        "allOf": [{"if": shape, "then": generator} for shape, generator in _shapes(generators)],
    }
    definitions["Condition"] = _condition()
    for name, rules in _rules().items():
        definitions[name].setdefault("allOf", []).extend(rules)
    _place_cells(definitions)
    top.setdefault("allOf", []).extend(_scenario_rules())
    matrix = top["properties"]["matrix"]
    top["properties"]["matrix"] = {
        **matrix,
        "type": ["object", "null"],
        "additionalProperties": {"type": "array", "minItems": 1},
        "properties": {"exclude": {"type": "array", "minItems": 1, "items": {"type": "object", "minProperties": 1}}},
    }


def _given(*names: str) -> JsonSchema:
    """All of the fields are there, and not null."""
    return {"required": list(names), "properties": {name: {"not": {"type": "null"}} for name in names}}


def _one_of(*names: str) -> JsonSchema:
    return {"oneOf": [_given(name) for name in names]}


def _any_of(*names: str) -> JsonSchema:
    return {"anyOf": [_given(name) for name in names]}


def _if(condition: JsonSchema, consequence: JsonSchema) -> JsonSchema:
    return {"if": condition, "then": consequence}


def _rules() -> dict[str, list[JsonSchema]]:
    """Rules by definition."""
    new_rows = [
        _any_of("rows", "row", "select"),
        {"not": _given("rows", "row")},
        _if(_given("count"), _given("row")),
        _if(_given("row"), _given("count")),
        _if(_given("columns"), _any_of("rows", "select")),
    ]
    statement = [
        _one_of(*KINDS),
        _if(_given("query"), _any_of(*_WITH_QUERY)),
        _if(_given("rows_query"), _any_of(*_CHANGES)),
        _if(_given("locks"), _any_of(*_CHANGES)),
        _if(_given("under_lock"), _any_of(*_CHANGES)),
        _if({"required": ["further"], "properties": {"further": {"minItems": 1}}}, _any_of(*_CHANGES)),
    ]
    second_phase = {
        "oneOf": [_given("xa_commit"), _given("xa_rollback")],
        "properties": {"statements": {"maxItems": 0}, "xa": {"type": "null"}, "end": {"const": "commit"}},
    }
    statements = {"required": ["statements"], "properties": {"statements": {"minItems": 1}}}
    return {
        "Insert": new_rows,
        "Replace": new_rows,
        "Update": [
            _one_of("set", "rows"),
            _if(_given("rows"), _given("affects")),
            _if(_given("affects"), {"not": _any_of("where", "limit")}),
        ],
        "Delete": [_if(_given("affects"), {"not": _any_of("where", "limit")})],
        "Statement": statement,
        "Further": [*statement, _any_of(*_CHANGES)],
        "PlacedEvent": [{"not": _given("text", "hex")}, {"properties": {"hex": {"pattern": _HEX}}}],
        "KeyDeclaration": [_one_of("primary", "unique", "index")],
        "LoadData": [
            _one_of("rows", "text", "hex"),
            {"properties": {name: {"minLength": 1} for name in ("fields_terminated_by", "lines_terminated_by")}},
            {"properties": {"hex": {"pattern": _HEX}}},
        ],
        "Xa": [
            _if(
                {"required": ["one_phase"], "properties": {"one_phase": {"const": True}}},
                {"properties": {"end": {"const": "commit"}}},
            )
        ],
        "Transaction": [
            {"if": _any_of("xa_commit", "xa_rollback"), "then": second_phase, "else": statements},
            _if(_given("xa"), {"properties": {"explicit": {"not": {"const": False}}}}),
        ],
        "AddedRecord": [{"properties": {"hex": {"pattern": _HEX}}}],
        "Session": [{"properties": _session_values()}],
        "RelayLog": [
            {
                "properties": {
                    "server_id": {"minimum": 1, "maximum": LARGEST_ID},
                    "max_size": _between(*BOUNDS["max_binlog_size"]),
                    "name": {"pattern": _LOG_NAME},
                }
            }
        ],
        "PayloadForms": [{"properties": {"frames": {"minimum": 1, "maximum": 1000}}}],
        "MetadataForms": [
            {"properties": {"append": {"pattern": _HEX}, "replace": {"additionalProperties": {"pattern": _HEX}}}}
        ],
    }


def _session_values() -> JsonSchema:
    """Values of settings that no server line takes."""
    return {name: _between(*bounds) for name, bounds in BOUNDS.items()} | {
        "server_id": _between(0, LARGEST_ID),
        "lc_time_names": {"enum": sorted(locale_names())},
        "log_name": {"pattern": _LOG_NAME},
        "timestamp": {"pattern": "^[0-9]{4}"},
    }


def _between(lowest: int, highest: int) -> JsonSchema:
    return {"minimum": lowest, "maximum": highest}


def _scenario_rules() -> list[JsonSchema]:
    """What `verdict` and `phase` go with."""

    def verdict(*words: str) -> JsonSchema:
        return {"required": ["verdict"], "properties": {"verdict": {"enum": list(words)}}}

    def forms(*alternatives: JsonSchema) -> JsonSchema:
        """session.metadata is one of these."""
        metadata = {"required": ["metadata"], "properties": {"metadata": {"anyOf": list(alternatives)}}}
        return {"required": ["session"], "properties": {"session": metadata}}

    def adds(types: list[int]) -> JsonSchema:
        record = {"type": "object", "required": ["type"], "properties": {"type": {"enum": types}}}
        return {"required": ["add"], "properties": {"add": {"contains": record}}}

    def is_one(name: str, *words: str) -> JsonSchema:
        return {"required": [name], "properties": {name: {"enum": list(words)}}}

    def faults(word: str) -> JsonSchema:
        return is_one("fault", *(name for name, fault in FAULTS.items() if fault.verdict == word))

    own_bytes = forms(
        {"required": ["replace"], "properties": {"replace": {"minProperties": 1}}},
        _given("append"),
        adds(sorted(OPTIONAL_METADATA)),
    )
    may = forms(
        faults("may"),
        {"required": ["repeat"], "properties": {"repeat": {"minItems": 1}}},
        is_one("charset", "both"),
        is_one("primary_key", "both"),
        is_one("pairs", "descending"),
        adds([0]),
    )
    reject = forms(faults("reject"))
    torn = {"required": ["session"], "properties": {"session": _given("torn")}}
    edits = {"required": ["edits"], "properties": {"edits": {"minItems": 1}}}
    edited = {"required": ["session"], "properties": {"session": edits}}
    said_or = {"properties": {"verdict": {"enum": [None, "reject"]}}}
    return [
        _if(verdict("reject"), _given("phase")),
        _if(_given("phase"), verdict("reject", "may")),
        _if(torn, _given("verdict")),
        _if(edited, _given("verdict")),
        _if(own_bytes, _given("verdict")),
        _if({"allOf": [reject, {"not": own_bytes}]}, said_or),
        _if(
            {"allOf": [may, {"not": {"anyOf": [own_bytes, reject]}}]},
            {"properties": {"verdict": {"enum": [None, "may"]}}},
        ),
    ]


def _place_cells(definitions: JsonSchema) -> None:
    """Say where cells and conditions stand."""
    cells = {"additionalProperties": _CELL}
    for name in ("Insert", "Replace"):
        properties = definitions[name]["properties"]
        row = {"anyOf": [{"type": "object", **cells}, {"type": "array", "items": _CELL}]}
        properties["rows"]["anyOf"][0]["items"] = row
    for definition, names in {
        "Insert": ("row", "set_by_trigger", "on_duplicate_key_update", "set_by_update_trigger"),
        "Replace": ("row", "set_by_trigger"),
        "Update": ("set", "set_by_trigger"),
    }.items():
        for name in names:
            field = definitions[definition]["properties"][name]
            field.get("anyOf", [field])[0].update(cells)
    for name in ("Update", "Delete"):
        definitions[name]["properties"]["where"]["anyOf"][0]["additionalProperties"] = {"$ref": "#/$defs/Condition"}


def _condition() -> JsonSchema:
    pair = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"not": {"type": "null"}}}
    ordered = {name: {"not": {"type": "null"}} for name in OPERATORS if name not in ("ne", "between")}
    return {
        "description": "Condition on a column: a literal, a list of which one, null, or comparisons.",
        "anyOf": [
            {"not": {"type": ["object", "array"]}},
            {"type": "array", "minItems": 1},
            *({"type": "object", "required": [name], "maxProperties": 1} for name in ("hex", "value")),
            {
                "type": "object",
                "properties": {**ordered, "ne": {}, "between": pair},
                "additionalProperties": False,
            },
        ],
    }


def _definition(generator: str) -> str:
    return f"Generator_{generator}"


def _reference(generator: str) -> JsonSchema:
    return {"$ref": f"#/$defs/{_definition(generator)}"}


def _shapes(generators: dict[str, JsonSchema]) -> list[tuple[JsonSchema, JsonSchema]]:
    """What looks like a generator, and the generator that it has to be.

    A mapping of more keys may be the document of a JSON column.
    """
    shapes: list[tuple[JsonSchema, JsonSchema]] = []
    for name, generator in generators.items():
        keys = list(generator["properties"])
        shape = {"type": "object", "required": [name], "propertyNames": {"enum": keys}}
        shapes.append((shape, _reference(name)))
    whole = {"type": "object", "required": ["generate"], "maxProperties": 1}
    return [*shapes, (whole, {"properties": {"generate": {"$ref": "#/$defs/Generator"}}})]


def _generators() -> dict[str, JsonSchema]:
    """The generators by name, each with its arguments."""
    options = {"args": {"type": "object"}, "locale": {"type": "string"}}
    faker = _generator("faker", {"type": "string"}, **options)
    faker["if"] = {"properties": {"locale": {"const": "en_US"}}}
    faker["then"] = {"properties": {"faker": {"enum": list(faker_providers())}}}
    values = {"type": "array", "minItems": 1}
    moment = {"type": ["string", "integer"], "pattern": "^[0-9]{4}"}
    length = {"anyOf": [_LENGTH, _mapping("length", length=_LENGTH, min=_LENGTH)]}
    arguments: dict[str, JsonSchema] = {
        "sequence": {"anyOf": [_INTEGER, _mapping(start=_INTEGER, step=_INTEGER)]},
        "choice": values,
        "cycle": values,
        "random_int": _mapping("max", min=_INTEGER, max=_INTEGER),
        "text": length,
        "bytes": length,
        "datetime": _mapping("from", "to", **{"from": moment, "to": moment}),
    }
    return {"faker": faker} | {name: _generator(name, argument) for name, argument in arguments.items()}


def _generator(name: str, argument: JsonSchema, **options: JsonSchema) -> JsonSchema:
    return _mapping(name, **{name: argument, **options})


def _mapping(*required: str, **properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
