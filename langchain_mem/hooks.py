"""LangChain's rerankers and query rewriters as the memory's hooks: `settings.recall.rerank` and `expand`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, run_in_executor

from shared_core.errors import InvalidType

if TYPE_CHECKING:
    from langchain_core.cross_encoders import BaseCrossEncoder

_PLACE = "twinmem_place"
_CONFIG: RunnableConfig = {"run_name": "twinmem", "tags": ["nostream", "langsmith:nostream"]}


def _is_cross_encoder(model: object) -> TypeGuard[BaseCrossEncoder]:
    """Whether it is one; the oldest langchain-core that is allowed has none."""
    try:
        from langchain_core.cross_encoders import BaseCrossEncoder
    except ImportError:
        return False
    return isinstance(model, BaseCrossEncoder)


def as_reranker(model: BaseCrossEncoder | BaseDocumentCompressor) -> CompressorReranker | CrossEncoderReranker:
    """A LangChain cross-encoder or document compressor as the memory's `settings.recall.rerank`.

    A cross-encoder scores each text; a compressor (`CrossEncoderReranker`, `FlashrankRerank`,
    `CohereRerank`, `LLMListwiseRerank`, a pipeline...) orders them, and what it leaves out follows
    in the plain order, so that a `top_n` never loses a memory. Texts are not taken from it.

    >>> from shared_core import AgentMemory
    >>> from langchain_core.cross_encoders import BaseCrossEncoder
    >>> class Longest(BaseCrossEncoder):
    ...     def score(self, text_pairs):
    ...         return [len(text) for _, text in text_pairs]
    >>> memory = AgentMemory.open(embedder="hashing", settings={"recall": {"rerank": as_reranker(Longest())}})
    >>> alice = memory.scope(user="alice")
    >>> _ = alice.add_many(["tea", "tea with a lot of milk"])
    >>> [hit.record.text for hit in alice.search("tea")]
    ['tea with a lot of milk', 'tea']
    """
    if _is_cross_encoder(model):
        return CrossEncoderReranker(model)
    if isinstance(model, BaseDocumentCompressor):
        return CompressorReranker(model)
    raise InvalidType(f"as_reranker takes a BaseCrossEncoder or a BaseDocumentCompressor, not {type(model).__name__}")


class CrossEncoderReranker:
    """What `as_reranker` gives for a cross-encoder: `reranker(query, texts)` and `await reranker.acall(query, texts)`."""

    def __init__(self, model: BaseCrossEncoder) -> None:
        self.model = model

    def __call__(self, query: str, texts: list[str]) -> list[float]:
        """A score for each text."""
        return [float(score) for score in self.model.score([(query, text) for text in texts])]

    async def acall(self, query: str, texts: list[str]) -> list[float]:
        """Async twin of the call."""
        own = getattr(self.model, "ascore", None)
        if own is None:
            return await run_in_executor(None, self, query, texts)
        return [float(score) for score in await own([(query, text) for text in texts])]


class CompressorReranker:
    """What `as_reranker` gives for a compressor; the answer is the places of the texts, best first."""

    def __init__(self, compressor: BaseDocumentCompressor) -> None:
        self.compressor = compressor

    def __call__(self, query: str, texts: list[str]) -> list[int]:
        """The order of the texts."""
        return _order(self.compressor.compress_documents(_documents(texts), query), len(texts))

    async def acall(self, query: str, texts: list[str]) -> list[int]:
        """Async twin of the call."""
        return _order(await self.compressor.acompress_documents(_documents(texts), query), len(texts))


def _documents(texts: Sequence[str]) -> list[Document]:
    return [Document(page_content=text, id=str(n), metadata={_PLACE: n}) for n, text in enumerate(texts)]


def _order(kept: Sequence[Document], count: int) -> list[int]:
    places: dict[int, None] = {}
    for document in kept:
        place = document.metadata.get(_PLACE, document.id)  # some compressors make new documents
        if place is None or not 0 <= int(place) < count:
            raise InvalidType("the compressor gave back a document without the metadata that it was given")
        places[int(place)] = None
    return [*places, *(n for n in range(count) if n not in places)]


def as_expander(rewriter: Runnable[Any, Any], *, key: str = "question") -> CoreExpander:
    """A LangChain Runnable that rewrites a question as the memory's `settings.recall.expand`.

    It is given `{key: question}` and answers with texts, one text with a query a line, or a message:
    so `MultiQueryRetriever.from_llm(...).llm_chain` fits, and `prompt | model | parser`. A chat model
    by itself is not asked for queries by anything: give it to the memory (`llm=as_llm(model)`) and set
    `expand="llm"`.

    >>> from langchain_core.runnables import RunnableLambda
    >>> as_expander(RunnableLambda(lambda given: given["question"] + " tea"))("green")
    ['green tea']
    """
    if not isinstance(rewriter, Runnable):
        raise InvalidType(f"as_expander takes a Runnable, not {type(rewriter).__name__}")
    return CoreExpander(rewriter, key)


class CoreExpander:
    """What `as_expander` gives: `expand(query)` and `await expand.acall(query)`."""

    def __init__(self, rewriter: Runnable[Any, Any], key: str) -> None:
        self.rewriter = rewriter
        self.key = key

    def __call__(self, query: str) -> list[str]:
        """The queries it answers with."""
        return _queries(self.rewriter.invoke({self.key: query}, _CONFIG))

    async def acall(self, query: str) -> list[str]:
        """Async twin of the call."""
        return _queries(await self.rewriter.ainvoke({self.key: query}, _CONFIG))


def _queries(answer: Any) -> list[str]:
    if isinstance(answer, BaseMessage):
        answer = str(answer.text)
    if isinstance(answer, str):
        return [line.strip() for line in answer.splitlines() if line.strip()]
    if isinstance(answer, list | tuple) and all(isinstance(text, str) for text in answer):
        return list(answer)
    raise InvalidType(f"the rewriter answered with a {type(answer).__name__}, not with texts")
