"""`TwinmemRetriever`: the memory of one user as a LangChain retriever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, model_validator

from langchain_mem.documents import document
from langchain_mem.opening import opened
from shared_core.errors import InvalidInput
from shared_core.memory import AgentMemory
from shared_core.scope import Scope


class TwinmemRetriever(BaseRetriever):
    """Recalls what one user's memory holds on a question, as documents, best first.

    `Document.id` is the record's id; the metadata has `score` (a float in [0, 1]), `kind`,
    `created_at`, `session`, `role`... and the record's own metadata. `kinds`, `where` (LangChain's
    `filter` means the same) and `session` filter before the cut; both filters must hold if both are
    given. Each of them can be given to a single call as well: `retriever.invoke("tea", k=2)`; a
    filter of a call narrows that of the retriever and never leaves the user's scope.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing")
    >>> _ = memory.scope(user="alice").add_many(["I live in Lyon", "I like tea"])
    >>> TwinmemRetriever(memory=memory, user="alice").invoke("Who lives in Lyon?", k=1)[0].page_content
    'I live in Lyon'
    """

    memory: AgentMemory = Field(default=None, validate_default=False, exclude=True, repr=False)  # type: ignore[assignment]
    address: str | None = None
    """Opens the database at this path if no memory is given."""
    user: str
    agent: str = "default"
    k: int = Field(default=5, ge=0)
    kinds: Sequence[str] | None = None
    where: Mapping[str, Any] | None = None
    filter: Mapping[str, Any] | None = None
    session: str | None = None
    min_score: float = 0.0
    explain: bool = False
    """Whether the metadata says why each document was recalled (`reason`)."""

    @model_validator(mode="after")
    def _open(self) -> TwinmemRetriever:
        self.memory = opened(self.memory, None if self.memory is not None else self.address)
        self.scope  # noqa: B018  refuses a blank user here, not at the first question
        return self

    @property
    def scope(self) -> Scope:
        """Whose memory is asked."""
        return self.memory.scope(user=self.user, agent=self.agent)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        kinds: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        session: str | None = None,
        min_score: float | None = None,
        as_of: datetime | None = None,
        exclude: Iterable[str] = (),
    ) -> list[Document]:
        asked = self._asked(k, kinds, [where, filter], session, min_score)
        return [document(hit) for hit in self.scope.search(query, as_of=as_of, exclude=exclude, **asked)]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        kinds: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        session: str | None = None,
        min_score: float | None = None,
        as_of: datetime | None = None,
        exclude: Iterable[str] = (),
    ) -> list[Document]:
        asked = self._asked(k, kinds, [where, filter], session, min_score)
        return [document(hit) for hit in await self.scope.asearch(query, as_of=as_of, exclude=exclude, **asked)]

    def _asked(
        self,
        k: int | None,
        kinds: Sequence[str] | None,
        filters: list[Mapping[str, Any] | None],
        session: str | None,
        min_score: float | None,
    ) -> dict[str, Any]:
        if session is not None and self.session is not None and session != self.session:
            raise InvalidInput(f"this retriever keeps to the session {self.session!r}")
        given = [one for one in (self.where, self.filter, *filters) if one]
        if kinds is not None and self.kinds is not None:
            kinds = [kind for kind in kinds if kind in self.kinds]
        return {
            "k": self.k if k is None else k,
            "kinds": self.kinds if kinds is None else kinds,
            "where": given[0] if len(given) == 1 else {"$and": given} if given else None,
            "session": session or self.session,
            "min_score": self.min_score if min_score is None else min_score,
            "explain": self.explain,
        }
