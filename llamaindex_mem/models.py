"""LlamaIndex's embedding models and LLMs as the memory's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM

from shared_core.errors import InvalidType

_NAMELESS = ("", "unknown")  # what LlamaIndex calls a model that was given no name


def as_embedder(model: BaseEmbedding, *, name: str | None = None, dimensions: int | None = None) -> CoreEmbedder:
    """Any LlamaIndex `BaseEmbedding` as an embedder of the memory, with its sync and async forms.

    `name` identifies the vectors in the database; by default it is the model's name, or the class
    where there is none. Another name is another embedder: a database embedded with it asks for
    `reembed()`. `dimensions`: the length of the vectors, if known. The model's own
    `embed_batch_size` is respected.

    >>> from llama_index.core import MockEmbedding
    >>> as_embedder(MockEmbedding(embed_dim=6)).name
    'MockEmbedding'
    """
    if not isinstance(model, BaseEmbedding):
        raise InvalidType(f"as_embedder takes a LlamaIndex BaseEmbedding, not {type(model).__name__}")
    return CoreEmbedder(model, name=name, dimensions=dimensions)


class CoreEmbedder:
    """What `as_embedder` gives."""

    def __init__(self, model: BaseEmbedding, *, name: str | None = None, dimensions: int | None = None) -> None:
        self.model = model
        self.name = name or _name(model, model.model_name)
        self.dimensions: int | None = dimensions or getattr(model, "dimensions", None)

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        return self.model.get_text_embedding_batch(list(texts))

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self.model.get_query_embedding(text)

    async def aembed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Async twin of `embed_documents`."""
        return await self.model.aget_text_embedding_batch(list(texts))

    async def aembed_query(self, text: str) -> Sequence[float]:
        """Async twin of `embed_query`."""
        return await self.model.aget_query_embedding(text)

    def __eq__(self, other: object) -> bool:
        # So that opening a database twice with the same model is not a conflict of options. The name is
        # what tells vectors apart; two objects of one model differ in their clients and counters.
        return isinstance(other, CoreEmbedder) and (self.name, type(self.model)) == (other.name, type(other.model))

    def __hash__(self) -> int:
        return hash((CoreEmbedder, self.name))

    def __repr__(self) -> str:
        return f"as_embedder({self.name!r})"


def as_llm(model: BaseLLM, *, name: str | None = None) -> CoreLLM:
    """Any LlamaIndex `LLM` as the memory's `llm=`: `llm(prompt)` and `await llm.acall(prompt)`.

    >>> from llama_index.core.llms.mock import MockLLM
    >>> as_llm(MockLLM())("2 + 2?")
    '2 + 2?'
    """
    if not isinstance(model, BaseLLM):
        raise InvalidType(f"as_llm takes a LlamaIndex LLM, not {type(model).__name__}")
    return CoreLLM(model, name=name)


class CoreLLM:
    """What `as_llm` gives."""

    def __init__(self, model: BaseLLM, *, name: str | None = None) -> None:
        self.model = model
        self.name = name or _name(model, model.metadata.model_name)

    def __call__(self, prompt: str) -> str:
        """The model's answer as text."""
        return self.model.complete(prompt).text

    async def acall(self, prompt: str) -> str:
        """Async twin of the call."""
        return (await self.model.acomplete(prompt)).text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreLLM) and (self.name, type(self.model)) == (other.name, type(other.model))

    def __hash__(self) -> int:
        return hash((CoreLLM, self.name))

    def __repr__(self) -> str:
        return f"as_llm({self.name!r})"


def _name(model: Any, given: Any) -> str:
    return given if isinstance(given, str) and given not in _NAMELESS else type(model).__name__
