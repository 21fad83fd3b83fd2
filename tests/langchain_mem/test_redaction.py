"""Private data a LangChain agent brings in (E1): its messages, tool calls and store values."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_mem import TwinmemChatMessageHistory, TwinmemStore, TwinmemVectorStore
from shared_core import AgentMemory

pytest.importorskip("phonenumbers")
pytest.importorskip("cryptography")

EMAIL, PASSWORD = "zoe.canary@example.com", "Kanarie77x"


@pytest.mark.parametrize("mode", ["mask", "vault"])
def test_e1_history_store_and_documents_are_redacted_and_still_found(mode: str) -> None:
    with AgentMemory.open(embedder="hashing", settings={"redaction": {"mode": mode}}) as memory:
        call = {
            "name": "login",
            "args": {"password": PASSWORD, "note": f"邮箱{EMAIL}"},
            "id": "c1",
            "type": "tool_call",
        }
        chat = TwinmemChatMessageHistory("s", user="zoe", memory=memory)
        chat.add_messages([
            HumanMessage(f"My mail is {EMAIL}", id="13800138000"), AIMessage("", tool_calls=[call]),
            ToolMessage(f"密码是{PASSWORD}", tool_call_id="c1"),
        ])  # fmt: skip
        said = chat.messages
        assert said[0].id == "13800138000"
        assert said[1].tool_calls[0]["id"] == "c1"
        assert said[1].tool_calls[0]["args"]["password"].startswith("[password")
        store = TwinmemStore(memory)
        store.put(("memories", "zoe"), "k", {"text": f"Bob is {EMAIL}", "password": PASSWORD})
        assert [item.key for item in store.search(("memories", "zoe"), query=f"Who is {EMAIL}?")] == ["k"]
        documents = TwinmemVectorStore(memory=memory, user="zoe")
        documents.add_texts([f"Ann's login: {EMAIL}, password: {PASSWORD}"], metadatas=[{"from": EMAIL}])
        assert documents.similarity_search(f"Ann's login: {EMAIL}", k=1)[0].metadata["from"].startswith("[email")
        everything = repr([said, store.search(("memories",)), documents.similarity_search("login", k=9)])
        assert EMAIL not in everything
        assert PASSWORD not in everything
        if mode == "vault":
            assert memory.scope(user="zoe").reveal(str(said[0].content)) == f"My mail is {EMAIL}"
