"""English phrases: where a noun phrase ends, what of it is its object, and whether it names anything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared_core.writing.extraction import english_words as w


@dataclass(frozen=True, slots=True)
class Said:
    """A predicate with its object; what a verb's rest says beside the first comes as further ones."""

    predicate: str
    object: str
    subject: str | None = None
    polarity: bool | None = None
    ended: bool = False
    kin: bool = False


_DETERMINER: Final = re.compile(
    r"^(?:(?:a|an|the|my|our|some|his|her|their|this|that|these|those|its|any|another|own|both|all|of)\s+)+",
    re.IGNORECASE,
)

STARTS_NOUN: Final = re.compile(
    r"(?:a|an|the|my|our|some|his|her|their|another|two|three|four|five|six|seven|eight|nine|ten|\d+|first|several|many)\b",
    re.IGNORECASE,
)

CUT: Final = re.compile(
    r"\s+(?:for|with|without|in|at|on|from|to|by|during|after|before|since|as|through|near|over|under|behind|because|so"
    r"|when|while|if|that|which|who|where|than|like|but|until|along|together|instead|into|onto|around|back|out|up|off"
    r"|just|and \w+(?:ed|ing)|and i|and we|and it|and they|and my|there|here|called|named|using|is|was|are|were|has|have|i|we|he|she|they|it"
    r"|full-time|part-time|made|right|has|makes|helps|via|due|thanks|despite|against|between|alongside|last|next)\b.*$",
    re.IGNORECASE | re.DOTALL,
)

CUT_PLACE: Final = re.compile(
    r"\s+(?:for|with|without|because|so|when|while|if|that|which|who|where|after|before|since|as|to|by|from|during|and"
    r"|but|about|until|together|just|right|at|is|was|i|we|there|full|back|over|he|she|it|they|has|on|over)\b.*$",
    re.IGNORECASE | re.DOTALL,
)

CUT_TOPIC: Final = re.compile(
    r"\s+(?:'cause|for|with|without|because|so|when|while|if|that|which|who|where|after|before|since|as|to|by|during|but|until"
    r"|together|at|is|was|i|we|he|she|it|they|and \w+ing|and i|and it|has|have|right|just)\b.*$",
    re.IGNORECASE | re.DOTALL,
)

CUT_ACTIVITY: Final = re.compile(
    r"\s+(?:'cause|because|so|when|while|if|that|which|who|where|after|before|since|as|but|until|is|was|i|we|he|she|they)\b.*$",
    re.IGNORECASE | re.DOTALL,
)

_TAIL: Final = re.compile(
    r"(?:\s+(?:too|now|again|today|lately|recently|these days|right now|at the moment|a lot|so much|very much|as well|well"
    r"|anymore|any more|any longer|already|together|though|here|there|also|myself|ourselves|a bit|once|twice|yet|regularly"
    r"|currently|instead|full[- ]time|part[- ]time|soon|lol|haha|btw|by the way|for sure|most|best|more|actually|either"
    r"|everywhere|anywhere|in general|honestly|man|of course|all the time|from home|remotely|originally|of mine|and|coming up|anyway|lined up|planned|for fun))+$",
    re.IGNORECASE,
)

ADDRESSEE: Final = re.compile(r"\b(?:you|your|yours|yourself|ya|u|ur)\b", re.IGNORECASE)

_WORD: Final = re.compile(r"[\w'&+#./-]+")

JOINED: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+", re.IGNORECASE)

LONGEST: Final = 9

NOT_MADE: Final = w.words(
    "difference decision plan change changes friends list life future way progress effort impact choice mark connection connections"
    " name note notes career community environment space confidence strength relationship relationships memories bond"
    " support trust moment career resilience path conclusion blank lot bit"
)

_NO_END: Final = w.words(
    "it them this that these those him her us me you they what how when one ones everyone everything something"
)

BLANK: Final = w.words(
    "event place thing meeting show party project appointment stuff class game world trip course activity goal goals"
)

ABSTRACT: Final = w.words(
    "way idea color colors colour colours view design quote message sound look vibe feeling fact energy combo detail details"
    " freedom support passion enthusiasm attitude spirit change changes process experience journey story pic photo picture"
    " rush thrill sense challenge satisfaction creativity atmosphere art painting theme games"
)

NO_GERUND: Final = w.words(
    "seeing hearing knowing being having talking chatting getting thinking looking feeling realizing noticing making"
    " wondering letting telling giving trying going doing coming finding taking keeping putting saying sharing catching"
    " caring being to off out over by from with up in on at as again seeing understanding believing working taking"
)


def tidy(text: str) -> str:
    """A noun phrase without its determiners and the adverbs behind it."""
    text = _TAIL.sub("", text.strip(" \t,;:.!?-–—'\"()*~"))
    return _DETERMINER.sub("", _TAIL.sub("", text)).strip(" ,-'\"()")


def words_of(text: str) -> list[str]:
    """The words of a phrase in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def sound(text: str, longest: int = LONGEST) -> bool:
    """Whether a phrase can stand as an object: something named, short, and not about the addressee."""
    found = words_of(text)
    return bool(
        found
        and len(found) <= longest
        and found[0] not in w.VAGUE
        and found[0] not in ("and", "or", "but")
        and (len(found) > 1 or found[0] not in w.EVALUATIONS)
        and not ADDRESSEE.search(text)
        and any(c.isalnum() for c in text)
        and found[-1]
        not in ("the", "a", "an", "of", "to", "my", "our", "and", "thing", "things", "way", "idea", "chance")
    )


def phrase(text: str, cut: re.Pattern[str] = CUT, longest: int = LONGEST) -> str | None:
    """The noun phrase a text begins with, or None."""
    found = tidy(cut.sub("", " " + text.strip()))
    return found if sound(found, longest) else None


def is_name(text: str) -> bool:
    """Whether a phrase is written as a name: each word with a capital, none of them a common one."""
    parts = text.split()
    return 0 < len(parts) <= 3 and all(p[0].isupper() and p.lower().strip(".,") not in w.NOT_NAMES for p in parts)


def head_of(found: str) -> str:
    return words_of(found.split(" of ")[0])[-1]


def has_any(found: str, lexicon: frozenset[str]) -> bool:
    return any(word in lexicon or word.rstrip("s") in lexicon for word in words_of(found))
