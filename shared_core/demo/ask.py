"""`python -m shared_core.demo.ask PATH`: the questions to a LlamaIndex chat engine, one JSON line each.

Every question opens a new conversation, so whatever the engine knows comes out of the file. Its
model answers nothing but keeps its prompt: what is in the prompt is what a real model would know.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from shared_core.demo.story import Question, story
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.short_term.tokens import count
from shared_core.values import Hit

_LOOKED_AT = 50  # records in which those of the prompt are found again
_REPLY = "Noted."  # says nothing, so that it can't be what a later question recalls


def ask(path: str) -> Iterator[dict[str, Any]]:
    """Ask every question, and give what was recalled for it, the prompt, and what both cost."""
    told = story()
    with AgentMemory.open(path) as memory:
        scope = memory.scope(user=told.user)
        whole = sum(count(message.text) for name in scope.sessions() for message in scope.session(name).messages())
        for number, question in enumerate(told.questions, 1):
            yield _asked(memory, scope, question, f"question-{number}", whole)


def _asked(memory: AgentMemory, scope: Scope, question: Question, session: str, whole: int) -> dict[str, Any]:
    from llama_index.core.chat_engine import SimpleChatEngine

    from llamaindex_mem import TwinmemMemory

    llm = _recorder()
    chat = TwinmemMemory.from_defaults(memory=memory, user=scope.user, session_id=session)
    # What the engine's memory recalls stands in the prompt, but not why; a search over the same state says so.
    known = scope.search(question.ask, k=_LOOKED_AT, explain=True)
    SimpleChatEngine.from_defaults(llm=llm, memory=chat).chat(question.ask)
    prompt = [str(message.content or "") for message in llm.prompts[-1]]
    text = "\n".join(prompt)
    recalled = sorted(
        (hit for hit in known if hit.record.text.strip() and hit.record.text in text),
        key=lambda hit: text.index(hit.record.text),
    )
    return {
        "question": question.ask,
        "note": question.note,
        "expect": question.expect,
        "means": question.means,
        "found": question.expect in text,
        "prompt_tokens": sum(count(part) for part in prompt),
        "history_tokens": whole + count(question.ask),
        "recalled": [_hit(hit, question.expect) for hit in recalled],
        "prompt": prompt,
    }


def _hit(hit: Hit, expect: str) -> dict[str, Any]:
    text, score = hit.record.text, hit.parts["score"]  # its own, not the one shown at its place in a list
    return {"text": text, "score": score, "reason": hit.reason, "id": hit.record.id, "answers": expect in text}


def _recorder() -> Any:
    """A LlamaIndex model that keeps its prompts; the class is made here since its base is imported late."""
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.mock import MockLLM
    from pydantic import PrivateAttr

    class Recorder(MockLLM):
        _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

        @property
        def prompts(self) -> list[list[ChatMessage]]:
            return self._prompts

        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            self._prompts.append(list(messages))
            return ChatResponse(message=ChatMessage(role="assistant", content=_REPLY))

    return Recorder(max_tokens=None)


if __name__ == "__main__":
    for line in ask(sys.argv[1]):
        print(json.dumps({"pid": os.getpid(), **line}), flush=True)
