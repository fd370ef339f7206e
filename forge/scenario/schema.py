"""The JSON Schema of scenario files, for editors; ``python -m tests.schema`` makes it of the declared form."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def json_schema() -> dict[str, Any]:
    """The schema that is published with the package."""
    schema: dict[str, Any] = json.loads(files("forge.scenario").joinpath("scenario.schema.json").read_text("utf-8"))
    return schema
