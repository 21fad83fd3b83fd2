"""A question as a row of tokens, and where in it the graph's entities are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from shared_core.long_term.graph import asking_words as ask
from shared_core.long_term.graph.knowledge import Knowledge
from shared_core.long_term.graph.names import UNSPACED, has_unspaced
from shared_core.long_term.graph.predicates import lemmas

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\S")
_PLAIN = re.compile(r"[^\W_]+(?: [^\W_]+)*")
_LONGEST = 24  # tokens in the longest name that is looked for
_LONGEST_STEMS = 6
_NO_NAMES = (
    ask.WHO | ask.WHICH | ask.WHERE | ask.AUXILIARY | ask.NEGATION | ask.FILLER | ask.SELF | ask.PREPOSITIONS
    | frozenset("i'm and or but if so it he she we they he's that this there here when why how yes ok".split())
)  # fmt: skip
_SELF = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|我|咱|本人", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a character of an unspaced script, or a sign; where it lies in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens `start` to `end` name these nodes: one, or several of which it can't be told which is meant."""

    start: int
    end: int
    text: str
    nodes: frozenset[int]


def tokens(text: str) -> list[Token]:
    """The tokens of a text.

    >>> [token.text for token in tokens("ACME用了C++?")]
    ['ACME', '用', '了', 'C', '+', '+', '?']
    """
    return [Token(found[0], found.start(), found.end()) for found in _TOKEN.finditer(text)]


def named(known: Knowledge, text: str, user: str) -> list[int]:
    """The nodes a text names, each once, in its order; whoever says "I" after those that have a name.

    A name that several nodes could mean is left out, since it can't be told which is meant.
    """
    found = dict.fromkeys(
        node for each in mentions(known, text, tokens(text), _NO_NAMES) if len(each.nodes) == 1 for node in each.nodes
    )
    if _SELF.search(text):
        for name in (*ask.SELF_NAMES, user):
            node = known.lookup(name)
            if node is not None:
                found[node] = None
    return list(found)


def mentions(known: Knowledge, text: str, words: list[Token], never: Collection[str]) -> list[Mention]:
    """The names in a text, the longest first where they overlap, from left to right.

    `never` holds words that alone are no name: those the question is made of. A name in another
    number is found by its stems ("message queues").
    """
    found: list[Mention] = []
    place = 0
    while place < len(words):
        mention = next(_at(known, text, words, place, never), None)
        if mention is None:
            place += 1
        else:
            found.append(mention)
            place = mention.end
    return found


def _at(known: Knowledge, text: str, words: list[Token], start: int, never: Collection[str]) -> Iterator[Mention]:
    for end in range(min(len(words), start + _LONGEST), start, -1):
        part = text[words[start].start : words[end - 1].end]
        if all(word.text.lower() in never for word in words[start:end]):
            continue
        node = known.lookup(part)
        if node is not None:
            yield Mention(start, end, part, frozenset({node}))
        elif end - start <= _LONGEST_STEMS and not has_unspaced(part) and words[start].text.lower() not in never:
            nodes = by_stems(known, part)
            if nodes:
                yield Mention(start, end, part, frozenset(nodes))


def by_stems(known: Knowledge, phrase: str) -> set[int]:
    """The notions whose name has the same stems, in the same order.

    Notions only: "queues" are each a queue, but the Adams are no Adam. Nor are C, C++ and C# one.
    """
    if not _PLAIN.fullmatch(phrase.lower()):
        return set()
    if known.stems is None:
        known.stems = {}
        for node, key in known.named():
            if _PLAIN.fullmatch(key) and not has_unspaced(key):
                stems = lemmas(key)
                if 0 < len(stems) <= _LONGEST_STEMS:
                    known.stems.setdefault(stems, set()).add(node)
    found = {node for node in known.stems.get(lemmas(phrase), ()) if node in known.graph}
    return {node for node in found if known.name(node).islower() or known.closure.subjects("is_a", node)}
