"""What a long conversation would lose when it is summarised (reference 1.7, section 5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_mem import TwinmemSummarizer
from shared_core import AgentMemory
from shared_core.errors import InvalidType, LLMRequired


class Noting:
    def __init__(self, *answers: Any) -> None:
        self.answers, self.prompts = list(answers), []  # type: ignore[var-annotated]

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)


def conversation(llm: Any, turns: int) -> tuple[Any, Any]:
    from langchain_core.language_models import FakeMessagesListChatModel

    model = FakeMessagesListChatModel(responses=[AIMessage(f"answer {i}") for i in range(turns)])
    summaries = SummarizationMiddleware(
        FakeListChatModel(responses=["never"]), trigger=("messages", 4), keep=("messages", 1),
        summarizer=TwinmemSummarizer(llm=llm),
    )  # fmt: skip
    agent = create_agent(model, middleware=[summaries], checkpointer=InMemorySaver())
    return agent, {"configurable": {"thread_id": "t"}}


def test_lc_s5_16_the_next_summary_builds_on_the_last_and_the_newest_turn_stays_verbatim() -> None:
    llm = Noting("First summary.", "Second summary.")
    agent, config = conversation(llm, 6)
    for i in range(4):
        result = agent.invoke({"messages": [HumanMessage(f"question {i}")]}, config)
        assert any(m.text == f"question {i}" for m in result["messages"])
    assert len(llm.prompts) == 2
    assert "question 0" in llm.prompts[0]
    assert "First summary." in llm.prompts[1]
    assert "carried on" in llm.prompts[1]
    assert "carried on" not in llm.prompts[0]


def test_lc_s5_15_a_failed_summary_is_an_error_and_the_conversation_stays() -> None:
    agent, config = conversation(Noting(RuntimeError("no model")), 6)
    for i in range(2):
        agent.invoke({"messages": [HumanMessage(f"question {i}")]}, config)
    with pytest.raises(RuntimeError, match="no model"):
        agent.invoke({"messages": [HumanMessage("question 2")]}, config)
    assert [m.text for m in agent.get_state(config).values["messages"]] == [
        "question 0", "answer 0", "question 1", "answer 1", "question 2",
    ]  # fmt: skip


def test_lc_s5_15_tool_calls_and_results_are_summarised_together() -> None:
    llm = Noting("ok")
    calls: Any = [{"name": "weather", "args": {"city": c}, "id": c, "type": "tool_call"} for c in ("Lyon", "Paris")]
    talk = [
        AIMessage("", tool_calls=calls),
        ToolMessage("sunny", tool_call_id="Lyon"),
        ToolMessage("rain", tool_call_id="Paris"),
    ]
    TwinmemSummarizer(llm=llm).invoke(talk)
    for word in ("weather", "Lyon", "Paris", "sunny", "rain"):
        assert word in llm.prompts[0]


def test_lc_s5_26_images_are_named_and_not_copied() -> None:
    llm = Noting("ok")
    image = {"type": "image", "base64": "A" * 100_000, "mime_type": "image/png"}
    TwinmemSummarizer(llm=llm).invoke([HumanMessage([{"type": "text", "text": "look"}, image])])
    assert "look [image]" in llm.prompts[0]
    assert len(llm.prompts[0]) < 2_000


def test_a_chinese_conversation_is_summarised_in_chinese() -> None:
    llm = Noting("好")
    TwinmemSummarizer(llm=llm).invoke([HumanMessage("我住在里昂，喜欢喝绿茶")])
    assert "总结" in llm.prompts[0]
    assert "用户: 我住在里昂" in llm.prompts[0]


def test_braces_in_a_conversation_are_only_text() -> None:
    llm = Noting("ok")
    TwinmemSummarizer(llm=llm).invoke([HumanMessage("use {name} and {{x}} %s")])
    assert "use {name} and {{x}} %s" in llm.prompts[0]


@pytest.mark.parametrize("way", ["chat model", "callable", "the memory's"])
def test_the_model_sync_and_async(way: str) -> None:
    model: Any = FakeListChatModel(responses=[" They spoke. "] * 2)
    if way == "the memory's":
        from langchain_mem import as_llm

        summarize = TwinmemSummarizer(AgentMemory.open(embedder="hashing", llm=as_llm(model)))
    else:
        summarize = TwinmemSummarizer(llm=model if way == "chat model" else lambda prompt: " They spoke. ")
    talk = [HumanMessage("hi")]
    assert summarize.invoke(talk) == asyncio.run(summarize.ainvoke(talk)) == "They spoke."


def test_without_a_model_it_says_so_at_once() -> None:
    for memory in (None, AgentMemory.open(embedder="hashing")):
        with pytest.raises(LLMRequired):
            TwinmemSummarizer(memory)
    with pytest.raises(InvalidType):
        TwinmemSummarizer(llm="gpt")
