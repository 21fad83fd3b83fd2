"""`TwinmemToolSpec`: the memory as tools an agent calls by itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from llama_index.core.tools.tool_spec.base import BaseToolSpec

from llamaindex_mem.handle import attach
from shared_core import AgentMemory, Hit, Scope
from shared_core.prompt.words import remembered


class TwinmemToolSpec(BaseToolSpec):
    """`remember`, `recall` and `forget`, for one user; the agent can't reach anyone else's memory.

    `to_tool_list()` gives the tools, each sync and async.

    >>> tools = TwinmemToolSpec(AgentMemory.open(embedder="hashing"), user="alice").to_tool_list()
    >>> [tool.metadata.name for tool in tools]
    ['remember', 'recall', 'forget']
    """

    spec_functions = [  # noqa: RUF012  as the base class declares it
        ("remember", "aremember"),
        ("recall", "arecall"),
        ("forget", "aforget"),
    ]

    def __init__(
        self,
        memory: AgentMemory | None = None,
        *,
        user: str,
        agent: str = "default",
        address: str | os.PathLike[str] | None = None,
        k: int = 5,
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """A `memory`, or the `address` of one; `k` is the most memories `recall` gives, `where` filters them."""
        self._handle = attach(memory, address)
        self.user, self.agent, self._k, self._where = user, agent, k, where
        self.scope  # noqa: B018  refuses a blank user here, not at the first call

    @property
    def scope(self) -> Scope:
        """Whose memory the tools work on."""
        return self._handle.scope(self.user, self.agent)

    def remember(self, fact: str) -> str:
        """Remember a fact about the user for later conversations, as one full sentence."""
        return _noted(self.scope.add(fact, source="assistant").id)

    async def aremember(self, fact: str) -> str:
        """Remember a fact about the user for later conversations, as one full sentence."""
        return _noted((await self.scope.aadd(fact, source="assistant")).id)

    def recall(self, question: str) -> str:
        """Recall what is known about the user that answers a question. Each memory has an id in brackets."""
        return _told(self.scope.search(question, k=self._k, where=self._where))

    async def arecall(self, question: str) -> str:
        """Recall what is known about the user that answers a question. Each memory has an id in brackets."""
        return _told(await self.scope.asearch(question, k=self._k, where=self._where))

    def forget(self, id: str) -> str:
        """Forget one memory for good, by the id that recall or remember gave."""
        return _gone(id, self.scope.delete(id).count)

    async def aforget(self, id: str) -> str:
        """Forget one memory for good, by the id that recall or remember gave."""
        return _gone(id, (await self.scope.adelete(id)).count)


def _noted(id: str) -> str:
    return f"Remembered [{id}]."


def _told(hits: list[Hit]) -> str:
    return "\n".join(f"{remembered(hit.record)} [{hit.record.id}]" for hit in hits) or "Nothing is known about that."


def _gone(id: str, count: int) -> str:
    return f"Forgotten [{id}]." if count else f"There is no memory [{id}]."
