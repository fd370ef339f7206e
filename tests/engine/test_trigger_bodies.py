"""Bodies of triggers, run for statements that say `triggers: run` (recordings: corpora/recordings/scripts/triggers)."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.scenario import plan
from forge.scenario.matrix import base_scenario

HEAD = """\
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n INT DEFAULT 1, UNIQUE (v));
CREATE TABLE log_ (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40));
"""


def contents(script: str) -> dict[str, tuple[tuple[object, ...], ...]]:
    held = plan(base_scenario(HEAD + script)).contents
    return {name: tuple(tuple(row) for row in rows) for name, rows in held.items()}


def test_what_set_new_gives_is_in_the_row_and_what_a_body_inserts_is_in_its_table() -> None:
    found = contents(
        "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET NEW.v = UPPER(NEW.v), NEW.n = NEW.n + 1;\n"
        "CREATE TRIGGER b AFTER INSERT ON t FOR EACH ROW INSERT INTO log_ (what) VALUES (CONCAT('+', NEW.v, NEW.id));\n"
        "INSERT INTO t (v) VALUES ('a'), ('b');\n"
    )
    assert found["d.t"] == ((1, "A", 2), (2, "B", 2))
    assert found["d.log_"] == ((1, "+A1"), (2, "+B2"))


def test_if_takes_the_first_branch_that_holds() -> None:
    found = contents(
        "DELIMITER //\n"
        "CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW BEGIN\n"
        "  IF OLD.n + 1 = NEW.n THEN INSERT INTO log_ (what) VALUES ('one');\n"
        "  ELSEIF NEW.n IS NULL THEN INSERT INTO log_ (what) VALUES ('none');\n"
        "    UPDATE log_ SET what = 'gone' WHERE id = 1;\n"
        "  ELSE INSERT INTO log_ (what) VALUES ('other'); END IF;\n"
        "END//\nDELIMITER ;\n"
        "INSERT INTO t (v) VALUES ('a'); UPDATE t SET n = n + 1; UPDATE t SET n = 9;\n"
        "UPDATE t SET n = NULL; UPDATE t SET v = v;\n"
    )
    assert [what for _, what in found["d.log_"]] == ["gone", "other", "none", "none"]


def test_rows_that_replace_and_on_duplicate_key_update_change_fire_their_triggers() -> None:
    events = "".join(
        f"CREATE TRIGGER {time}_{event} {time} {event} ON t FOR EACH ROW"
        f" INSERT INTO log_ (what) VALUES ('{time} {event}');\n"
        for event in ("INSERT", "UPDATE", "DELETE")
        for time in ("BEFORE", "AFTER")
    )
    found = contents(
        events + "INSERT INTO t (v) VALUES ('a'); INSERT INTO t (v) VALUES ('a') ON DUPLICATE KEY UPDATE n = 2;\n"
        "REPLACE INTO t (v) VALUES ('a'); DELETE FROM t;\n"
    )
    assert [what for _, what in found["d.log_"]] == [
        *("BEFORE INSERT", "AFTER INSERT"),
        *("BEFORE INSERT", "BEFORE UPDATE", "AFTER UPDATE"),
        *("BEFORE INSERT", "BEFORE DELETE", "AFTER DELETE", "AFTER INSERT"),
        *("BEFORE DELETE", "AFTER DELETE"),
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("CALL p()", "a trigger whose body has CALL is not run yet"),
        ("SET @x = NEW.n", "a trigger whose body has SET is not run yet"),
        ("BEGIN DECLARE i INT; SET i = 1; END", "a trigger whose body has DECLARE is not run yet"),
    ],
)
def test_a_body_that_is_not_understood_is_refused_by_name(body: str, problem: str) -> None:
    made = f"DELIMITER //\nCREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW {body}//\nDELIMITER ;\n"
    script = f"{made}INSERT INTO t (v) VALUES ('a');\n"
    with pytest.raises(ScenarioError, match=problem) as caught:
        contents(script)
    assert (caught.value.line, caught.value.column) == (HEAD.count("\n") + 4, 1)


def test_what_a_comment_declares_is_not_run() -> None:
    script = (
        "CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW CALL p();\n"
        "-- forge: further: [{insert: {into: d.log_, rows: [{what: said}]}}]\nINSERT INTO t (v) VALUES ('a');\n"
    )
    assert contents(script)["d.log_"] == ((1, "said"),)


def test_text_of_a_condition_is_compared_by_its_collation() -> None:
    script = (
        "CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW IF OLD.v <> NEW.v THEN INSERT INTO log_ (what) VALUES (NEW.v);"
        " END IF;\nINSERT INTO t (v) VALUES ('a'); UPDATE t SET v = 'A'; UPDATE t SET v = 'b';\n"
    )
    with pytest.raises(ScenarioError):
        contents(script)  # The IF ends at its first semicolon, as in a client without DELIMITER.
    made, _, rest = script.partition("\n")
    assert contents(f"DELIMITER //\n{made}//\nDELIMITER ;\n{rest}")["d.log_"] == ((1, "b"),)


def test_triggers_of_rows_that_a_foreign_key_changes_are_refused_by_name() -> None:
    script = (
        "CREATE TABLE c (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id) ON DELETE CASCADE);\n"
        "CREATE TRIGGER a AFTER DELETE ON c FOR EACH ROW INSERT INTO log_ (what) VALUES ('gone');\n"
        "INSERT INTO t (v) VALUES ('a'); INSERT INTO c VALUES (1, 1);\n"
    )
    assert contents(script + "DELETE FROM c;")["d.log_"] == ((1, "gone"),)
    with pytest.raises(ScenarioError, match=r"triggers of d\.c, whose rows a foreign key changes"):
        contents(script + "DELETE FROM t;")
