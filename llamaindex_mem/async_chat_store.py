"""`AsyncTwinmemChatStore`: the store of LlamaIndex's own `Memory`, in the same database.

`Memory.from_defaults(chat_store=...)` takes one from llama-index-core 0.14.25 on.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage

from llamaindex_mem.handle import Attached
from llamaindex_mem.messages import decode, encode, said
from shared_core import Message, Session
from shared_core.errors import MissingExtra

try:
    from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
except ImportError as error:  # pragma: no cover  an older core
    raise MissingExtra("llama-index-core>=0.14.25") from error

_STATUS = "llamaindex.status"  # beside the frameworks' own forms, since any message may be archived


class AsyncTwinmemChatStore(Attached, AsyncDBChatStore):
    """Keeps the messages of LlamaIndex's `Memory`, active and archived, in insertion order.

    Each key is a conversation of the user: what `Memory` archives stays in it, so `status=None`
    gives all of it in order, and a `TwinmemRecallBlock` on the same user recalls it. `delete_message`
    takes the place of a message in that whole order, from 0.
    """

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex knows it by."""
        return "AsyncTwinmemChatStore"

    def _session(self, key: str) -> Session:
        return self.scope.session(key)

    async def _stored(self, key: str, status: MessageStatus | None) -> list[Message]:
        messages = await self._session(key).amessages()
        return messages if status is None else [message for message in messages if _status(message) == status]

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """The messages of a key with this status, or with any."""
        start = offset or 0
        found = (await self._stored(key, status))[start : None if limit is None else start + limit]
        return [decode(message) for message in found]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """How many messages a key has with this status, or with any."""
        return len(await self._stored(key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Append a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: Sequence[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Append messages together: all of them, or none."""
        await self._session(key).aadd_messages(_encoded(messages, status))

    async def set_messages(
        self, key: str, messages: Sequence[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Make the conversation exactly this; if anything fails the old one stays."""
        await self._session(key).areplace_messages(_encoded(messages, status))

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Erase the message at this place of the whole conversation; None where there is none."""
        stored = await self._stored(key, None)
        if not 0 <= idx < len(stored):
            return None
        await self._delete(key, [stored[idx]])
        return decode(stored[idx])

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Erase the messages of a key, or those with this status."""
        if status is None:
            await self._session(key).adelete()
        else:
            await self._delete(key, await self._stored(key, status))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Erase the oldest `n` active messages and give them."""
        oldest = (await self._stored(key, MessageStatus.ACTIVE))[: max(0, n)]
        await self._delete(key, oldest)
        return [decode(message) for message in oldest]

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest `n` active messages, where they stand, and give them."""
        oldest = (await self._stored(key, MessageStatus.ACTIVE))[: max(0, n)]
        # The same ids again: the core replaces these messages in their places.
        await self._session(key).aadd_messages([_with(message, MessageStatus.ARCHIVED) for message in oldest])
        return [decode(message) for message in oldest]

    async def get_keys(self) -> list[str]:
        """The keys, oldest first."""
        return await self.scope.asessions()

    async def _delete(self, key: str, messages: Sequence[Message]) -> None:
        await self._session(key).adelete_messages([message.id for message in messages if message.id])


def _status(message: Message) -> str:
    return str((message.payload or {}).get(_STATUS, MessageStatus.ACTIVE.value))


def _with(message: Message, status: MessageStatus) -> Message:
    payload = {name: value for name, value in (message.payload or {}).items() if name != _STATUS}
    if status is not MessageStatus.ACTIVE:
        payload[_STATUS] = status.value
    return message.model_copy(update={"payload": payload})


def _encoded(messages: Sequence[ChatMessage], status: MessageStatus) -> list[Message]:
    return [_with(encode(message), MessageStatus(status)) for message in said(messages)]
