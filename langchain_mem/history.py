"""`TwinmemChatMessageHistory`: LangChain's classic chat history over a session of the memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_mem.messages import from_core, to_core
from langchain_mem.opening import opened
from shared_core.errors import InvalidInput
from shared_core.memory import AgentMemory
from shared_core.session import Session
from shared_core.values import Message

_ALL = "__remove_all__"  # what langgraph calls REMOVE_ALL_MESSAGES


class TwinmemChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation, stored as they were, in order, and remembered.

    What is added is searched by every other part of the memory: another conversation of the same
    user recalls it. A batch is written whole or not at all, and is safe from a crash when `add_messages`
    returns. Messages without an id are always new ones; a message with an id that this conversation
    has is that message: unchanged it is left alone, changed it is replaced where it stands.

    A RemoveMessage is applied: its message is erased, with the facts that came only from it;
    `__remove_all__` leaves only what follows it. `clear` takes all messages away and keeps the facts.

    `address` opens a database by path, one handle a process; without `memory` and `address` the
    history is private to this object. One object serves sync and async, and any number of threads.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> history = TwinmemChatMessageHistory("monday", user="alice", memory=memory)
    >>> history.add_user_message("I moved to Lyon")
    >>> history.messages[0].text
    'I moved to Lyon'
    """

    def __init__(
        self,
        session_id: str,
        *,
        user: str,
        memory: AgentMemory | None = None,
        address: str | os.PathLike[str] | None = None,
        agent: str = "default",
    ) -> None:
        """Raises `InvalidInput` (a ValueError) for an empty session id or user."""
        self._session = opened(memory, address).scope(user=user, agent=agent).session(session_id)

    @property
    def session(self) -> Session:
        """The conversation in the memory."""
        return self._session

    @property
    def messages(self) -> list[BaseMessage]:
        """The conversation in order, a new list each time."""
        return [from_core(message) for message in self._session.messages()]

    @messages.setter
    def messages(self, value: Sequence[BaseMessage]) -> None:
        self._session.replace_messages([to_core(message) for message in value])

    async def aget_messages(self) -> list[BaseMessage]:
        """Async twin of `messages`."""
        return [from_core(message) for message in await self._session.amessages()]

    def add_message(self, message: BaseMessage) -> None:
        """Append one message."""
        self.add_messages([message])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, all of them or none.

        Raises `InvalidType` for what can't be stored, `InvalidInput` for a RemoveMessage of a
        message that is not there.
        """
        batch = _Batch(messages)
        if batch.everything:
            self._session.replace_messages(batch.added)
            return
        for record in self._doomed(batch):
            self._session.scope.delete(record)
        self._session.add_messages(batch.added)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Async twin of `add_messages`."""
        batch = _Batch(messages)
        if batch.everything:
            await self._session.areplace_messages(batch.added)
            return
        if batch.removed:
            for record in self._doomed(batch):
                await self._session.scope.adelete(record)
        await self._session.aadd_messages(batch.added)

    def _doomed(self, batch: _Batch) -> list[str]:
        """The records of the messages to remove."""
        if not batch.removed:
            return []
        where: dict[str, Any] = {"session": self._session.id, "message_id": {"$in": sorted(batch.removed)}}
        found = {record.message_id: record.id for record in self._session.scope.list(kinds=["turn"], where=where)}
        unknown = batch.removed - found.keys()
        if unknown:
            raise InvalidInput(f"can't remove a message that is not in this conversation: {sorted(unknown)}")
        return list(found.values())

    def clear(self) -> None:
        """Take all messages of this conversation away; facts that came from them stay."""
        self._session.clear()

    async def aclear(self) -> None:
        """Async twin of `clear`."""
        await self._session.aclear()


class _Batch:
    """What a list of messages asks for: what to append, what to take away."""

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self.added: list[Message] = []
        self.removed: set[str] = set()
        self.everything = False
        for message in messages:
            if not isinstance(message, RemoveMessage):
                self.added.append(to_core(message))
            elif message.id == _ALL:
                self.added, self.removed, self.everything = [], set(), True
            elif any(known.id == message.id for known in self.added):
                self.added = [known for known in self.added if known.id != message.id]
            elif self.everything:
                raise InvalidInput(f"can't remove a message that is not in this conversation: {message.id!r}")
            else:
                self.removed.add(str(message.id))
