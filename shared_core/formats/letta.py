"""Letta (MemGPT): an agent file (`.af`), or the archival passages of an agent as JSON.

Of an agent file: the memory blocks, each a pinned memory of the type of its label; the messages, a
conversation for each agent; passages where there are any. The base instructions are no part of a
conversation. In files of MemGPT's time the user's words are wrapped in JSON and the assistant speaks
through a tool, `send_message`: both are read as what was said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import Conversation, as_name, at, moment, to_message
from shared_core.formats.json_stream import Source
from shared_core.formats.told import Told, identity, needed, without_nothing
from shared_core.values import Message

_SPEAKS = "send_message"
_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "approval": "assistant"}  # system: instructions


def matches(sample: Any) -> bool:
    """Whether a file's first item is an agent file, or an archival passage.

    >>> matches({"agents": [], "blocks": []}), matches({"core_memory": [], "messages": []})
    (True, True)
    >>> matches([{"id": "passage-1", "text": "likes tea"}]), matches({"text": "likes tea"})
    (True, False)
    """
    if isinstance(sample, list):
        return bool(sample) and matches(sample[0])
    if not isinstance(sample, dict):
        return False
    if isinstance(sample.get("agents"), list) and isinstance(sample.get("blocks"), list):
        return True
    return isinstance(sample.get("core_memory"), list) or _is_passage(sample)


def _is_passage(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("text"), str) and str(value.get("id", "")).startswith("passage-")


def read(source: Source) -> Iterator[Conversation | Told]:
    """The conversations and memories of a file."""
    for where, value in source.items():
        with at(where):
            if not isinstance(value, dict):
                raise InvalidInput("expected an agent file, or archival passages")
            found: list[Conversation | Told] = []
            found += [_passage(value)] if _is_passage(value) else _agent_file(value, source.stem)
        yield from found


def _agent_file(value: Mapping[str, Any], stem: str) -> Iterator[Conversation | Told]:
    agents = value["agents"] if isinstance(value.get("agents"), list) else [value]
    for number, block in enumerate(_list(value, "blocks", "core_memory"), 1):
        with at(f"block {number}"):
            if isinstance(block, dict) and isinstance(block.get("value"), str) and block["value"].strip():
                yield _block(block, stem)
    for number, passage in enumerate(_list(value, "passages", "archival_memory"), 1):
        with at(f"passage {number}"):
            if not isinstance(passage, dict):
                raise InvalidInput("expected a passage with 'id' and 'text'")
            yield _passage(passage)
    for number, agent in enumerate(agents, 1):
        with at(f"agent {number}"):
            if not isinstance(agent, dict):
                raise InvalidInput("expected an agent with 'name' and 'messages'")
            name = as_name(agent.get("name")) or stem
            yield Conversation(None, name, tuple(_messages(_list(agent, "messages"), name)))


def _list(value: Mapping[str, Any], *keys: str) -> list[Any]:
    """The list under the first of these keys that is there."""
    for key in keys:
        found = value.get(key)
        if found is not None:
            if not isinstance(found, list):
                raise InvalidInput(f"{key} is a list, not {type(found).__name__}")
            return found
    return []


def _dict(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return next((found for key in keys if isinstance(found := value.get(key), dict)), {})


def _block(value: Mapping[str, Any], stem: str) -> Told:
    label = as_name(value.get("label")) or "memory"
    about = without_nothing(label=label, description=value.get("description"))
    return Told(
        id=f"letta:{stem}/block/{label}", text=value["value"], type=label, pinned=True,
        metadata={**_dict(value, "metadata"), "letta": about}, created_at=moment(value.get("created_at")),
        updated_at=moment(value.get("updated_at")), source="assistant" if label == "persona" else "import",
    )  # fmt: skip


def _passage(value: Mapping[str, Any]) -> Told:
    what = "an archival passage"
    about = without_nothing(archive=value.get("archive_id"), tags=value.get("tags"))
    return Told(
        id=f"letta:{identity(value, 'id', what=what)}", text=needed(value, "text", what),
        metadata={**_dict(value, "metadata", "metadata_"), **({"letta": about} if about else {})},
        created_at=moment(value.get("created_at")), updated_at=moment(value.get("updated_at")),
    )  # fmt: skip


# ---------------------------------------------------------------------- messages


def _messages(values: Iterable[Any], session: str) -> Iterator[Message]:
    silent: set[str] = set()  # calls that were speech; their results say nothing
    for position, value in enumerate(values):
        with at(f"message {position + 1}"):
            if not isinstance(value, dict):
                raise InvalidInput("expected an object with 'role' and 'content'")
            fields = _fields(value, silent)
            message = None if fields is None else to_message(fields, session, position)
        if message is not None:
            yield message


def _fields(value: Mapping[str, Any], silent: set[str]) -> dict[str, Any] | None:
    role = _ROLES.get(str(value.get("role")))
    call = as_name(value.get("tool_call_id"))
    if role is None or (role == "tool" and call in silent):
        return None
    said: str | None = _said(value.get("content"))
    calls = []
    for each in _list(value, "tool_calls"):
        speech = _speech(each)
        if speech is None:
            calls.append(each)
        else:
            silent.add(str(each.get("id")))
            said = "\n".join(filter(None, [said if role != "assistant" else "", speech]))
    if role == "user" and said is not None:
        said = _unwrapped(said)
    if said is None or not (said or calls):
        return None
    # An id such as "message-0" is one of its file only.
    own = as_name(value.get("id"))
    return {
        "role": role, "content": said, "id": None if own is None or own[8:].isdigit() else own,
        "created_at": moment(value.get("created_at")), "tool_calls": calls,
        "tool_call_id": call if role == "tool" else None,
    }  # fmt: skip


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))


def _speech(call: Any) -> str | None:
    """What a call of the speaking tool says; None for any other."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or function.get("name") != _SPEAKS:
        return None
    arguments = _object(function.get("arguments"))
    return str(arguments.get("message", ""))


def _unwrapped(text: str) -> str | None:
    """The user's own words; None for what the system said in their name."""
    wrapped = _object(text)
    if "type" not in wrapped or not text.lstrip().startswith("{"):
        return text
    return str(wrapped.get("message", "")) if wrapped["type"] == "user_message" else None


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}
