"""One embedder as the memory uses it: identified, batched, cached, checked; sync and async alike."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from shared_core.embedding.pieces import pieces
from shared_core.errors import InvalidInput, InvalidType
from shared_core.ports import AsyncEmbedder
from shared_core.recall.arrays import Floats, NDArray
from shared_core.recall.dense import normalised
from shared_core.settings import Settings
from shared_core.steps import Call, Steps


def _bundled() -> Any:
    from shared_core.embedding.bundled import BundledEmbedder

    return BundledEmbedder()


def _e5() -> Any:
    from shared_core.embedding.e5 import E5Embedder

    return E5Embedder()


def _hashing() -> Any:
    from shared_core.embedding.hashing import HashingEmbedder

    return HashingEmbedder()


BUILT_IN: dict[str, Callable[[], Any]] = {"default": _bundled, "e5": _e5, "hashing": _hashing}


def resolve(embedder: Any) -> Any:
    """The embedder a caller means: None for the bundled one, a name, or anything with the two methods."""
    if embedder is None:
        return _bundled()
    if isinstance(embedder, str):
        if embedder not in BUILT_IN:
            raise InvalidInput(f"unknown embedder {embedder!r}; known by name: {', '.join(sorted(BUILT_IN))}")
        return BUILT_IN[embedder]()
    if not callable(getattr(embedder, "embed_documents", None)) or not callable(getattr(embedder, "embed_query", None)):
        raise InvalidType(
            f"an embedder has embed_documents and embed_query; {type(embedder).__name__} has not. "
            "Use langchain_mem.as_embedder or llamaindex_mem.as_embedder for a framework's object"
        )
    return embedder


def identity(embedder: Any) -> str:
    """What the database calls an embedder: its `name`, its model's name, or its class."""
    for attribute in ("name", "model_name", "model", "model_id"):
        value = getattr(embedder, attribute, None)
        if isinstance(value, str) and value:
            return value
    return type(embedder).__qualname__


class Model:
    """An embedder with a name and a length, and a cache so that the same text is embedded once."""

    def __init__(self, embedder: Any, settings: Settings) -> None:
        self.embedder = resolve(embedder)
        self.name = identity(self.embedder)
        size = getattr(self.embedder, "dimensions", None)
        self._declared = size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None
        self.dimensions: int | None = self._declared
        self._asynchronous = isinstance(self.embedder, AsyncEmbedder)
        self._settings = settings
        self._lock = threading.Lock()
        self._documents: OrderedDict[str, Floats] = OrderedDict()
        self._queries: OrderedDict[str, Floats] = OrderedDict()

    def packed(self, texts: list[str]) -> Steps[list[bytes | None]]:
        """The vectors of each text as its row keeps them: float16, one unit vector a piece; None for no text."""
        recall = self._settings.recall
        cut = [pieces(t, words=recall.piece_words, chars=recall.piece_chars) if t else [] for t in texts]
        flat = [piece for parts in cut for piece in parts]
        vectors = yield from self.documents(flat)
        halves = vectors.astype(np.float16)
        found: list[bytes | None] = []
        start = 0
        for parts in cut:
            found.append(halves[start : start + len(parts)].tobytes() if parts else None)
            start += len(parts)
        return found

    def documents(self, texts: list[str]) -> Steps[Floats]:
        """Unit vectors of texts, shape (texts, dimensions); each distinct text is embedded once."""
        if not texts:
            return np.empty((0, self.dimensions or 0), np.float32)
        known = self._remembered(self._documents, texts)
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        batches: list[Floats] = []
        coroutine = self.embedder.aembed_documents if self._asynchronous else None
        for start in range(0, len(fresh), self._settings.embed_batch):
            batch = fresh[start : start + self._settings.embed_batch]
            raw = yield Call(self.embedder.embed_documents, list(batch), coroutine)
            vectors = self._checked(raw, len(batch))
            batches.append(vectors)
            self._remember(self._documents, batch, vectors)
        if len(fresh) == len(texts):
            return batches[0] if len(batches) == 1 else np.concatenate(batches)
        if fresh:
            known.update(zip(fresh, np.concatenate(batches), strict=True))
        stacked: Floats = np.stack([known[text] for text in texts])
        return stacked

    def query(self, text: str) -> Steps[Floats]:
        """The unit vector of a question; a long one is the mean of its first and last pieces."""
        recall = self._settings.recall
        parts = pieces(text, words=recall.piece_words, chars=recall.piece_chars, most=8)
        known = self._remembered(self._queries, parts)
        coroutine = self.embedder.aembed_query if self._asynchronous else None
        for part in parts:
            if part not in known:
                raw = yield Call(self.embedder.embed_query, part, coroutine)
                vectors = self._checked([raw], 1)
                known[part] = vectors[0]
                self._remember(self._queries, [part], vectors)
        if len(parts) == 1:
            return known[parts[0]]
        mean: NDArray[Any] = np.mean([known[part] for part in parts], axis=0, keepdims=True)
        vector: Floats = normalised(mean.astype(np.float32), self.dimensions, 1)[0]
        return vector

    def measured(self) -> Steps[int]:
        """The length of its vectors as the embedder itself gives them, whatever a database has told us."""
        self.forget()
        self.dimensions = self._declared
        return len((yield from self.query("dimensions")))

    def _checked(self, raw: Any, texts: int) -> Floats:
        vectors = normalised(raw, self.dimensions, texts)
        if self.dimensions is None and texts:
            self.dimensions = int(vectors.shape[1])
        return vectors

    def _remembered(self, cache: OrderedDict[str, Floats], texts: list[str]) -> dict[str, Floats]:
        with self._lock:
            found = {text: cache[text] for text in texts if text in cache}
            for text in found:
                cache.move_to_end(text)
            return found

    def _remember(self, cache: OrderedDict[str, Floats], texts: list[str], vectors: Floats) -> None:
        limit = self._settings.cache.embeddings
        with self._lock:
            for text, vector in zip(texts[-limit:] if limit else [], vectors[-limit:], strict=False):
                cache[text] = vector
            while len(cache) > limit:
                cache.popitem(last=False)

    def forget(self) -> None:
        """Drop the cache: after an erasure no text may stay in memory."""
        with self._lock:
            self._documents.clear()
            self._queries.clear()
