"""Handles in a new process: they find their embedder and LLM through `AgentMemory.register`, or say so.

The memory is embedded by a model of the framework, which no file can hold; a new process has to be told.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context, JsonSerializer

import langchain_mem
from langchain_mem import TwinmemChatMessageHistory
from llamaindex_mem import TwinmemMemory, TwinmemVectorStore
from shared_core import AgentMemory
from shared_core.errors import EmbedderMismatch, InvalidType, UnregisteredHandle

Python = Callable[..., str]

REGISTER = """
import json, pickle, sys
from shared_core import AgentMemory
path, registered, given = sys.argv[1:]
if registered == "registered":
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.language_models import FakeListChatModel
    from langchain_mem import as_embedder, as_llm
    AgentMemory.register(path, lambda: {
        "embedder": as_embedder(DeterministicFakeEmbedding(size=6)),
        "llm": as_llm(FakeListChatModel(responses=["from the model"])),
    })
def told(what):
    try:
        print(json.dumps(["ok", what()]))
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""

LANGCHAIN = """
from langchain_mem import TwinmemChatMessageHistory, TwinmemRetriever, TwinmemVectorStore
history = TwinmemChatMessageHistory("monday", user="alice", address=path)
told(lambda: [message.text for message in history.messages])
told(lambda: TwinmemRetriever(address=path, user="alice", k=1).invoke("I like green tea")[0].page_content)
told(lambda: history.add_user_message("from the other process"))
told(lambda: TwinmemVectorStore(path, user="alice").similarity_search("a red bike", k=1)[0].page_content)
told(lambda: history.session.scope.session("monday") and AgentMemory.restore(path).llm("?"))
"""

LLAMAINDEX = """
from llama_index.core.llms import ChatMessage
from llamaindex_mem import TwinmemRetriever
memory, nodes = pickle.loads(bytes.fromhex(given))
retriever = TwinmemRetriever(address=path, user="alice", k=1)
told(lambda: [message.content for message in memory.get_all()])
told(lambda: retriever.retrieve("I like green tea")[0].text)
told(lambda: memory.put(ChatMessage(role="user", content="from the other process")))
told(lambda: "".join(message.content for message in memory.get("I like green tea")).count("I like green tea"))
told(lambda: nodes.client is not None and AgentMemory.restore(path).llm("?"))
"""


@pytest.fixture
def filled(path: Path) -> str:
    embedder = langchain_mem.as_embedder(DeterministicFakeEmbedding(size=6))
    with AgentMemory.open(path, embedder=embedder) as memory:
        memory.scope(user="alice").add("I like green tea")
        TwinmemChatMessageHistory("monday", user="alice", memory=memory).add_messages([HumanMessage("Hello")])
        langchain_mem.TwinmemVectorStore(memory, user="alice").add_texts(["a red bike"])
    return str(path)


def handles(path: str) -> str:
    """LlamaIndex handles, serialised; nothing is embedded by making them."""
    memory = TwinmemMemory.from_defaults(address=path, user="alice", session_id="monday")
    return pickle.dumps((memory, TwinmemVectorStore(address=path, user="alice"))).hex()


def lines(text: str) -> list[list[object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("adapter", ["langchain", "llamaindex"])
def test_a_registered_handle_works_in_a_new_process(filled: str, python: Python, adapter: str) -> None:
    script = REGISTER + (LANGCHAIN if adapter == "langchain" else LLAMAINDEX)
    found = lines(python(script, filled, "registered", handles(filled)))
    fourth = "a red bike" if adapter == "langchain" else 1
    assert found == [
        ["ok", ["Hello"]],
        ["ok", "I like green tea"],
        ["ok", None],
        ["ok", fourth],
        ["ok", "from the model"],
    ]


@pytest.mark.parametrize("adapter", ["langchain", "llamaindex"])
def test_an_unregistered_handle_gives_its_history_and_names_what_is_missing(
    filled: str, python: Python, adapter: str
) -> None:
    script = REGISTER + (LANGCHAIN if adapter == "langchain" else LLAMAINDEX)
    found = lines(python(script, filled, "not", handles(filled)))
    assert found[0] == ["ok", ["Hello"]]
    for kind, text in found[1:4]:
        assert kind == "UnregisteredHandle"
        assert "DeterministicFakeEmbedding" in str(text), "the embedder it was written with"
        assert f"AgentMemory.register({filled!r}" in str(text)
        assert "reembed()" in str(text)
    with AgentMemory.open(filled, embedder=langchain_mem.as_embedder(DeterministicFakeEmbedding(size=6))) as memory:
        assert len(memory.scope(user="alice").session("monday").messages()) == 1, "nothing half written"


async def test_a_context_of_an_agent_is_restored_in_a_new_process(path: Path, python: Python) -> None:
    """What a service keeps between two requests: the context of an agent, as JSON."""
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    with AgentMemory.open(path, embedder="hashing") as core:
        agent = FunctionAgent(llm=MockFunctionCallingLLM())
        context = Context(agent)
        memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="monday")
        await agent.run(user_msg="I live in Lyon", ctx=context, memory=memory)
        kept = context.to_dict(serializer=JsonSerializer())
    script = """
import asyncio, json, sys
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context
from shared_core import AgentMemory
AgentMemory.register(sys.argv[1], lambda: {"embedder": "hashing"})
async def main():
    agent = FunctionAgent(llm=MockFunctionCallingLLM())
    context = Context.from_dict(agent, json.loads(sys.argv[2]))
    await agent.run(user_msg="Where do I live?", ctx=context)
    memory = await context.store.get("memory")
    print(type(memory).__name__, len(await memory.aget_all()))
asyncio.run(main())
"""
    assert python(script, path, json.dumps(kept)).split() == ["TwinmemMemory", "4"]


def test_a_registration_that_gives_no_options_is_named(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("tea")
    for wrong, named in ((None, "NoneType"), ({"embeder": "hashing"}, "embeder"), (["hashing"], "list")):
        AgentMemory.register(path, lambda wrong=wrong: wrong)  # type: ignore[misc]
        with pytest.raises(InvalidType, match=f"{named}.*embedder"):
            TwinmemMemory.from_defaults(address=str(path), user="alice")
        with pytest.raises(InvalidType, match=f"{named}.*embedder"):
            TwinmemChatMessageHistory("s", user="alice", address=path)
    AgentMemory.register(path, lambda: {"embedder": "hashing"})
    assert TwinmemMemory.from_defaults(address=str(path), user="alice").get("tea")


def test_the_error_is_one_a_program_can_catch() -> None:
    assert issubclass(UnregisteredHandle, EmbedderMismatch)
    assert issubclass(UnregisteredHandle, LookupError)
    assert ChatMessage  # the adapters' errors are the core's own, of no framework
