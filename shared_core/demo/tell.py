"""`python -m shared_core.demo.tell PATH`: the story through LangChain, one JSON line a conversation.

The chat model is a script: the story holds its answers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from shared_core.demo.story import Chat, story
from shared_core.memory import AgentMemory


class StoryClock:
    """Time as the story tells it: each look at the clock is a few seconds later."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=5)
        return self.now


def tell(path: str) -> Iterator[dict[str, Any]]:
    """Hold every conversation, and give what each was as it ends."""
    told, clock = story(), StoryClock()
    with AgentMemory.open(path, clock=clock) as memory:
        for chat in told.chats:
            clock.now = chat.at
            count = _hold(chat, memory, told.user)
            first = next(message["user"] for message in chat.messages if "user" in message)
            yield {"session": chat.id, "at": chat.at.isoformat(), "messages": count, "first": first}


def _hold(chat: Chat, memory: AgentMemory, user: str) -> int:
    """One conversation, as an agent's loop holds it: the model answers, or calls a tool and answers then."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    from langchain_mem import TwinmemChatMessageHistory

    answers = [
        AIMessage(message.get("assistant", ""), tool_calls=[message["call"]] if "call" in message else [])
        for message in chat.messages
        if "assistant" in message or "call" in message
    ]
    results = iter([message for message in chat.messages if "tool" in message])
    model = GenericFakeChatModel(messages=iter(answers))
    history = TwinmemChatMessageHistory(chat.id, user=user, memory=memory)
    for message in chat.messages:
        if "user" not in message:
            continue
        history.add_messages([HumanMessage(message["user"])])
        reply = model.invoke(history.messages)
        history.add_messages([reply])
        while isinstance(reply, AIMessage) and reply.tool_calls:
            result = next(results)
            history.add_messages([ToolMessage(result["tool"], tool_call_id=result["id"])])
            reply = model.invoke(history.messages)
            history.add_messages([reply])
    return len(history.messages)


if __name__ == "__main__":
    for line in tell(sys.argv[1]):
        print(json.dumps({"pid": os.getpid(), **line}), flush=True)
