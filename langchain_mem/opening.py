"""The memory an adapter works on: the caller's own, or one opened by address and shared by the process."""

from __future__ import annotations

import os
import threading

from shared_core.errors import InvalidInput, InvalidType
from shared_core.memory import AgentMemory

_lock = threading.Lock()
_kept: dict[str, AgentMemory] = {}


def opened(memory: AgentMemory | None = None, address: str | os.PathLike[str] | None = None) -> AgentMemory:
    """`memory` itself; else the memory at `address`; else a new private one.

    A history is made anew for every request, so the handle of an address is opened once and kept:
    the process opens its database, and loads its embedder, a single time. How it is opened is what
    `AgentMemory.register` says for the address, or the defaults.
    """
    if memory is not None:
        if address is not None:
            raise InvalidInput("give either memory or address, not both")
        if not isinstance(memory, AgentMemory):
            raise InvalidType(f"memory is an AgentMemory, not {type(memory).__name__}; for a path use address=")
        return memory
    if address is None or os.fspath(address) == ":memory:":
        return AgentMemory.open()
    key = os.path.realpath(address)
    with _lock:
        if key not in _kept:
            _kept[key] = AgentMemory.restore(address)
        return _kept[key]
