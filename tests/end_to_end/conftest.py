"""Real clients against a scripted server on loopback: no other network, no proxies, no keys of the machine."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # with --import-mode=importlib a test can't import its neighbours
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from openai_loopback import Loopback

from shared_core import AgentMemory

# Not ours, and met by every user of LlamaIndex on this Python: its workflows look at every member of an
# agent, pydantic's deprecated ones included; its index module imports langchain-community where that is installed.
_THEIRS = (
    "ignore:The `__fields(_set)?__` attribute is deprecated:DeprecationWarning",
    "ignore:Accessing the 'model_(computed_)?fields' attribute:DeprecationWarning",
    "ignore:`langchain-community` is being sunset:DeprecationWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for theirs in _THEIRS:
                item.add_marker(pytest.mark.filterwarnings(theirs))


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the machine is ignored, and a connection to anywhere else is an error."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("OPENAI_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), f"a connection to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def server() -> Iterator[Loopback]:
    running = Loopback()
    with running:
        yield running
    assert not running.refused, f"the service would refuse: {running.refused}"


@pytest.fixture
def file(path: Path) -> Iterator[AgentMemory]:
    """A memory in a file."""
    with AgentMemory.open(path, embedder="hashing") as memory:
        yield memory
