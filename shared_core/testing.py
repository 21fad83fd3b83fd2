"""Fakes for tests of code that uses the memory: chosen vectors, a clock set by hand, a scripted LLM.

Nothing here is loaded by `import shared_core`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from shared_core.embedding.hashing import HashingEmbedder
from shared_core.errors import InvalidInput

Answer = str | BaseException | Callable[[str], str]
"""What a `ScriptedLLM` does with a prompt: give a text, raise, or call."""


class FixedEmbedder:
    """An embedder whose vectors are chosen: `vectors` by text, hashed words for any other text.

    A value of `vectors` may also be an exception, which is raised. `longest` refuses texts of more
    characters, as small local models do. `documents` and `queries` hold every text it was given.

    >>> embedder = FixedEmbedder({"tea": [1, 0]})
    >>> embedder.embed_query("tea"), embedder.queries
    ([1.0, 0.0], ['tea'])
    """

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float] | BaseException] | None = None,
        *,
        dimensions: int | None = None,
        name: str = "fixed",
        longest: int | None = None,
    ) -> None:
        self.vectors = dict(vectors or {})
        lengths = [len(v) for v in self.vectors.values() if not isinstance(v, BaseException)]
        self.dimensions = dimensions or (lengths[0] if lengths else 64)
        self.name = name
        self.longest = longest
        self.documents: list[str] = []
        self.queries: list[str] = []
        self.calls = 0
        self._hashing = HashingEmbedder(self.dimensions)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text; counted as one call."""
        self.calls += 1
        self.documents += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question; counted as one call."""
        self.calls += 1
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        if self.longest is not None and len(text) > self.longest:
            raise ValueError(f"a text of {len(text)} characters; this model takes {self.longest}")
        chosen = self.vectors.get(text)
        if isinstance(chosen, BaseException):
            raise chosen
        return self._hashing.embed_query(text) if chosen is None else [float(x) for x in chosen]


class AsyncFixedEmbedder(FixedEmbedder):
    """The same with async forms of its own; `awaited` counts how often they were used."""

    awaited = 0

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Async twin of `embed_documents`."""
        self.awaited += 1
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Async twin of `embed_query`."""
        self.awaited += 1
        return self.embed_query(text)


class RecordingEmbedder:
    """Any embedder, with every text it is given written down in `documents` and `queries`.

    >>> embedder = RecordingEmbedder(HashingEmbedder(8))
    >>> _ = embedder.embed_documents(["a", "b"])
    >>> embedder.batches
    [['a', 'b']]
    """

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self.batches: list[list[str]] = []
        self.queries: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)  # its name and dimensions

    @property
    def documents(self) -> list[str]:
        """The texts of all batches."""
        return [text for batch in self.batches for text in batch]

    def embed_documents(self, texts: list[str]) -> Any:
        """The inner embedder's vectors."""
        self.batches.append(list(texts))
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        """The inner embedder's vector."""
        self.queries.append(text)
        return self._embedder.embed_query(text)


class ManualClock:
    """A clock that stands still until it is told to move; `tick` moves it at each look.

    >>> clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> clock.advance(hours=2)
    datetime.datetime(2026, 1, 1, 2, 0, tzinfo=datetime.timezone.utc)
    """

    def __init__(self, start: datetime | None = None, *, tick: timedelta = timedelta(0)) -> None:
        self.now = start or datetime(2026, 1, 1, tzinfo=UTC)
        self.tick = tick

    def __call__(self) -> datetime:
        now = self.now
        self.now += self.tick
        return now

    def advance(self, **timedelta_arguments: float) -> datetime:
        """Move on by `timedelta(**arguments)`, and give the new present."""
        self.now += timedelta(**timedelta_arguments)
        return self.now


class ScriptedLLM:
    """A language model that answers from a script and writes down every prompt.

    `answers` are used in turn; the last one again and again if `repeat`. A prompt past the end of
    the script raises, so that a call nobody expected does not pass unseen.

    >>> llm = ScriptedLLM(["yes", "no"])
    >>> llm("Tea?"), llm("Milk?"), llm.prompts
    ('yes', 'no', ['Tea?', 'Milk?'])
    """

    def __init__(self, answers: Iterable[Answer], *, repeat: bool = False) -> None:
        self.answers = list(answers)
        self.repeat = repeat
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        place = len(self.prompts)
        self.prompts.append(prompt)
        if place >= len(self.answers):
            if not self.repeat or not self.answers:
                raise InvalidInput(f"the script has {len(self.answers)} answers; this was prompt {place + 1}")
            place = len(self.answers) - 1
        answer = self.answers[place]
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, str) else answer(prompt)
