"""A SQL script as a scenario: each statement as what a scenario says of it, with its text as typed."""

from forge.scenario.script.script_statements import is_script, script_document
from forge.scenario.script.script_yaml import scenario_text

__all__ = ["is_script", "scenario_text", "script_document"]
