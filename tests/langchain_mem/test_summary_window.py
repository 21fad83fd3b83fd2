"""A summary that a window shows is no user's turn to LangChain, and is not stored when it comes back (A4)."""

from __future__ import annotations

from langchain_core.messages import HumanMessage, SystemMessage

from langchain_mem import TwinmemChatMessageHistory, TwinmemSummarizer
from langchain_mem.messages import from_core, to_core
from shared_core import AgentMemory
from shared_core.short_term import summary
from shared_core.testing import ScriptedLLM


def test_a4_a_history_shows_no_summary_and_takes_none_in() -> None:
    settings = {"window": {"policy": "summary"}}
    with AgentMemory.open(embedder="hashing", settings=settings) as memory:
        history = TwinmemChatMessageHistory("monday", user="alice", memory=memory)
        history.add_messages([HumanMessage(f"Remember number {n}00.", id=f"h{n}") for n in range(25)])
        window = [from_core(message) for message in history.session.window()]
        assert isinstance(window[0], SystemMessage)
        assert "Remember number 000." in window[0].text
        assert all(isinstance(message, HumanMessage) for message in window[1:])
        assert len(history.messages) == 25
        history.add_messages(window)
        assert [message.text for message in history.messages] == [f"Remember number {n}00." for n in range(25)]
        assert summary.is_shown(to_core(window[0]))


def test_a4_the_middlewares_summarizer_asks_what_a_session_asks() -> None:
    answer = '{"key_info": ["Lives in Oslo"], "decisions": ["Use Redis"]}'
    told = "I live in Oslo, and we decided to use Redis"
    for_middleware, for_session = ScriptedLLM([answer]), ScriptedLLM([answer])
    text = TwinmemSummarizer(llm=for_middleware).invoke([HumanMessage(told)])
    settings = {"facts": {"llm": "never"}}
    with AgentMemory.open(embedder="hashing", llm=for_session, settings=settings) as memory:
        chat = memory.scope(user="alice").session("monday")
        chat.add_messages([{"role": "user", "content": told}, {"role": "user", "content": "And now?"}])
        assert chat.summarise(keep_turns=1) == text == "Key information:\n- Lives in Oslo\nDecisions:\n- Use Redis"
    mine, theirs = for_middleware.prompts[0], for_session.prompts[0]
    assert mine == theirs.replace(" At most 500 characters in all.", "")
