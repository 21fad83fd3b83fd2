"""A model that says what it was told to say, and keeps every prompt it was given."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
    TextBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import Memory
from pydantic import PrivateAttr

# None before llama-index-core 0.14.9 or so; there a call stands in `additional_kwargs`, in OpenAI's form.
ToolCallBlock: Any = getattr(types, "ToolCallBlock", None)
ThinkingBlock: Any = getattr(types, "ThinkingBlock", None)
VideoBlock: Any = getattr(types, "VideoBlock", None)

needs_newer_blocks = pytest.mark.skipif(ToolCallBlock is None, reason="this core has no blocks for calls and thinking")

needs_chat_store = pytest.mark.skipif(
    "chat_store" not in inspect.signature(Memory.from_defaults).parameters,
    reason="the Memory of this core takes no chat store of another's",
)


def call(name: str, id: str = "c1", **kwargs: Any) -> ChatMessage:
    """An assistant's message that calls a tool."""
    if ToolCallBlock is None:
        function = {"name": name, "arguments": json.dumps(kwargs)}
        calls = [{"id": id, "type": "function", "function": function}]
        return ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": calls})
    return ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=kwargs)])


def called(message: ChatMessage) -> list[ToolSelection]:
    """The calls of a message."""
    if ToolCallBlock is None:
        return [
            ToolSelection(
                tool_id=each["id"],
                tool_name=each["function"]["name"],
                tool_kwargs=json.loads(each["function"]["arguments"]),
            )
            for each in message.additional_kwargs.get("tool_calls", ())
        ]
    return [
        ToolSelection(tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]


class ScriptedLLM(FunctionCallingLLM):
    """Replays `answers`: a text, a message, or an exception to raise; past the end it says "ok"."""

    _answers: list[Any] = PrivateAttr(default_factory=list)
    _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, *answers: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._answers = list(answers)
        self._prompts = []

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        return self._prompts

    def told(self, prompt: int = -1) -> str:
        """A prompt as one text."""
        return "\n".join(f"{message.role.value}: {message.content}" for message in self._prompts[prompt])

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True, context_window=4000, model_name="script")

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        self._prompts.append(copy.deepcopy(list(messages)))
        answer = self._answers.pop(0) if self._answers else "ok"
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ChatMessage) else ChatMessage(role="assistant", content=answer)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    def _stream(self, message: ChatMessage) -> Iterator[ChatResponse]:
        text = message.content or ""
        if not text:
            yield ChatResponse(message=message, delta="")
        kwargs = message.additional_kwargs
        rest = [block for block in message.blocks if not isinstance(block, TextBlock)]
        for end in range(1, len(text) + 1):
            blocks = [TextBlock(text=text[:end]), *rest]
            yield ChatResponse(
                message=ChatMessage(role=message.role, blocks=blocks, additional_kwargs=kwargs), delta=text[end - 1]
            )

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        return self._stream(self._next(messages))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        message = self._next(messages)

        async def gen() -> AsyncIterator[ChatResponse]:
            for response in self._stream(message):
                yield response

        return gen()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = self._next([ChatMessage(role=MessageRole.USER, content=prompt)])
        return CompletionResponse(text=message.content or "")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self.complete(prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        text = self.complete(prompt).text
        for end in range(1, len(text) + 1):
            yield CompletionResponse(text=text[:end], delta=text[end - 1])

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        text = self.complete(prompt).text

        async def gen() -> AsyncIterator[CompletionResponse]:
            for end in range(1, len(text) + 1):
                yield CompletionResponse(text=text[:end], delta=text[end - 1])

        return gen()

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: list[ChatMessage] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages = list(chat_history or [])
        if user_msg is not None:
            messages.append(ChatMessage(role="user", content=user_msg) if isinstance(user_msg, str) else user_msg)
        return {"messages": messages}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return called(response.message)
