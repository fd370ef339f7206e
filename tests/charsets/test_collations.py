"""Collation ids, names and defaults, against what the servers' own tables say."""

from __future__ import annotations

import pytest

from forge.charsets import Collation, charset_names, collation, default_collation, find_collation
from forge.errors import ScenarioError


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (8, "latin1_swedish_ci"), (11, "ascii_general_ci"), (28, "gbk_chinese_ci"), (33, "utf8mb3_general_ci"),
        (35, "ucs2_general_ci"), (45, "utf8mb4_general_ci"), (46, "utf8mb4_bin"), (47, "latin1_bin"),
        (54, "utf16_general_ci"), (56, "utf16le_general_ci"), (60, "utf32_general_ci"), (63, "binary"),
        (83, "utf8mb3_bin"), (224, "utf8mb4_unicode_ci"), (248, "gb18030_chinese_ci"), (249, "gb18030_bin"),
        (255, "utf8mb4_0900_ai_ci"), (309, "utf8mb4_0900_bin"), (323, "utf8mb4_mn_cyrl_0900_as_cs"),
        (1069, "utf8mb4_general_nopad_ci"), (2304, "utf8mb4_uca1400_ai_ci"),
    ],
)  # fmt: skip
def test_a_collation_is_found_by_its_id_and_by_its_name(number: int, name: str) -> None:
    found = collation(number)
    assert (found.id, found.name) == (number, name)
    assert collation(name) == found
    assert collation(name.upper()) == found


def test_a_collation_tells_its_charset_whether_it_is_the_default_and_whether_it_pads() -> None:
    assert collation(255) == Collation(255, "utf8mb4_0900_ai_ci", "utf8mb4", is_default=True, pad_space=False)
    assert collation(8) == Collation(8, "latin1_swedish_ci", "latin1", is_default=True, pad_space=True)
    assert collation(63) == Collation(63, "binary", "binary", is_default=True, pad_space=False)
    assert collation(1069) == Collation(1069, "utf8mb4_general_nopad_ci", "utf8mb4", is_default=False, pad_space=False)


def test_utf8_names_are_names_of_utf8mb3() -> None:
    assert collation("utf8_unicode_ci") == collation("utf8mb3_unicode_ci")
    assert default_collation("utf8", "mysql-9.7").name == "utf8mb3_general_ci"


@pytest.mark.parametrize("number", [122, 149, 181, 213, 245])
def test_croatian_ids_have_another_name_in_mariadb(number: int) -> None:
    ours = collation(number, "mysql")
    theirs = collation(number, "mariadb")
    assert ours.name == f"{ours.charset}_croatian_ci"
    assert theirs.name == f"{theirs.charset}_croatian_mysql561_ci"
    assert find_collation(number, "mariadb-10.11") == theirs
    assert find_collation(number) == collation(number) == ours


@pytest.mark.parametrize(("charset", "number"), [("utf8mb3", 576), ("ucs2", 640), ("utf8mb4", 608), ("utf16", 672)])
def test_the_croatian_name_means_another_collation_in_mariadb(charset: str, number: int) -> None:
    assert collation(f"{charset}_croatian_ci", "mariadb").id == number
    assert collation(f"{charset}_croatian_ci", "mysql").id < 256


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("mysql-5.7", 45), ("mysql-8.0", 255), ("mysql-8.4", 255), ("mysql-9.7", 255), ("mysql", 255),
        ("mariadb-10.5", 45), ("mariadb-10.11", 45), ("mariadb-11.4", 45), ("mariadb-11.8", 2304), ("mariadb", 45),
    ],
)  # fmt: skip
def test_the_default_of_utf8mb4_depends_on_the_server_line(line: str, number: int) -> None:
    found = default_collation("utf8mb4", line)
    assert found.id == number
    assert found.is_default


def test_every_charset_has_a_default_collation_in_mysql() -> None:
    for name in charset_names():
        found = default_collation(name, "mysql-9.7")
        assert (found.charset, found.is_default) == (name, True)


def test_mariadb_has_the_0900_collations_from_11_4_on_as_aliases() -> None:
    assert collation(255, "mariadb-11.8").name == "utf8mb4_0900_ai_ci"
    assert not collation(255, "mariadb-11.8").is_default
    with pytest.raises(ScenarioError, match=r"^unknown collation id 255 for mariadb-10\.11$"):
        collation(255, "mariadb-10.11")
    with pytest.raises(ScenarioError, match=r"unknown collation 'utf8mb4_0900_ai_ci' for mysql-5\.7"):
        collation("utf8mb4_0900_ai_ci", "mysql-5.7")


def test_a_reader_finds_a_collation_of_the_other_family_and_none_for_an_unknown_id() -> None:
    assert find_collation(255, "mariadb-10.11") == collation(255)
    assert find_collation(2304, "mysql-9.7") == collation(2304)
    assert find_collation(0) is None
    assert find_collation(99999) is None


def test_unknown_names_are_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(ScenarioError, match=r"unknown collation 'latin1_swedish'; did you mean 'latin1_swedish_ci'\?"):
        collation("latin1_swedish")
    with pytest.raises(ScenarioError, match=r"did you mean 'latin1'\?"):
        default_collation("latin-1", "mysql-9.7")
    with pytest.raises(ScenarioError, match=r"unknown character set 'gb18030' for mariadb-11\.8"):
        default_collation("gb18030", "mariadb-11.8")


@pytest.mark.parametrize("family", ["postgres", "mysql-x", "mariadb-"])
def test_an_unknown_server_line_is_refused(family: str) -> None:
    with pytest.raises(ScenarioError, match=r"unknown server|unknown collation"):
        collation("no such", family)
