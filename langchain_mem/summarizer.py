"""`TwinmemSummarizer`: what `SummarizationMiddleware(summarizer=...)` calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_mem.messages import is_summary, to_core
from langchain_mem.models import as_llm
from shared_core.errors import InvalidType, LLMRequired
from shared_core.memory import AgentMemory
from shared_core.prompt.words import language
from shared_core.short_term import summary


class TwinmemSummarizer(Runnable[Sequence[BaseMessage], str]):
    """Summarises a conversation as `Session.summarise` does, building on its own earlier summary.

    `llm`: a chat model, or any callable from prompt to text; without it the `llm` the memory was
    opened with. The summary has the parts key information, decisions and pending where the model gives
    them; the language is the conversation's. Tool calls stand with their results. Images and files are
    named, never copied into the prompt. A model that raises is not hidden: SummarizationMiddleware then
    leaves the conversation as it is.

    >>> from langchain_core.messages import HumanMessage
    >>> TwinmemSummarizer(llm=lambda prompt: "Lives in Lyon.").invoke([HumanMessage("I live in Lyon")])
    'Lives in Lyon.'
    """

    def __init__(self, memory: AgentMemory | None = None, *, llm: Any = None) -> None:
        if llm is None and memory is not None:
            llm = memory.llm
        if llm is None:
            raise LLMRequired("a summarizer needs a language model: TwinmemSummarizer(llm=...), or a memory with one")
        if isinstance(llm, BaseLanguageModel | Runnable):
            llm = as_llm(llm)
        if not callable(llm):
            raise InvalidType("llm is a chat model, or a callable from prompt to text")
        self._llm = llm

    def invoke(self, input: Sequence[BaseMessage], config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """The summary of these messages."""
        prompt, tongue = _prompt(input)
        return summary.read(str(self._llm(prompt)), tongue)

    async def ainvoke(self, input: Sequence[BaseMessage], config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Async twin of `invoke`."""
        prompt, tongue = _prompt(input)
        coroutine = getattr(self._llm, "acall", None)
        answer = await (coroutine(prompt) if coroutine is not None else asyncio.to_thread(self._llm, prompt))
        return summary.read(str(answer), tongue)


def _prompt(messages: Sequence[BaseMessage]) -> tuple[str, str]:
    """What the memory's own running summary asks a model, and the language it is in."""
    earlier = "\n".join(str(message.text) for message in messages if is_summary(message))
    talk = [to_core(message) for message in messages if not is_summary(message)]
    tongue = language("", talk)
    return summary.prompt(earlier, talk, tongue), tongue
