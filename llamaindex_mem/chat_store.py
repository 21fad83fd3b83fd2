"""`TwinmemChatStore`: the conversations of one user as a LlamaIndex chat store.

Importing this module makes LlamaIndex able to load it: `ChatMemoryBuffer.from_dict` knows only the
stores that are registered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.storage.chat_store.loading import RECOGNIZED_CHAT_STORES
from pydantic import Field

from llamaindex_mem.handle import AttachedComponent
from llamaindex_mem.messages import decode, encode, said
from shared_core import AgentMemory, Message, Session


class TwinmemChatStore(AttachedComponent, BaseChatStore):
    """Keeps messages under keys; each key is a conversation of the user, and can be recalled.

    Like every handle it is serialised as an address; only without one do the messages travel along.
    What it gives are copies, and so is what it takes. A key it does not have is an empty list, and
    what can't be deleted is None.

    >>> store = TwinmemChatStore(memory=AgentMemory.open(embedder="hashing"), user="alice")
    >>> store.add_message("monday", ChatMessage(role="user", content="hello"))
    >>> [message.content for message in store.get_messages("monday")], store.get_keys()
    (['hello'], ['monday'])
    """

    snapshot: dict[str, list[dict[str, Any]]] | None = Field(
        default=None, repr=False, description="the messages of a serialised store without an address; read once"
    )

    def __init__(self, *, memory: AgentMemory | None = None, **data: Any) -> None:
        """A `memory`, or the `address` of one, and a `user`; without any it is private."""
        super().__init__(memory=memory, **data)
        snapshot, self.snapshot = self.snapshot, None
        for key, messages in (snapshot or {}).items():
            self._revive(key, messages)

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex stores."""
        return "TwinmemChatStore"

    def state(self) -> dict[str, Any]:
        """The address, user and agent; without an address the messages too."""
        state = super().state()
        if self.address is None:
            state["snapshot"] = {
                key: [message.model_dump(mode="json") for message in self._session(key).messages()]
                for key in self.get_keys()
            }
        return state

    def _session(self, key: str) -> Session:
        return self.scope.session(key)

    # ------------------------------------------------------------------ in

    def set_messages(self, key: str, messages: Sequence[ChatMessage]) -> None:
        """Make the conversation exactly this; if anything fails the old one stays."""
        self._session(key).replace_messages(_encoded(messages))

    async def aset_messages(self, key: str, messages: Sequence[ChatMessage]) -> None:
        """Async twin of `set_messages`."""
        await self._session(key).areplace_messages(_encoded(messages))

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Append a message, or put it before the one at `idx`."""
        if idx is None:
            self._session(key).add_messages(_encoded([message]))
            return
        session = self._session(key)
        messages = session.messages()
        messages[idx:idx] = _encoded([message])
        session.replace_messages(messages)

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        """Async twin of `add_message`."""
        await self._session(key).aadd_messages(_encoded([message]))

    # ------------------------------------------------------------------ out

    def get_messages(self, key: str) -> list[ChatMessage]:
        """The conversation in order; empty for a key that is not there."""
        return [decode(message) for message in self._session(key).messages()]

    def get_keys(self) -> list[str]:
        """The keys, oldest first."""
        return self.scope.sessions()

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Erase a conversation and what was learnt from it alone; its messages, or None if there were none."""
        messages = self.get_messages(key)
        self._session(key).delete()
        return messages or None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Erase the message at `idx`, which may count from the end; None where there is none."""
        session = self._session(key)
        messages = session.messages()
        if not -len(messages) <= idx < len(messages):
            return None
        gone = messages[idx]
        session.delete_messages([gone.id] if gone.id else [])
        return decode(gone)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Erase the newest message; None where there is none."""
        return self.delete_message(key, -1)


def _encoded(messages: Sequence[ChatMessage]) -> list[Message]:
    return [encode(message) for message in said(messages)]


RECOGNIZED_CHAT_STORES[TwinmemChatStore.class_name()] = TwinmemChatStore  # type: ignore[assignment]  # a plain dict
