"""Bodies that are built part by part, held against construct."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ScenarioError
from forge.events import layout
from forge.events.format import FormatContext
from forge.events.giving import Part
from forge.events.layout import Body
from forge.events.registry import EVENT_TYPES
from forge.testing.events import bodies_of

pytestmark = pytest.mark.slow

FORMATS = (FormatContext(), FormatContext("5.1.4", bytes(18) + b"\6"), FormatContext("9.7.0", checksum=True))
KINDS = sorted(set(EVENT_TYPES.values()), key=lambda kind: kind.type_code)
#: What a field may be given in the place of its value: a number that does not fit, and values of other types.
OTHERS = (None, -1, 0, 1, 255, 1 << 16, 1 << 64, 1.5, "", "text", b"", b"bytes", (), ((1, 2),), [1], True)


def built(body: Body, format: FormatContext) -> bytes | str:
    """The bytes, or what is said of a body that has none."""
    try:
        return body.build(format)
    except ScenarioError as error:
        return str(error)


def refuse(*_: object) -> bytes:
    raise TypeError


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type_name)
def test_a_body_is_built_as_construct_builds_it(kind: type[Body]) -> None:
    @given(body=bodies_of(kind), format=st.sampled_from(FORMATS), other=st.sampled_from(OTHERS), data=st.data())
    def agrees(body: Body, format: FormatContext, other: Any, data: st.DataObject) -> None:
        names = body.field_names()
        changed = [body]
        if names:
            name = data.draw(st.sampled_from(names))
            with contextlib.suppress(ScenarioError, TypeError, ValueError):
                changed.append(dataclasses.replace(body, **{name: other}))  # type: ignore[type-var]
        for one in changed:
            quickly = built(one, format)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(layout, "body_giver", lambda _: refuse)
                assert quickly == built(one, format)

    agrees()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type_name)
def test_a_layout_that_builds_otherwise_than_its_base_is_given_otherwise(kind: type[Body]) -> None:
    def owner(part: Any, name: str) -> type | None:
        return next((base for base in type(part).__mro__ if name in vars(base)), None)

    for part in kind.layout.subcons:
        while part is not None:
            assert owner(part, "giver") in (None, Part, owner(part, "give"), owner(part, "_build"))
            part = getattr(part, "subcon", None)
