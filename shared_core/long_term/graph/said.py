"""Whether a text says what a row of the graph holds: what goes when the text becomes another.

A relation with a record as its source either stands in the record's text, or somebody added it by
hand and only named where it is from. The first goes with the words that said it, the second stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared_core.long_term.graph.asking_words import SELF_NAMES
from shared_core.long_term.graph.names import entity_key, has_unspaced
from shared_core.long_term.graph.predicates import bare, lemmas

Parts = frozenset[int]


def named(text: str, phrases: Sequence[str]) -> Parts:
    """The places of the phrases whose words all stand in a text, in whatever form, case or width.

    >>> sorted(named("Ann liked the green tea", ["Ann", "likes", "tea", "Lyon"]))
    [0, 1, 2]
    >>> sorted(named("我喜欢喝茶", ["用户", "喜欢", "茶"]))
    [1, 2]
    """
    key = entity_key(text)
    stems = frozenset(lemmas(key))
    return frozenset(place for place, phrase in enumerate(phrases) if _stands(entity_key(phrase), key, stems))


def _stands(phrase: str, text: str, stems: frozenset[str]) -> bool:
    if has_unspaced(phrase):
        return bare(phrase) in text
    words = lemmas(phrase.replace("_", " "))
    return bool(words) and stems.issuperset(words)


def unsaid(old: str, new: str, triple: tuple[str, str, str]) -> bool:
    """Whether a text told a relation, and does so no more: a part of it that was named is not named now.

    >>> unsaid("Ann likes tea", "Ann hates tea", ("Ann", "likes", "tea"))
    True
    >>> unsaid("Ann likes tea", "Ann really likes tea", ("Ann", "likes", "tea"))
    False
    >>> unsaid("Ann likes tea", "Ann hates tea", ("Ann", "knows", "Bob"))
    False
    """
    before = named(old, triple)
    told = 2 in before and (len(before) > 1 or triple[0].lower() in SELF_NAMES)
    return told and not before <= named(new, triple)


def untold(old: str, new: str, phrases: Sequence[str]) -> bool:
    """The same of what a text says of one thing: its name first, then its other name, its type or its values.

    >>> untold("The boss is Ann", "Bob is the boss", ["Ann", "the boss"])
    True
    """
    before = named(old, phrases)
    return 0 in before and len(before) > 1 and not before <= named(new, phrases)
