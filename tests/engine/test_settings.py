"""Settings of a session that no server takes are refused with their line."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.scenario import plan
from forge.scenario.matrix import base_scenario


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("log_name: bin.log", "f.yaml:4: 'bin.log' is not a name of a log; expected letters and digits, without a dot"),
        ("log_name: logs/bin", "f.yaml:4: 'logs/bin' is not a name of a log"),
        ("log_name: ''", "f.yaml:4: '' is not a name of a log"),
        ("relay_log: {name: a.b}", "f.yaml:4: 'a.b' is not a name of a log"),
        ("first_file: 0", "f.yaml:4: first_file is 0; expected 1 to 2147483647"),
        (
            "binlog_row_event_max_size: -5",
            "f.yaml:4: binlog_row_event_max_size is -5; expected 256 to 4294967295",
        ),
        ("max_binlog_size: 2000000000", "f.yaml:4: max_binlog_size is 2000000000; expected 1 to 1073741824"),
        ("compression_level: 23", "f.yaml:4: compression_level is 23; expected 1 to 22"),
        ("server_id: -1", "f.yaml:4: server_id is -1; expected 0 to 4294967295"),
        ("server_id: 0\nserver: mariadb-11.8", "f.yaml:4: server_id is 0; expected 1 to 4294967295"),
        ("relay_log: {server_id: 1}", "f.yaml:4: server_id of the replica is 1; expected 1 to 4294967295, not the"),
        ("relay_log: {max_size: 0}", "f.yaml:4: relay_log.max_size is 0; expected 1 to 1073741824"),
    ],
)
def test_a_value_that_no_server_takes(setting: str, sentence: str) -> None:
    text = f"scenario: x\nsession:\n  rows_query: true\n  {setting}\n"
    with pytest.raises(ScenarioError) as caught:
        plan(base_scenario(text, file="f.yaml"))
    assert str(caught.value).startswith(sentence)
