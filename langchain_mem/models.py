"""LangChain's embedding and chat models as the memory's own, and the memory's embedders as LangChain's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from shared_core.embedding.model import identity, resolve
from shared_core.errors import InvalidType

# Keeps the memory's own questions to the model out of the token stream of the agent that runs them.
_CONFIG: RunnableConfig = {"run_name": "twinmem", "tags": ["nostream", "langsmith:nostream"]}


def as_embedder(embeddings: Embeddings, *, name: str | None = None, dimensions: int | None = None) -> CoreEmbedder:
    """Any LangChain `Embeddings` as an embedder of the memory, with its sync and async forms.

    `name` identifies the vectors in the database; by default it is the model's name
    ("text-embedding-3-small"), or the class where there is none. Another name is another embedder:
    a database embedded with it asks for `reembed()`. `dimensions`: the length of the vectors, if known.

    >>> from langchain_core.embeddings import DeterministicFakeEmbedding
    >>> as_embedder(DeterministicFakeEmbedding(size=6)).name
    'DeterministicFakeEmbedding'
    """
    if not isinstance(embeddings, Embeddings):
        raise InvalidType(f"as_embedder takes a LangChain Embeddings, not {type(embeddings).__name__}")
    return CoreEmbedder(embeddings, name=name, dimensions=dimensions)


class CoreEmbedder:
    """What `as_embedder` gives."""

    def __init__(self, embeddings: Embeddings, *, name: str | None = None, dimensions: int | None = None) -> None:
        self.embeddings = embeddings
        # A cache around a model (CacheBackedEmbeddings) gives the vectors of the model inside.
        inner = getattr(embeddings, "underlying_embeddings", embeddings)
        self.name = name or identity(inner)
        self.dimensions = dimensions or getattr(inner, "dimensions", None)

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        return self.embeddings.embed_documents(texts)

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self.embeddings.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Async twin of `embed_documents`."""
        return await self.embeddings.aembed_documents(texts)

    async def aembed_query(self, text: str) -> Sequence[float]:
        """Async twin of `embed_query`."""
        return await self.embeddings.aembed_query(text)

    def __eq__(self, other: object) -> bool:
        # So that opening a database twice with the same model is not a conflict of options.
        return isinstance(other, CoreEmbedder) and (self.name, self.embeddings) == (other.name, other.embeddings)

    def __hash__(self) -> int:
        return hash((CoreEmbedder, self.name))

    def __repr__(self) -> str:
        return f"as_embedder({self.name!r})"


def as_llm(model: Runnable[Any, Any], *, name: str | None = None) -> CoreLLM:
    """Any LangChain chat model, LLM or Runnable from text to a message or text, as the memory's `llm=`.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> as_llm(FakeListChatModel(responses=["4"]))("2 + 2?")
    '4'
    """
    if not isinstance(model, Runnable):
        raise InvalidType(f"as_llm takes a chat model or another Runnable, not {type(model).__name__}")
    return CoreLLM(model, name=name)


class CoreLLM:
    """What `as_llm` gives: `llm(prompt)` and `await llm.acall(prompt)`."""

    def __init__(self, model: Runnable[Any, Any], *, name: str | None = None) -> None:
        self.model = model
        self.name = name or identity(model)

    def __call__(self, prompt: str) -> str:
        """The model's answer as text."""
        return _text(self.model.invoke(prompt, _CONFIG))

    async def acall(self, prompt: str) -> str:
        """Async twin of the call."""
        return _text(await self.model.ainvoke(prompt, _CONFIG))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreLLM) and (self.name, self.model) == (other.name, other.model)

    def __hash__(self) -> int:
        return hash((CoreLLM, self.name))

    def __repr__(self) -> str:
        return f"as_llm({self.name!r})"


def _text(answer: Any) -> str:
    if isinstance(answer, BaseMessage):
        return str(answer.text)
    if isinstance(answer, str):
        return answer
    raise InvalidType(f"the model answered with a {type(answer).__name__}; end the chain with a StrOutputParser")


class TwinmemEmbeddings(Embeddings):
    """The memory's own embedder for any LangChain component: no key, no network.

    `embedder`: "default" (bundled, 512 dimensions, 16 languages with Chinese), "e5" (extra `e5`),
    "hashing" (no model, for tests), or any embedder of the memory.

    >>> len(TwinmemEmbeddings("hashing").embed_query("green tea"))
    64
    """

    def __init__(self, embedder: Any = "default") -> None:
        self._embedder = resolve(embedder)
        self.name = identity(self._embedder)
        self.dimensions: int | None = getattr(self._embedder, "dimensions", None)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, as plain floats."""
        return [_floats(vector) for vector in self._embedder.embed_documents(list(texts))] if texts else []

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question, as plain floats."""
        return _floats(self._embedder.embed_query(text))

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Async twin of `embed_documents`."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Async twin of `embed_query`."""
        return await asyncio.to_thread(self.embed_query, text)


def _floats(vector: Any) -> list[float]:
    return [float(value) for value in vector]
