"""The seams: what the memory asks of the things a user may hand in or a backend provides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

Clock = Callable[[], datetime]
"""Returns the present as aware UTC."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors; every LangChain `Embeddings` is one.

    Optional members, used when present: `name` (str) and `dimensions` (int), which identify the
    vectors in the database, and the async forms `aembed_documents` and `aembed_query`.
    """

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of the same length."""
        ...

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        ...


@runtime_checkable
class AsyncEmbedder(Protocol):
    """An embedder with an async form of its own, which is awaited instead of the sync one."""

    def aembed_documents(self, texts: list[str]) -> Awaitable[Sequence[Sequence[float]]]:
        """Async twin of `embed_documents`."""
        ...

    def aembed_query(self, text: str) -> Awaitable[Sequence[float]]:
        """Async twin of `embed_query`."""
        ...


@runtime_checkable
class LLM(Protocol):
    """A language model: a prompt in, its answer out. A plain callable of that shape will do."""

    def __call__(self, prompt: str) -> str:
        """The model's answer."""
        ...


Redactor = Callable[[str], str]
"""Takes out of a text what must not be kept; called before anything is stored or logged."""


TokenCounter = Callable[[str], int]
"""Counts the tokens a model will see for a text."""


class Transaction(Protocol):
    """Statements on one connection; named in the backend's SQL file, parameters always bound."""

    def rows(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ...) -> list[tuple[Any, ...]]:
        """The rows a statement gives."""
        ...

    def each(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ...) -> Iterable[tuple[Any, ...]]:
        """The same, one row at a time, for results too large to hold."""
        ...

    def run(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ...) -> int:
        """Run a statement; the number of rows it touched."""
        ...

    def many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each set of parameters."""
        ...


class VectorIndex(Protocol):
    """Vectors outside of this process, for scopes too big to hold: it proposes records, the rows decide.

    A collection is one scope under one embedder. A key is `record << 16 | piece`. Nothing in here is a
    truth: cosines are computed from the rows, and what is lost, stale or dropped is written anew from them.
    """

    def reached(self, collection: str) -> int:
        """The revision up to which a collection holds the scope's vectors; -1 where there is none."""
        ...

    def write(self, collection: str, records: Sequence[int], keys: Any, vectors: Any) -> None:
        """Take out all pieces of some records, and put in unit vectors (rows, dimensions; float32) under int64 keys."""
        ...

    def reach(self, collection: str, revision: int) -> None:
        """Stamp a collection with the revision it has been brought to."""
        ...

    def search(self, collection: str, query: Any, count: int, among: Any | None = None) -> Any:
        """At most `count` keys of the vectors most like a unit vector, best first; `among` (int64 keys) filters before."""
        ...

    def collections(self, prefix: str) -> list[str]:
        """The collections that there are of a memory; their names are `<prefix>-<scope>-<embedder>`."""
        ...

    def drop(self, collection: str) -> None:
        """Take a collection away; nothing happens where there is none."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class Store(Protocol):
    """A database that keeps the rows, the only truth: SQLite in a file, or PostgreSQL for many machines."""

    address: str
    """Where it is, as shown to people: without a password."""

    @property
    def held(self) -> bool:
        """Whether this thread is inside a transaction: then it must not wait for another writer."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent view for reading."""
        ...

    def look(self) -> AbstractContextManager[Transaction]:
        """Single statements, each its own view: for one look-up a transaction would only cost."""
        ...

    def write(self, *, wait: bool = True) -> AbstractContextManager[Transaction]:
        """One write transaction: committed whole, or rolled back on any exception.

        With `wait=False` it raises `StoreBusy` at once if anybody else is writing.
        """
        ...

    def check(self) -> list[str]:
        """What the engine itself finds wrong with the file."""
        ...

    def compact(self, wait: float | None = None) -> bool:
        """Give freed pages back and overwrite them; False if somebody is in the way for `wait` seconds."""
        ...

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        ...
