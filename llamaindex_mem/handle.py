"""What a serialised component keeps of its database, and how it finds it again.

LlamaIndex serialises memory on every reuse of a `Context` and deep-copies it in `edit_state`. A
component that carried its messages along would fork from the one the user holds; so these carry
an address, and every copy shares the open database.
"""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr, model_serializer

from shared_core import AgentMemory, Message, Scope
from shared_core.errors import InvalidInput, InvalidType


class Handle:
    """An open database that copies of a component share.

    A handle made from an address closes it when the last component that uses it is gone. One made
    from a caller's `AgentMemory` leaves closing to the caller.
    """

    def __init__(self, memory: AgentMemory, store_id: str | None, *, owned: bool, rebuilt: bool = False) -> None:
        """Use `attach`."""
        self.memory = memory
        self.store_id = store_id
        # Made anew for an id whose database is gone: components bring back what they carry.
        self.rebuilt = rebuilt
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
            return _in_memory(store_id)
        return _at(address)


def _id_of(memory: AgentMemory) -> str:
    store_id = _ids.setdefault(memory, uuid.uuid4().hex)
    _given[store_id] = memory
    return store_id


def _in_memory(store_id: str | None) -> Handle:
    if store_id is not None:
        known = _opened.get(store_id)
        if known is not None:
            return known
        given = _given.get(store_id)
        if given is not None:
            return Handle(given, store_id, owned=False)
    name = store_id or uuid.uuid4().hex
    handle = _opened[name] = Handle(AgentMemory.open(), name, owned=True, rebuilt=store_id is not None)
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


class Attached(BaseModel):
    """A component that works on one user's memory, and is serialised as where that is.

    Mixed into LlamaIndex's base classes, before them. `memory` is a caller's `AgentMemory`,
    `address` the path of one; without either it is a private database in memory, and only there
    may `user` be left out.
    """

    user: str = Field(description="whose memory this is")
    agent: str = Field(default="default", description="with which agent")
    address: str | None = Field(default=None, description="the database's path; None in memory")
    store_id: str | None = Field(default=None, repr=False, description="names a database in memory within its process")

    _handle: Handle = PrivateAttr()

    def __init__(self, *, memory: AgentMemory | None = None, **data: Any) -> None:
        """Attach to the memory, or open it."""
        if isinstance(data.get("address"), os.PathLike):
            data["address"] = os.fspath(data["address"])
        if data.get("user") is None:
            if memory is not None or data.get("address") is not None or data.get("store_id") is not None:
                raise InvalidInput("user is missing: whose memory is it? Pass user=...; there is no default")
            data["user"] = "user"  # nobody else can be in there
        super().__init__(**data)
        self._handle = attach(memory, self.address, self.store_id)
        self.address = self._handle.address
        self.store_id = self._handle.store_id
        self.scope  # noqa: B018  refuses a blank user or agent here, not at the first use

    @property
    def scope(self) -> Scope:
        """The memory of this user, for everything else the core can do."""
        return self._handle.scope(self.user, self.agent)

    def _revive(self, session: str, messages: Iterable[Mapping[str, Any]] | None) -> None:
        """Bring back a conversation that was serialised with its messages, once, and only if its database is gone."""
        chat = self.scope.session(session)
        if messages and self._handle.rebuilt and not chat.messages(last=1):
            chat.add_messages([Message(**message) for message in messages])

    def state(self) -> dict[str, Any]:
        """The address, the user and the options; JSON. Another `Attached` made of it shares the database."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """The component that `state` describes."""
        return cls(**{name: value for name, value in state.items() if name in cls.model_fields})

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).restored, (self.state(),)

    def __eq__(self, other: object) -> bool:
        # The store id tells databases in memory apart, the address all others.
        return type(self) is type(other) and isinstance(other, Attached) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.address, self.store_id, self.user, self.agent))

    def _identity(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}


class AttachedComponent(Attached):
    """The same for LlamaIndex's `BaseComponent`s, which have their own ways of being serialised."""

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """The address, the user and the options; JSON."""
        return {**self.state(), "class_name": type(self).__name__}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """The component `to_dict` described, on the same database."""
        return cls.restored({**data, **kwargs})

    @model_serializer(mode="wrap")
    def custom_model_dump(self, handler: Any, info: Any) -> dict[str, Any]:
        """The same for `model_dump`, and where this is a field of another model."""
        return self.to_dict()
