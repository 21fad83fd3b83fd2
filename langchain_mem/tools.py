"""`create_memory_tools`: remember, recall and forget as tools an agent may call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from langchain_mem.documents import document
from langchain_mem.identity import User, running, user_of
from shared_core.errors import InvalidInput, InvalidType
from shared_core.memory import AgentMemory
from shared_core.prompt.words import remembered
from shared_core.recall.where import parse
from shared_core.scope import Scope
from shared_core.values import Hit, Receipt, Record

NAMES = ("remember", "recall", "forget")
READING = ("recall",)

_REMEMBER = (
    "Remember something for later conversations with this user: a fact, a preference, a decision. "
    "One statement in a full sentence that can be understood on its own."
)
_RECALL = (
    "Search the long-term memory of this user. Gives what was remembered or said in earlier conversations, "
    "the best match first, each with its id."
)
_FORGET = "Erase one memory for good, by the id that recall gave. Use it only if the user asks for it."


def create_memory_tools(
    memory: AgentMemory,
    *,
    user: User = None,
    agent: str = "default",
    k: int = 5,
    where: Mapping[str, Any] | None = None,
    names: Collection[str] = NAMES,
    read_only: bool = False,
) -> list[BaseTool]:
    """The tools `remember(text)`, `recall(query, limit)` and `forget(id)`, each sync and async.

    `user`: a user id or a callable of the runtime; without it the user of the run counts
    (`runtime.context.user_id`, `config["configurable"]["user_id"]`), and a call without any raises.
    `where` filters what `recall` finds, as in `Scope.search`.
    `names` chooses among them, `read_only` leaves recall alone. They work outside of a graph as well.

    >>> from shared_core import AgentMemory
    >>> remember, recall, forget = create_memory_tools(AgentMemory.open(embedder="hashing"), user="alice")
    >>> remember.invoke({"text": "Alice likes green tea"}).startswith("Remembered")
    True
    >>> "green tea" in recall.invoke({"query": "tea"})
    True
    """
    if not isinstance(memory, AgentMemory):
        raise InvalidType(f"memory is an AgentMemory, not {type(memory).__name__}: AgentMemory.open(path)")
    unknown = sorted(set(names) - set(NAMES))
    if isinstance(names, str) or unknown:
        raise InvalidInput(f"unknown memory tools {unknown or names!r}; there are {', '.join(NAMES)}")
    parse(where)
    made = _Tools(memory, user, agent, k, where)
    wanted = [name for name in NAMES if name in names and (not read_only or name in READING)]
    return [getattr(made, f"{name}_tool")() for name in wanted]


class _Tools:
    def __init__(self, memory: AgentMemory, user: User, agent: str, k: int, where: Mapping[str, Any] | None) -> None:
        self._memory, self._user, self._agent, self._k, self._where = memory, user, agent, k, where

    def _scope(self, config: RunnableConfig | None) -> Scope:
        runtime, around = running()
        return self._memory.scope(
            user=user_of(self._user, runtime=runtime, config=config or around), agent=self._agent
        )  # fmt: skip

    def remember_tool(self) -> BaseTool:
        def remember(text: Annotated[str, "what to remember"], config: RunnableConfig) -> str:
            return _told(self._scope(config).add(text, source="assistant"))

        async def aremember(text: Annotated[str, "what to remember"], config: RunnableConfig) -> str:
            return _told(await self._scope(config).aadd(text, source="assistant"))

        return StructuredTool.from_function(remember, aremember, name="remember", description=_REMEMBER)

    def recall_tool(self) -> BaseTool:
        most, where = self._k, self._where

        def recall(
            query: Annotated[str, "what to look for"], config: RunnableConfig, limit: Annotated[int, "how many"] = most
        ) -> tuple[str, list[dict[str, Any]]]:
            return _found(self._scope(config).search(query, k=limit, where=where))

        async def arecall(
            query: Annotated[str, "what to look for"], config: RunnableConfig, limit: Annotated[int, "how many"] = most
        ) -> tuple[str, list[dict[str, Any]]]:
            return _found(await self._scope(config).asearch(query, k=limit, where=where))

        return StructuredTool.from_function(
            recall, arecall, name="recall", description=_RECALL, response_format="content_and_artifact"
        )

    def forget_tool(self) -> BaseTool:
        def forget(id: Annotated[str, "the id of the memory"], config: RunnableConfig) -> str:
            return _gone(id, self._scope(config).delete(id))

        async def aforget(id: Annotated[str, "the id of the memory"], config: RunnableConfig) -> str:
            return _gone(id, await self._scope(config).adelete(id))

        return StructuredTool.from_function(forget, aforget, name="forget", description=_FORGET)


def _told(record: Record) -> str:
    return f"Remembered (id {record.id})."


def _found(hits: list[Hit]) -> tuple[str, list[dict[str, Any]]]:
    """What the model reads, and the same as plain data for the program."""
    lines = [f"{remembered(hit.record)} (id {hit.record.id})" for hit in hits]
    data = [{"id": hit.record.id, "text": hit.record.text, "metadata": document(hit).metadata} for hit in hits]
    return "\n".join(lines) or "Nothing is remembered about that.", data


def _gone(id: str, receipt: Receipt) -> str:
    return f"Forgotten: {id}." if receipt.count else f"There is no memory with the id {id!r}; nothing was forgotten."
