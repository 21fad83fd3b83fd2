"""One embedder for every system of a run: each text is embedded once, so a peer's time is its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shared_core.embedding.model import BUILT_IN
from shared_core.errors import InvalidInput

NAMES = tuple(BUILT_IN)


class Shared:
    """An embedder that remembers every vector it gave, for documents and for questions apart.

    It has LangChain's `Embeddings` verbs, which are also those of `shared_core.ports.Embedder`. `misses`
    counts the texts that had to be embedded anew since `warm` was last called.
    """

    def __init__(self, inner: Any, batch: int = 256) -> None:
        self.inner = inner
        self.batch = batch
        self.name = str(getattr(inner, "name", type(inner).__name__))
        self.misses = 0
        self._documents: dict[str, np.ndarray] = {}
        self._queries: dict[str, np.ndarray] = {}
        self.dimensions = int(getattr(inner, "dimensions", 0) or len(self.embed_query("dimensions")))

    def warm(self, documents: Iterable[str] = (), queries: Iterable[str] = ()) -> None:
        """Embed what is not known yet, outside of any clock."""
        self.embed_documents(list(documents))
        for query in queries:
            self.embed_query(query)
        self.misses = 0

    def embed_documents(self, texts: Sequence[str]) -> list[np.ndarray]:
        """One float32 vector a text."""
        new = list(dict.fromkeys(text for text in texts if text not in self._documents))
        self.misses += len(new)
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            vectors = np.asarray(self.inner.embed_documents(part), dtype=np.float32)
            self._documents.update(zip(part, vectors, strict=True))
        return [self._documents[text] for text in texts]

    def embed_query(self, text: str) -> np.ndarray:
        """The float32 vector of a question."""
        if text not in self._queries:
            self.misses += 1
            self._queries[text] = np.asarray(self.inner.embed_query(text), dtype=np.float32)
        return self._queries[text]

    def forget(self, most: int = 100_000) -> None:
        """Drop what is remembered if it is more than `most` texts, so that a large set fits in memory."""
        if len(self._documents) + len(self._queries) > most:
            self._documents.clear()
            self._queries.clear()


def load(name: str) -> Shared:
    """The embedder of that name in `NAMES`, remembering what it embedded. Raises `InvalidInput` for another name."""
    if name not in BUILT_IN:
        raise InvalidInput(f"no embedder {name!r}; known: {', '.join(NAMES)}")
    return Shared(BUILT_IN[name]())
