"""Facts are what code asks a line for: each is asked, and nobody asks for the family or the version instead."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from forge.servers.line import SUBJECTS

FORGE = Path(__file__).resolve().parents[2] / "forge"
SOURCES = {str(path.relative_to(FORGE)): path.read_text() for path in sorted(FORGE.rglob("*.py"))}
_CONDITION = re.compile(r"family\s*(?:==|!=)|is_mariadb|[=!]= \"(?:mysql|mariadb)\"|startswith\(\"m(?:ysql|ariadb)")
#: Conditions on the family, by file.  They may only become fewer.
CONDITIONS = {
    # Whose rules of well-formed text hold: a fact of the line, handed down to a room that knows no lines.
    "charsets/base.py": 1,
    # A line by its name, in that room.
    "charsets/collations.py": 2,
    # Which programs and views a running server has.
    "record/replica.py": 1,
    "record/server.py": 2,
    # Whose tool printed a text.
    "check/decoders/vendors/many.py": 3,
    "check/decoders/vendors/reader.py": 2,
    # Whose GTIDs a session sets.
    "changed/binlog_blocks.py": 1,
    # Whose TABLE_MAP the table is told from.
    "render/definition_of.py": 2,
    # Whose readers pass over a NULL of an unknown type.
    "check/compat/features_used.py": 1,
    # Whose bytes a log has that says no line.
    "record/retold/log_groups.py": 1,
    # Which values of a setting are drawn.
    "testing/draws/scenarios.py": 1,
    # The order of rows in a table.
    "corpus/coverage.py": 1,
    # Whose encryption a listing says.
    "binlog/listing/sealed.py": 2,
    # Since which release a family has a feature.
    "servers/features.py": 3,
    # Which lines are before and behind a line.
    "servers/overview.py": 1,
    # Whose appliers do not read MySQL's JSON.
    "replay/unreadable.py": 1,
    # Tags and readers that are for one family.
    "corpus/vocabulary.py": 1,
}


def test_every_fact_is_asked_for() -> None:
    asked = {
        word
        for name, source in SOURCES.items()
        if not name.startswith("servers/facts/")
        for word in re.findall(r"\.(\w+)", source)
    }
    assert [fact for record in SUBJECTS.values() for fact in record.__struct_fields__ if fact not in asked] == []


def test_code_asks_for_facts_and_not_for_the_family() -> None:
    # The room of the vendors' programs has one printer a family, and a kernel for both.
    printers = ("vendors/", "bulk/printing/")
    others = {name: source for name, source in SOURCES.items() if not name.startswith(printers)}
    counts = Counter({name: len(_CONDITION.findall(source)) for name, source in others.items()})
    assert {name: count for name, count in counts.items() if count > CONDITIONS.get(name, 0)} == {}
    assert {name: counts[name] for name in CONDITIONS} == CONDITIONS
