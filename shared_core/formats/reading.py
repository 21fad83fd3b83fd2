"""The formats by name, how a file's format is told, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats import (
    chatgpt,
    langchain_messages,
    langgraph_items,
    letta,
    llamaindex_store,
    locomo,
    mem0,
    openai_messages,
    zep,
)
from shared_core.formats.conversation import Conversation
from shared_core.formats.json_stream import Source
from shared_core.formats.told import Told


@dataclass(frozen=True)
class Format:
    """A format that can be imported: what it is, how it is told, how it is read."""

    about: str
    matches: Callable[[Any], bool]
    read: Callable[[Source], Iterator[Conversation]]


# In the order in which a file is tried, the most particular shape first.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "locomo": Format("LoCoMo and REALTALK samples with sessions", locomo.matches, locomo.read),
        "chatgpt": Format("conversations.json of a ChatGPT data export", chatgpt.matches, chatgpt.read),
        "langchain": Format(
            "LangChain message dicts (messages_to_dict): a list, JSONL, or lists by session",
            langchain_messages.matches,
            langchain_messages.read,
        ),
        "llamaindex": Format(
            "LlamaIndex chat stores (SimpleChatStore, ChatMemoryBuffer) as JSON",
            llamaindex_store.matches,
            llamaindex_store.read,
        ),
        "openai": Format(
            "messages with role and content: a list, {'messages': [...]}, or JSONL",
            openai_messages.matches,
            openai_messages.read,
        ),
    }
)


@dataclass(frozen=True)
class System:
    """Another memory system whose export can be imported: its memories, and conversations where it has them."""

    about: str
    matches: Callable[[Any], bool]
    read: Callable[[Source], Iterator[Conversation | Told]]


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "mem0": System("what mem0's get_all gives, as JSON", mem0.matches, mem0.read),
        "letta": System("a Letta agent file (.af), or archival passages as JSON", letta.matches, letta.read),
        "zep": System("edges (facts) of a Zep or Graphiti graph, as JSON", zep.matches, zep.read),
        "langgraph": System("items of a LangGraph store, as JSON", langgraph_items.matches, langgraph_items.read),
    }
)


def read_all(path: str | os.PathLike[str], format: str | None = None) -> Iterator[Conversation | Told]:
    """The conversations and memories of an export of either sort; `read` for any name in `FORMATS` or `SYSTEMS`."""
    if format is not None and format in FORMATS:
        return read(path, format)
    source = Source(Path(path))
    found = format or _detected(source)
    if found in FORMATS:
        return read(path, found)
    if found not in SYSTEMS:
        raise InvalidInput(f"unknown format {format!r}; known: {_listing()}")
    items = SYSTEMS[found].read(source)
    return (item for item in items if isinstance(item, Told) or item.messages)


def read(path: str | os.PathLike[str], format: str | None = None) -> Iterator[Conversation]:
    """The conversations of a chat export, one at a time; empty ones are left out.

    `format` is a key of `FORMATS`; by default it is told by `detect`. Never more than one item of
    the file (a conversation, or a message where the file is one conversation) is held in memory.

    Raises `InvalidInput` at once for a path or format that can't be read, and, while the
    conversations or their messages are iterated, for a fault in the file, naming its place.
    What came before the fault has then been handed out already. Raises `MissingExtra` if a JSON
    document is to be read and ijson is not installed; JSONL is read without it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "tea.jsonl")
    ...     _ = file.write_text('{"role": "user", "content": "I like green tea"}', encoding="utf-8")
    ...     [(each.session, [message.text for message in each.messages]) for each in read(file)]
    [('tea', ['I like green tea'])]
    """
    if format is not None and format not in FORMATS:
        raise InvalidInput(f"unknown format {format!r}; known: {_listing()}")
    source = Source(Path(path))
    found = format or _detected(source)
    if found not in FORMATS:
        raise InvalidInput(
            f"{source.name} looks like an export of {found}, which holds memories, not conversations only"
        )
    reader = FORMATS[found].read
    return (conversation for conversation in reader(source) if conversation.messages)


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format a file seems to have, told by its first item.

    Raises `InvalidInput`, listing the formats, if it looks like none of them.
    """
    return _detected(Source(Path(path)))


def _detected(source: Source) -> str:
    sample = source.peek()
    matching: dict[str, Callable[[Any], bool]] = {name: each.matches for name, each in SYSTEMS.items()}
    matching |= {name: each.matches for name, each in FORMATS.items()}
    for name, matches in matching.items():
        if matches(sample):
            return name
    raise InvalidInput(f"{source.name} looks like none of the known formats; name one of them: {_listing()}")


def _listing() -> str:
    about = {name: each.about for name, each in FORMATS.items()} | {name: each.about for name, each in SYSTEMS.items()}
    return "; ".join(f"{name} ({text})" for name, text in about.items())
