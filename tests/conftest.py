"""What all tests share: real servers, Spark, Hypothesis profiles, and a loud word about what was not checked."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from forge.errors import ScenarioError
from tests.recorded import NIGHTLY
from tests.unrun import beyond, counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The corpus and the kit that many rooms' tests share.
pytest_plugins = ("tests.small_corpus",)

settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # "explain" traces every line of a failing test; beside Spark's threads that hung CPython 3.11 for good.
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SERVER_NAMES = ("mysql97", "maria1011", "maria118")
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")


@dataclass(frozen=True, slots=True)
class ServerHome:
    """The folder of the unpacked real servers (``make servers``): ``NAME.run`` runs a program of one of them."""

    path: Path

    @property
    def missing(self) -> list[str]:
        """Names of the servers that are not there."""
        return [name for name in SERVER_NAMES if not (self.path / f"{name}.run").is_file()]

    def run(self, name: str) -> Path:
        """The program that runs ``name``'s programs: ``run("mysql97") mysqlbinlog FILE``."""
        return self.path / f"{name}.run"


def _server_home() -> ServerHome:
    default = Path.home() / ".cache" / "real-servers"
    return ServerHome(Path(os.environ.get("FORGE_SERVERS") or default))


def _needs_servers(item: pytest.Item) -> bool:
    return item.get_closest_marker("servers") is not None


#: Marks of tests that are no unit tests, in the order in which they run.
LATER = ("slow", "spark", "servers")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The fast ones first (``-m unit``); who uses a fixture of ``LATER`` is marked with it.

    Tests of the night are left out unless FORGE_NIGHTLY is set.
    """
    nightly = [] if NIGHTLY else [item for item in items if item.get_closest_marker("nightly")]
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        config.stash[LEFT_OUT] = len(nightly)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    for item in items:
        for name in LATER:
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(name)
        if not any(item.get_closest_marker(name) for name in LATER):
            item.add_marker("unit")
    items.sort(key=_part)


def _part(item: pytest.Item) -> int:
    return max((LATER.index(mark.name) for mark in item.iter_markers() if mark.name in LATER), default=-1)


NOT_CHECKED = pytest.StashKey[list[str]]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_finish(session: pytest.Session) -> None:
    unchecked = [item.nodeid for item in session.items if _needs_servers(item)] if _server_home().missing else []
    session.config.stash[NOT_CHECKED] = unchecked


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that runs a share has collected all tests: it tells the one that prints what was left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left out"] = session.config.stash.get(LEFT_OUT, 0)
        output["not checked"] = session.config.stash.get(NOT_CHECKED, [])
    elif IN_CI and beyond(_unrun(session.config)) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _unrun(config: pytest.Config) -> Counter[str]:
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    return counted(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told = getattr(node, "workeroutput", {})
    for key, name in ((LEFT_OUT, "left out"), (NOT_CHECKED, "not checked")):
        if name in told:
            node.config.stash[key] = told[name]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """``-n auto``: one for each core that is ours, but no more than the longest shares make use of."""
    return min(4, len(os.sched_getaffinity(0)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    if config.getoption("dist") != "load":
        return None
    from tests.workers import Shares

    return Shares(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    home = _server_home()
    if not home.missing or not _needs_servers(item):
        return
    lack = f"no {', '.join(home.missing)} in {home.path}"
    if IN_CI:
        pytest.fail(f"CI has {lack}: `make servers` must run first", pytrace=False)
    pytest.skip(f"{lack}: run `make servers`")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.line(f"{left_out} tests of the night were left out: `make nightly` runs them.", yellow=True)
    found = _unrun(config)
    for kind, count in found.items():
        terminalreporter.line(f"{count} {kind} were left unrun: -rs says why.", yellow=True)
    for sentence in beyond(found) if IN_CI else ():
        terminalreporter.line(sentence, red=True)
    unchecked = config.stash.get(NOT_CHECKED, [])
    if not unchecked or IN_CI:
        return
    home = _server_home()
    terminalreporter.section("NOT CHECKED", red=True, bold=True)
    terminalreporter.line(
        f"NOT CHECKED: {len(unchecked)} tests that compare with real servers; there is no"
        f" {', '.join(home.missing)} in {home.path}.  `make servers` fetches them.",
        red=True,
    )


@pytest.fixture
def refused() -> Callable[[str], ScenarioError]:
    """The error of a scenario file with this text, whose name is ``f.yaml``."""
    from forge.scenario import expand, plan

    def plan_all(text: str) -> None:
        for case in expand(text, file="f.yaml"):
            plan(case.scenario)

    def error(text: str) -> ScenarioError:
        with pytest.raises(ScenarioError) as caught:
            plan_all(text)
        return caught.value

    return error


@pytest.fixture(scope="session")
def servers() -> ServerHome:
    """The real servers.  Tests that use this are skipped loudly where there are none, and fail in CI."""
    return _server_home()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for all tests: two cores, Java as ``forge`` finds it."""
    pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
    from forge.spark.session import spark_session

    with ExitStack() as closing:
        folder = closing.enter_context(tempfile.TemporaryDirectory(prefix="forge-tests-"))
        conf = {
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.local.dir": folder,
            "spark.driver.memory": "1g",
            # Small jobs: what is compiled is never used long enough.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false",
        }
        yield closing.enter_context(spark_session("local[2,3]", conf=conf))
