"""A scenario of a log as a SQL script: what SQL does not say stands in comments at its head."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from forge.plan.plan import Plan
from forge.render.sql import replay_script

#: Characters that YAML does not take as they are.
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
#: Facts have the times.
_TIME = re.compile(r"^SET timestamp = (?:[0-9.]+|DEFAULT);\n", re.MULTILINE)
_LOGGING = "SET sql_log_bin = 1;\n"


def statements_of_plan(plan: Plan) -> str:
    """The statements of a plan that are logged, without the settings that the session begins with."""
    _, _, text = replay_script(plan).partition("\n\n")
    _, found, logged = text.partition(_LOGGING)
    return _TIME.sub("", logged.lstrip("\n") if found else text)


def script_text(head: Mapping[str, Any], sql: str) -> str:
    """The script: each field of the head is one line."""
    return "".join(f"-- forge: {name}: {_flow(value)}\n" for name, value in head.items()) + "\n" + sql


def _flow(value: Any) -> str:
    """A value as YAML on one line, which JSON is."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
