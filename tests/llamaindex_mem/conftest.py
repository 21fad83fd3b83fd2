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
