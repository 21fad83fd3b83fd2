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
_FIRST: Final = re.compile(r"(?:(?:just|also|then|now|even|recently|finally|already) )*([a-z][\w-]*)", re.IGNORECASE)
_BARE: Final = re.compile(r"(?:(?:no longer|does not|never|also|now|still|really) )*([A-Za-z]+)\b")


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
        name = match["name"] if match["name"] and is_name(match["name"]) else ""
        return Subject(False, clause[match.end() :], name, match["kin"].lower(), match["owner"] or "")
    if match := _MINE_IS.match(clause):
        return Subject(True, f"own a {match[2]}") if match[1].lower() in w.OWNABLE else None
    if match := _ITEM.match(clause):
        return Subject(False, clause[match.end() :], match["name"], item=True)
    if (match := _NAMED.match(clause)) and _names_somebody(match["name"].split()):
        return Subject(False, clause[match.end() :], match["name"])
    if (match := _PRONOUN.match(clause)) and antecedent is not None:
        return Subject(False, clause[match.end() :], antecedent.name, antecedent.kin, antecedent.owner, heard=True)
    return _left_out(clause, inherited, opening=opening)


def _names_somebody(words: list[str]) -> bool:
    """Whether words with capitals are a name, and no verb or common word that opens a sentence."""
    first = words[0].lower()
    return (
        all(word.lower().strip(".") not in w.NOT_NAMES for word in words)
        and first not in w.verbs()
        and first not in _BE
    )


def _left_out(clause: str, inherited: Subject | None, *, opening: bool) -> Subject | None:
    """The subject of a clause that names none: that of the clause before, or else the speaker."""
    first = _FIRST.match(clause)
    if first is None:
        return None
    word = first[1].lower()
    verb = w.verbs().get(word)
    if inherited is not None and (verb or word in _BE or word in _HAVE or word in _DO):
        return Subject(inherited.own, clause, inherited.name, inherited.kin, inherited.owner, inherited.item)
    if inherited is not None:
        return None
    if word == "been":
        return Subject(True, "have " + clause[0].lower() + clause[1:])
    bare = _BARE.match(clause)
    if opening and bare and bare[1].lower() in LEFT_OUT:
        return Subject(True, clause[0].lower() + clause[1:])
    dropped = verb is not None and "past" in verb.forms and not verb.forms & {"base", "third"}
    if dropped and opening and not re.search(r"\b(?:you|your|by)\b", clause):
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
_NO_PARTICIPLE: Final = w.words("nothing something king being during")
_TOKEN: Final = re.compile(r"\s*([\w'@.+#&-]+|[^\w\s])")
_NOT_BEHIND: Final = re.compile(
    r"(?:(?:really|actually|even|still|just) )*(not|never|no longer)\b\s*(?!only\b|sure\b|just\b)"
)
_NO_MORE: Final = re.compile(r"\b(?:any ?more|any longer)\b")
_AT_SOMETHING: Final = re.compile(r"(?!for\b|since\b|about\b|a lot\b|lately\b|and\b)\w")


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
    tokens = list(_tokens(text[:200]))
    before = _Before()
    i = 0
    while i < len(tokens) and (taken := _take(before, tokens, i)):
        i += taken
    if i >= len(tokens) or taken is None:
        return None
    word, end = tokens[i]
    rest = _turned(before, word, text[end:].strip())
    if (before.used_to and before.negated) or before.aspect == "w":  # "I was working at the time" is scenery
        return None
    found = _verb(before, word, rest)
    if found is None:
        return None
    verb, tense = found
    ended = before.ended or before.used_to
    return Predication(verb, word, tense, rest, before.negated, ended, before.future)


@dataclass(slots=True)
class _Before:
    """What the words in front of a verb say of it; `aspect` is its tense, or w for what was under way."""

    negated: bool = False
    ended: bool = False
    future: bool = False
    past: bool = False
    used_to: bool = False
    aspect: str = ""


def _take(before: _Before, tokens: list[tuple[str, int]], i: int) -> int | None:
    """How many words from here stand in front of the verb: 0 if this is the verb, None if the clause is unreal."""
    word, following = tokens[i][0], _next_word(tokens, i + 1)
    if word == "no" and following == "longer":
        before.ended = True
        return 2
    if word == "used" and following == "to":
        before.used_to = True
        return 2
    if word in ("not", "never", "neither"):
        before.negated = not before.negated
    elif word in _SCARCE or (word in _MODAL and not _is_able(word, following, tokens, i)):
        return None
    elif word == "will":
        before.future = True
    elif word in _DO and _only_helps(following):
        before.past = word == "did"
    elif word in _HAVE and (participle := _participle(following, tokens, i)):
        if word == "had" and participle == "been":
            return None
        before.aspect = "f"
    elif word in _BE and following.endswith("ing") and following not in _NO_PARTICIPLE:
        has_been = before.aspect == "f" or word == "been"
        before.aspect = "h" if has_been else "w" if word in ("was", "were") else "g"
    elif word not in _ADVERBS and word not in _MODAL:
        return 0
    return 1


def _is_able(word: str, following: str, tokens: list[tuple[str, int]], i: int) -> bool:
    """Whether a modal tells what is so: "can speak", "can not eat"."""
    if word != "can":
        return False
    return following in ("play", "speak") or (
        following == "not" and _next_word(tokens, i + 2) in ("stand", "eat", "drink", "have")
    )


def _only_helps(following: str) -> bool:
    """Whether "do" only helps the verb behind it."""
    return following in ("not", "never", "have") or following in _ADVERBS or _is_form("base", following)


def _participle(following: str, tokens: list[tuple[str, int]], i: int) -> str:
    """The participle that "have" helps, with or without a "never" between; "" where it is the verb itself."""
    if following in ("never", "not"):
        after = _next_word(tokens, i + 2)
        following = after if after == "been" or _is_form("participle", after) else following
    return following if following in ("been", "had") or _is_form("participle", following) else ""


def _is_form(form: str, word: str) -> bool:
    verb = w.verbs().get(word)
    return verb is not None and form in verb.forms


def _turned(before: _Before, word: str, rest: str) -> str:
    """What follows the verb, without a "not" behind "be"; that, and "any more", turns what is said."""
    if word in _BE and (no := _NOT_BEHIND.match(rest)):
        rest = rest[no.end() :]
        if no[1] == "no longer":
            before.ended = True
        else:
            before.negated = not before.negated
    if before.negated and _NO_MORE.search(rest):
        before.negated, before.ended = False, True
    return rest


def _verb(before: _Before, word: str, rest: str) -> tuple[str, str] | None:
    """The base form of the verb, "" if it is none of ours but stands where one does, and its tense."""
    if before.aspect == "h" and word in w.ACTIVITIES and not _AT_SOMETHING.match(rest):
        return "", "h"
    base, forms = _base(word)
    if base is None:
        if before.aspect == "g" and word.endswith("ing"):
            return "", "g"
        return ("", "p") if before.future else None
    if not before.aspect and "ing" in forms and not forms & {"base", "past", "third"}:
        return None  # "keep learning", "love reading": no statement of its own
    return base, before.aspect or _tense(word, forms, past=before.past)


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
