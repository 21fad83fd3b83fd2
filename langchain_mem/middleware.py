"""`TwinmemMiddleware`: an agent of `create_agent` that remembers across conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime

from langchain_mem.identity import User, running, user_of
from langchain_mem.messages import is_summary, to_core
from langchain_mem.tools import NAMES, READING, create_memory_tools
from shared_core.errors import InvalidType
from shared_core.memory import AgentMemory
from shared_core.recall.where import parse
from shared_core.session import Session
from shared_core.values import Message

_EARLIER = 4  # messages before the question that tell what it is about
_NO_THREAD = "default"  # the session of runs without a thread


def _merged(mine: dict[str, Any] | None, theirs: dict[str, Any] | None) -> dict[str, Any]:
    return {**(mine or {}), **(theirs or {})}


class MemoryState(AgentState[Any]):
    """What the middleware keeps in the agent's state: plain JSON, private, by the name of the instance."""

    twinmem: Annotated[dict[str, Any], PrivateStateAttr, _merged]


class TwinmemMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Recalls what is known of the user once a turn, and remembers the turn.

    **Recall.** When a turn begins, the newest user message, with the talk before it, is asked of the
    user's memory: at most `k` memories in `max_tokens` tokens, none of them in the conversation
    already. They go into the system message of every model call of the turn and never into the
    conversation, so nothing piles up in the thread.

    **Whose.** `user` is a user id or a callable of the runtime; else `runtime.context.user_id`, else
    `config["configurable"]["user_id"]`. If none of them names a user the run fails with an error.

    **Writing.** The user's message is written when the turn begins, so that it survives a model that
    raises; what the agent did and said, when the turn ends. What a failed run left unsaid is written
    with the next turn of the thread. The session in the memory is the thread; without a thread it is
    "default". The agent's messages are written with the memories it had: `Session.trace(message_id)`
    tells them. Messages are known by their ids: a retry, a resumed interrupt or a replay stores nothing
    twice, the newest message edited under its id is replaced where it stands, and what was said in a
    branch that was left stays remembered until it is deleted. Summaries that SummarizationMiddleware writes
    into the conversation are nobody's words and are not stored. `write=False` only recalls.

    `where` filters what is recalled, as in `Scope.search`: `where={"source": {"$nin": ["web", "tool"]}}` keeps
    out what web pages and tools have said.

    `tools`: True, or some of "remember", "recall", "forget", to let the agent itself use the memory.
    `name`: tells several instances in one agent apart; it also names their state, so keep it.
    `traced=False` leaves the conversation out of the spans of these hooks.

    >>> from langchain.agents import create_agent
    >>> from langchain_core.language_models import FakeListChatModel
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> remembering = TwinmemMiddleware(memory, user="alice")
    >>> agent = create_agent(FakeListChatModel(responses=["Noted."]), middleware=[remembering])
    >>> _ = agent.invoke({"messages": [("user", "I live in Lyon")]})
    >>> memory.scope(user="alice").search("Lyon", k=1)[0].record.text
    'I live in Lyon'
    """

    state_schema = MemoryState

    def __init__(
        self,
        memory: AgentMemory,
        *,
        user: User = None,
        agent: str = "default",
        k: int = 5,
        max_tokens: int = 1500,
        where: Mapping[str, Any] | None = None,
        tools: bool | Collection[str] = (),
        write: bool = True,
        name: str | None = None,
        traced: bool = True,
    ) -> None:
        super().__init__()
        if not isinstance(memory, AgentMemory):
            raise InvalidType(f"memory is an AgentMemory, not {type(memory).__name__}: AgentMemory.open(path)")
        parse(where)  # refuses a filter that can't be read here, not in the first run
        self._memory = memory
        self._user = user
        self._agent = agent
        self._k = k
        self._max_tokens = max_tokens
        self._where = where
        self._write = write
        self._name = name or ("TwinmemMiddleware" if agent == "default" else f"TwinmemMiddleware-{agent}")
        names = NAMES if tools is True else tools or ()
        self.tools = create_memory_tools(memory, user=user, agent=agent, k=k, where=where, names=names) if names else []
        self._own = frozenset(tool.name for tool in self.tools) & frozenset(READING)
        if not traced:
            from langchain.agents.middleware.types import TracePolicy, omit_payload

            self.trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

    @property
    def name(self) -> str:
        """The name of this instance in the agent and in its state."""
        return self._name

    # ------------------------------------------------------------------ a turn begins

    def before_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Recall for this turn, and write the user's message."""
        session, messages = self._session(runtime), _messages(state)
        question, fresh = _question(messages), self._fresh(state)
        told = session.context(question, **self._limits(messages)) if question else None
        if fresh:
            session.add_messages(self._kept(fresh))
        return self._noted(messages, told.text if told else "", told.trace if told else [])

    async def abefore_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async twin of `before_agent`."""
        session, messages = self._session(runtime), _messages(state)
        question, fresh = _question(messages), self._fresh(state)
        told = await session.acontext(question, **self._limits(messages)) if question else None
        if fresh:
            await session.aadd_messages(self._kept(fresh))
        return self._noted(messages, told.text if told else "", told.trace if told else [])

    # ------------------------------------------------------------------ the model is called

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Put what was recalled into the system message of this call."""
        return handler(self._reminded(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Async twin of `wrap_model_call`."""
        return await handler(self._reminded(request))

    # ------------------------------------------------------------------ a turn ends

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Write what the agent did and said."""
        fresh = self._fresh(state)
        if not fresh:
            return None
        mine = self._mine(state)
        self._session(runtime).add_messages(self._kept(fresh), trace=mine.get("trace"))
        return self._noted(_messages(state), mine.get("text", ""), mine.get("trace"))

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async twin of `after_agent`."""
        fresh = self._fresh(state)
        if not fresh:
            return None
        mine = self._mine(state)
        await self._session(runtime).aadd_messages(self._kept(fresh), trace=mine.get("trace"))
        return self._noted(_messages(state), mine.get("text", ""), mine.get("trace"))

    # ------------------------------------------------------------------ parts

    def _session(self, runtime: Any) -> Session:
        _, config = running()
        user = user_of(self._user, runtime=runtime, config=config)
        thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
        thread = thread or (config.get("configurable") or {}).get("thread_id")
        return self._memory.scope(user=user, agent=self._agent).session(str(thread or _NO_THREAD))

    def _limits(self, messages: Sequence[BaseMessage]) -> dict[str, Any]:
        # What the model sees anyway is not recalled; only ids count, so the contents stay out of it.
        shown = [Message(role="user", id=message.id) for message in messages if message.id]
        return {"max_tokens": self._max_tokens, "k": self._k, "shown": shown, "where": self._where}

    def _mine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        mine: dict[str, Any] = (state.get("twinmem") or {}).get(self._name) or {}
        return mine

    def _fresh(self, state: Mapping[str, Any]) -> list[BaseMessage]:
        """What may not be written yet: the newest turn, and all since the last message that was written.

        The turn is always among it, since its message may have been edited; what is stored already just as it is
        is left alone by the session.
        """
        if not self._write:
            return []
        messages = _messages(state)
        written = self._mine(state).get("written")
        place = next((i for i, message in enumerate(messages) if message.id == written), None) if written else None
        newest = _newest(messages) or 0
        start = newest if place is None else min(newest, place + 1)
        return [m for m in messages[start:] if not isinstance(m, SystemMessage) and not is_summary(m)]

    def _kept(self, messages: Sequence[BaseMessage]) -> list[Message]:
        """Messages for the memory. What our own recall gave is kept for its reader, but must not be recalled again."""
        kept = [to_core(message) for message in messages]
        return [
            core.model_copy(update={"content": ""}) if isinstance(m, ToolMessage) and m.name in self._own else core
            for m, core in zip(messages, kept, strict=True)
        ]

    def _noted(self, messages: Sequence[BaseMessage], told: str, trace: Any) -> dict[str, Any]:
        written = messages[-1].id if messages and self._write else None
        return {"twinmem": {self._name: {"written": written, "text": told, "trace": trace}}}

    def _reminded(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        text = self._mine(request.state).get("text")
        if not text:
            return request
        return request.override(system_message=_extended(request.system_message, text))


def _extended(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with a text after it; what stood there stays first, so that prompt caches hold."""
    if system is None:
        return SystemMessage(text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})


def _messages(state: Mapping[str, Any]) -> list[BaseMessage]:
    return list(state.get("messages") or [])


def _newest(messages: Sequence[BaseMessage]) -> int | None:
    """Where the newest message of the user stands."""
    places = (i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage))
    return next((i for i in places if not is_summary(messages[i])), None)


def _question(messages: Sequence[BaseMessage]) -> list[Message]:
    """The newest user message and the talk before it; nothing where it says nothing, as an image alone."""
    newest = _newest(messages)
    if newest is None or not messages[newest].text.strip():
        return []
    said = [m for m in messages[:newest] if m.type in ("human", "ai") and m.text.strip() and not is_summary(m)]
    talk = [*said[-_EARLIER:], messages[newest]]
    return [Message(role="user" if m.type == "human" else "assistant", content=m.text) for m in talk]
