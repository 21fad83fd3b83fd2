"""Answers to questions: a LangChain agent whose memory is twinmem."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from examples.learning_assistant.errors import ModelFailed, NotConfigured
from examples.learning_assistant.explaining import Task, prompt
from examples.learning_assistant.scripted import ScriptedTutor
from examples.learning_assistant.student_memory import AGENT
from langchain_mem import TwinmemMiddleware
from shared_core import AgentMemory, Hit

_TURNS = 8  # of the conversation that the model sees; what is older is recalled
_TIMEOUT = 60.0  # seconds for an answer


@dataclass(frozen=True, slots=True)
class TutorContext:
    """What a run of the agent knows besides the messages: whose it is, and how to answer."""

    user_id: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, its id in the conversation, and the memories the model had."""

    text: str
    message_id: str
    memories: tuple[Hit, ...]


@dynamic_prompt
def _prompted(request: ModelRequest[TutorContext]) -> str:
    return request.runtime.context.prompt


class Tutor:
    """Answers questions with any chat model. The conversation lives in twinmem, so it survives a restart."""

    def __init__(self, memory: AgentMemory, model: BaseChatModel) -> None:
        self._memory = memory
        self.scripted = isinstance(model, ScriptedTutor)
        remembering: Any = TwinmemMiddleware(memory, agent=AGENT)
        self._agent: Any = create_agent(model, middleware=[_prompted, remembering], context_schema=TutorContext)

    def answer(self, user_id: str, session_id: str, question: str, task: Task) -> Reply:
        """The answer to a question; question and answer are kept in the session.

        Raises `ModelFailed` if the model can't be reached or refuses; the question is kept then.
        """
        session = self._memory.scope(user=user_id, agent=AGENT).session(session_id)
        asked = HumanMessage(question, id=f"question-{uuid4().hex}")
        context = TutorContext(user_id, prompt(task))
        config = {"configurable": {"thread_id": session_id}}
        try:
            given = {"messages": [*self._talk(session.window(max_turns=_TURNS)), asked]}
            said = self._agent.invoke(given, config, context=context)["messages"][-1]
        except _failures() as error:
            raise ModelFailed(f"the language model did not answer ({type(error).__name__}); try again") from error
        return Reply(said.text, said.id, tuple(session.trace(said.id)))

    @staticmethod
    def _talk(messages: Any) -> list[BaseMessage]:
        made = {"user": HumanMessage, "assistant": AIMessage}
        return [made[each.role](each.text, id=each.id) for each in messages if each.role in made and each.text]


def model_of(environment: Mapping[str, str] = os.environ) -> BaseChatModel:
    """The chat model the environment names (MODEL with OPENAI_API_KEY and, for other servers, OPENAI_BASE_URL).

    The scripted tutor where MODEL is not set. Raises `NotConfigured` for a MODEL that can't be asked.

    >>> type(model_of({})).__name__
    'ScriptedTutor'
    """
    name, key, url = (environment.get(each) or None for each in ("MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"))
    if name is None:
        return ScriptedTutor()
    if key is None and url is None:
        raise NotConfigured(f"MODEL is {name}, but neither OPENAI_API_KEY nor OPENAI_BASE_URL says where to ask it")
    from langchain_openai import ChatOpenAI  # slow to load, and not needed for the scripted tutor
    from pydantic import SecretStr

    return ChatOpenAI(model=name, base_url=url, api_key=SecretStr(key or "none"), timeout=_TIMEOUT, max_retries=1)


def _failures() -> tuple[type[Exception], ...]:
    """What the client of a model raises; none where it was never loaded."""
    import sys

    openai = sys.modules.get("openai")
    return () if openai is None else (openai.OpenAIError,)
