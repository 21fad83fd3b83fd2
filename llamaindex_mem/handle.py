"""What a serialised component keeps of its database, and how it finds it again.

LlamaIndex serialises memory on every reuse of a `Context` and deep-copies it in `edit_state`. A
component that carried its messages along would fork from the one the user holds; so these carry
an address, and every copy shares the open database.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from typing import Any

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType


class Handle:
    """An open database that copies of a component share.

    A handle made from an address closes it when the last component that uses it is gone. One made
    from a caller's `AgentMemory` leaves closing to the caller.
    """

    def __init__(self, memory: AgentMemory, store_id: str | None, *, owned: bool) -> None:
        """Use `attach`."""
        self.memory = memory
        self.store_id = store_id
        if owned:
            weakref.finalize(self, memory.close)

    @property
    def address(self) -> str | None:
        """The path of the database; None in memory, where `store_id` names it within this process."""
        return self.memory.address

    def scope(self, user: str, agent: str) -> Scope:
        """The memory of one user with one agent."""
        return self.memory.scope(user=user, agent=agent)


# By path, or by store id in memory: what the components of this process opened themselves.
_opened: weakref.WeakValueDictionary[str, Handle] = weakref.WeakValueDictionary()
# The callers' own databases in memory, which have no path to be found by.
_given: weakref.WeakValueDictionary[str, AgentMemory] = weakref.WeakValueDictionary()
_ids: weakref.WeakKeyDictionary[AgentMemory, str] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def attach(memory: Any = None, address: Any = None, store_id: str | None = None) -> Handle:
    """The handle of a caller's memory, of a file, or of a database in memory known by its id.

    Without any of them it is a new private database in memory. An address opens as
    `AgentMemory.restore` does: shared if this process has it open, else as registered.
    """
    if memory is not None and address is not None:
        raise InvalidInput("give memory= or address=, not both")
    if memory is not None and not isinstance(memory, AgentMemory):
        raise InvalidType(f"memory is an AgentMemory, not {type(memory).__name__}; AgentMemory.open(path) gives one")
    with _lock:
        if memory is not None:
            return Handle(memory, None if memory.address else _id_of(memory), owned=False)
        if address is None or str(address) == ":memory:":
            return _in_memory(store_id or uuid.uuid4().hex)
        return _at(address)


def _id_of(memory: AgentMemory) -> str:
    store_id = _ids.setdefault(memory, uuid.uuid4().hex)
    _given[store_id] = memory
    return store_id


def _in_memory(store_id: str) -> Handle:
    known = _opened.get(store_id)
    if known is not None:
        return known
    given = _given.get(store_id)
    if given is not None:
        return Handle(given, store_id, owned=False)
    handle = _opened[store_id] = Handle(AgentMemory.open(), store_id, owned=True)
    return handle


def _at(address: Any) -> Handle:
    memory = AgentMemory.restore(address)
    assert memory.address is not None
    known = _opened.get(memory.address)
    if known is not None:
        memory.close()
        return known
    handle = _opened[memory.address] = Handle(memory, None, owned=True)
    return handle
