"""twinmem for LlamaIndex: the same memory as a chat memory, chat stores, blocks, a retriever and tools."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llamaindex_mem.memory import TwinmemMemory

_WHERE = {
    "TwinmemMemory": "llamaindex_mem.memory",
}

__all__ = [
    "TwinmemMemory",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
