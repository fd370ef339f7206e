"""Wrong definitions of tables: one sentence each, with the line, what was expected, and the nearest word."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from forge.errors import ScenarioError, UnsupportedError

HEAD = "scenario: wrong\ntables:\n"


def table(sql: str) -> str:
    """A scenario of one table; its text begins on line 4."""
    return HEAD + "  - |\n" + "".join(f"    {line}\n" for line in sql.split("\n"))


WRONG = [
    pytest.param(
        HEAD[:-1] + " [CREATE TABLE d.t (a INT, b INT)]\n",
        "f.yaml:2: the statement ends inside its parentheses; expected quotes around it: a YAML list in brackets splits"
        " at commas",
        id="commas in a YAML list",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT,\n  b VARCAR(10)\n)"),
        "f.yaml:6: unknown column type 'VARCAR'; did you mean 'VARCHAR'?",
        id="unknown type",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT PRIMARY KEY,\n  b INT,\n  PRIMARY KEY (b)\n)"),
        "f.yaml:7: the table has two primary keys; expected one",
        id="two primary keys",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a VARCHAR(5)\n    COLLATE utf8mb4_genral_ci\n)"),
        "f.yaml:6: unknown collation 'utf8mb4_genral_ci' for mysql-9.7; did you mean 'utf8mb4_general_ci'?",
        id="unknown collation",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a CHAR(5) CHARACTER SET latn1)"),
        "f.yaml:4: unknown character set 'latn1' for mysql-9.7; did you mean 'latin1'?",
        id="unknown charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a CHAR(5)\n) DEFAULT CHARSET utf8mb5"),
        "f.yaml:6: unknown character set 'utf8mb5' for mysql-9.7; did you mean 'utf8mb4'?",
        id="table charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a CHAR(5) CHARACTER SET latin1 COLLATE utf8mb4_bin)"),
        (
            "f.yaml:4: collation utf8mb4_bin is not of character set latin1; "
            "expected a collation that begins with latin1_"
        ),
        id="collation of other charset",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  abc INT,\n  KEY (abd))"),
        "f.yaml:6: table d.t has no column 'abd'; did you mean 'abc'?",
        id="unknown column in key",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT,\n  A INT)"),
        "f.yaml:6: column 'A' is defined twice",
        id="column twice",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  order INT)"),
        "f.yaml:5: 'order' is a reserved word; expected `order` in backticks as the name of a column",
        id="reserved",
    ),
    pytest.param(
        table("CREATE TABLE d.t (\n  a INT"),
        "f.yaml:6: unexpected end of the statement; expected a comma or ')'",
        id="not closed",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a TINYINT\n  DEFAULT 300)"),
        (
            "f.yaml:5: the default of column 'a' is impossible: TINYINT cannot hold this number: 300; "
            "expected -128 to 127"
        ),
        id="default",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a TEXT DEFAULT 'x')"),
        "f.yaml:4: a TEXT column cannot have a literal default; expected DEFAULT (expression)",
        id="text default",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a DATE DEFAULT CURRENT_TIMESTAMP)"),
        "f.yaml:4: a DATE column cannot have DEFAULT CURRENT_TIMESTAMP; expected TIMESTAMP or DATETIME",
        id="now on date",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a ENUM('x','X'))"),
        "f.yaml:4: ENUM has the equal members 'x' and 'X'",
        id="enum dup",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a VARCHAR(16384))"),
        (
            "f.yaml:4: VARCHAR cannot have the length 16384; "
            "expected 0 to 16383 (use a TEXT or BLOB type for longer values)"
        ),
        id="too wide",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE orders (a INT)\n",
        "f.yaml:3: table 'orders' names no database; expected database.table, or session.database",
        id="no database",
    ),
    pytest.param(
        HEAD + "  - CREATE TABLE mysql.orders (a INT)\n",
        "f.yaml:3: 'mysql' is a system database; expected another name",
        id="system database",
    ),
    pytest.param(
        table("CREATE TABLE d.t (a INT,\n FOREIGN KEY (a) REFERENCES p (b))"),
        "f.yaml:5: there is no table d.p",
        id="foreign key",
    ),
    pytest.param(
        HEAD + "  - table: d.t\n    columns:\n      - {name: a, type: INTT}\n",
        "f.yaml:5: unknown column type 'INTT'; did you mean 'INT'?",
        id="pieces",
    ),
    pytest.param(
        HEAD + "  - table: d.t\n    columns: [{name: a, type: INT}]\n    keys: [{primary: [a], unique: [a]}]\n",
        "f.yaml:5: a key has exactly one of primary, unique, index; this one has primary and unique",
        id="pieces key",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-8.0\ntables: ['CREATE TABLE d.t (v VECTOR(3))']\n",
        "f.yaml:3: mysql-8.0 does not have VECTOR columns; expected MySQL 9.0.0 or later",
        id="vector",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_wrong_definition_gets_one_sentence(
    text: str, sentence: str, refused: Callable[[str], ScenarioError]
) -> None:
    error = refused(text)
    assert str(error) == sentence
    assert error.exit_code == 2


@pytest.mark.parametrize("text", [table("CREATE TABLE d.t (a VARCHAR(40) AS (uuid_short()))")])
def test_a_definition_that_servers_know_and_we_do_not_is_refused_by_name(
    text: str, refused: Callable[[str], ScenarioError]
) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedError)
    assert re.match(r"f\.yaml:4: .* not supported", str(error))


@pytest.mark.parametrize("name", ["a\\0b", "a\U0001f600b"])
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE d.`{}` (a INT)", "CREATE TABLE `{}`.t (a INT)", "CREATE TABLE d.t (`{}` INT)",
        "CREATE TABLE d.t (a INT, KEY `{}` (a))", "CREATE TABLE d.t (a INT, CONSTRAINT `{}` CHECK (a > 0))",
    ],
)  # fmt: skip
def test_a_name_has_no_character_that_servers_do_not_take(
    sql: str, name: str, refused: Callable[[str], ScenarioError]
) -> None:
    error = refused(f'{HEAD}  - "{sql.format(name)}"\n')
    assert re.match(
        r"f\.yaml:3: 'a.*b' cannot be the name of a .*; expected 1 to 64 characters from U\+0001 to U\+FFFF$",
        str(error),
    )


@pytest.mark.parametrize(
    "step",
    ["savepoint: {}", "{{insert: {{into: d.t, rows: [{{a: 1}}]}}, query: INSERT, user_variables: {{{}: 1}}}}"],
)
def test_savepoints_and_user_variables_have_names_that_servers_take(
    step: str, refused: Callable[[str], ScenarioError]
) -> None:
    text = HEAD + "  - CREATE TABLE d.t (a INT)\ntransactions:\n  - - " + step.format('"a\\0b"') + "\n"
    assert "from U+0001 to U+FFFF" in str(refused(text))
