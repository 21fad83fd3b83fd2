"""What all tests share: memories on files and in RAM, a manual clock, and fresh Python processes."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock
from tests.servers import Server, instead_of_files, started

ROOT = Path(__file__).parents[1]
LONG = bool(os.environ.get("TWINMEM_LONG_TESTS"))

# The short form always draws the same examples, so a red run is red again; the long form explores.
settings.register_profile(
    "short",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", settings.get_profile("short"), derandomize=False, max_examples=1_000)
settings.load_profile("long" if LONG else "short")

# What has to hold of every store: the tests in these folders that open a memory run on SQLite and on PostgreSQL.
STORES = ("sqlite", "postgres") if os.environ.get("TWINMEM_PG") else ("sqlite",)
EVERY_STORE = tuple(ROOT / "tests" / name for name in ("core", "long_term", "short_term", "recall", "moving"))
_OPENS = {"memory", "scope", "path", "tmp_path"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each such test a form with `postgres` in its id, unless it is marked `sqlite_only`."""
    if "engine_of_test" not in metafunc.fixturenames:
        return
    function, folder = metafunc.definition, metafunc.definition.path.parent
    opens = _OPENS & {*metafunc.fixturenames} or "AgentMemory" in inspect.getsource(function.obj)
    if folder in EVERY_STORE and opens and function.get_closest_marker("sqlite_only") is None:
        metafunc.parametrize("engine_of_test", STORES, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Times on a machine that does other work as well say something only when they are wrong again and again."""
    for item in items:
        if item.get_closest_marker("timing") is not None:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server, started when the first test asks for it."""
    # Not in pytest's own folder: another run would clear it away, and a socket's path has to be short.
    with (
        tempfile.TemporaryDirectory(prefix="twinmem-pg-", ignore_cleanup_errors=True) as folder,
        started(Path(folder) / "data") as running,
    ):
        yield running


@pytest.fixture(autouse=True)
def engine_of_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The store that memories live in during this test."""
    name = getattr(request, "param", "sqlite")
    if name == "sqlite":
        yield name
        return
    with instead_of_files(request.getfixturevalue("server"), monkeypatch):
        yield name


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[AgentMemory]:
    """A private memory in RAM, embedding by hashed words, that keeps what it is told and derives nothing."""
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"facts": {"extract": False}}) as opened:
        yield opened


@pytest.fixture
def scope(memory: AgentMemory) -> Scope:
    return memory.scope(user="alice")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test keeps its database."""
    return tmp_path / "agent.db"


Python = Callable[..., str]


@pytest.fixture
def python() -> Python:
    """`python(script, *arguments)`: run a script in a fresh process and give what it prints."""

    def _python(
        script: str, *arguments: object, flags: tuple[str, ...] = (), timeout: float = 60, **keywords: Any
    ) -> str:
        done = subprocess.run(
            [sys.executable, *flags, "-c", script, *map(str, arguments)],
            capture_output=True, text=True, encoding="utf-8", timeout=timeout, **keywords,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return _python
