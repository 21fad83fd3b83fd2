"""`TwinmemVectorStore`: documents in a user's memory as a LangChain vector store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from langchain_mem.models import as_embedder
from langchain_mem.opening import opened
from shared_core.errors import InvalidInput
from shared_core.memory import AgentMemory
from shared_core.recall.where import CONNECTIVES
from shared_core.steps import Steps, arun, run
from shared_core.verbs.items import Found, Items, Put


class TwinmemVectorStore(VectorStore):
    """Documents of one collection in one user's memory: upserted by id, filtered before the cut.

    With `embedding` the documents are embedded by that model and ordered by its cosine; without, by
    the memory's own recall, words and meaning together. Either way they are memories of that user:
    their own search finds them, and `memory.forget(user)` erases them. Scores lie in [0, 1], higher
    is better, 1.0 for the same text. `filter` is the memory's `where` language over the metadata of
    the documents (`{"lang": "zh", "n": {"$gte": 3}}`); an unknown operator raises.

    >>> store = TwinmemVectorStore(AgentMemory.open(embedder="hashing"), user="alice")
    >>> store.add_texts(["green tea", "a red bike"], ids=["1", "2"])
    ['1', '2']
    >>> store.similarity_search("tea", k=1)[0].id
    '1'
    """

    def __init__(
        self,
        memory: AgentMemory | str | os.PathLike[str] | None = None,
        *,
        user: str,
        agent: str = "default",
        embedding: Embeddings | None = None,
        collection: str = "documents",
    ) -> None:
        """`memory`: a memory, or a path; None for a private one."""
        self.memory = memory if isinstance(memory, AgentMemory) else opened(None, memory)
        self._user = self.memory.scope(user=user, agent=agent).user  # refuses a blank one
        self._embedding = embedding
        self._path = ("documents", collection)
        self._items = Items(self.memory, agent=agent, embedder=None if embedding is None else as_embedder(embedding))

    @property
    def embeddings(self) -> Embeddings | None:
        """The model that was given, if any."""
        return self._embedding

    # ------------------------------------------------------------------ writing

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *,
        ids: Sequence[str | None] | None = None, **kwargs: Any,
    ) -> list[str]:  # fmt: skip
        """Write documents, all of them or none; a known id is replaced, a missing one is made."""
        puts = self._puts(texts, metadatas, ids)
        run(self._items.writing(puts))
        return [put.key for put in puts]

    async def aadd_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *,
        ids: Sequence[str | None] | None = None, **kwargs: Any,
    ) -> list[str]:  # fmt: skip
        """Async twin of `add_texts`."""
        puts = self._puts(texts, metadatas, ids)
        await arun(self._items.writing(puts))
        return [put.key for put in puts]

    def _puts(
        self, texts: Iterable[str], metadatas: Sequence[Mapping[str, Any]] | None, ids: Sequence[str | None] | None
    ) -> list[Put]:
        given = list(texts)
        described = [{} for _ in given] if metadatas is None else list(metadatas)
        named = [None for _ in given] if ids is None else list(ids)
        if not len(given) == len(described) == len(named):
            raise InvalidInput(f"{len(given)} texts with {len(described)} metadatas and {len(named)} ids")
        return [
            Put(self._user, self._path, id or str(uuid4()), metadata or {}, (text,))
            for text, metadata, id in zip(given, described, named, strict=True)
        ]

    def delete(self, ids: list[str] | None = None, *, filter: Mapping[str, Any] | None = None, **kwargs: Any) -> bool:
        """Erase documents by id (a missing one is no error), or all that a filter holds for."""
        run(self._deleting(ids, filter))
        return True

    async def adelete(
        self, ids: list[str] | None = None, *, filter: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> bool:
        """Async twin of `delete`."""
        await arun(self._deleting(ids, filter))
        return True

    def _deleting(self, ids: list[str] | None, filter: Mapping[str, Any] | None) -> Steps[None]:
        if ids is None and not filter:
            raise InvalidInput("delete takes ids or a filter; memory.forget(user) erases everything of a user")
        doomed = list(ids or [])
        if filter:
            every = self._items.finding(None, user=self._user, path=self._path, where=_where(filter), limit=2**31)
            doomed += [found.key for found in (yield from every)]
        yield from self._items.writing([Put(self._user, self._path, id, None) for id in doomed])

    # ------------------------------------------------------------------ reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, those that are there."""
        found = (self._items.get(self._user, self._path, id) for id in ids)
        return [_document(item) for item in found if item is not None]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The `k` documents nearest to a query; `filter=` keeps to some of them."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """The same with their scores in [0, 1]."""
        return run(self._searching(query, k, **kwargs))

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Async twin of `similarity_search`."""
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Async twin of `similarity_search_with_score`."""
        return await arun(self._searching(query, k, **kwargs))

    def _searching(
        self, query: str, k: int, *, filter: Mapping[str, Any] | None = None, where: Mapping[str, Any] | None = None
    ) -> Steps[list[tuple[Document, float]]]:
        conditions = [_where(one) for one in (filter, where) if one]
        both = {"$and": conditions} if conditions else None
        found = yield from self._items.finding(query, user=self._user, path=self._path, where=both, limit=k)
        return [(_document(item), item.score or 0.0) for item in found]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return float  # a score is a relevance already

    # ------------------------------------------------------------------ making

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: list[dict[str, Any]] | None = None, *,
        ids: Sequence[str | None] | None = None, memory: AgentMemory | str | os.PathLike[str] | None = None,
        user: str | None = None, **kwargs: Any,
    ) -> TwinmemVectorStore:  # fmt: skip
        """A store of these texts; without `memory` a private one, which needs no user."""
        if user is None and memory is not None:
            raise InvalidInput("whose documents are these? from_texts(..., memory=..., user=...)")
        if memory is None:
            memory = AgentMemory.open(embedder=as_embedder(embedding))  # its own model is all it needs
        store = cls(memory, user="documents" if user is None else user, embedding=embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _document(item: Found) -> Document:
    return Document(page_content=item.record.text, metadata=item.record.metadata, id=item.key)


def _where(filter: Mapping[str, Any]) -> dict[str, Any]:
    """A filter over a document's metadata, whatever its keys are called, in the memory's language."""
    found: dict[str, Any] = {}
    for key, condition in filter.items():
        if key not in CONNECTIVES:
            found[f"metadata.{key}" if not key.startswith("$") else key] = condition
        elif isinstance(condition, Mapping):
            found[key] = _where(condition)
        elif isinstance(condition, list | tuple):
            found[key] = [_where(part) if isinstance(part, Mapping) else part for part in condition]
        else:
            found[key] = condition
    return found
