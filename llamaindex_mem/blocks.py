"""Memory blocks for LlamaIndex's own `Memory`: what is recalled, the facts, the knowledge graph, and the task.

`Memory` gives a block messages only when it flushes them, at 21,000 tokens by default: most
conversations end before. But it shows the block its whole queue at every `aget`; so these blocks
store from there what they have not seen, at once. A turn is stored when it has its answer.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory.memory import BaseMemoryBlock
from pydantic import Field, PrivateAttr

from llamaindex_mem.handle import Attached
from llamaindex_mem.messages import PAYLOAD, decode, encode, said
from shared_core import Message, Session
from shared_core.ports import Redactor
from shared_core.prompt.words import CLOSING, FENCE, block, inert, remembered, tag
from shared_core.recall.text import clean
from shared_core.short_term import tokens
from shared_core.short_term.task_text import within
from shared_core.writing.redact import redacted

logger = logging.getLogger(__name__)

_SPARE = 1.25
_NAMES = ("recall", "facts", "knowledge", "task")  # the tags that LlamaIndex makes of the names of these blocks
_TALK = 4  # messages that tell what is asked: the question and the talk before it
# Two blocks of one user are told of a flush at the same moment; together they store it once.
_storing = threading.Lock()


class _Block(Attached, BaseMemoryBlock[str]):
    """What the blocks share: they store what they are shown, once, and give up lines before all."""

    priority: int = Field(default=1, description="0 is never shortened; the block shortens itself line by line")
    session_id: str = Field(default="default", description="the conversation where LlamaIndex names none")

    _waiting: list[tuple[str, list[ChatMessage]]] = PrivateAttr(default_factory=list)

    async def aput(
        self, messages: list[ChatMessage], from_short_term_memory: bool = False, session_id: str | None = None
    ) -> None:
        """Take flushed messages. Never raises: what can't be stored now is stored with the next ones."""
        # The base class writes the session into the caller's own messages, which all blocks share.
        if not from_short_term_memory or self.accept_short_term_memory:
            await self._keep(session_id or self.session_id, messages)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self._keep(self.session_id, messages)

    async def _keep(self, session: str, messages: Sequence[ChatMessage]) -> None:
        self._waiting.append((session, [message.model_copy(deep=True) for message in said(messages)]))
        waiting, self._waiting = self._waiting, []
        for place, (name, batch) in enumerate(waiting):
            try:
                await asyncio.to_thread(_store, self.scope.session(name), batch, self._redactor)
            except Exception:  # a chat goes on without its memory, and nothing is lost
                logger.warning("messages could not be stored; they are tried again with the next", exc_info=True)
                self._waiting = [*waiting[place:], *self._waiting]
                return

    def _sealed(self, text: str) -> str:
        """The text, unable to close the tag that LlamaIndex puts around this block, or around any other."""
        own = tag(self.name, *_NAMES)
        return "\n".join(line if line in FENCE else own.sub("‹", CLOSING.sub("‹", line)) for line in text.split("\n"))

    @property
    def _redactor(self) -> Redactor | None:
        return self.scope._asking

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The content without its last memories, so many that `tokens_to_truncate` are gone; None without any left."""
        if not content:  # LlamaIndex asks for this of a block that gave nothing, too
            return None
        count = self._handle.memory.settings.token_counter or tokens.count
        head, entries, tail = _taken_apart(content)
        # LlamaIndex counts with another tokenizer, and drops the whole block if too little went.
        goal = count(content) - _SPARE * tokens_to_truncate
        while entries and count("\n".join([*head, *entries, *tail])) > goal:
            entries.pop()
        return "\n".join([*head, *entries, *tail]) if entries else None


class TwinmemRecallBlock(_Block):
    """What is remembered of the user that answers the newest message, from all conversations.

    `where={"source": {"$nin": ["web", "tool"]}}` keeps out what web pages and tools have said.
    Nothing that is in the prompt is recalled beside itself. The block may be shared by several
    `Memory` objects of one user: the session comes with each call.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").add("Alice lives in Lyon")
    >>> block = TwinmemRecallBlock(memory=memory, user="alice")
    >>> "Lyon" in asyncio.run(block.aget([ChatMessage(role="user", content="Where does Alice live?")]))
    True
    """

    name: str = Field(default="recall", description="the tag around the content")
    description: str | None = Field(default="What is remembered of the user")
    k: int = Field(default=5, ge=0, description="the most memories")
    max_tokens: int = Field(default=1500, ge=1, description="the most tokens they take")
    where: dict[str, Any] | None = Field(
        default=None, description="filters what is recalled, as `Scope.search` does; plain JSON values"
    )

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        shown = said(messages or [])
        name = session_id or self.session_id
        await self._keep(name, _answered(shown))
        session = self.scope.session(name)
        asked = [encode(message) for message in shown[-_TALK:]]
        if not any(message.role == "user" for message in asked):
            return ""
        in_prompt = _in_prompt(await session.amessages(), shown, self._redactor)
        told = await session.acontext(asked, max_tokens=self.max_tokens, k=self.k, shown=in_prompt, where=self.where)
        return self._sealed(told.text)


class TwinmemFactBlock(_Block):
    """The facts and rules known of the user: all while they are few, else those that fit the question.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").add("Alice lives in Lyon")
    >>> "Alice lives in Lyon" in asyncio.run(TwinmemFactBlock(memory=memory, user="alice").aget())
    True
    """

    name: str = Field(default="facts", description="the tag around the content")
    description: str | None = Field(default="What is known of the user")
    k: int = Field(default=20, ge=0, description="the most facts")
    where: dict[str, Any] | None = Field(
        default=None, description="filters what is recalled, as `Scope.search` does; plain JSON values"
    )

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        shown = said(messages or [])
        await self._keep(session_id or self.session_id, _answered(shown))
        scope = self.scope
        kinds = ("fact", "rule")
        records = await scope.alist(kinds=kinds, where=self.where, order="created_at", limit=self.k + 1)
        if len(records) > self.k:
            asked = [encode(message) for message in shown[-_TALK:]]
            records = [hit.record for hit in await scope.asearch(asked, k=self.k, kinds=kinds, where=self.where)]
        return self._sealed("\n".join(remembered(record) for record in records))


class TwinmemGraphBlock(_Block):
    """What the knowledge graph holds of the people and things that the talk names, a line each.

    Those of the newest message come first, then those of the talk before it.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").graph.add("Ann", "works at", "ACME")
    >>> block = TwinmemGraphBlock(memory=memory, user="alice")
    >>> asyncio.run(block.aget([ChatMessage(role="user", content="Where does Ann work?")]))
    '- Ann works at ACME'
    """

    name: str = Field(default="knowledge", description="the tag around the content")
    description: str | None = Field(default="What is known of the people and things in the talk")
    k: int = Field(default=5, ge=0, description="the most people and things")
    max_relations: int = Field(default=10, ge=0, description="the most relations of each")

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        shown = said(messages or [])
        await self._keep(session_id or self.session_id, _answered(shown))
        talk = [encode(message) for message in reversed(shown[-_TALK:])]
        # The newest question first: whoever is named there is what the answer needs.
        texts = [message.text for ours in (True, False) for message in talk if (message.role == "user") is ours]
        told = await self.scope.graph.aabout(texts, max_entities=self.k, max_relations=self.max_relations)
        return self._sealed("\n".join(map(inert, told)))


class TwinmemTaskBlock(_Block):
    """The task that the agent is working on in this conversation: goal, plan, last steps, results.

    The agent tells it through `scope.session(...).working`, in its tools or between its runs. Of a
    text over the budget the lists at its end go first, of each the oldest entries; what the task is
    stays. A turn is stored when it has its answer: who begins a task in a tool names the message that
    caused it (`instruction=`), which is not stored yet.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").session("monday").working.start("trip", "Book the trip")
    >>> block = TwinmemTaskBlock(memory=memory, user="alice")
    >>> asyncio.run(block.aget(session_id="monday"))
    'Task: Book the trip (in progress)'
    """

    name: str = Field(default="task", description="the tag around the content")
    description: str | None = Field(default="What you are working on")
    max_tokens: int = Field(default=1000, ge=1, description="the most tokens it takes")

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        name = session_id or self.session_id
        await self._keep(name, _answered(said(messages or [])))
        return self._sealed(block(await self.scope.session(name).working.atext(self.max_tokens)))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The content without its last entries, so many that `tokens_to_truncate` are gone; None where none would be left."""
        if not content:
            return None
        count = self._handle.memory.settings.token_counter or tokens.count
        goal = int(count(content) - _SPARE * tokens_to_truncate)
        return within(content, goal, count) or None if goal > 0 else None


# ---------------------------------------------------------------------- storing what is shown


def _store(session: Session, messages: list[ChatMessage], redactor: Redactor | None) -> None:
    with _storing:
        overlaps = _overlaps(session.messages(), messages, redactor)
        session.add_messages([encode(message) for message in messages[max(n for _, n in overlaps) :]])


def _overlaps(
    stored: Sequence[Message], given: Sequence[ChatMessage], redactor: Redactor | None
) -> list[tuple[int, int]]:
    """Where in a conversation the whole beginning of what LlamaIndex shows may lie: place and length.

    What it shows is a stretch of the conversation: it lies within what is stored, or begins there
    and runs beyond its end, or (the last of the list) begins after it. Two equal messages are two
    messages, so such an overlap tells what is stored already, never equality by itself.
    """
    mine = [_key(message, redactor) for message in stored]
    theirs = [_key(encode(message), redactor) for message in given]
    found = []
    for start in range(len(mine) + 1):
        length = min(len(mine) - start, len(theirs))
        if mine[start : start + length] == theirs[:length]:
            found.append((start, length))
    return found


def _key(message: Message, redactor: Redactor | None) -> str:
    """What makes a message the same: all but the session that LlamaIndex's own blocks write into it."""
    own = (message.payload or {}).get(PAYLOAD) or (encode(decode(message)).payload or {})[PAYLOAD]
    kwargs = {key: value for key, value in (own.get("additional_kwargs") or {}).items() if key != "session_id"}
    return clean(repr(redacted([own.get("role"), own.get("blocks"), kwargs], redactor)))


def _in_prompt(stored: Sequence[Message], shown: Sequence[ChatMessage], redactor: Redactor | None) -> list[Message]:
    """The stored messages that LlamaIndex puts into the prompt itself: it shows the end of the conversation."""
    start = next(start for start, length in _overlaps(stored, shown, redactor) if start + length == len(stored))
    return list(stored[start:])


def _answered(messages: list[ChatMessage]) -> list[ChatMessage]:
    """The messages up to the last answer: a question whose answer fails would not be in the history later."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role in (MessageRole.ASSISTANT, MessageRole.CHATBOT, MessageRole.MODEL):
            return messages[: place + 1]
    return []


def _taken_apart(content: str) -> tuple[list[str], list[str], list[str]]:
    """What stands before the memories, the memories (a line each, with those that go on it), and what comes after."""
    head: list[str] = []
    entries: list[str] = []
    tail: list[str] = []
    for line in content.splitlines():
        if line.startswith("- "):
            entries.append(line)
        elif entries and line.startswith("  "):
            entries[-1] += "\n" + line
        else:
            (tail if entries else head).append(line)
    return head, entries, tail
