"""`TwinmemRetriever`: the memory of one user as a LlamaIndex retriever."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_mem.handle import attach
from llamaindex_mem.nodes import node
from shared_core import AgentMemory, Scope


class TwinmemRetriever(BaseRetriever):
    """Recalls what one user's memory holds on a question, as nodes, best first.

    A node's id is the record's id and its score a float in [0, 1]; the metadata has `kind`,
    `created_at`, `session`, `role`... and the record's own metadata. `kinds`, `where` and
    `session` filter before the cut; `explain` adds the `reason` of each node.

    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").add_many(["I live in Lyon", "I like tea"])
    >>> TwinmemRetriever(memory, user="alice", k=1).retrieve("Who lives in Lyon?")[0].text
    'I live in Lyon'
    """

    def __init__(
        self,
        memory: AgentMemory | None = None,
        *,
        user: str,
        agent: str = "default",
        address: str | os.PathLike[str] | None = None,
        k: int = 5,
        kinds: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        session: str | None = None,
        min_score: float = 0.0,
        explain: bool = False,
        **kwargs: Any,
    ) -> None:
        """A `memory`, or the `address` of one; `kwargs` are those of LlamaIndex's `BaseRetriever`."""
        super().__init__(**kwargs)
        self._handle = attach(memory, address)
        self.user, self.agent = user, agent
        self._asked: dict[str, Any] = {
            "k": k, "kinds": kinds, "where": where, "session": session, "min_score": min_score, "explain": explain,
        }  # fmt: skip
        self.scope  # noqa: B018  refuses a blank user here, not at the first question

    @property
    def scope(self) -> Scope:
        """Whose memory is asked."""
        return self._handle.scope(self.user, self.agent)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [node(hit) for hit in self.scope.search(query_bundle.query_str, **self._asked)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [node(hit) for hit in await self.scope.asearch(query_bundle.query_str, **self._asked)]
