"""What memory adds to a turn of an agent or engine whose model answers at once, with 10,000 memories of its user.

    python benchmarks/middleware.py [--size 10000] [--turns 200] [--clock wall|cpu] [--json OUT] [--check]

A turn with memory alternates with the same turn without, in short blocks, so that a busy machine slows both alike.
The embedder looks prepared vectors up, and what it takes all the same is left out: `added` is the median turn with
memory, less its embedding, less the median turn without. Every turn is the first of a conversation and is written to
a file: recall, and two records made durable. The budget is 10 ms. With `--check` a figure over it is an error.
`--clock cpu` leaves waiting out, for a machine that others use; the line of bare FAISS tells how fast it is.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import report
from rich.table import Table
from workload import Prepared, Workload, generate

from shared_core import AgentMemory

BUDGET = 10.0  # ms
BLOCK = 10
WARM = 20
USER = "big"
ANSWER = "That is what you told me last week, and I have noted the new one as well."

Clock = Callable[[], float]
Turn = Callable[[str, str], Any]
"""One turn: a conversation's id and what the user says; a coroutine for the asynchronous ones."""


@dataclass(frozen=True)
class Line:
    """Milliseconds a turn: medians with and without memory, the embedder's part, and what memory adds."""

    what: str
    bare: float
    ours: float
    embedding: float
    added: float
    added_p95: float

    @property
    def passes(self) -> bool:
        return self.added <= BUDGET


CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


class Timed:
    """An embedder that counts the time it takes."""

    def __init__(self, inner: Prepared, clock: Clock) -> None:
        self.clock = clock
        self.inner, self.name, self.dimensions, self.spent = inner, inner.name, inner.dimensions, 0.0

    def embed_documents(self, texts: list[str]) -> Any:
        return self._timed(self.inner.embed_documents, texts)

    def embed_query(self, text: str) -> Any:
        return self._timed(self.inner.embed_query, text)

    def _timed(self, work: Callable[[Any], Any], given: Any) -> Any:
        begin = self.clock()
        try:
            return work(given)
        finally:
            self.spent += self.clock() - begin


# ---------------------------------------------------------------------- the turns


def langchain(memory: AgentMemory) -> dict[str, tuple[Turn, Turn]]:
    """An agent of `create_agent` without and with the middleware, sync and async."""
    from langchain.agents import create_agent
    from langchain_core.language_models import FakeListChatModel

    from langchain_mem import TwinmemMiddleware

    model = FakeListChatModel(responses=[ANSWER])
    bare = create_agent(model, system_prompt="You are brief.")
    ours = create_agent(model, system_prompt="You are brief.", middleware=[TwinmemMiddleware(memory, user=USER)])

    def sync(agent: Any) -> Turn:
        return lambda thread, text: agent.invoke(*_given(thread, text))

    def asynchronous(agent: Any) -> Turn:
        return lambda thread, text: agent.ainvoke(*_given(thread, text))

    return {
        "create_agent, TwinmemMiddleware, invoke": (sync(bare), sync(ours)),
        "create_agent, TwinmemMiddleware, ainvoke": (asynchronous(bare), asynchronous(ours)),
    }


def _given(thread: str, text: str) -> tuple[Any, Any]:
    return {"messages": [("user", text)]}, {"configurable": {"thread_id": thread}}


def llamaindex(memory: AgentMemory) -> dict[str, tuple[Turn, Turn]]:
    """A SimpleChatEngine with LlamaIndex's own buffer and with ours, sync and async."""
    from llama_index.core.chat_engine import SimpleChatEngine
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.memory import ChatMemoryBuffer

    from llamaindex_mem import TwinmemMemory

    class Answers(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(context_window=8000)

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            return CompletionResponse(text=ANSWER)

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError

    model = Answers()

    def engine(made: Any) -> Any:
        return SimpleChatEngine.from_defaults(llm=model, memory=made, system_prompt="You are brief.")

    def bare(session: str) -> Any:
        return engine(ChatMemoryBuffer.from_defaults(token_limit=3000))

    def ours(session: str) -> Any:
        return engine(TwinmemMemory.from_defaults(memory=memory, user=USER, session_id=session))

    return {
        "SimpleChatEngine, TwinmemMemory, chat": (
            lambda session, text: bare(session).chat(text),
            lambda session, text: ours(session).chat(text),
        ),
        "SimpleChatEngine, TwinmemMemory, achat": (
            lambda session, text: bare(session).achat(text),
            lambda session, text: ours(session).achat(text),
        ),
    }


# ---------------------------------------------------------------------- measuring


async def measured(what: str, pair: tuple[Turn, Turn], work: Workload, embedder: Timed, turns: int) -> Line:
    """Blocks of turns without memory and with it, in turn."""
    bare, ours = pair
    questions = work.questions
    for number in range(WARM):
        for turn in (bare, ours):
            await _done(turn(f"{what} warm {number}", questions[number % len(questions)]))
    taken: dict[bool, list[float]] = {False: [], True: []}
    embedding: list[float] = []
    gc.collect()
    for start in range(0, turns, BLOCK):
        for remembers in (False, True):
            for number in range(start, start + BLOCK):
                spent, begin = embedder.spent, embedder.clock()
                turn = ours if remembers else bare
                await _done(turn(f"{what} {number}", questions[number % len(questions)]))
                taken[remembers].append((embedder.clock() - begin) * 1000)
                if remembers:
                    embedding.append((embedder.spent - spent) * 1000)
    without = statistics.median(taken[False])
    net = sorted(whole - part for whole, part in zip(taken[True], embedding, strict=True))
    return Line(
        what=what,
        bare=without,
        ours=statistics.median(taken[True]),
        embedding=statistics.median(embedding),
        added=statistics.median(net) - without,
        added_p95=net[int(len(net) * 0.95)] - without,
    )


async def _done(answer: Any) -> Any:
    return await answer if isinstance(answer, Awaitable) else answer


def searched(work: Workload, clock: Clock) -> float:
    """Milliseconds of a bare FAISS flat search of the same vectors, on one thread."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(work.vectors.shape[1])
    index.add(work.vectors)
    taken = []
    for row in range(len(work.questions)):
        begin = clock()
        index.search(work.question_vectors[row : row + 1], 5)
        taken.append((clock() - begin) * 1000)
    return statistics.median(taken)


def figures(size: int = 10_000, turns: int = 200, clock: Clock = time.perf_counter) -> tuple[list[Line], float]:
    """Every line of the table, and what a bare search takes on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        work = generate(size, 240)
        embedder = Timed(work.embedder(), clock)
        with AgentMemory.open(Path(folder) / "agent.db", embedder=embedder) as memory:
            memory.scope(user=USER).add_many(work.texts)
            lines = [
                asyncio.run(measured(what, pair, work, embedder, turns))
                for framework in (langchain, llamaindex)
                for what, pair in framework(memory).items()
            ]
        return lines, searched(work, clock)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="memories of the user")
    parser.add_argument("--turns", type=int, default=200, help="turns with memory, and as many without")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what is measured: time, or processor time")
    parser.add_argument("--json", help="write the figures here")
    parser.add_argument("--check", action="store_true", help="end with 1 if a figure is over its budget")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # the frameworks' own
    lines, bare = figures(given.size, given.turns, CLOCKS[given.clock])
    title = f"A turn with {given.size:,} memories, milliseconds by the {given.clock} clock (budget: {BUDGET:g} added)"
    table = Table(title=title)
    for column in ("what", "without", "with", "embedding", "added", "added p95", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    for line in lines:
        numbers = (line.bare, line.ours, line.embedding, line.added, line.added_p95)
        table.add_row(line.what, *(f"{number:.2f}" for number in numbers), "ok" if line.passes else "OVER")
    table.add_row("bare FAISS search of these vectors", f"{bare:.2f}", "", "", "", "", "")
    report.console().print(table)
    report.write_json(
        given.json,
        {"size": given.size, "clock": given.clock, "bare_search": bare, "lines": [asdict(line) for line in lines]},
    )
    return 1 if given.check and not all(line.passes for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
