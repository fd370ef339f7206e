"""What tests of Spark share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark.standalone import StandaloneCluster, standalone_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """One standalone cluster for all tests: two workers on hosts of their own, each with a core."""
    pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started
