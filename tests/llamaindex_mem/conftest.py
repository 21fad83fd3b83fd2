from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory

# With --import-mode=importlib a test can't import its neighbours; the scripted model is loaded by path.
_spec = importlib.util.spec_from_file_location("li_scripted", Path(__file__).with_name("scripted.py"))
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules["li_scripted"] = _module
_spec.loader.exec_module(_module)


@pytest.fixture
def core() -> Iterator[AgentMemory]:
    with AgentMemory.open(embedder="hashing") as memory:
        yield memory


@pytest.fixture
def path(tmp_path: Path) -> Iterator[str]:
    """A file with a hashing embedder, opened so by every restored handle too."""
    where = str(tmp_path / "agent.db")
    AgentMemory.register(where, lambda: {"embedder": "hashing"})
    with AgentMemory.open(where, embedder="hashing"):
        yield where


@pytest.fixture
def memory(core: AgentMemory) -> TwinmemMemory:
    return TwinmemMemory.from_defaults(memory=core, user="alice", session_id="monday")


# Not ours, and met by every user of LlamaIndex on this Python: its workflows look at every member of
# an agent, pydantic's deprecated ones included; its ReActAgent asks `is_running`; its index module
# imports langchain-community where that happens to be installed.
_THEIRS = (
    "ignore:The `__fields(_set)?__` attribute is deprecated:DeprecationWarning",
    "ignore:Accessing the 'model_(computed_)?fields' attribute:DeprecationWarning",
    "ignore:is_running called from within a step:DeprecationWarning",
    "ignore:`langchain-community` is being sunset:DeprecationWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for theirs in _THEIRS:
                item.add_marker(pytest.mark.filterwarnings(theirs))
