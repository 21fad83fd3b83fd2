"""What follows an English verb, read as the object of a fact, by kind; None where it is none."""

from __future__ import annotations

import re
from collections.abc import Callable
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
_STARTS_NOUN: Final = re.compile(
    r"(?:a|an|the|my|our|some|his|her|their|another|two|three|four|five|six|seven|eight|nine|ten|\d+|first|several|many)\b",
    re.IGNORECASE,
)
_CUT: Final = re.compile(
    r"\s+(?:for|with|without|in|at|on|from|to|by|during|after|before|since|as|through|near|over|under|behind|because|so"
    r"|when|while|if|that|which|who|where|than|like|but|until|along|together|instead|into|onto|around|back|out|up|off"
    r"|just|and \w+(?:ed|ing)|and i|and we|and it|and they|and my|there|here|called|named|using|is|was|are|were|has|have|i|we|he|she|they|it"
    r"|full-time|part-time|made|right|has|makes|helps|via|due|thanks|despite|against|between|alongside|last|next)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_CUT_PLACE: Final = re.compile(
    r"\s+(?:for|with|without|because|so|when|while|if|that|which|who|where|after|before|since|as|to|by|from|during|and"
    r"|but|about|until|together|just|right|at|is|was|i|we|there|full|back|over|he|she|it|they|has|on|over)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_CUT_TOPIC: Final = re.compile(
    r"\s+(?:'cause|for|with|without|because|so|when|while|if|that|which|who|where|after|before|since|as|to|by|during|but|until"
    r"|together|at|is|was|i|we|he|she|it|they|and i|and it|has|have|right|just)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_CUT_ACTIVITY: Final = re.compile(
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
_ADDRESSEE: Final = re.compile(r"\b(?:you|your|yours|yourself|ya|u|ur)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w'&+#./-]+")
_JOINED: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+", re.IGNORECASE)
_LONGEST: Final = 9
EMPLOYERS: Final = w.words(
    "google microsoft amazon apple meta facebook netflix nvidia intel ibm oracle sap siemens bosch samsung sony nokia"
    " ericsson tesla toyota boeing airbus tesco walmart target ikea starbucks mcdonald's costco nike adidas uber airbnb"
    " spotify stripe shopify twitter linkedin paypal salesforce adobe deloitte pwc kpmg ey accenture mckinsey goldman"
    " jpmorgan hsbc barclays pfizer bayer novartis alibaba tencent baidu huawei bytedance xiaomi acme openai anthropic"
)
_ORG: Final = re.compile(
    r"\b(?:inc|ltd|llc|corp|gmbh|labs?|bank|university|company|co|group|hospital|studios?|agency|firm)\.?$",
    re.IGNORECASE,
)
_PLACE: Final = w.words(
    "city town village apartment flat house country farm suburb suburbs island coast countryside state condo cottage"
    " cabin mountains dorm neighborhood neighbourhood district capital studio place bungalow houseboat loft campus hostel"
)
_AREAS: Final = w.words(
    "finance marketing healthcare tech technology education hr sales it retail hospitality construction banking insurance"
    " logistics advertising publishing journalism fashion media research consulting manufacturing agriculture law"
    " engineering politics government security biotech accounting design film television nonprofits"
)
_NO_TRIP: Final = w.words(
    "bed sleep work school college university church hell court war jail prison therapy store bathroom toilet doctor"
    " dentist market gym shower extremes town class office hospital kitchen side point next top end other lengths trouble"
    " night house home room grocery supermarket bank mall pieces waste show see get do find help check visit meet be"
)
_NO_GERUND: Final = w.words(
    "seeing hearing knowing being having talking chatting getting thinking looking feeling realizing noticing making"
    " wondering letting telling giving trying going doing coming finding taking keeping putting saying sharing catching"
    " caring being to off out over by from with up in on at as again seeing understanding believing working taking"
)
_TASTES_WITH_THE: Final = w.words(
    "outdoors beach mountains ocean sea city countryside rain snow cold heat piano guitar sun water"
)
_ABSTRACT: Final = w.words(
    "way idea color colors colour colours view design quote message sound look vibe feeling fact energy combo detail details"
    " freedom support passion enthusiasm attitude spirit change changes process experience journey story pic photo picture"
    " rush thrill sense challenge satisfaction creativity atmosphere art painting theme games"
)


_NO_END: Final = w.words(
    "it them this that these those him her us me you they what how when one ones everyone everything something"
)
_NOT_MADE: Final = w.words(
    "difference decision plan change changes friends list life future way progress effort impact choice mark connection connections"
    " name note notes career community environment space confidence strength relationship relationships memories bond"
    " support trust moment career resilience path conclusion blank lot bit"
)
_BLANK: Final = w.words(
    "event place thing meeting show party project appointment stuff class game world trip course activity goal goals"
)


def tidy(text: str) -> str:
    """A noun phrase without its determiners and the adverbs behind it."""
    text = _TAIL.sub("", text.strip(" \t,;:.!?-–—'\"()*~"))
    return _DETERMINER.sub("", _TAIL.sub("", text)).strip(" ,-'\"()")


def words_of(text: str) -> list[str]:
    """The words of a phrase in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def sound(text: str, longest: int = _LONGEST) -> bool:
    """Whether a phrase can stand as an object: something named, short, and not about the addressee."""
    found = words_of(text)
    return bool(
        found
        and len(found) <= longest
        and found[0] not in w.VAGUE
        and found[0] not in ("and", "or", "but")
        and (len(found) > 1 or found[0] not in w.EVALUATIONS)
        and not _ADDRESSEE.search(text)
        and any(c.isalnum() for c in text)
        and found[-1]
        not in ("the", "a", "an", "of", "to", "my", "our", "and", "thing", "things", "way", "idea", "chance")
    )


def phrase(text: str, cut: re.Pattern[str] = _CUT, longest: int = _LONGEST) -> str | None:
    """The noun phrase a text begins with, or None."""
    found = tidy(cut.sub("", " " + text.strip()))
    return found if sound(found, longest) else None


def is_name(text: str) -> bool:
    """Whether a phrase is written as a name: each word with a capital, none of them a common one."""
    parts = text.split()
    return 0 < len(parts) <= 3 and all(p[0].isupper() and p.lower().strip(".,") not in w.NOT_NAMES for p in parts)


def _head(found: str) -> str:
    return words_of(found.split(" of ")[0])[-1]


def _has(found: str, lexicon: frozenset[str]) -> bool:
    return any(word in lexicon or word.rstrip("s") in lexicon for word in words_of(found))


def _as_job(rest: str) -> list[Said]:
    match = re.search(r"\bas (?:an?|the|their|our) (.+)$", rest, re.IGNORECASE)
    return job(match[1], "works_as") if match else []


def place(rest: str, predicate: str) -> list[Said]:
    """Somewhere one can live."""
    found = phrase(rest, _CUT_PLACE, 7)
    if found is None or not (found[0].isupper() or _has(found, _PLACE)) or re.match(r"(?:in|on|at)\b", rest.strip()):
        return []
    if words_of(found)[0] in ("peace", "fear", "god", "tears", "monday", "friday"):
        return []
    return [Said(predicate, found)]


def fromto(rest: str, predicate: str) -> list[Said]:
    """ "from A to B": A is over, B holds."""
    match = re.match(r"(.+?)\s+(?:over\s+|back\s+)?(?:to|into)\s+(.+)$", rest, re.IGNORECASE)
    kind = place if predicate == "lives_in" else listed
    if match is None:
        return [Said(s.predicate, s.object, polarity=False, ended=True) for s in kind(rest, predicate)]
    before = [Said(s.predicate, s.object, polarity=False, ended=True) for s in kind(match[1], predicate)]
    return before + kind(match[2], predicate)


def org(rest: str, predicate: str) -> list[Said]:
    """Who one works for."""
    found = phrase(rest, longest=6)
    if found is None or words_of(found)[0] in w.words(
        "home night least once first all last work fun free hours myself nothing"
    ):
        return []
    if not (found[0].isupper() or _STARTS_NOUN.match(rest.strip())):
        return []
    return [Said(predicate, found), *(_as_job(rest) if predicate == "works_at" else [])]


def job(rest: str, predicate: str) -> list[Said]:
    """An occupation, with the employer behind it."""
    match = re.match(r"(.+?)(?:\s+(?:at|for|with)\s+(.+))?$", rest.strip())
    if match is None:
        return []
    found = phrase(match[1], longest=5)
    if found is None or not (
        _has(found, w.JOBS) or re.search(r"(?:ologist|ographer|keeper|maker|wright|ician|smith)$", found)
    ):
        return []
    if set(words_of(found)) & (w.EVALUATIONS - {"super", "real", "total"}):
        return []
    found = re.sub(r"^(?:new|current|proud)\s+", "", found)
    at = (
        org(match[2], "works_at")
        if match[2] and (match[2][0].isupper() or match[2].startswith(("a ", "an ")) or " at the " in rest)
        else []
    )
    return [Said(predicate, found), *at]


def employer(rest: str, predicate: str) -> list[Said]:
    """An employer one leaves: a known one, or a name that says so; any other name may be a town."""
    found = phrase(rest, longest=4)
    if found is None or not (words_of(found)[0] in EMPLOYERS or (found[0].isupper() and _ORG.search(found))):
        return []
    return [Said(predicate, found)]


def topic(rest: str, predicate: str) -> list[Said]:
    """What one works on."""
    found = phrase(rest, _CUT_TOPIC)
    if (
        found is None
        or found.lower() in _BLANK
        or words_of(found)[0].endswith("ing")
        or words_of(found)[0] in ("myself", "how", "getting")
    ):
        return []
    return [Said(predicate, found)] if found[0].isupper() or _STARTS_NOUN.match(rest.strip()) else []


def activity(rest: str, predicate: str) -> list[Said]:
    """A verb phrase after "to"."""
    found = tidy(_CUT_ACTIVITY.sub("", " " + rest))
    first = words_of(found)[:1]
    if not first or first[0] in w.words("think see know hear say be help thank make have get do go give let take call believe"
                                        " keep point mention try share imagine talk look appreciate"):  # fmt: skip
        return []
    if re.search(r"\b(?:it|them|this|that|these|those|him|her)\b", found):
        return []
    return [Said(predicate, found)] if sound(found) and first[0].isalpha() else []


def taste(rest: str, predicate: str) -> list[Said]:
    """Something liked in general: not this thing here, and nothing of the addressee's."""
    rest = rest.strip()
    first = words_of(rest)[:1]
    if not first or first[0] in w.words("this these those that it when how what your you being seeing having him her them his"
                                        " their if where to all not every both"):  # fmt: skip
        return []
    if re.search(r"\s(?:that|which|who|how|what|this|these|those|it|them)\b", rest):
        return []
    found = tidy(re.sub(r"\s+(?:because|since|so|but|when|while|if|as|and it|it|that|which|although|cause|whenever|is|are|and i"
                        r"|and we|just|especially|where|too)\b.*$", "", " " + rest, flags=re.IGNORECASE))  # fmt: skip
    if (
        not sound(found, 8)
        or (_has(found, _ABSTRACT) and found not in ("painting", "art"))
        or (words_of(found)[0] in _NO_GERUND and not found.startswith(("getting up", "taking ")))
    ):
        return []
    if first[0] == "the" and not (_head(found) in _TASTES_WITH_THE or found[0].isupper()):
        return []
    if first[0] in ("my", "our") and not _has(found, w.PETS | w.words("job work garden hometown city")):
        return []
    if (
        first[0] in ("a", "an")
        or not found[0].isalnum()
        or found in ("playing", "trying", "characters", "working", "stories")
    ):
        return []
    if (cut := re.search(r"\ban? (\w+)$", found)) and cut[1].lower() in w.EVALUATIONS | w.words(
        "safe supportive positive new healthy fun"
    ):
        return []
    return [Said(predicate, found)]


def prefer(rest: str, predicate: str) -> list[Said]:
    """What is preferred, without what it is preferred to."""
    found = phrase(re.sub(r"\s+(?:to|over|than|rather|instead)\b.*$", "", " " + rest))
    return [Said(predicate, found)] if found else []


def food(rest: str, predicate: str) -> list[Said]:
    """What is not eaten or drunk."""
    found = phrase(rest, longest=4)
    return (
        [Said(predicate, found)]
        if found
        and words_of(rest)[0]
        not in ("a", "an", "the", "until", "enough", "well", "my", "too", "out", "healthy", "more", "less", "some")
        else []
    )


def itself(rest: str, predicate: str) -> list[Said]:
    """A habit that the verb itself names."""
    return [Said(predicate, "smoking")] if not rest.strip() or re.match(r"(?:cigarettes|any)", rest.strip()) else []


def thing(rest: str, predicate: str) -> list[Said]:
    """Something that can be owned, given or made."""
    found = phrase(rest)
    if found is None or _has(
        found, w.words("chance time call idea decision look difference impact mistake point progress shot break")
    ):
        return []
    ok = _STARTS_NOUN.match(rest.strip()) or found[0].isupper() or _has(found, w.OWNABLE)
    return [Said(predicate, found)] if ok else []


def novel(rest: str, predicate: str) -> list[Said]:
    """Something come upon: with its article, and a thing rather than a feeling."""
    found = phrase(rest, longest=6)
    if (
        found is None
        or not re.match(r"\s*(?:an?|the perfect|two|three) ", rest)
        or _has(found, _NOT_MADE | _ABSTRACT | w.words("lot job home"))
    ):
        return []
    return [Said(predicate, found)] if len(words_of(found)) > 1 else []


def adoptee(rest: str, predicate: str) -> list[Said]:
    """A pet, or a child."""
    named = re.match(r"(.+?),?\s+(?:named|called)\s+([A-Z][\w'-]+)", rest)
    said = thing(named[1] if named else rest, predicate)
    if said and _has(said[0].object, w.FAMILY):
        return [Said("has_family", said[0].object)]
    if said and not _has(said[0].object, w.PETS):
        return []
    return pet(named[2], said[0].object) if named and said else said


def pet(name: str, kind: str) -> list[Said]:
    """A pet with a name is the owner's, and of its kind."""
    return [
        Said("pet", name),
        Said("is_a", re.sub(r"^(?:new|little|old|cute|sweet|young|adorable|lovely)\s+", "", kind), subject=name),
    ]


def ownable(rest: str, predicate: str) -> list[Said]:
    """A noun phrase whose head is a pet, a vehicle, a device or another belonging."""
    named = re.match(r"(.+?),?\s+(?:named|called)\s+([A-Z][\w'-]+)", rest)
    found = phrase(named[1] if named else rest)
    if found is None or _ADDRESSEE.search(rest[:30]):
        return []
    head = _head(found)
    if head not in w.OWNABLE and head.rstrip("s") not in w.OWNABLE and not (_has(found, w.PETS) and found[0].isdigit()):
        return []
    if named and _has(found, w.PETS):
        return pet(named[2], found)
    if re.match(r"(?:the|his|her|their|that)\b", rest.strip()) and predicate == "owns":
        return []
    return [Said(predicate, found)]


def vehicle(rest: str, predicate: str) -> list[Said]:
    """A vehicle, by make or by kind."""
    found = phrase(rest, longest=4)
    return (
        [Said(predicate, found)]
        if found and re.match(r"(?:a|an|my)\b", rest.strip()) and _has(found, w.VEHICLES)
        else []
    )


def person(rest: str, predicate: str) -> list[Said]:
    """Somebody by name."""
    match = re.match(r"\s*((?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+)?)", rest)
    return [Said(predicate, match[1])] if match and is_name(match[1]) else []


def trip(rest: str, predicate: str) -> list[Said]:
    """Somewhere visited, or something attended there."""
    rest = re.sub(r"^(?:an?|my|our|the) (?:\w+[ -]){0,2}?(?:trip|vacation|holiday|tour|visit|journey|honeymoon)s? (?:to|in|through|around|across) ",
                  "", rest.strip(), flags=re.IGNORECASE)  # fmt: skip
    found = phrase(rest, longest=7)
    if found is None:
        return []
    first, head = words_of(found)[0], _head(found)
    if first in _NO_TRIP or head in _NO_TRIP or first.endswith("ly") or found.lower() in _BLANK:
        return []
    if _has(found, w.HAPPENINGS):
        return [Said("attended", found)] if predicate == "visited" else []
    return [Said(predicate, found)] if found[0].isupper() or _STARTS_NOUN.match(rest) else []


def tookto(rest: str, predicate: str) -> list[Said]:
    """ "took the kids to X": a visit."""
    match = re.match(r"(?:my|our|the) [\w' -]{2,25}? to ((?:an?|the|my|our) .+|[A-Z].+)$", rest.strip())
    return (
        trip(match[1], predicate)
        if match and not re.search(r"\b(?:time|chance|opportunity|way|steps?)\b", rest)
        else []
    )


def newjob(rest: str, predicate: str) -> list[Said]:
    """ "got a part-time job"."""
    found = phrase(rest, longest=4)
    return (
        [Said(predicate, found)]
        if found and _head(found) in ("job", "gig", "internship") and re.match(r"\s*(?:an?|my) ", rest)
        else []
    )


def tripto(rest: str, predicate: str) -> list[Said]:
    """ "on a trip to X" is a visit; "on a hike" is something done."""
    match = re.match(
        r"(?:an?|my|our|the|another|this)\s+(?:[\w'-]+\s+){0,3}?(?:trip|vacation|tour|cruise|holiday|journey|drive)\s+to\s+(.+)$",
        rest.strip(),
        re.I,
    )
    if match:
        return trip(match[1], predicate)
    found = phrase(rest, longest=5)
    if found and _has(
        found,
        w.words(
            "hike hikes trip vacation safari cruise honeymoon ride walk tour retreat run swim jog pilgrimage expedition picnic camping drive"
        ),
    ):
        return [Said("did", found)]
    return []


def happening(rest: str, predicate: str) -> list[Said]:
    """An event one is at."""
    found = phrase(rest)
    if (
        found is None
        or found.lower() in _BLANK
        or not (_STARTS_NOUN.match(rest.strip()) or found[0].isupper() or _has(found, w.HAPPENINGS))
    ):
        return []
    return [Said(predicate, found)]


def gathering(rest: str, predicate: str) -> list[Said]:
    """A class, a team or the like."""
    found = phrase(rest)
    if (
        found is None
        or not _has(found, w.GATHERINGS | w.HAPPENINGS)
        or _head(found).rstrip("s") in ("walk", "drive", "game", "camp")
    ):
        return []
    return [Said("attended" if predicate == "attended" else predicate, found)] if len(words_of(found)) > 1 else []


def group(rest: str, predicate: str) -> list[Said]:
    """A group one belongs to."""
    found = phrase(rest)
    if found is None or not (_STARTS_NOUN.match(rest.strip()) or found[0].isupper()):
        return []
    if words_of(found)[0] in w.words("conversation fun call hands forces cause party fight meeting dots"):
        return []
    return [Said(predicate, found)]


def habit(rest: str, predicate: str) -> list[Said]:
    """What one gives up."""
    found = phrase(rest, longest=5)
    return (
        [Said(predicate, found)]
        if found and words_of(found)[0] not in ("early", "while", "now", "when", "trying")
        else []
    )


def begun(rest: str, predicate: str) -> list[Said]:
    """What one starts: a noun phrase with its article, or an activity."""
    found = phrase(rest, _CUT_TOPIC if words_of(rest)[:1] and words_of(rest)[0].endswith("ing") else _CUT)
    if found is None or (
        words_of(rest)[0] in _NO_GERUND and not re.search(r"\b(?:lessons|class(?:es)?|courses?)$", found)
    ):
        return []
    return [Said(predicate, found)] if _STARTS_NOUN.match(rest.strip()) or words_of(found)[0].endswith("ing") else []


def done(rest: str, predicate: str) -> list[Said]:
    """What one finishes."""
    found = title(rest) or phrase(rest)
    if found is None or words_of(rest)[0] in ("up", "off", "with", "it", "what", "that"):
        return []
    return (
        [Said(predicate, found)]
        if re.match(r"\s*(?:this|these) ", rest)
        or _STARTS_NOUN.match(rest.strip())
        or words_of(found)[0].endswith("ing")
        or found[0].isupper()
        else []
    )


def _with(lexicon: frozenset[str], longest: int = _LONGEST) -> Callable[[str, str], list[Said]]:
    def read(rest: str, predicate: str) -> list[Said]:
        found = phrase(rest, longest=longest)
        return [Said(predicate, found)] if found and _has(found, lexicon) else []

    return read


def prize(rest: str, predicate: str) -> list[Said]:
    """A prize: what the phrase ends in."""
    found = phrase(rest)
    if found is None or not (
        _head(found).rstrip("s") in w.PRIZES or re.match(r"(?:first|second|third) (?:place|prize)", found)
    ):
        return []
    return [] if re.match(r"\s*(?:his|her|their|this|that)\b", rest) else [Said(predicate, found)]


def loss(rest: str, predicate: str) -> list[Said]:
    """Somebody or something lost: one's own."""
    found = phrase(rest, longest=3)
    return (
        [Said(predicate, found)]
        if found and _has(found, w.LOSSES) and re.match(r"\s*(?:my|our|a|an|the)\b", rest)
        else []
    )


def title(rest: str) -> str | None:
    """A title at the start of a text, with the small words inside it."""
    match = re.match(
        r"(?:(?:[A-Z][\w'’:-]*|\d+)(?:\s+(?:(?:of|the|with|and|a|in|to|for|on|at|from)\s+){0,2}(?=[A-Z]))?){2,}[\w'’-]*",
        rest,
    )
    return match[0].strip() if match and not re.match(r"I\b", rest) else None


def work(rest: str, predicate: str) -> list[Said]:
    """Something made: its head is a work."""
    rest = re.sub(r"^(?:(?:my|our) [\w-]+|him|her|them|us|me|myself) (?=some |an? |the |this )", "", rest.strip())
    found = phrase(rest)
    if found and re.match(r"\s*(?:this|these) \w", rest) and not _has(found, _NOT_MADE):
        return [Said(predicate, found)]
    if found is None or not _has(found, w.WORKS) or words_of(found)[0] in ("sure", "fun", "up", "friends", "out"):
        return []
    return [Said(predicate, found)]


def craft(rest: str, predicate: str) -> list[Said]:
    """Something made by a verb of craft: its article is enough."""
    if said := work(rest, predicate):
        return said
    found = phrase(rest, longest=5)
    if (
        found is None
        or not re.match(r"\s*(?:an?|my|our|two|three|some) ", rest)
        or _has(found, _NOT_MADE)
        or found.lower() in _BLANK
    ):
        return []
    return [Said(predicate, found)]


def project(rest: str, predicate: str) -> list[Said]:
    """Something being made: a noun phrase with its article."""
    found = phrase(rest, _CUT_TOPIC, 7)
    if (
        found is None
        or not re.match(r"\s*(?:an?|my|our|another|some|this) ", rest)
        or _has(found, _NOT_MADE)
        or found.lower() in _BLANK
    ):
        return []
    return [Said(predicate, found)]


def venture(rest: str, predicate: str) -> list[Said]:
    """A business or a plan of one's own being started."""
    found = phrase(rest, longest=5)
    own = re.match(r"\s*(?:an?|my|our|my own) ", rest)
    return (
        [Said(predicate, found)]
        if found
        and own
        and _has(found, w.BUSINESSES | w.words("business campaign podcast blog channel project garden book journey"))
        else []
    )


def routine(rest: str, predicate: str) -> list[Said]:
    """What is being practised."""
    found = phrase(rest, longest=4)
    return [Said(predicate, found)] if found and words_of(found)[0] not in ("hard", "harder", "what", "a") else []


def film(rest: str, predicate: str) -> list[Said]:
    """A film by its title, or called one."""
    found = title(rest) or phrase(rest)
    return (
        [Said(predicate, found)]
        if found
        and (_has(found, w.SHOWS | w.words("series anime show trilogy")) or (title(rest) and found[0].isupper()))
        else []
    )


def outing(rest: str, predicate: str) -> list[Said]:
    """ "went camping in the Alps"."""
    if (words_of(rest) or [""])[0] not in w.OUTINGS and not re.match(
        r"(?:rock|scuba|horseback|bird|ice|window|paddle) ?-?\w+ing\b", rest.strip()
    ):
        return []
    found = tidy(_CUT_TOPIC.sub("", " " + rest))
    return [Said(predicate, found)] if sound(found) else []


def trail(rest: str, predicate: str) -> list[Said]:
    """A named trail or mountain that was hiked."""
    found = phrase(rest, longest=5)
    return [Said(predicate, "hike " + found)] if found and found[0].isupper() else []


def book(rest: str, predicate: str) -> list[Said]:
    """A book: by its title, or called one."""
    found = title(rest) or phrase(rest)
    if found is None or not (_has(found, w.BOOKS) or (found[0].isupper() and rest.strip()[:1].isupper())):
        return []
    return [Said(predicate, found)]


def language(rest: str, predicate: str) -> list[Said]:
    """Languages, one fact each."""
    return [Said(predicate, word) for word in re.findall(r"[A-Z]\w+", rest) if word.lower() in w.LANGUAGES]


def game(rest: str, predicate: str) -> list[Said]:
    """Instruments, sports and games."""
    found = phrase(rest, longest=4)
    if found is None or re.match(r"\s*(?:a|an|with|around|along)\b", rest):
        return []
    parts = [part for part in _JOINED.split(found) if part]
    known = w.INSTRUMENTS | w.GAMES
    return [
        Said(predicate, tidy(part)) for part in parts
        if _has(part, known) or re.search(r"\b(?:video|board|computer|card) games?$", part) or part[0].isupper()
    ]  # fmt: skip


def sport(rest: str, predicate: str) -> list[Said]:
    """A practised activity."""
    found = phrase(rest, longest=3)
    return [Said(predicate, found)] if found and _has(found, w.SPORTS) else []


def subject(rest: str, predicate: str) -> list[Said]:
    """What is studied or learned."""
    found = phrase(rest, longest=4)
    first = words_of(rest)[:1]
    if found is None or first[0] in w.words(
        "a an that how more about from what so not it your my this these why hard abroad new"
    ):
        return []
    if _has(found, w.words("things lesson lessons ways skills something tricks techniques importance value test exam")):
        return []
    at = re.search(r"\bat ([A-Z][\w' -]+)$", rest)
    if predicate == "learns" and len(parts := _JOINED.split(found)) > 1 and all(len(p.split()) <= 2 for p in parts):
        return [Said(predicate, tidy(p)) for p in parts if p]
    extra = [Said("studies_at", tidy(at[1]))] if at and predicate == "studies" else []
    return [Said(predicate, found), *extra]


def area(rest: str, predicate: str) -> list[Said]:
    """The town or the trade one works in."""
    found = phrase(rest, _CUT_PLACE, 4)
    return [Said(predicate, found)] if found and (found[0].isupper() or _has(found, _AREAS)) else []


def school(rest: str, predicate: str) -> list[Said]:
    """A school by name."""
    found = phrase(rest, longest=6)
    return [Said(predicate, found)] if found and found[0].isupper() and _has(found, w.SCHOOLS) else []


def business(rest: str, predicate: str) -> list[Said]:
    """A business one runs."""
    found = phrase(rest)
    if found is None or _head(found) not in w.BUSINESSES or re.match(r"\s*(?:the|this|that)\b", rest):
        return []
    return [Said(predicate, found)]


def someone(rest: str, predicate: str) -> list[Said]:
    """Somebody met, by name."""
    return person(rest, predicate)


def listed(rest: str, predicate: str) -> list[Said]:
    """Tools and the like, one fact each."""
    found = phrase(rest)
    if found is None or words_of(rest)[0] in w.words("this that it these those my his her their your our to up"):
        return []
    if not (found[0].isupper() or re.match(r"\s*(?:a|an|the|\d+)\b", rest) or len(words_of(found)) <= 2):
        return []
    return [Said(predicate, part) for piece in _JOINED.split(found) if (part := tidy(piece)) and sound(part, 6)]


def tool(rest: str, predicate: str) -> list[Said]:
    """What a system is built on, by name."""
    return [said for said in listed(rest, predicate) if said.object[0].isupper()]


def nothing(rest: str, predicate: str) -> list[Said]:
    """No fact: thoughts and moods."""
    return []


def show(rest: str, predicate: str) -> list[Said]:
    """A performance or a film that was seen."""
    found = phrase(rest)
    return [Said(predicate, found)] if found and _has(found, w.SHOWS) and re.match(r"\s*(?:an?|the|my)\b", rest) else []


READERS: Final[dict[str, Callable[[str, str], list[Said]]]] = {
    "place": place, "fromto": fromto, "org": org, "job": job, "employer": employer, "topic": topic, "area": area,
    "activity": activity, "taste": taste, "prefer": prefer, "food": food, "self": itself, "thing": thing,
    "adoptee": adoptee, "ownable": ownable, "vehicle": vehicle, "person": person, "trip": trip, "tripto": tripto,
    "happening": happening, "gathering": gathering, "group": group, "habit": habit, "begun": begun, "done": done,
    "work": work, "outing": outing, "trail": trail, "book": book, "language": language, "game": game, "sport": sport,
    "subject": subject, "school": school, "business": business, "someone": someone, "list": listed, "mental": nothing,
    "people": nothing, "show": show, "film": film, "craft": craft, "project": project, "venture": venture, "routine": routine, "nothing": nothing,
    "novel": novel, "tool": tool, "tookto": tookto, "newjob": newjob, "event": _with(w.HAPPENINGS, 5), "talk": _with(w.words("talk speech presentation lecture concert recital"), 6), "prize": prize, "gift": _with(w.GIFTS, 6),
    "exam": _with(w.EXAMS, 5), "race": _with(w.RACES, 5), "body": _with(w.BODY, 3), "loss": loss,
    "song": _with(w.words("song album podcast episode video ep"), 6), "occasion": _with(w.words(
        "birthday anniversary graduation christmas thanksgiving new-year diwali ramadan eid hanukkah wedding engagement"), 6),
    "novelty": _with(w.SPORTS | w.GAMES | w.OUTINGS | w.words("yoga dancing painting recipe recipes class therapy acupuncture"), 4),
}  # fmt: skip
