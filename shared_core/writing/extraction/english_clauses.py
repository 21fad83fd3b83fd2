"""An English sentence as clauses, and a clause as subject, tense, negation, verb and rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shared_core.writing.extraction import english_words as w
from shared_core.writing.extraction.english_phrases import is_name

_CONTRACTIONS: Final = [
    (re.compile(r"\b[Cc](?:an't|annot)\b"), "can not"), (re.compile(r"\b[Ww]on't\b"), "will not"),
    (re.compile(r"\b([Ii])'?m\b(?!')"), r"I am"), (re.compile(r"\b(\w+)n't\b"), r"\1 not"),
    (re.compile(r"\b(I|[Ww]e|[Tt]hey|[Yy]ou|i)'ve\b"), r"\1 have"), (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'re\b"), r"\1 are"),
    (re.compile(r"\b(\w+)'ll\b"), r"\1 will"), (re.compile(r"\b(I|[Ww]e|[Tt]hey|[Yy]ou|[Hh]e|[Ss]he|i)'d\b"), r"\1 would"),
    (re.compile(r"\b([Hh]e|[Ss]he|[Ii]t|[Tt]here|[Tt]hat)'s\b"), r"\1 is"),
    (re.compile(r"\b([Nn]ame|[Bb]irthday|[Ee]mail|[Nn]umber)'s (?=[A-Z\d+]|\S+@)"), r"\1 is "),
    (re.compile(r"\b[Gg]onna\b"), "going to"), (re.compile(r"\b[Ww]anna\b"), "want to"), (re.compile(r"\b[Gg]otta\b"), "have to"),
    (re.compile(r"\b(?:I|We|we) have got\b(?= (?:a|an|two|three|no|some|\d))"), "I have"), (re.compile(r"\bi\b(?!\.)"), "I"),
    (re.compile(r"\b[Nn]o more (?=\w+ing\b)"), "no longer "), (re.compile(r"\bworkin\b"), "working"),
]  # fmt: skip


_SHORTENED: Final = re.compile(r"\b(?:i|Im|im|[Cc]annot|[Gg]onna|[Ww]anna|[Gg]otta|[Nn]o more|have got|workin)\b")


def spelled_out(text: str) -> str:
    """Contractions written in full.

    >>> spelled_out("I'm sure he can't, but we've met")
    'I am sure he can not, but we have met'
    """
    if "'" not in text and not _SHORTENED.search(text):
        return text
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


UNREAL: Final = re.compile(
    r"\b(?:if|unless|wish(?:es|ed|ing)?|imagine|suppos(?:e|ing)|pretend(?:ing)?|assum(?:e|ing)|may ?be|perhaps|prob(?:ably)?|possibly"
    r"|rumou?r|apparently|allegedly|supposedly|reportedly|they say|for (?:example|instance)|as an example|hypothetically"
    r"|i guess|i bet|i suppose|not sure|no idea|hopefully|ideally|some ?day|one day|in theory|kidding|joking|jk|sarcasm|let's say"
    r"|say i|as though|yeah right|oh sure|oh great|in (?:the|this|that|her|his|a|my) (?:novel|book|film|movie|story"
    r"|game|show|series|dream|song|poem)|dream(?:ed|t|ing)|translate|role-?play|like i|would|could|should|sounds? like|looks? like"
    r"|seems? like|feels? like|it is not like|what about|how about|e\.g)\b|(?:^|\s)/s\b",
    re.IGNORECASE,
)  # fmt: skip
UNLIKELY: Final = re.compile(
    r"\b(?:might|could|should|would|almost|nearly|(?:sounds?|looks?|seems?|feels?|felt) like|when I (?:have|get|own|move|am))\b",
    re.IGNORECASE,
)
"""What takes back its own clause, where `UNREAL` takes back all up to the next "but"."""
_RESET: Final = re.compile(r"\s*;\s*|,?\s+(?:but|however|although|though|whereas)\b,?\s*|\.\.\.\s*|…\s*", re.IGNORECASE)


@lru_cache(maxsize=1)
def _break() -> re.Pattern[str]:
    """Where one clause ends and the next begins: punctuation, or a conjunction with a subject or a verb behind it."""
    past = sorted(form for form, verb in w.verbs().items() if {"past"} & verb.forms)
    now = "live lives work works play plays speak speaks study studies use uses own owns love loves like likes hate hates enjoy run runs teach".split()
    start = (
        r"(?:(?:also|then|now|just|recently|even|finally|currently|already|still|really)\s+)*(?:I|we|We|he|she|they|it|you|there|my|our|his|her|their"
        + "|this|that|am|is|are|was|were|have|has|had|do not|does not|"
        + "|".join(past + now)
        + r")\b"
    )
    named = (
        r"(?:[A-Z][\w-]+ (?:is|has|was|"
        + "|".join(form for form, v in w.verbs().items() if v.forms & {"past", "third"})
        + r")\b)"
    )
    return re.compile(
        r"\s*(?:,(?!\d)(?! ?(?:19|20)\d\d\b)|:(?=\s)|[()\[\]–—~]|\s-+\s|--|(?<=\w)-\s)\s*(?:(?:and|so|because|since|while|then|as|plus)\s+)?"
        rf"|\s+(?:and then|and|so that|so|because|cause|cuz|since|then|plus|while|as|after|before|until|&)\s+(?={start}|{named})"
    )  # fmt: skip


def parts(sentence: str) -> list[str]:
    """A sentence cut where "but" and the like take back what went before."""
    return [part for part in _RESET.split(sentence) if part]


def clauses(part: str) -> list[str]:
    """The clauses of a part.

    >>> clauses("I moved to Rome and sold the car, because I speak Spanish and Catalan")
    ['I moved to Rome', 'sold the car', 'I speak Spanish and Catalan']
    """
    return [piece.strip() for piece in _break().split(part) if piece and piece.strip()]


# ---------------------------------------------------------------------- the subject

_LEAD: Final = re.compile(
    r"^(?:(?:and|so|well|oh|yeah|yep|yes|yup|no(?=\s*[,:!])|nope|hey|hi|hello|ok|okay|anyway|anyways|btw|by the way|honestly|plus|also|then|now"
    r"|actually|recently|lately|currently|wow|sure|thanks|fun fact|guess what|you know|to be honest|as for me|for me|in fact"
    r"|personally|right now|these days|nowadays|since then|finally|luckily|fortunately|unfortunately|sadly|just so you know|fyi"
    r"|speaking of which|besides|ever since|years ago|at the moment|meanwhile|as you know|like i said|correction|for context"
    r"|on another note|on a different note|good news|big news|exciting news|great news|just(?= (?:I|we|my)\b)|I (?:just |also )?(?:want(?:ed)?|have|had|am (?:so |really |super )?(?:excited|happy|thrilled|pumped|stoked)) to (?:tell you(?: about it)?|let you know|say|share(?: with you)?|announce|report)(?: that)?(?= I )|(?:I am )?(?:so |really |very )?(?:glad|happy|proud|grateful|thankful|stoked)(?: that)?(?= (?:I|we) )|it has been \w+)\b[\s,:!]*)+",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"(?:[Mm]y|[Oo]ur) team\s+|(?:(?:[A-Z][\w-]+|my [\w-]+(?: [\w-]+)?|me|us|the kids|my \w+ and \w+)(?:, [A-Z][\w-]+)? and )?(?:I|[Ww]e)\b\s*|(?:[Mm]e|[Mm]y [\w-]+) and (?:[A-Z][\w-]+|my [\w-]+)\s+(?=went|moved|bought|got|adopted|visited|are|were|have)"
)
_KIN: Final = re.compile(
    r"(?:(?P<own>[Mm]y|[Oo]ur|[Tt]he(?= kids\b))|(?P<owner>[A-Z][\w-]+)'s) (?:(?:best|older|elder|younger|little|big|twin|late|dear|close|old|new|eldest|"
    r"oldest|youngest|lovely|beautiful|good|eldest|step|half|former|current|ex) )*(?P<kin>[\w-]+)(?:,? (?:named |called )?(?P<name>[A-Z][\w-]+)\b(?!'s))?,?\s+"
)
_NAMED: Final = re.compile(r"(?P<name>[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*|\d+)){0,3})\s+(?=[a-z])")
_ITEM: Final = re.compile(
    r"(?:[Tt]he|[Oo]ur) (?P<name>(?:[\w-]+ ){0,3}?[\w-]+) (?=(?:now |also |currently |no longer )?"
    r"(?:uses|use|belongs|runs on|depends on|is written in|is built with|is a|is an|does not use)\b)"
)
_DOING: Final = re.compile(r"([A-Z][a-z]+ing) (.+?) (?:was|has been|made|gave|helped|showed|taught)\b")
_MINE_IS: Final = re.compile(r"[Mm]y (?:new |current )?(\w+) is an? ([A-Z].+)$")
LEFT_OUT: Final = w.words("likes loves hates dislikes prefers lives works owns uses speaks plays drives studies enjoys")
_PRONOUN: Final = re.compile(r"(?:She|she|He|he)\b\s*")


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a clause is about: `own` for the speaker; `kin` and `owner` where it is somebody's relative or pet."""

    own: bool
    rest: str
    name: str = ""
    kin: str = ""
    owner: str = ""
    item: bool = False
    heard: bool = False


def subject(clause: str, *, inherited: Subject | None, antecedent: Subject | None, opening: bool) -> Subject | None:
    """The subject of a clause; a clause that begins with its verb has that of the one before."""
    clause = _LEAD.sub("", clause)
    if (match := _DOING.match(clause)) and (doing := w.verbs().get(match[1].lower())) and "ing" in doing.forms:
        return Subject(True, f"{w.pasts().get(doing.base, match[1])} {match[2]}")
    if match := _OWN.match(clause):
        return Subject(True, clause[match.end() :])
    if (match := _KIN.match(clause)) and (match["kin"].lower() in w.KIN or match["kin"].lower() in w.PETS):
        name = match["name"] or ""
        if name and not is_name(name):
            name = ""
        return Subject(False, clause[match.end() :], name, match["kin"].lower(), match["owner"] or "")
    if match := _MINE_IS.match(clause):
        return Subject(True, f"own a {match[2]}") if match[1].lower() in w.OWNABLE else None
    if match := _ITEM.match(clause):
        return Subject(False, clause[match.end() :], match["name"], item=True)
    if match := _NAMED.match(clause):
        parts_ = match["name"].split()
        if (
            all(p.lower().strip(".") not in w.NOT_NAMES for p in parts_)
            and parts_[0].lower() not in w.verbs()
            and parts_[0].lower() not in _BE
        ):
            return Subject(False, clause[match.end() :], match["name"])
    if (match := _PRONOUN.match(clause)) and antecedent is not None:
        return Subject(False, clause[match.end() :], antecedent.name, antecedent.kin, antecedent.owner, heard=True)
    first = re.match(r"(?:(?:just|also|then|now|even|recently|finally|already) )*([a-z][\w-]*)", clause, re.IGNORECASE)
    if first is None:
        return None
    word = first[1].lower()
    verb = w.verbs().get(word)
    if inherited is not None and (verb or word in _BE or word in _HAVE or word in _DO):
        return Subject(inherited.own, clause, inherited.name, inherited.kin, inherited.owner, inherited.item)
    if word == "been" and inherited is None:
        return Subject(True, "have " + clause[0].lower() + clause[1:])
    bare = re.match(r"(?:(?:no longer|does not|never|also|now|still|really) )*([A-Za-z]+)\b", clause)
    if opening and inherited is None and bare and bare[1].lower() in LEFT_OUT:
        return Subject(True, clause[0].lower() + clause[1:])
    dropped = verb is not None and "past" in verb.forms and "base" not in verb.forms and "third" not in verb.forms
    if dropped and opening and inherited is None and not re.search(r"\b(?:you|your|by)\b", clause):
        return Subject(True, clause)
    return None


# ---------------------------------------------------------------------- the verb

_BE: Final = w.words("am is are was were be been being")
_HAVE: Final = w.words("have has had having")
_DO: Final = w.words("do does did")
_MODAL: Final = w.words("would could should might may must can shall ought")
_ADVERBS: Final = w.words(
    "just also really very recently finally already still now currently actually always usually often sometimes mostly"
    " mainly absolutely totally truly definitely even only once originally lately soon simply ever both all officially"
    " kinda sort-of basically generally primarily regularly occasionally typically happily proudly personally quite"
    " especially particularly normally previously formerly secretly together either too so much pretty super incredibly"
    " successfully then seriously genuinely literally completely thoroughly rarely hardly barely seldom"
)
_SCARCE: Final = w.words("rarely hardly barely seldom")
_TOKEN: Final = re.compile(r"\s*([\w'@.+#&-]+|[^\w\s])")


@dataclass(frozen=True, slots=True)
class Predication:
    """What a clause says of its subject: `verb` a base form ("be" and "have" too), `tense` one of p g d f h."""

    verb: str
    form: str
    tense: str
    rest: str
    negated: bool = False
    ended: bool = False
    future: bool = False
    habitual: bool = False


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for match in _TOKEN.finditer(text):
        yield match[1].lower(), match.end()


def predication(text: str) -> Predication | None:
    """The verb of a clause, its tense and polarity; None where it is unreal or has no verb of ours.

    >>> predication("no longer work at Acme").ended, predication("can not wait")
    (True, None)
    """
    negated = ended = future = False
    aspect = ""
    used_to = False
    tokens = list(_tokens(text[:200]))
    i = 0
    past = False
    while i < len(tokens):
        word, end = tokens[i]
        nxt = _next_word(tokens, i + 1)
        if word == "no" and nxt == "longer":
            ended, i = True, i + 2
            continue
        if word in ("not", "never", "neither"):
            negated, i = not negated, i + 1
            continue
        if word in _SCARCE:
            return None
        if word in _ADVERBS:
            i += 1
            continue
        if word == "will":
            future, i = True, i + 1
            continue
        if word in _MODAL:
            if word == "can" and nxt in ("play", "speak"):
                i += 1
                continue
            if word == "can" and nxt == "not" and _next_word(tokens, i + 2) in ("stand", "eat", "drink", "have"):
                i += 1
                continue
            return None
        if word == "used" and nxt == "to":
            used_to, i = True, i + 2
            continue
        if (
            word in _DO
            and nxt
            and (
                nxt in ("not", "never")
                or nxt in _ADVERBS
                or nxt == "have"
                or (nxt in w.verbs() and "base" in w.verbs()[nxt].forms)
            )
        ):
            past, i = word == "did", i + 1
            continue
        if word in _HAVE and nxt in ("never", "not"):
            after = _next_word(tokens, i + 2)
            nxt = after if after == "been" or (after in w.verbs() and "participle" in w.verbs()[after].forms) else nxt
        if (
            word in _HAVE
            and nxt
            and (nxt == "been" or nxt == "had" or (nxt in w.verbs() and "participle" in w.verbs()[nxt].forms))
        ):
            if word == "had" and nxt == "been":
                return None
            aspect, i = "f", i + 1
            continue
        if (
            word in _BE
            and nxt
            and nxt.endswith("ing")
            and nxt not in ("nothing", "something", "king", "being", "during")
        ):
            aspect, i = ("h" if aspect == "f" or word == "been" else "w" if word in ("was", "were") else "g"), i + 1
            continue
        break
    if i >= len(tokens):
        return None
    word, end = tokens[i]
    rest = text[end:].strip()
    if word in _BE and (
        no := re.match(
            r"(?:(?:really|actually|even|still|just) )*(not|never|no longer)\b\s*(?!only\b|sure\b|just\b)", rest
        )
    ):
        rest = rest[no.end() :]
        negated, ended = negated != (no[1] != "no longer"), ended or no[1] == "no longer"
    if re.search(r"\b(?:any ?more|any longer)\b", rest) and negated:
        negated, ended = False, True
    if used_to:
        if negated:
            return None
        ended = True
    if aspect == "w":  # "I was working at the time" is scenery
        return None
    base, forms = _base(word)
    if (
        aspect == "h"
        and word in w.ACTIVITIES
        and not re.match(r"(?!for\b|since\b|about\b|a lot\b|lately\b|and\b)\w", rest)
    ):
        return Predication("", word, "h", rest, negated, ended, future)
    if base is None:
        if aspect == "g" and word.endswith("ing"):
            return Predication("", word, "g", rest, negated, ended, future)
        return Predication("", word, "p", rest, negated, ended, True) if future else None
    if not aspect and "ing" in forms and not forms & {"base", "past", "third"}:
        return None  # "keep learning", "love reading": no statement of its own
    tense = aspect or _tense(word, forms, past=past)
    return Predication(base, word, tense, rest, negated, ended, future)


def _next_word(tokens: list[tuple[str, int]], i: int) -> str:
    """The next word that is no adverb."""
    while i < len(tokens):
        if tokens[i][0] not in _ADVERBS:
            return tokens[i][0]
        i += 1
    return ""


def _base(word: str) -> tuple[str | None, frozenset[str]]:
    if word in _BE:
        return "be", frozenset()
    if word in _HAVE:
        return "have", frozenset()
    if word == "stand":
        return "stand", frozenset({"base"})
    verb = w.verbs().get(word)
    return (verb.base, verb.forms) if verb else (None, frozenset())


def _tense(word: str, forms: frozenset[str], *, past: bool) -> str:
    if word in ("was", "were", "had") or past:
        return "d"
    if word in _BE or word in _HAVE:
        return "f" if word == "been" else "p"
    if "base" in forms and "past" in forms:
        return "p" if word in w.words("read put quit") - {"read", "quit"} else "d"
    return "p" if forms & {"base", "third"} else "g" if "ing" in forms else "d"
