"""A message cut down to what its author says in earnest: no code, no quotations, nothing recalled."""

from __future__ import annotations

import re
from typing import Final

from shared_core.recall.text import clean

# What earlier parts of a prompt may have put around memories: tags, which the author of a message does not write.
_RECALLED: Final = re.compile(
    r"<(memor(?:y|ies)|recalled?(?:_\w+)?|context|relevant_memories|twinmem)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_CAPTION: Final = re.compile(r"\[(?:shares|shared|sends|sent|image|photo|图片|分享)[^\]]*\]")
_URL: Final = re.compile(r"https?://\S+")
_TITLE: Final = re.compile(r"[\"“]([A-Z][^\"“”\n]{1,40}[^\"“”\n.!?,])[\"”]")
_SPEECH: Final = re.compile(r"[\"“][^\"“”\n]*[\"”]|「[^」\n]*」|『[^』\n]*』|(?<!\w)'[^'\n]{3,}?[.!?,]'(?!\w)")
_TITLE_LEAD: Final = re.compile(
    r"(?:said|says|say|like|was|told|with|goes|asked|wrote|replied|called out|shouted|:|,)\s*$", re.IGNORECASE
)
_APOSTROPHES: Final = str.maketrans(
    {"’": "'", "‘": "'", "´": "'", "`": "'", "\u00a0": " ", "\u3000": " ", "\u200b": None}
)


def in_earnest(text: str) -> str:
    """The text without code, quoted speech and lines, links, captions and recalled memories.

    A short quoted title stays ("I read 'Dune'" is no speech), with its marks taken off.

    >>> in_earnest('He said "I live in Rome". I live in Bari. `x = 1`')
    'He said  . I live in Bari.  '
    """
    text = clean(text)
    if "<" in text:
        text = _RECALLED.sub(" ", text)
    text = _CODE.sub(" ", text) if "`" in text or "~" in text else text
    text = text.translate(_APOSTROPHES)
    if ">" in text or "|" in text:
        text = _QUOTED_LINE.sub(" ", text)
    if "[" in text:
        text = _CAPTION.sub(" ", text)
    if "://" in text:
        text = _URL.sub(" ", text)
    text = _TITLE.sub(lambda m: m[0] if _TITLE_LEAD.search(text[max(0, m.start() - 12) : m.start()]) else m[1], text)
    return _SPEECH.sub(" ", text)


_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|e\.g|i\.e|no|jr|sr|approx)|\b[A-Z])\.$", re.IGNORECASE
)
_END: Final = re.compile(r"([.!?…]+[)\"']*)(?:\s+|$)|\n+")


def sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences of a text, each with whether it asks.

    >>> sentences("Hi! I met Dr. Lee. Do you know her?")
    [('Hi', False), ('I met Dr. Lee', False), ('Do you know her', True)]
    """
    found: list[tuple[str, bool]] = []
    start = 0
    for match in _END.finditer(text):
        if match[1] == "." and _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1]):
            continue
        if piece := text[start : match.start()].strip():
            found.append((piece, "?" in (match[1] or "")))
        start = match.end()
    if piece := text[start:].strip():
        found.append((piece, False))
    return found


_HAN: Final = re.compile(r"[\u4e00-\u9fff]")


def is_chinese(text: str) -> bool:
    """Whether the Chinese rules read this text: it has Chinese characters, names in it may be Latin.

    >>> is_chinese("我用Vim"), is_chinese("I use Vim")
    (True, False)
    """
    return _HAN.search(text) is not None
