"""English questions about one relation, understood by position: who stands where, around which verb.

Whatever stands before the verb is its subject, whatever follows its object; the question word asks
for the other one. Every word has to be part of the question; one that is not makes it another question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from shared_core.long_term.graph import asking_words as ask
from shared_core.long_term.graph.asked import Asked, Words
from shared_core.long_term.graph.knowledge import Knowledge
from shared_core.long_term.graph.mentions import Mention, Token, mentions, tokens
from shared_core.long_term.graph.predicates import Form, lemma

_CONTRACTIONS = (
    (re.compile("[\u2018\u2019]"), "'"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"\b(who|what|where|which)'s\b", re.I), r"\1 is"),
    (re.compile(r"\b(who|what|where|which)'re\b", re.I), r"\1 are"),
)
_SIGNS = frozenset("?!.,;:'\"…“”()")
_WH = ask.WHO | ask.WHICH | ask.WHERE
_NEVER = _WH | ask.AUXILIARY | ask.FILLER | ask.PREPOSITIONS | ask.SELF | ask.NEGATION | _SIGNS | {"s"}
_LONGEST_NOUN = 3


@dataclass(slots=True)
class _Question:
    """A question on its way to being understood: which of its tokens are accounted for."""

    words: list[Token]
    lower: list[str]
    stems: list[str]
    mentions: list[Mention]
    wh: int | None = None
    type: tuple[int, int] = (0, 0)
    used: set[int] | None = None

    def free(self, place: int) -> bool:
        """Whether a token is no part of a name, the question word or the type."""
        assert self.used is not None
        return 0 <= place < len(self.words) and place not in self.used

    def take(self, start: int, end: int) -> None:
        assert self.used is not None
        self.used |= set(range(start, end))


def understand(known: Knowledge, text: str, words: Words, own: frozenset[int]) -> Asked | None:
    """What a question asks; None if it is not understood. `own` are the nodes "I" means."""
    for pattern, new in _CONTRACTIONS:
        text = pattern.sub(new, text)
    verbs = {stems[0] for stems in words.verbs if len(stems) == 1}
    for skip in (True, False):  # a name that is also a verb is taken for the verb first
        found = mentions(known, text, tokens(text), _NEVER)
        if skip:
            found = [each for each in found if not (each.end - each.start == 1 and lemma(each.text.lower()) in verbs)]
        asked = _parse(text, found, words, own)
        if asked is not None:
            return asked
    return None


def _parse(text: str, found: list[Mention], words: Words, own: frozenset[int]) -> Asked | None:
    split = tokens(text)
    lower = [token.text.lower() for token in split]
    question = _Question(split, lower, [lemma(word) for word in lower], found, used=set())
    for mention in found:
        question.take(mention.start, mention.end)
    if any(word in ask.NEGATION and question.free(place) for place, word in enumerate(lower)):
        return None
    asks = [place for place, word in enumerate(lower) if question.free(place) and (word in _WH or _many(lower, place))]
    if len(asks) > 1:
        return None
    if not asks:
        return _yes_no(question, words, own)
    question.wh = asks[0]
    many = _many(lower, asks[0])
    question.take(asks[0], asks[0] + (2 if many else 1))
    if many or lower[asks[0]] in ask.WHICH:
        _find_type(question, words, asks[0] + (2 if many else 1), bare=lower[asks[0]] == "what")
    start, end = question.type
    asked = _noun(question, words, own) or _verb(question, words, own) or _being(question)
    if asked is None:
        return None
    kind = "who" if lower[asks[0]] in ask.WHO else "where" if lower[asks[0]] in ask.WHERE else "which"
    phrase = "" if asked.type == "-" else " ".join(lower[start:end])
    if phrase and phrase.split()[-1] in ask.PERSONS | ask.THINGS:
        kind, phrase = ("who" if phrase.split()[-1] in ask.PERSONS else kind), ""
    return replace(asked, kind=kind, type=phrase)


def _many(lower: list[str], place: int) -> bool:
    return tuple(lower[place : place + 2]) == ask.HOW_MANY


def _find_type(question: _Question, words: Words, place: int, *, bare: bool) -> None:
    """The noun after "which": up to an auxiliary or a verb."""
    lower = question.lower
    while place < len(lower) and (lower[place] in ask.FILLER or lower[place] in ask.KINDS | {"of", "kinds", "types"}):
        question.take(place, place + 1)
        place += 1
    start = place
    while place < len(lower) and lower[place] not in ask.AUXILIARY and lower[place] not in _SIGNS:
        if (bare or place > start) and _verbs_at(question, words, place, anywhere=True):
            break
        if lower[place] in ask.PREPOSITIONS:
            return
        place += 1
    inside = [each for each in question.mentions if start <= each.start and each.end <= place]
    across = [each for each in question.mentions if each not in inside and each.start < place and each.end > start]
    if across or (inside and inside[-1].end != place):
        return
    question.mentions = [each for each in question.mentions if each not in inside]
    question.type = (start, place)
    question.take(start, place)


def _verbs_at(
    question: _Question, words: Words, place: int, *, anywhere: bool = False
) -> tuple[set[int], list[Form]] | None:
    """The longest verb that begins at a token; its preposition may stand at the end of the question."""
    stems = question.stems
    last = max((i for i, word in enumerate(question.lower) if word not in _SIGNS), default=0)
    for length in (3, 2, 1):
        together = tuple(stems[place : place + length])
        free = anywhere or all(question.free(i) for i in range(place, place + length))
        if free and len(together) == length and together in words.verbs and _content(together):
            return set(range(place, place + length)), words.verbs[together]
        if length > 1 and question.lower[last] in ask.PREPOSITIONS and last > place + length - 2:
            stranded = (*stems[place : place + length - 1], stems[last])
            if stranded in words.verbs and _content(stranded) and (anywhere or question.free(last)):
                return {*range(place, place + length - 1), last}, words.verbs[stranded]
    return None


def _content(stems: tuple[str, ...]) -> bool:
    """Whether a verb is more than forms of "to be"."""
    return not set(stems) <= ask.BE | {"a", "an"} and stems != ("type",)


def _leftover(question: _Question, allowed: frozenset[str] = frozenset()) -> bool:
    fine = ask.AUXILIARY | ask.FILLER | _SIGNS | allowed
    return any(question.free(place) and word not in fine for place, word in enumerate(question.lower))


def _one(question: _Question, own: frozenset[int]) -> Mention | None:
    """The one thing a question is about; "I" and "me" where nothing else is named."""
    if len(question.mentions) == 1:
        return question.mentions[0]
    if not question.mentions and own:
        places = [i for i, word in enumerate(question.lower) if word in ask.SELF and question.free(i)]
        if len(places) == 1:
            question.take(places[0], places[0] + 1)
            return Mention(places[0], places[0] + 1, question.lower[places[0]], own)
    return None


def _verb(question: _Question, words: Words, own: frozenset[int]) -> Asked | None:
    best: tuple[int, set[int], list[Form]] | None = None
    for place in range(len(question.words)):
        if question.free(place):
            found = _verbs_at(question, words, place)
            if found and (best is None or len(found[0]) > len(best[1])):
                best = (place, *found)
    if best is None:
        return None
    place, used, forms = best
    about = _one(question, own)
    assert question.used is not None
    question.used |= used
    if about is None or _leftover(question):
        question.used -= used
        return None
    return Asked(tuple(forms), about.nodes, subject=about.start > place)


def _noun(question: _Question, words: Words, own: frozenset[int]) -> Asked | None:
    """ "Ann's boss", "the boss of Ann", "my boss", "which employees does ACME have"."""
    for start, end, about in _holders(question, own):
        stems = tuple(question.stems[start:end])
        if stems not in words.nouns or not all(question.free(i) for i in range(start, end)):
            continue
        kept = set(question.used or ())
        question.take(start, end)
        if not _leftover(question, frozenset({"of", "s", "my"})):
            return Asked(tuple(words.nouns[stems]), about.nodes, noun=True)
        question.used = kept
    start, end = question.type
    stems = tuple(question.stems[start:end])
    has = bool({"have", "has"} & set(question.lower))
    if has and stems in words.nouns and len(question.mentions) == 1 and not _leftover(question):
        return Asked(tuple(words.nouns[stems]), question.mentions[0].nodes, type="-", noun=True)
    return None


def _holders(question: _Question, own: frozenset[int]) -> list[tuple[int, int, Mention]]:
    """Where a noun may stand that says what is asked of whom."""
    found = []
    for length in range(_LONGEST_NOUN, 0, -1):
        if len(question.mentions) == 1:
            about = question.mentions[0]
            if question.lower[about.end : about.end + 2] == ["'", "s"]:
                found.append((about.end + 2, about.end + 2 + length, about))
            if question.lower[about.end : about.end + 1] == ["'"]:
                found.append((about.end + 1, about.end + 1 + length, about))
            before = about.start
            while before > 0 and question.lower[before - 1] in ask.FILLER:
                before -= 1
            if question.lower[before - 1 : before] == ["of"] and before - 1 - length >= 0:
                found.append((before - 1 - length, before - 1, about))
        elif not question.mentions and own and "my" in question.lower:
            place = question.lower.index("my") + 1
            found.append((place, place + length, Mention(place - 1, place, "my", own)))
    return found


def _being(question: _Question) -> Asked | None:
    """Questions with no verb but "to be": what something is, what is such a thing, where it is."""
    if len(question.mentions) != 1 or question.wh is None or _leftover(question):
        return None
    if not any(word in ask.BE and question.free(i) for i, word in enumerate(question.lower)):
        return None
    about, word = question.mentions[0], question.lower[question.wh]
    if word in ask.WHERE:
        return Asked((Form("located_in"),), about.nodes)
    article = question.lower[max(about.start - 1, 0)] in ("a", "an")
    subject = question.type != (0, 0) and question.type[0] < question.type[1]
    return Asked((Form("is_a"),), about.nodes, subject=subject or (article and word in ask.WHO))


def _yes_no(question: _Question, words: Words, own: frozenset[int]) -> Asked | None:
    """ "Does Alpha use Kafka?", "Is Kafka used by Alpha?", "Is Kafka a message queue?" """
    if not question.lower or question.lower[0] not in ask.AUXILIARY:
        return None
    about = list(question.mentions)
    if len(about) == 1 and own and len(question.lower) > 1 and question.lower[1] in ask.SELF:
        question.take(1, 2)
        about.insert(0, Mention(1, 2, question.lower[1], own))
    if len(about) != 2:
        return None
    first, second = about
    for place in range(first.end, second.start):
        found = _verbs_at(question, words, place) if question.free(place) else None
        if found:
            assert question.used is not None
            question.used |= found[0]
            if _leftover(question):
                return None
            return Asked(tuple(found[1]), first.nodes, other=second.nodes)
    if question.lower[0] in ask.BE and not _leftover(question):
        return Asked((Form("is_a"),), first.nodes, other=second.nodes)
    return None
