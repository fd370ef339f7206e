"""JSON Schema of fields in the canonical decode; the names stand under ``$defs`` in the schema of the whole decode."""

from __future__ import annotations

from typing import Any

from construct import BytesInteger, Construct, FormatField, Subconstruct

Shape = dict[str, Any]

U8: Shape = {"$ref": "#/$defs/u8"}
U32: Shape = {"$ref": "#/$defs/u32"}
U64: Shape = {"$ref": "#/$defs/u64"}
HEX: Shape = {"$ref": "#/$defs/hex"}
TEXT: Shape = {"$ref": "#/$defs/text"}
FLAGS: Shape = {"$ref": "#/$defs/flags"}

#: What the references above stand for.
SHARED: dict[str, Shape] = {
    **{f"u{bits}": {"type": "integer", "minimum": 0, "maximum": (1 << bits) - 1} for bits in (8, 16, 24, 32, 64)},
    "hex": {"type": "string", "pattern": "^([0-9a-f]{2})*$"},
    "text": {
        "description": "Text; or its bytes where they are not UTF-8.",
        "anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["hex"], "additionalProperties": False, "properties": {"hex": HEX}},
        ],
    },
    "flags": {
        "description": "Names of the bits that are set, lowest first; numbers for bits without a name.",
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
    },
}


def object_of(properties: Shape, *optional: str) -> Shape:
    """An object of these fields and no others; all but the ``optional`` ones are required."""
    return {
        "type": "object",
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        "properties": properties,
    }


def array(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def either(*shapes: Shape) -> Shape:
    return {"anyOf": list(shapes)}


def one_of(words: Any, otherwise: Shape = U8) -> Shape:
    """One of the words, or a number that has none."""
    return either({"enum": list(words)}, otherwise)


def described(shape: Shape, description: str) -> Shape:
    return shape | {"description": description}


def shape_of(layout: Construct, annotation: str) -> Shape:
    """The shape of a field with that layout, whose type is annotated so."""
    while isinstance(layout, Subconstruct) and not isinstance(layout, (FormatField, BytesInteger)):
        layout = layout.subcon
    if annotation.startswith("bytes"):
        return HEX
    if annotation.startswith("str"):
        return TEXT
    if not annotation.startswith("int"):
        return {}
    if isinstance(layout, FormatField):
        return {"type": "integer"} if layout.fmtstr[-1].islower() else {"$ref": f"#/$defs/u{8 * layout.length}"}
    return U64
