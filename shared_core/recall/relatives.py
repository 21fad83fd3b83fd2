"""Who a question means by "my sister" or 我弟弟: the name that was told, in the place of the words. Pure.

Talk says the name ("Clara works at Helix now"), and questions often only the relation; without the
name neither words nor meaning lead from one to the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

_HINT = re.compile(r"\b(?:my|our)\s|我", re.I)
_MOST = 3  # of a relation that more people have, none is meant in particular
Names = Callable[[str], Sequence[str]]
"""The names of those who stand in a relation to the user: "sister" -> ["Clara"]."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], dict[str, str]], ...]:
    from shared_core.writing.extraction import chinese_words, english_words

    def any_of(words: dict[str, str]) -> str:
        return "|".join(sorted(map(re.escape, words), key=len, reverse=True))

    english = re.compile(
        rf"\b(?i:(?:my|our)\s+(?:(?:older|elder|younger|little|big|twin|best|new|current)\s+)*(?P<kin>{any_of(english_words.KIN)}))"
        r"\b(?!['’]?s?,?\s+[A-Z])"
    )
    chinese = re.compile(rf"我(?:们|家)?的?(?:现在的?|大|小|亲)?(?P<kin>{any_of(chinese_words.KIN)})(?!们)")
    return (english, english_words.KIN), (chinese, chinese_words.KIN)


def named(text: str, names: Names) -> str:
    """The text with the names of the relatives it speaks of, where it does not say them itself.

    >>> named("Where does my sister work?", {"sister": ["Clara"]}.__getitem__)
    'Where does Clara work?'
    >>> named("我弟弟在哪里工作？", {"brother": ["林涛"]}.__getitem__)
    '林涛在哪里工作？'
    """
    if not _HINT.search(text):
        return text
    for pattern, words in _patterns():
        for match in reversed([*pattern.finditer(text)]):
            known = list(names(words[match["kin"].lower()]))
            if not 0 < len(known) <= _MOST or any(name in text for name in known):
                continue
            chinese = match["kin"][0] > "\u3400"
            text = text[: match.start()] + ("、" if chinese else " and ").join(known) + text[match.end() :]
    return text
