"""A tutor without a language model: it reads out the lesson it is given, and says that it is scripted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from examples.learning_assistant.explaining import CLOSE, OPEN
from examples.learning_assistant.learner import Language
from examples.learning_assistant.words import language_of

LABEL: Final[dict[Language, str]] = {
    "en": "[Scripted tutor: no language model is connected]",
    "zh": "[脚本老师：没有连接语言模型]",
}
_NO_LESSON: Final[dict[Language, str]] = {
    "en": "The course has no lesson on this. With a language model (MODEL, OPENAI_API_KEY) you would get an answer here.",
    "zh": "课程里没有这方面的内容。连接语言模型（MODEL、OPENAI_API_KEY）后，这里会有回答。",
}


class ScriptedTutor(BaseChatModel):
    """Gives the material of the lesson in its system message, fitted to the student already, under a label."""

    @property
    def _llm_type(self) -> str:
        return "scripted-tutor"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        return ChatResult(generations=[ChatGeneration(message=AIMessage(_reply(messages)))])


def _reply(messages: Sequence[BaseMessage]) -> str:
    system = "\n".join(message.text for message in messages if isinstance(message, SystemMessage))
    language = language_of(messages[-1].text, language_of(system))
    _, opened, rest = system.partition(f"{OPEN}\n")
    told = rest.partition(f"\n{CLOSE}")[0] if opened else _NO_LESSON[language]
    return f"{LABEL[language]}\n{told}"
