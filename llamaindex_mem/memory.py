"""`TwinmemMemory`: the memory of a LlamaIndex chat engine or agent, in one file."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory.types import BaseMemory
from pydantic import Field, PrivateAttr

from llamaindex_mem.handle import AttachedComponent
from llamaindex_mem.messages import RecalledMessage, decode, encode, said
from shared_core import AgentMemory, Context, Message, Session
from shared_core.errors import InvalidInput
from shared_core.prompt.words import language
from shared_core.short_term import snapshot, tokens
from shared_core.values import as_message

logger = logging.getLogger(__name__)

_CONTEXT_SHARE = 0.75  # of a model's context window, as LlamaIndex's own buffer takes
_TALK = 3  # messages before the question that tell what it is about

# What `from_defaults` of LlamaIndex's own memories takes, and means nothing here.
_OTHERS = frozenset(
    "tokenizer_fn chat_store chat_store_key count_initial_tokens summarize_prompt vector_store embed_model retriever_kwargs"
    " index primary_memory secondary_memory_sources memory_blocks memory_blocks_template token_flush_size"
    " index_kwargs chat_history_token_ratio async_engine async_database_uri table_name db_schema"
    " image_token_size_estimate audio_token_size_estimate video_token_size_estimate".split()
)


class TwinmemMemory(AttachedComponent, BaseMemory):
    """A chat history that remembers: pass it as `memory=`, and nothing else changes.

    `get` gives the newest turns of this conversation and, in the newest user message, what is
    remembered of the user that answers it, from this and all earlier conversations. What `put`
    was given is stored, and found, when it returns.

    It is a handle: `to_dict`, `pickle` and a reused `Context` keep the address, the user and the
    conversation, never the messages, and every copy shares the open database. So a restored older
    `Context` shows the conversation as it is now. A database in memory has no address: there the
    messages travel along, and are used if this process no longer has the database.

    A run that fails leaves its user message behind without an answer. It stays in the history:
    `unanswered="keep"` (the default) shows it as it was put, "merge" joins it with the user
    message that follows, for models that refuse two in a row, and "drop" hides it. Neither
    changes what is stored.

    >>> memory = TwinmemMemory.from_defaults(memory=AgentMemory.open(embedder="hashing"), user="alice")
    >>> memory.put(ChatMessage(role="user", content="I live in Lyon"))
    >>> [message.content for message in memory.get()]
    ['I live in Lyon']
    """

    session_id: str = Field(
        default_factory=lambda: uuid.uuid4().hex, description="which conversation; a new one by default"
    )
    token_limit: int | None = Field(
        default=None, gt=0, description="the most tokens `get` gives, memories included; None for the core's window"
    )
    max_turns: int | None = Field(default=None, ge=0, description="the most turns `get` gives; None for the core's")
    k: int = Field(default=5, ge=0, description="the most memories recalled for a question; 0 recalls none")
    memory_tokens: int = Field(default=1500, ge=1, description="the most tokens the memories take")
    where: dict[str, Any] | None = Field(
        default=None, description="filters what is recalled, as `Scope.search` does; plain JSON values"
    )
    insert_method: Literal["user", "system"] = Field(
        default="user",
        description="where memories go: before the question in the user's message, which every agent keeps, or into "
        "a system message, which a ReActAgent without a system prompt drops",
    )
    unanswered: Literal["keep", "merge", "drop"] = Field(
        default="keep", description="how `get` shows a user message that never had an answer"
    )
    with_snapshot: bool = Field(
        default=False,
        description="whether the facts and state of this conversation so far (`Session.snapshot`) go before the memories, "
        "for prompts of few turns; `snapshot=True` when it is made says the same",
    )
    snapshot: list[dict[str, Any]] | None = Field(
        default=None, repr=False, description="the messages of a serialised memory without an address; read once"
    )

    _had: list[Any] = PrivateAttr(default_factory=list)  # what `get` gave last: the memories of the reply that follows

    def __init__(self, *, memory: AgentMemory | None = None, **data: Any) -> None:
        """Take an `AgentMemory`, or the `address` of one; `from_defaults` is the usual way."""
        if data.get("session_id") is None:
            data.pop("session_id", None)
        if isinstance(data.get("snapshot"), bool):
            data["with_snapshot"] = data.pop("snapshot") or data.get("with_snapshot", False)
        super().__init__(memory=memory, **data)
        snapshot, self.snapshot = self.snapshot, None
        self._revive(self.session_id, snapshot)  # refuses a blank session here, not at the first use

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex stores."""
        return "TwinmemMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: Sequence[ChatMessage] | None = None,
        llm: Any = None,
        token_limit: int | None = None,
        session_id: str | None = None,
        memory: AgentMemory | None = None,
        address: str | None = None,
        user: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """A memory out of an `AgentMemory`, or the `address` of one, for a `user`.

        Without either it is a private database in memory, and needs no user. Without `session_id`
        it is a new conversation. A `chat_history` replaces what the conversation holds.
        `token_limit` defaults to three quarters of `llm`'s context window. Other fields of this
        class can be given too; arguments that LlamaIndex's own memories take are ignored.

        Raises `InvalidInput` where a database is named but no user, and for an argument nobody takes:
        a conversation named by a misspelt one would be a new one each time.
        """
        if token_limit is None and llm is not None:
            token_limit = max(1, int(llm.metadata.context_window * _CONTEXT_SHARE))
        unknown = sorted(kwargs.keys() - cls.model_fields.keys())
        if strange := [name for name in unknown if name not in _OTHERS]:
            known_names = ", ".join(sorted({"session_id", "user", "memory", "address", *cls.model_fields}))
            raise InvalidInput(f"TwinmemMemory takes no {', '.join(strange)}; it takes {known_names}")
        if unknown:
            logger.debug("TwinmemMemory has no use for %s", ", ".join(unknown))
        known = {key: value for key, value in kwargs.items() if key in cls.model_fields}
        made = cls(memory=memory, address=address, user=user, session_id=session_id, token_limit=token_limit, **known)
        if chat_history:
            made.set(list(chat_history))
        return made

    # ------------------------------------------------------------------ a handle

    def _session(self) -> Session:
        return self.scope.session(self.session_id)

    @property
    def tokenizer_fn(self) -> Callable[[str], list[Any]]:
        """Counts what engines put before the history; a list as long as the text has tokens."""
        count = self._handle.memory.settings.token_counter or tokens.count
        return lambda text: [None] * count(text)

    def state(self) -> dict[str, Any]:
        """The address, the user, the conversation and the options; without an address the messages too."""
        state = super().state()
        if self.address is None:
            state["snapshot"] = [message.model_dump(mode="json") for message in self._session().messages()]
        return state

    # ------------------------------------------------------------------ out

    def get(
        self, input: str | ChatMessage | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """What goes into the prompt: the window of this conversation and the memories that answer.

        `input` is the question; without it the newest user message is. What is in the window is
        never recalled beside itself. `initial_token_count` is what the prompt holds already. The
        messages are the caller's own; nothing stored is changed.
        """
        share = self._share(initial_token_count)
        session = self._session()
        window = session.window(max_tokens=share.window, max_turns=share.turns)
        asked, told = _question(input, window), Context(text="")
        state = self._state(session.snapshot, window, share) if self.with_snapshot else ""
        if share.memories and self.k:
            told = session.context(asked, max_tokens=self._left(share, state), k=self.k, shown=window, where=self.where)
        return self._told(window, told, asked, state)

    async def aget(
        self, input: str | ChatMessage | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """Async twin of `get`."""
        share = self._share(initial_token_count)
        session = self._session()
        window = await session.awindow(max_tokens=share.window, max_turns=share.turns)
        asked, told = _question(input, window), Context(text="")
        state = self._state(await session.asnapshot(), window, share) if self.with_snapshot else ""
        if share.memories and self.k:
            told = await session.acontext(
                asked, max_tokens=self._left(share, state), k=self.k, shown=window, where=self.where
            )
        return self._told(window, told, asked, state)

    def _state(self, text: str, window: list[Message], share: _Share) -> str:
        """The snapshot within half of what memories may take."""
        count = self._handle.memory.settings.token_counter or tokens.count
        return snapshot.shown(text, language(text, window), share.memories // 2, count) if text else ""

    def _left(self, share: _Share, state: str) -> int:
        count = self._handle.memory.settings.token_counter or tokens.count
        return max(1, share.memories - count(state)) if state else share.memories

    def _share(self, initial: int) -> _Share:
        """How the token limit is divided: a third at most goes to memories, the rest to the window."""
        limit = self.token_limit or self._handle.memory.settings.window.max_tokens
        room = limit - initial
        if room < 1:
            logger.warning(
                "the prompt holds %d tokens already and the limit is %d: the newest turn is given, without memories",
                initial, limit,
            )  # fmt: skip
            return _Share(limit, 1, 0)
        memories = min(self.memory_tokens, room // 3)
        return _Share(room - memories, self.max_turns, memories)

    def _told(self, window: list[Message], told: Context, asked: Any, state: str = "") -> list[ChatMessage]:
        self._had = told.trace
        messages = [decode(message) for message in window]
        if self.unanswered != "keep":
            messages = _answered(messages, merge=self.unanswered == "merge")
        text = "\n\n".join(filter(None, (state, told.text)))
        if not text:
            return messages
        # A question that is not in the history yet comes after it: then memories go before it all.
        waiting = asked is None or (bool(messages) and messages[-1].role == MessageRole.USER)
        if self.insert_method == "user" and waiting:
            for place in range(len(messages) - 1, -1, -1):
                if messages[place].role == MessageRole.USER:
                    messages[place] = _with(messages[place], text)
                    return messages
        if messages and messages[0].role == MessageRole.SYSTEM:
            messages[0] = _with(messages[0], text, first=False)
            return messages
        return [RecalledMessage(role=MessageRole.SYSTEM, content=text), *messages]

    def get_all(self, **kwargs: Any) -> list[ChatMessage]:
        """The whole conversation, as it was put."""
        return [decode(message) for message in self._session().messages()]

    async def aget_all(self, **kwargs: Any) -> list[ChatMessage]:
        """Async twin of `get_all`."""
        return [decode(message) for message in await self._session().amessages()]

    # ------------------------------------------------------------------ in

    def put(self, message: ChatMessage) -> None:
        """Store a message; it can be recalled from now on."""
        self.put_messages([message])

    async def aput(self, message: ChatMessage) -> None:
        """Async twin of `put`."""
        await self.aput_messages([message])

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Store messages together, in order: all of them, or none.

        The assistant's are stored with the memories that `get` gave last; the core's
        `Session.trace(message_id)` tells them.
        """
        self._session().add_messages(_encoded(messages), trace=self._had)

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Async twin of `put_messages`."""
        await self._session().aadd_messages(_encoded(messages), trace=self._had)

    def set(self, messages: Sequence[ChatMessage]) -> None:
        """Make the conversation exactly this; if anything fails the old one stays."""
        self._session().replace_messages(_encoded(messages))

    async def aset(self, messages: Sequence[ChatMessage]) -> None:
        """Async twin of `set`."""
        await self._session().areplace_messages(_encoded(messages))

    def reset(self, **kwargs: Any) -> None:
        """Take the conversation away; the facts learnt from it, and other conversations, stay."""
        self._session().clear()

    async def areset(self, **kwargs: Any) -> None:
        """Async twin of `reset`."""
        await self._session().aclear()


class _Share(NamedTuple):
    """How much of the prompt each part gets: tokens, turns, tokens."""

    window: int
    turns: int | None
    memories: int


def _encoded(messages: Sequence[ChatMessage]) -> list[Message]:
    return [encode(message) for message in said(messages)]


def _question(input: Any, window: list[Message]) -> str | list[Message] | None:
    """What to ask the memory: None for the newest user message of the history, which it then is."""
    text = (input.content or "") if isinstance(input, ChatMessage) else input
    if not isinstance(text, str) or not text.strip():
        return None
    newest = next((message for message in reversed(window) if message.role == "user"), None)
    if newest is not None and text in (newest.text, decode(newest).content):
        return None
    if not window:
        return text
    return [*window[-_TALK:], as_message({"role": "user", "content": text})]


def _with(message: ChatMessage, text: str, *, first: bool = True) -> ChatMessage:
    """A copy of a message with memories before or after what it says."""
    blocks: list[Any] = list(message.blocks)
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        # One block stays one: `message.content = ...` works on no other message.
        own = blocks[0].text
        blocks = [TextBlock(text=f"{text}\n\n{own}" if first else f"{own}\n\n{text}")]
    else:
        blocks.insert(0 if first else len(blocks), TextBlock(text=text))
    told = RecalledMessage(role=message.role, blocks=blocks, additional_kwargs=dict(message.additional_kwargs))
    told._said = message
    return told


def _answered(messages: list[ChatMessage], *, merge: bool) -> list[ChatMessage]:
    """The messages without two of the user's in a row."""
    found: list[ChatMessage] = []
    for message in messages:
        if found and message.role == found[-1].role == MessageRole.USER:
            last = found.pop()
            if merge:
                message = ChatMessage(
                    role=message.role,
                    blocks=[*last.blocks, *message.blocks],
                    additional_kwargs={**last.additional_kwargs, **message.additional_kwargs},
                )
        found.append(message)
    return found
