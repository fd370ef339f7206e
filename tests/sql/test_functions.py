"""Functions that scripts use: what they give as text, as MySQL 9.7 selected it."""

from __future__ import annotations

from forge.scenario import expand, plan

SELECTED: list[tuple[str, str | None]] = [
    ("1e0/3", "0.3333333333333333"),
    ("1e15", "1e15"),
    ("123456789012345678e0", "1.2345678901234568e17"),
    ("'5'+3", "8"),
    ("'abc' = 'ABC'", "1"),
    ("'a ' = 'a'", "0"),
    ("'hello' LIKE 'H%o'", "1"),
    ("'a_b' LIKE 'a|_b' ESCAPE '|'", "1"),
    ("'abc' REGEXP '^A.c$'", "1"),
    ("1 IN (2, NULL)", None),
    ("LENGTH('é')", "2"),
    ("HEX(255)", "FF"),
    ("TO_BASE64('hello world')", "aGVsbG8gd29ybGQ="),
    ("LOCATE('l', 'hello', 4)", "4"),
    ("INSTR('foobar', 'BAR')", "4"),
    ("FIND_IN_SET('b', 'a,b,c')", "2"),
    ("FIELD('b', 'a', 'b')", "2"),
    ("INSERT('Quadratic', 3, 4, 'What')", "QuWhattic"),
    ("SUBSTRING_INDEX('www.mysql.com', '.', -2)", "mysql.com"),
    ("TRIM(LEADING 'x' FROM 'xxabcxx')", "abcxx"),
    ("CONV(-1, 10, 16)", "FFFFFFFFFFFFFFFF"),
    ("FORMAT(1234567.891, 2)", "1,234,567.89"),
    ("ROUND(-2.5)", "-3"),
    ("ROUND(1.005e0, 2)", "1"),
    ("TRUNCATE(122, -2)", "100"),
    ("POW(2, 0.5)", "1.4142135623730951"),
    ("5 ^ 3", "6"),
    ("~1", "18446744073709551614"),
    ("CRC32('MySQL')", "3259397556"),
    ("SHA2('abc', 224)", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    ("INET_ATON('10.0.5.9')", "167773449"),
    ("BIN_TO_UUID(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db'))", "6ccd780c-baba-1026-9564-5b8c656024db"),
    ("UNIX_TIMESTAMP('2024-02-01')", "1706745600"),
    ("FROM_UNIXTIME(1706781600, '%Y-%m')", "2024-02"),
    ("'2024-02-29' + INTERVAL 1 YEAR", "2025-02-28"),
    ("DATE_ADD('2024-01-31', INTERVAL 1 HOUR)", "2024-01-31 01:00:00"),
    ("DATE_ADD('2024-01-01', INTERVAL '1:30' HOUR_MINUTE)", "2024-01-01 01:30:00"),
    ("DATE_FORMAT('2023-01-01', '%W %D %U %u %V %v %X %x')", "Sunday 1st 01 00 01 52 2023 2022"),
    ("TIMESTAMPDIFF(YEAR, '2000-02-29', '2024-02-28')", "23"),
    ("LAST_DAY('2024-02-05')", "2024-02-29"),
    ("SEC_TO_TIME(-100)", "-00:01:40"),
    ("ADDTIME('01:00:00', '00:30:00')", "01:30:00"),
    ("TIMEDIFF('10:00:00', '12:30:00')", "-02:30:00"),
    ("STR_TO_DATE('01,5,2024', '%d,%m,%Y')", "2024-05-01"),
    ("DATE'2024-01-01' = '2024-01-01 00:00:00'", "1"),
    ("JSON_SET('{\"a\":[1,2]}', '$.a[1]', 'x', '$.a[9]', 3)", '{"a": [1, "x", 3]}'),
    ("JSON_REMOVE('{\"a\":1,\"b\":[1,2,3]}', '$.a', '$.b[1]')", '{"b": [1, 3]}'),
    ('JSON_MERGE_PATCH(\'{"a":1,"b":2}\', \'{"b":null,"c":3}\')', '{"a": 1, "c": 3}'),
    ("JSON_CONTAINS('[1,2,3]', '[1,3]')", "1"),
    ('JSON_KEYS(\'{"bb":1,"a":2}\')', '["a", "bb"]'),
    ("3 MEMBER OF ('[1, 3]')", "1"),
]


def test_functions_give_what_the_server_selects() -> None:
    rows = ", ".join(f"({number}, {sql})" for number, (sql, _) in enumerate(SELECTED))
    script = f"CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(99)); INSERT INTO d.t VALUES {rows};"
    [case] = expand(script, file="f.sql")
    found = {row[0]: row[1] for row in plan(case.scenario).contents["d.t"]}
    assert {sql: found[number] for number, (sql, _) in enumerate(SELECTED)} == dict(SELECTED)
