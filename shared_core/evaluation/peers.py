"""What users would install instead: one small class a peer, each ranking the texts it was built on.

A peer gets the texts and the embedder (`evaluation.embedders.Shared`) that twinmem gets in the same run, and is set up
the way its own documentation does. `build` replaces what was there; `rank` gives at most `k` ids, best first.
Importing this module imports none of them; a peer that is missing raises `ImportError` when it is built.
It is the only module of the core that knows a framework, and nothing but the benchmark imports it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from shared_core.evaluation.embedders import Shared


class Peer:
    """A system under comparison: its name in the tables, and the distributions it comes from."""

    name: ClassVar[str]
    distributions: ClassVar[tuple[str, ...]]

    def __init__(self, embedder: Shared) -> None:
        self.embedder = embedder

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        """Index `texts` under `ids`, in place of anything indexed before."""
        raise NotImplementedError

    def rank(self, query: str, k: int) -> list[str]:
        """The ids of the `k` best texts, best first."""
        raise NotImplementedError


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No sunset, deprecation or progress lines of a peer between the lines of a table."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        level = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(level)


def _langchain_embeddings(embedder: Shared) -> Any:
    from langchain_core.embeddings import Embeddings

    class Bundled(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embedder.embed_documents(texts)  # type: ignore[return-value]  # rows of floats; saves a copy

        def embed_query(self, text: str) -> list[float]:
            return embedder.embed_query(text)  # type: ignore[return-value]

    return Bundled()


def _llamaindex_embedding(embedder: Shared) -> Any:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class Bundled(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return [float(x) for x in embedder.embed_documents([text])[0]]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in embedder.embed_documents(texts)]

        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(x) for x in embedder.embed_query(query)]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return Bundled(model_name=embedder.name, embed_batch_size=256)


def _llamaindex_nodes(texts: Sequence[str], ids: Sequence[str]) -> list[Any]:
    from llama_index.core.schema import TextNode

    return [TextNode(id_=id, text=text) for text, id in zip(texts, ids, strict=True)]


def _faiss_store(embedder: Shared, texts: Sequence[str], ids: Sequence[str]) -> Any:
    from langchain_community.vectorstores import FAISS

    metadatas = [{"id": id} for id in ids]
    return FAISS.from_texts(list(texts), _langchain_embeddings(embedder), metadatas=metadatas, ids=list(ids))


def _bm25_retriever(texts: Sequence[str], ids: Sequence[str]) -> Any:
    from langchain_community.retrievers import BM25Retriever

    return BM25Retriever.from_texts(list(texts), metadatas=[{"id": id} for id in ids])


class LangChainFaiss(Peer):
    """`FAISS.from_texts(...).as_retriever(search_kwargs={"k": k})`."""

    name = "LangChain FAISS retriever"
    distributions = ("langchain-community", "faiss-cpu")

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        self._store = _faiss_store(self.embedder, texts, ids)

    def rank(self, query: str, k: int) -> list[str]:
        retriever = self._store.as_retriever(search_kwargs={"k": k})
        return [document.metadata["id"] for document in retriever.invoke(query)]


class LangChainBm25(Peer):
    """`BM25Retriever.from_texts(...)` with its own split at white space."""

    name = "LangChain BM25Retriever"
    distributions = ("langchain-community", "rank-bm25")

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        self._retriever = _bm25_retriever(texts, ids)

    def rank(self, query: str, k: int) -> list[str]:
        self._retriever.k = k
        return [document.metadata["id"] for document in self._retriever.invoke(query)]


class LangChainEnsemble(Peer):
    """Both of the above in an `EnsembleRetriever`, equal weights; told apart by id, so no text is merged away."""

    name = "LangChain EnsembleRetriever"
    distributions = ("langchain-classic", "langchain-community", "rank-bm25", "faiss-cpu")

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        from langchain_classic.retrievers import EnsembleRetriever

        self._store = _faiss_store(self.embedder, texts, ids)
        self._bm25 = _bm25_retriever(texts, ids)
        self._ensemble = EnsembleRetriever

    def rank(self, query: str, k: int) -> list[str]:
        self._bm25.k = k
        dense = self._store.as_retriever(search_kwargs={"k": k})
        both = self._ensemble(retrievers=[self._bm25, dense], weights=[0.5, 0.5], id_key="id")
        return [document.metadata["id"] for document in both.invoke(query)][:k]


class LangGraphStore(Peer):
    """`InMemoryStore(index=...)`, the store that LangGraph's agents remember in."""

    name = "LangGraph InMemoryStore"
    distributions = ("langgraph-checkpoint",)

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        from langgraph.store.memory import InMemoryStore

        dims = self.embedder.dimensions
        self._store = InMemoryStore(
            index={"dims": dims, "embed": _langchain_embeddings(self.embedder), "fields": ["text"]}
        )
        for text, id in zip(texts, ids, strict=True):  # one by one: a batch with two equal texts raises
            self._store.put(("memories",), id, {"text": text})

    def rank(self, query: str, k: int) -> list[str]:
        return [item.key for item in self._store.search(("memories",), query=query, limit=k)]


class LlamaIndexBm25(Peer):
    """`BM25Retriever.from_defaults(nodes=...)`: English stems and stop words are its defaults."""

    name = "LlamaIndex BM25Retriever"
    distributions = ("llama-index-retrievers-bm25", "llama-index-core")

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        from llama_index.retrievers.bm25 import BM25Retriever  # type: ignore[import-untyped]

        self._size = len(texts)
        self._retriever = BM25Retriever.from_defaults(nodes=_llamaindex_nodes(texts, ids), similarity_top_k=1)

    def rank(self, query: str, k: int) -> list[str]:
        self._retriever.similarity_top_k = min(k, self._size)  # its engine refuses more than there are
        return [hit.node.node_id for hit in self._retriever.retrieve(query)]


class LlamaIndexVector(Peer):
    """The ranking of `VectorMemoryBlock`: a `VectorStoreIndex` over LlamaIndex's in-memory vector store.

    The block itself asks its vector store the same question and returns one text without ids; it refuses
    LlamaIndex's own in-memory store, so the ranking is read through the index's retriever.
    """

    name = "LlamaIndex vector block"
    distributions = ("llama-index-core",)

    def build(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        from llama_index.core import VectorStoreIndex

        model = _llamaindex_embedding(self.embedder)
        self._index = VectorStoreIndex(_llamaindex_nodes(texts, ids), embed_model=model, show_progress=False)

    def rank(self, query: str, k: int) -> list[str]:
        hits = self._index.as_retriever(similarity_top_k=k).retrieve(query)
        return [hit.node.node_id for hit in hits]


PEERS: tuple[type[Peer], ...] = (
    LangChainFaiss,
    LangChainBm25,
    LangChainEnsemble,
    LangGraphStore,
    LlamaIndexBm25,
    LlamaIndexVector,
)
