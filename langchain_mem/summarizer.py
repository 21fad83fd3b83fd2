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
from shared_core.context import language, spoken
from shared_core.errors import InvalidType, LLMRequired
from shared_core.memory import AgentMemory

_PROMPTS = {
    "en": (
        "Summarise the conversation below for the assistant that continues it. Keep names, numbers, dates, "
        "decisions, preferences, open tasks and the results of tools; leave out greetings. Write plain sentences, "
        "nothing else.",
        "Summary so far, to be carried on:",
        "Conversation:",
    ),
    "zh": (
        "请为接下来继续对话的助手总结下面的对话。保留姓名、数字、日期、决定、偏好、未完成的任务和工具的结果，省略寒暄。"
        "只写通顺的句子，不要写别的。",
        "到目前为止的摘要，请在其基础上继续：",
        "对话：",
    ),
}


class TwinmemSummarizer(Runnable[Sequence[BaseMessage], str]):
    """Summarises a conversation, building on its own earlier summary, with tool calls and their results.

    `llm`: a chat model, or any callable from prompt to text; without it the `llm` the memory was
    opened with. The language is the conversation's. Images and files are named, never copied into the
    prompt. A model that raises is not hidden: SummarizationMiddleware then leaves the conversation as it is.

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
        return str(self._llm(_prompt(input))).strip()

    async def ainvoke(self, input: Sequence[BaseMessage], config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Async twin of `invoke`."""
        coroutine = getattr(self._llm, "acall", None)
        if coroutine is not None:
            return str(await coroutine(_prompt(input))).strip()
        return str(await asyncio.to_thread(self._llm, _prompt(input))).strip()


def _prompt(messages: Sequence[BaseMessage]) -> str:
    earlier = [str(message.text) for message in messages if is_summary(message)]
    talk = [to_core(message) for message in messages if not is_summary(message)]
    tongue = language("", talk)
    asked, so_far, said = _PROMPTS[tongue]
    lines = []
    for message in talk:
        line = spoken(message, tongue)
        for part in message.content if isinstance(message.content, list) else ():
            if isinstance(part, dict) and "text" not in part:
                line += f" [{part.get('type', 'attachment')}]"
        lines.append(line + "".join(f" {call['args']}" for call in message.tool_calls))
    parts = [asked, *([so_far, *earlier] if earlier else []), said, *lines]
    return "\n\n".join([parts[0], "\n".join(parts[1:])])
