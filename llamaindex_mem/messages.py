"""LlamaIndex messages as the core keeps them, and back.

A stored message has two forms. The neutral one (role, content, tool calls) is what search, windows
and the other framework read. Beside it `payload["llamaindex"]` holds LlamaIndex's own fields, so
that a message comes back just as it was put. A message another framework wrote has no such
payload and is built from the neutral form.

Writing never fails on an odd value and reading never fails on a bad row: a block that can't be
read (its image file is gone, or a newer LlamaIndex wrote it) becomes a text that says so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from llama_index.core.base.llms import types as li
from llama_index.core.base.llms.types import AudioBlock, ChatMessage, DocumentBlock, ImageBlock, MessageRole, TextBlock
from pydantic import BaseModel, PrivateAttr, TypeAdapter

from llamaindex_mem.packing import fields, pack, plain, unpack
from shared_core import Message

PAYLOAD = "llamaindex"
"""The name of LlamaIndex's own form in `Message.payload`."""

_ROLES = {"developer": "system", "function": "tool", "chatbot": "assistant", "model": "assistant"}
# Newer than llama-index-core 0.13; None where this version has none.
_ThinkingBlock: Any = getattr(li, "ThinkingBlock", None)
_ToolCallBlock: Any = getattr(li, "ToolCallBlock", None)
_VideoBlock: Any = getattr(li, "VideoBlock", None)

logger = logging.getLogger(__name__)


class RecalledMessage(ChatMessage):
    """A message of `TwinmemMemory.get` with memories in it; it knows what it was before.

    So a caller may hand what it got back to `set` or `put`: what was said is stored, the memories
    are not. `None` is a message that holds nothing but memories.
    """

    _said: ChatMessage | None = PrivateAttr(default=None)


def said(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """The messages without what recall put into them.

    Raises `TypeError` for anything that is no `ChatMessage`, before anything is stored.
    """
    found: list[ChatMessage] = []
    for message in messages:
        if not isinstance(message, ChatMessage):
            raise TypeError(f"a message is a llama_index ChatMessage, not {type(message).__name__}")
        original = message._said if isinstance(message, RecalledMessage) else message
        if original is not None:
            found.append(original)
    return found


# ---------------------------------------------------------------------- writing


def encode(message: ChatMessage) -> Message:
    """A `ChatMessage` as the core keeps it; never fails for what is in its free dicts."""
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != "images"}  # blocks hold those
    packed = pack(kwargs)
    role = str(MessageRole(message.role).value)
    neutral = _ROLES.get(role, role)
    name, answers = kwargs.get("name"), kwargs.get("tool_call_id")
    return Message.model_construct(
        role=neutral,
        content=_content(message.blocks),
        name=name if isinstance(name, str) and name.strip() else None,
        tool_calls=tuple(_tool_calls(message.blocks, plain(packed))),
        tool_call_id=answers if neutral == "tool" and isinstance(answers, str) else None,
        payload={
            PAYLOAD: {
                "role": role,
                "additional_kwargs": packed,
                "blocks": [_packed_block(block) for block in message.blocks],
            }
        },
    )


def _packed_block(block: BaseModel) -> dict[str, Any]:
    """The fields of a block, without those that say nothing."""
    packed: dict[str, Any] = {}
    for name, value in fields(block).items():
        if value is None:
            continue
        if isinstance(value, list):
            packed[name] = [_packed_block(part) if isinstance(part, BaseModel) else pack(part) for part in value]
        elif isinstance(value, BaseModel):
            packed[name] = _packed_block(value)
        elif isinstance(value, bytes) and value.isascii():
            packed[name] = value.decode("ascii")  # base64 already; a validator takes it as text too
        else:
            packed[name] = pack(value)
    return packed


def _content(blocks: Iterable[Any]) -> Any:
    parts = list(_parts(blocks))
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return parts or None


def _parts(blocks: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The content in the form the frameworks share: parts with a `type`."""
    for block in blocks:
        if isinstance(block, TextBlock):
            yield {"type": "text", "text": block.text}
        elif isinstance(block, ImageBlock):
            yield _media("image", block.image, block, block.image_mimetype)
        elif isinstance(block, AudioBlock):
            yield _media("audio", block.audio, block, f"audio/{block.format}" if block.format else None)
        elif isinstance(block, DocumentBlock):
            yield _media("file", block.data, block, block.document_mimetype)
        elif _VideoBlock is not None and isinstance(block, _VideoBlock):
            yield _media("video", block.video, block, block.video_mimetype)
        elif _ThinkingBlock is not None and isinstance(block, _ThinkingBlock):
            yield {"type": "reasoning", "reasoning": block.content or ""}
        elif isinstance(nested := getattr(block, "content", None), list):  # citable
            yield from _parts(nested)
        elif (cited := getattr(block, "cited_content", None)) is not None:
            yield from _parts([cited])


def _media(kind: str, data: Any, block: Any, mime_type: str | None) -> dict[str, Any]:
    part: dict[str, Any] = {"type": kind}
    if mime_type:
        part["mime_type"] = mime_type
    if data:
        # A block holds bytes as base64 already; a stream it holds as it is.
        part["base64"] = data.decode("ascii") if isinstance(data, bytes) and data.isascii() else plain(pack(data))
    elif block.url is not None:
        part["url"] = str(block.url)
    elif block.path is not None:
        part["url"] = Path(block.path).absolute().as_uri()
    return part


def _tool_calls(blocks: Iterable[Any], kwargs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The calls of a message, each once, whichever of LlamaIndex's three places it stands in."""
    seen: set[str] = set()
    for block in blocks:
        if _ToolCallBlock is not None and isinstance(block, _ToolCallBlock):
            seen.add(block.tool_call_id or "")
            yield _call(block.tool_call_id, block.tool_name, plain(pack(block.tool_kwargs)))
    calls = kwargs.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and (read := _read_call(call)) is not None and (read["id"] or "") not in seen:
            yield read
    legacy = kwargs.get("function_call")
    if isinstance(legacy, dict) and not seen and not calls and (read := _read_call(legacy)) is not None:
        yield read


def _read_call(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """A call in a provider's form: OpenAI nests it, Anthropic says `input`, LlamaIndex `tool_name`."""
    inner = call.get("function")
    inner = inner if isinstance(inner, Mapping) else call
    name = inner.get("name") or call.get("tool_name")
    arguments = next((each[key] for each, key in _arguments(inner, call) if key in each), None)
    return _call(call.get("id") or call.get("tool_id"), name, arguments) if isinstance(name, str) else None


def _arguments(inner: Mapping[str, Any], call: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str]]:
    return [(inner, "arguments"), (inner, "args"), (inner, "input"), (call, "tool_kwargs")]


def _call(id: Any, name: str, arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except ValueError:
            read = None
        arguments = read if isinstance(read, dict) else arguments
    return {"id": id if isinstance(id, str) else None, "name": name, "args": {} if arguments is None else arguments}


# ---------------------------------------------------------------------- reading


def decode(message: Message) -> ChatMessage:
    """A stored message as LlamaIndex has it: its own form where there is one, else a faithful one."""
    own = (message.payload or {}).get(PAYLOAD)
    if isinstance(own, dict):
        try:
            return _own(own, message)
        except (ValueError, TypeError, AttributeError, LookupError):
            logger.warning("a stored LlamaIndex message could not be read; its neutral form is given", exc_info=True)
    return _foreign(message)


def _own(own: Mapping[str, Any], message: Message) -> ChatMessage:
    kwargs = unpack(own.get("additional_kwargs") or {})
    kwargs.pop("images", None)
    blocks = list(own.get("blocks") or ())
    # What a newer core wrote: calls go where an older one looks for them, thinking it has no place for.
    kinds = {"tool_call": _ToolCallBlock, "thinking": _ThinkingBlock}
    unknown = {kind for kind, known in kinds.items() if known is None}
    if "tool_call" in unknown and any(block.get("block_type") == "tool_call" for block in blocks):
        kwargs.setdefault("tool_calls", [_openai_call(call) for call in message.tool_calls])
    return ChatMessage(
        role=MessageRole(own["role"]),
        blocks=[_block(block) for block in blocks if block.get("block_type") not in unknown],
        additional_kwargs=kwargs,
    )


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(li.ContentBlock)


def _block(packed: Any) -> Any:
    try:
        return _adapter().validate_python(unpack(packed))
    except (ValueError, TypeError, OSError):
        return TextBlock(text=_placeholder(packed))


def _placeholder(packed: Any) -> str:
    kind, where = "block", None
    if isinstance(packed, dict):
        kind = str(packed.get("block_type") or kind)
        where = plain(packed.get("path") or packed.get("url"))
    logger.warning("a stored %s block can't be read by this llama-index-core, or its file is gone", kind)
    return f"[{kind}: {where}]" if where else f"[{kind}]"


def _foreign(message: Message) -> ChatMessage:
    try:
        role = MessageRole(message.role)
    except ValueError:
        role = MessageRole.USER
    kwargs: dict[str, Any] = {}
    if message.tool_call_id is not None:
        kwargs["tool_call_id"] = message.tool_call_id
    if message.name:
        kwargs["name"] = message.name
    content = message.content or None if message.tool_calls else message.content  # "" beside calls says nothing
    parts = content if isinstance(content, list | tuple) else [content] if isinstance(content, str | Mapping) else ()
    blocks = [block for part in parts for block in _foreign_part(part)]
    if _ToolCallBlock is not None:
        blocks += [
            _ToolCallBlock(tool_call_id=call.get("id"), tool_name=call.get("name") or "", tool_kwargs=_kwargs(call))
            for call in message.tool_calls
        ]
    elif message.tool_calls:
        kwargs["tool_calls"] = [_openai_call(call) for call in message.tool_calls]
    return ChatMessage(role=role, blocks=blocks, additional_kwargs=kwargs)


def _kwargs(call: Mapping[str, Any]) -> dict[str, Any] | str:
    arguments = call.get("args")
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, dict | str) else json.dumps(arguments)


def _openai_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = _kwargs(call)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name") or "", "arguments": text}}


_CALLS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_call", "server_tool_use"})
_MEDIA: dict[str, tuple[Any, str, str]] = {
    "image": (ImageBlock, "image", "image_mimetype"),
    "image_url": (ImageBlock, "image", "image_mimetype"),
    "input_image": (ImageBlock, "image", "image_mimetype"),
    "audio": (AudioBlock, "audio", "format"),
    "input_audio": (AudioBlock, "audio", "format"),
    "video": (_VideoBlock, "video", "video_mimetype"),
    "file": (DocumentBlock, "data", "document_mimetype"),
    "document": (DocumentBlock, "data", "document_mimetype"),
}


def _foreign_part(part: Any) -> Iterator[Any]:
    """A content part of another framework as blocks: text, media, thinking; a call is kept elsewhere."""
    if isinstance(part, str):
        yield TextBlock(text=part)
        return
    if not isinstance(part, Mapping):
        return
    kind = str(part.get("type", "text"))
    if kind in _CALLS:
        return
    if kind in ("reasoning", "thinking"):
        if _ThinkingBlock is not None:
            yield _ThinkingBlock(content=_thought(part))
    elif kind in _MEDIA:
        yield _foreign_media(kind, part)
    elif isinstance(part.get("text"), str):
        yield TextBlock(text=part["text"])
    else:
        yield TextBlock(text=f"[{kind}]")


def _thought(part: Mapping[str, Any]) -> str:
    for key in ("reasoning", "thinking", "text"):
        if isinstance(part.get(key), str):
            return str(part[key])
    summary = part.get("summary")
    texts = [each.get("text") for each in summary if isinstance(each, Mapping)] if isinstance(summary, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _foreign_media(kind: str, part: Mapping[str, Any]) -> Any:
    cls, field, type_field = _MEDIA[kind]
    if cls is None:
        return TextBlock(text=f"[{kind}]")
    inner = next((part[key] for key in ("source", kind) if isinstance(part.get(key), Mapping)), part)
    url = inner.get("url") or (part.get(kind) if isinstance(part.get(kind), str) else None)
    data = inner.get("base64") or inner.get("data")
    mime = inner.get("mime_type") or inner.get("media_type") or inner.get("format")
    values: dict[str, Any] = {}
    if isinstance(mime, str):
        values[type_field] = mime.rpartition("/")[2] if type_field == "format" else mime
    if isinstance(data, str):
        values[field] = data.encode("utf-8", "replace")
    elif isinstance(url, str) and url.startswith("file:"):
        values["path"] = Path(unquote(urlsplit(url).path))
    elif isinstance(url, str):
        values["url"] = url
    try:
        if len(values) == (type_field in values):
            raise ValueError("neither data nor a URL")
        return cls(**values)
    except (ValueError, TypeError, OSError):
        return TextBlock(text=f"[{kind}: {url}]" if url else f"[{kind}]")
