"""The text that goes into the prompt: parts under headings, within a budget of tokens.

Memories are data, never instructions: they stand inside a fence that no memory can close, each
on lines of its own with its source and date.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shared_core.ports import TokenCounter
from shared_core.recall.text import normal
from shared_core.short_term.tokens import shorten
from shared_core.values import Context, Hit, Message, Record, Section

HEADINGS = {
    "en": {"profile": "About the user", "memories": "Relevant memories", "recent": "Recent conversation"},
    "zh": {"profile": "关于用户", "memories": "相关记忆", "recent": "最近的对话"},
}
ROLES = {
    "en": {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"},
    "zh": {"user": "用户", "assistant": "助手", "system": "系统", "tool": "工具"},
}
FENCE = ("<memories>", "</memories>")


@dataclass(slots=True)
class Part:
    """What a section is made of, in the order of its worth."""

    name: str
    hits: list[Hit] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def language(query: str, talk: Iterable[Message]) -> str:
    """The language of the headings: "zh" where Chinese characters outweigh the rest, else "en".

    >>> language("我住在哪里？", []), language("Where do I live?", [])
    ('zh', 'en')
    """
    text = normal(query + " ".join(message.text for message in list(talk)[-6:]))
    chinese = sum("\u4e00" <= c <= "\u9fff" for c in text)
    latin = sum(c.isascii() and c.isalpha() for c in text)
    # A Chinese word is about two characters, an English one about five.
    return "zh" if chinese / 2 > latin / 5 else "en"


def assemble(parts: list[Part], max_tokens: int, tongue: str, count: TokenCounter) -> Context:
    """Put the parts together: the recent talk first (it was cut to its share), memories in what is left."""
    recent = next((part.messages for part in parts if part.name == "recent"), [])
    hits = next((part.hits for part in parts if part.name == "memories"), [])
    talk = _section("recent", [spoken(message, tongue) for message in recent], tongue, count, max_tokens)
    room = max_tokens - (talk.tokens if talk else 0)
    lines = next((part.lines for part in parts if part.name == "profile"), [])
    known = _fenced("profile", lines, tongue, count, room)
    room -= known.tokens if known else 0
    memories, chosen = _memories(hits, room, tongue, count)
    sections = tuple(section for section in (known, memories, talk) if section is not None)
    text = "\n\n".join(_whole(section) for section in sections)
    return Context(text=text, messages=tuple(recent), hits=tuple(chosen), sections=sections, tokens=count(text))


def _whole(section: Section) -> str:
    return f"## {section.heading}\n{section.text}"


def _section(name: str, lines: list[str], tongue: str, count: TokenCounter, most: int) -> Section | None:
    if not lines:
        return None
    heading = HEADINGS[tongue][name]
    text = "\n".join(lines)
    room = most - count(f"## {heading}\n") - 1
    if count(text) > room:
        text = shorten(text, max(room, 1), count)
    return Section(name=name, heading=heading, text=text, tokens=count(f"## {heading}\n{text}") + 1)


def _fenced(name: str, lines: list[str], tongue: str, count: TokenCounter, most: int) -> Section | None:
    """Lines inside the fence, as many as fit; what a profile says is data too."""
    heading = HEADINGS[tongue][name]
    kept: list[str] = []
    for line in map(_inert, lines):
        text = "\n".join([FENCE[0], *kept, line, FENCE[1]])
        if count(f"## {heading}\n{text}") + 1 <= most:
            kept.append(line)
    if not kept:
        return None
    text = "\n".join([FENCE[0], *kept, FENCE[1]])
    return Section(name=name, heading=heading, text=text, tokens=count(f"## {heading}\n{text}") + 1)


def _memories(hits: list[Hit], room: int, tongue: str, count: TokenCounter) -> tuple[Section | None, list[Hit]]:
    """The hits that fit, best first; one that is too long is passed over, and the next tried."""
    heading = HEADINGS[tongue]["memories"]
    left = room - count(f"## {heading}\n{FENCE[0]}\n{FENCE[1]}") - 3
    lines, chosen = [], []
    for hit in hits:
        line = remembered(hit.record)
        cost = count(line) + 1
        if cost <= left:
            left -= cost
            lines.append(line)
            chosen.append(hit)
    if not lines:
        return None, []
    text = "\n".join([FENCE[0], *lines, FENCE[1]])
    return Section(name="memories", heading=heading, text=text, tokens=count(f"## {heading}\n{text}") + 1), chosen


def spoken(message: Message, tongue: str) -> str:
    """A message as a line of the recent talk."""
    who = message.name or ROLES[tongue].get(message.role, message.role)
    said = message.text
    if message.tool_calls:
        calls = ", ".join(str(call.get("name", "")) for call in message.tool_calls)
        said = f"{said} [{calls}]".strip()
    return f"{who}: {_inert(said)}"


def remembered(record: Record) -> str:
    """A memory as a line: when, who or what it is from, and its text.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 2, tzinfo=UTC)
    >>> remembered(Record(id="1", kind="fact", text="Likes tea", source="user", created_at=at, updated_at=at))
    '- [2026-01-02, user] Likes tea'
    """
    when = record.event_time or record.created_at
    who = record.name or record.role or record.source
    return f"- [{when:%Y-%m-%d}, {_inert(who)}] {_inert(record.text)}"


def _inert(text: str) -> str:
    """Text that can neither close the fence nor begin a heading: its lines are indented, its tags opened up."""
    for tag in FENCE:
        text = text.replace(tag, tag.replace("<", "‹").replace(">", "›"))
    return "\n  ".join(text.splitlines())
