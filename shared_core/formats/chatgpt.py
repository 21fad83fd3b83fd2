"""ChatGPT's data export: the list of conversations in `conversations.json`.

A conversation is a tree of nodes (`mapping`), since answers can be regenerated and questions
edited. What the user last saw is the branch from `current_node` up through the parents; the other
branches are drafts and are not imported. Also left out, since nobody said them: hidden nodes, the
model's reasoning, custom instructions, and nodes without content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import Conversation, as_name, at, moment, to_message
from shared_core.formats.json_stream import Source
from shared_core.values import Message

_UNSPOKEN = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
_EXPECTED = "expected a ChatGPT conversation: an object with 'mapping', an object of nodes"


def read(source: Source) -> Iterator[Conversation]:
    """The conversations of an export, each named by its id, with the messages of its current branch."""
    for number, (where, value) in enumerate(source.items(), 1):
        with at(where):
            if not matches(value):
                raise InvalidInput(_EXPECTED)
            session = as_name(value.get("conversation_id")) or as_name(value.get("id"))
            session = session or f"{source.stem}-{number}"
            messages = tuple(_messages(value, session))
        yield Conversation(None, session, messages)


def matches(sample: Any) -> bool:
    """Whether a file's first item is a ChatGPT conversation.

    >>> matches({"title": "Tea", "mapping": {}}), matches({"role": "user"})
    (True, False)
    """
    return isinstance(sample, dict) and isinstance(sample.get("mapping"), dict)


def _messages(conversation: Mapping[str, Any], session: str) -> Iterator[Message]:
    mapping = conversation["mapping"]
    time = moment(conversation.get("create_time"))
    for position, key in enumerate(_branch(mapping, conversation.get("current_node"))):
        with at(f"node {key!r}"):
            message = mapping[key].get("message")
            fields = None if message is None else _fields(message)
            if fields is None:
                continue
            # Some nodes have no time. Without one the message would be dated to the import, after all others.
            time = fields["created_at"] or time
            named = {**fields, "created_at": time, "id": fields["id"] or as_name(key)}
            found = to_message(named, session, position)
        yield found


def _branch(mapping: Mapping[str, Any], current: Any) -> list[str]:
    """The keys of the current branch, from the root down.

    >>> _branch({"a": {}, "b": {"parent": "a"}, "c": {"parent": "a"}}, "c")
    ['a', 'c']
    """
    key = current if isinstance(current, str) and current in mapping else _latest_leaf(mapping)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key in mapping:
        if key in branch:
            raise InvalidInput(f"node {key!r} is its own ancestor; the conversation's tree is broken")
        if not isinstance(mapping[key], dict):
            raise InvalidInput(f"node {key!r}: expected an object with 'message' and 'parent'")
        branch[key] = None
        key = mapping[key].get("parent")
    return list(branch)[::-1]


def _latest_leaf(mapping: Mapping[str, Any]) -> str | None:
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    parents = {node["parent"] for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [key for key in mapping if key not in parents]
    return max(leaves, key=lambda key: _time_of(nodes.get(key)), default=None)


def _time_of(node: Any) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _fields(message: Any) -> dict[str, Any] | None:
    """The fields of a node's message; None if it was not said or holds nothing."""
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(author, dict):
        raise InvalidInput("expected a message with 'author' and 'content'")
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    content = None if hidden else _content(message.get("content"))
    if not content:
        return None
    return {
        "role": author.get("role"),
        "content": content,
        "id": as_name(message.get("id")),
        "name": as_name(author.get("name")),
        "created_at": moment(message.get("create_time")),
    }


def _content(content: Any) -> str | list[Any] | None:
    """Text where all is text, else content parts."""
    if content is None:
        return None
    if not isinstance(content, dict):
        raise InvalidInput(f"content is an object with 'content_type' and 'parts', not {type(content).__name__}")
    if content.get("content_type") in _UNSPOKEN:
        return None
    parts = content.get("parts")
    if parts is None:  # code and its output hold `text`, browsing holds `result`
        parts = [content.get("text") or content.get("result") or ""]
    if not isinstance(parts, list):
        raise InvalidInput(f"parts is a list, not {type(parts).__name__}")
    parts = [part for part in parts if part is not None and not (isinstance(part, str) and not part.strip())]
    if all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    return [_part(part) for part in parts]


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and "type" not in part:  # speech that was written down has a text of its own
        kind = "text" if isinstance(part.get("text"), str) else part.get("content_type", "unknown")
        return {**part, "type": kind}
    return part
