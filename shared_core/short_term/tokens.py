"""How many tokens a text or a message costs a model, without asking the model.

A tokenizer's vocabulary is megabytes and belongs to one vendor, so the default counter cuts a
text the way tokenizers do (a word with its space, three digits, a short run of punctuation) and
calls each piece one token. The pieces were fitted to cl100k and o200k, which lie up to three
times apart outside English; there the counter stays between the two. Everything that takes a
`count` accepts an exact counter instead.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.ports import TokenCounter
from shared_core.values import Message

MARKER = " … "
"""Stands where `shorten` took something out."""

TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
"""The types of a content part whose `text` is what `Message.text` shows."""

# Each match is one token. A space belongs to the word or punctuation after it, and is a token of
# its own before digits and CJK. Nothing is left over: "." takes what no other piece does.
_PIECE = re.compile(
    r"[ _][A-Z]{2,8}\b"  # SELECT, _MAX: without the leading mark base64 would count too low
    r"|[ _]?[A-Za-z][a-z]{0,9}"
    r"|={3,64}|-{3,64}|#{3,64}|\*{3,64}|~{3,64}|\.{3,64}"
    r"| ?[!-/:-@\[-`{-~]{1,2}"
    r"|[0-9]{1,3}"
    r"|\s{1,64}(?!\S)|\s"  # a run of blanks without its last, which goes with what follows
    r"|[\u0100-\u024f\u0400-\u052f]{1,3}"  # Latin Extended, Cyrillic
    r"|[\u0370-\u03ff\u0530-\u0fff]{1,2}"  # Greek, Hebrew, Arabic, Indic, Thai
    r"|.",  # Han, kana, Hangul, full-width punctuation, symbols
    re.DOTALL,
)
_TWICE = re.compile(r"[\u2600-\u27bf\U00010000-\U0010ffff]")  # emoji and rare Han: two to three tokens

_MESSAGE = 4  # role and delimiters: three or four in every published chat format
_CALL = 4  # a call's frame besides its id, name and arguments
_MEDIA = 256  # an image, recording or file; vendors bill 85 to about 1,500, none by its base64 length

_MEDIA_TYPE = re.compile(r"image|audio|video|file|document|media|blob")
_PAYLOAD = re.compile(r"(?:data:[^,\s]{0,200},)?[A-Za-z0-9+/=_\r\n-]{256,}|data:[^,\s]{0,200};base64,.*", re.DOTALL)
_CLUSTER = 32  # code points one visible character may have before a cut inside it is accepted
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_FRAME = frozenset({"type", "block_type", "id", "index", "detail", "mime_type", "media_type", "cache_control"})


def count(text: str) -> int:
    """The tokens in `text`, about as cl100k and o200k count: linear, no model, no vocabulary.

    English takes about four characters a token, a Chinese character one token, three digits one,
    an emoji two. Base64 comes out a tenth too low; long words nobody ever wrote, lower.

    >>> count("")
    0
    >>> count("The quick brown fox jumps over the lazy dog.")
    10
    >>> count("今天天气很好")
    6
    """
    return len(_PIECE.findall(text)) + (0 if text.isascii() else len(_TWICE.findall(text)))


def count_message(message: Message, count: TokenCounter = count) -> int:
    """The tokens of a whole message: text, tool calls, names and ids, and a few for its frame.

    An image, recording or file counts as a flat 256, never by the length of its base64; a part of
    another kind (thinking, reasoning, a tool call in content form) by the text in it. `count` is
    given texts only, so any tokenizer's counter will do.

    >>> count_message(Message(role="user", content="hello"))
    5
    >>> count_message(Message(role="user", content=[{"type": "image", "base64": "A" * 400_000}]))
    260
    """
    total = _MESSAGE + sum(count(text) for text in (message.name, message.tool_call_id) if text)
    seen = set()
    for call in message.tool_calls:
        seen.add(call.get("id"))
        total += _CALL + sum(count(text) for text in _call_texts(call))
    content = message.content
    for part in [content] if isinstance(content, str | Mapping) else content or ():
        # Anthropic repeats each tool call as a content part; it is sent once.
        if isinstance(part, Mapping) and part.get("id") is not None and part.get("id") in seen:
            continue
        total += _count_part(part, count)
    return total


def shorten(text: str, max_tokens: int, count: TokenCounter = count) -> str:
    """`text` within `max_tokens`: its beginning and its end, with `MARKER` between them.

    A text that fits is returned as it is. No cut falls inside a surrogate pair, a flag, or an
    emoji or letter with its modifiers (up to 32 of them). Where not even one character fits, the
    bare marker is left; at 0 tokens nothing.

    >>> shorten("one two three four five six seven eight nine ten", 7)
    'one two th … nine ten'
    """
    if max_tokens <= 0:
        return ""
    total = count(text)
    if total <= max_tokens:
        return text
    # Probes stay near the length that fits, so a megabyte is read once, not once a probe.
    fits, fails = 0, min(len(text), max(1, len(text) * max_tokens // total))
    while fails < len(text) and count(_ends(text, fails)) <= max_tokens:
        fits, fails = fails, fails * 2
    fails = min(fails, len(text))
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if count(_ends(text, middle)) <= max_tokens:
            fits = middle
        else:
            fails = middle
    return _ends(text, fits) if fits else MARKER.strip()


def _call_texts(call: Mapping[str, Any]) -> Iterator[str]:
    yield str(call.get("id") or "")
    yield str(call.get("name") or "")
    arguments = call.get("args")
    if isinstance(arguments, str):
        yield arguments
    elif arguments is not None:
        yield json.dumps(arguments, ensure_ascii=False, default=str, skipkeys=True)


def _count_part(part: object, count: TokenCounter) -> int:
    if isinstance(part, str):
        return count(part)
    if not isinstance(part, Mapping):
        return _MEDIA  # no JSON part looks like this; an object of a framework may be anything
    kind = str(part.get("type") or part.get("block_type") or "")
    text = part.get("text")
    if kind in TEXT_PARTS and isinstance(text, str):
        return count(text)
    media = bool(_MEDIA_TYPE.search(kind))
    total = _MEDIA if media else 0
    for leaf in _leaves(part):
        if isinstance(leaf, bytes | bytearray) or _PAYLOAD.fullmatch(leaf):
            total += 0 if media else _MEDIA
        else:
            total += count(leaf)
    return total


def _leaves(part: object) -> Iterator[str | bytes | bytearray]:
    """The values inside a part that a model would read; a loop, since nesting may be deep."""
    stack = [part]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(item for key, item in value.items() if key not in _FRAME)
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif isinstance(value, str | bytes | bytearray):
            yield value
        elif value is not None:
            yield str(value)


def _ends(text: str, keep: int) -> str:
    """`keep` characters of `text`, or a few fewer: the larger half from its start, the rest from its end."""
    head, tail = (keep + 1) // 2, len(text) - keep // 2
    head_end, tail_end = max(0, head - _CLUSTER), min(len(text), tail + _CLUSTER)
    while head > head_end and not _separable(text, head):
        head -= 1
    while tail < tail_end and not _separable(text, tail):
        tail += 1
    return text[:head].rstrip() + MARKER + text[tail:].lstrip()


def _separable(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` leaves whole what a reader sees as one character."""
    before, after = text[at - 1], text[at : at + 1]
    if not after:
        return True
    if before == "\u200d" or after in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        letters = at - len(text[:at].rstrip(_FLAG_LETTERS))
        return letters % 2 == 0  # two letters make a flag
    return not unicodedata.category(after).startswith("M")
