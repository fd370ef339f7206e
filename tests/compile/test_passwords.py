"""Hashes of passwords, as servers log them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.plan.passwords import Password, default_salt, escaped, logged_salts, password_hash, sha_crypt


@pytest.mark.parametrize(
    ("password", "kept"),
    [
        (
            Password("caching_sha2_password", "secret"),
            b"$A$00A$-Xl>`\x7f%A\x0c~\x1c\x1bCAW:'e0Aghd8ErzRCEOTKOn.9BYuP5yuWy31HhCJH1rJsbBAK5/",
        ),
        (
            Password("sha256_password", "x"),
            b'$5$i7";i\x13{\x1c5"n\nZe7oYR*\x10$cSRqasD6uAJVX9nOSgd25O6t/AmWKwLjM.ULVNCabz/',
        ),
    ],
)
def test_a_hash_with_a_recorded_salt_is_the_recorded_hash(password: Password, kept: bytes) -> None:
    start = 7 if kept.startswith(b"$A$") else 3
    assert password_hash(password, kept[start : start + 20], 10) == kept


def test_sha_crypt_gives_the_digest_of_its_specification() -> None:
    # openssl passwd -5 -salt saltstring "Hello world!"
    assert sha_crypt(b"Hello world!", b"saltstring", 5000) == b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"


_CHARACTERS = st.characters(min_codepoint=1, max_codepoint=127, exclude_characters="$")


@given(st.lists(st.text(_CHARACTERS, min_size=20, max_size=20), max_size=3))
def test_salts_are_found_in_the_text_that_is_logged(salts: list[str]) -> None:
    users = ",".join(
        f"'u{number}'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '{escaped(f'$A$00A${salt}digest')}'"
        for number, salt in enumerate(salts)
    )
    assert logged_salts(f"CREATE USER {users} PASSWORD EXPIRE") == [salt.encode() for salt in salts]


def test_default_salts_differ_and_are_always_the_same() -> None:
    assert len({default_salt(number) for number in range(5)}) == 5
    assert default_salt(1) == default_salt(1)
