"""LlamaIndex's rerankers and query transforms as the memory's hooks: `settings.recall.rerank` and `expand`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from shared_core.errors import InvalidType


def as_reranker(postprocessor: BaseNodePostprocessor) -> CoreReranker:
    """A LlamaIndex node postprocessor (a reranker) as the memory's `settings.recall.rerank`.

    `LLMRerank`, `SentenceTransformerRerank`, `CohereRerank`... What it leaves out, by its `top_n` or
    by a cutoff, follows in the plain order, so that no memory is lost. Texts are not taken from it.

    >>> from shared_core import AgentMemory
    >>> class Longest(BaseNodePostprocessor):
    ...     def _postprocess_nodes(self, nodes, query_bundle=None):
    ...         return sorted(nodes, key=lambda node: -len(node.text))[:1]
    >>> memory = AgentMemory.open(embedder="hashing", settings={"recall": {"rerank": as_reranker(Longest())}})
    >>> alice = memory.scope(user="alice")
    >>> _ = alice.add_many(["tea", "tea with a lot of milk"])
    >>> [hit.record.text for hit in alice.search("tea")]
    ['tea with a lot of milk', 'tea']
    """
    if not isinstance(postprocessor, BaseNodePostprocessor):
        raise InvalidType(f"as_reranker takes a BaseNodePostprocessor, not {type(postprocessor).__name__}")
    return CoreReranker(postprocessor)


class CoreReranker:
    """What `as_reranker` gives: the places of the texts, best first, sync and async."""

    def __init__(self, postprocessor: BaseNodePostprocessor) -> None:
        self.postprocessor = postprocessor

    def __call__(self, query: str, texts: list[str]) -> list[int]:
        """The order of the texts."""
        return _order(self.postprocessor.postprocess_nodes(_nodes(texts), QueryBundle(query)), len(texts))

    async def acall(self, query: str, texts: list[str]) -> list[int]:
        """Async twin of the call."""
        found = await self.postprocessor.apostprocess_nodes(_nodes(texts), QueryBundle(query))
        return _order(found, len(texts))


def _nodes(texts: Sequence[str]) -> list[NodeWithScore]:
    # A score that falls with the place: some postprocessors cut by it, and none may meet None.
    return [NodeWithScore(node=TextNode(id_=str(n), text=text), score=1 / (1 + n)) for n, text in enumerate(texts)]


def _order(kept: Sequence[NodeWithScore], count: int) -> list[int]:
    names = {str(n): n for n in range(count)}
    places = dict.fromkeys(names[node.node.node_id] for node in kept if node.node.node_id in names)
    if kept and not places:
        raise InvalidType("the postprocessor gave back nodes that it was not given")
    return [*places, *(n for n in range(count) if n not in places)]


def as_expander(transform: BaseQueryTransform) -> CoreExpander:
    """A LlamaIndex query transform as the memory's `settings.recall.expand`.

    Its rewritten query and its strings to embed (a HyDE document, the parts of a question) are asked
    beside the question itself.

    >>> from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
    >>> as_expander(IdentityQueryTransform())("green tea")
    ['green tea']
    """
    if not isinstance(transform, BaseQueryTransform):
        raise InvalidType(f"as_expander takes a BaseQueryTransform, not {type(transform).__name__}")
    return CoreExpander(transform)


class CoreExpander:
    """What `as_expander` gives: `expand(query)` and `await expand.acall(query)`."""

    def __init__(self, transform: BaseQueryTransform) -> None:
        self.transform = transform

    def __call__(self, query: str) -> list[str]:
        """The rewritten query, and what else the transform wants embedded."""
        made = self.transform.run(query)
        return list(dict.fromkeys([made.query_str, *made.embedding_strs]))

    async def acall(self, query: str) -> list[str]:
        """Async twin of the call; LlamaIndex's transforms have no async form, so it runs in a thread."""
        return await asyncio.to_thread(self, query)
