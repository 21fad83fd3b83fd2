"""Long texts in pieces: an embedder dilutes, truncates or refuses what is too long for it."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；\n])")


def pieces(text: str, *, words: int = 60, chars: int = 400, most: int = 256) -> list[str]:
    """Cut a text into pieces of at most `words` words and `chars` characters, at sentence ends if it can.

    A text of more than `most` pieces gives its first and last ones: the words in between are still
    found by the word index.

    >>> pieces("One. Two. Three.", words=2)
    ['One. Two.', 'Three.']
    """
    if len(text) <= chars and len(text.split()) <= words:
        return [text]
    found: list[str] = []
    current, held = "", 0
    for sentence in _SENTENCE.split(text):
        for part in _short(sentence, words, chars):
            size = len(part.split())
            if current and (held + size > words or len(current) + 1 + len(part) > chars):
                found.append(current)
                current, held = "", 0
            current = f"{current} {part}" if current else part
            held += size
    if current:
        found.append(current)
    found = [piece for piece in found if piece.strip()] or [text[:chars]]
    return found if len(found) <= most else found[: most // 2] + found[-(most - most // 2) :]


def _short(sentence: str, words: int, chars: int) -> list[str]:
    sentence = sentence.strip()
    if len(sentence) <= chars and len(sentence.split()) <= words:
        return [sentence] if sentence else []
    found, current = [], ""
    for group in _grouped(sentence, words):
        for start in range(0, len(group), chars):
            part = group[start : start + chars]
            if current and len(current) + 1 + len(part) > chars:
                found.append(current)
                current = ""
            current = f"{current} {part}" if current else part
            if current.count(" ") + 1 >= words:
                found.append(current)
                current = ""
    return [*found, current] if current else found


def _grouped(sentence: str, words: int) -> list[str]:
    split = sentence.split()
    return [" ".join(split[i : i + words]) for i in range(0, len(split), words)]
