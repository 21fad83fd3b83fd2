"""What follows an English verb of state, read as an object: places, work, tastes, belongings; nothing where it is none."""

from __future__ import annotations

import re
from typing import Final

from shared_core.writing.extraction import english_words as w
from shared_core.writing.extraction.english_phrases import (
    ABSTRACT,
    ADDRESSEE,
    BLANK,
    CUT_ACTIVITY,
    CUT_PLACE,
    CUT_TOPIC,
    JOINED,
    NO_GERUND,
    STARTS_NOUN,
    Said,
    has_any,
    head_of,
    is_name,
    phrase,
    sound,
    tidy,
    words_of,
)

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
_TASTES_WITH_THE: Final = w.words(
    "outdoors beach mountains ocean sea city countryside rain snow cold heat piano guitar sun water"
)


def _as_job(rest: str) -> list[Said]:
    match = re.search(r"\bas (?:an?|the|their|our) (.+)$", rest, re.IGNORECASE)
    return job(match[1], "works_as") if match else []


def place(rest: str, predicate: str) -> list[Said]:
    """Somewhere one can live."""
    found = phrase(rest, CUT_PLACE, 7)
    if found is None or not (found[0].isupper() or has_any(found, _PLACE)) or re.match(r"(?:in|on|at)\b", rest.strip()):
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


_AFTER_NAME: Final = re.compile(r"^((?:[A-Z][\w&'.-]*\s+)*?[A-Z][\w&'.-]*)\s+and\s+[a-z].*$")
"""A name, and a verb behind "and" that no list knows: "at Medion and keep asking"."""


def org(rest: str, predicate: str) -> list[Said]:
    """Who one works for."""
    found = phrase(_AFTER_NAME.sub(r"\1", rest), longest=6)
    if found is None or words_of(found)[0] in w.words(
        "home night least once first all last work fun free hours myself nothing"
    ):
        return []
    if not (found[0].isupper() or STARTS_NOUN.match(rest.strip())):
        return []
    return [Said(predicate, found), *(_as_job(rest) if predicate == "works_at" else [])]


def job(rest: str, predicate: str) -> list[Said]:
    """An occupation, with the employer behind it."""
    match = re.match(r"(.+?)(?:\s+(?:at|for|with)\s+(.+))?$", rest.strip())
    if match is None:
        return []
    found = phrase(match[1], longest=5)
    if found is None or not (
        has_any(found, w.JOBS) or re.search(r"(?:ologist|ographer|keeper|maker|wright|ician|smith)$", found)
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


def area(rest: str, predicate: str) -> list[Said]:
    """The town or the trade one works in."""
    found = phrase(rest, CUT_PLACE, 4)
    return [Said(predicate, found)] if found and (found[0].isupper() or has_any(found, _AREAS)) else []


def school(rest: str, predicate: str) -> list[Said]:
    """A school by name."""
    found = phrase(rest, longest=6)
    return [Said(predicate, found)] if found and found[0].isupper() and has_any(found, w.SCHOOLS) else []


def topic(rest: str, predicate: str) -> list[Said]:
    """What one works on."""
    found = phrase(rest, CUT_TOPIC)
    if (
        found is None
        or found.lower() in BLANK
        or words_of(found)[0].endswith("ing")
        or words_of(found)[0] in ("myself", "how", "getting")
    ):
        return []
    return [Said(predicate, found)] if found[0].isupper() or STARTS_NOUN.match(rest.strip()) else []


def activity(rest: str, predicate: str) -> list[Said]:
    """A verb phrase after "to"."""
    found = tidy(CUT_ACTIVITY.sub("", " " + rest).strip().removeprefix("just "))
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
        or (has_any(found, ABSTRACT) and found not in ("painting", "art"))
        or (words_of(found)[0] in NO_GERUND and not found.startswith(("getting up", "taking ")))
    ):
        return []
    if first[0] == "the" and not (head_of(found) in _TASTES_WITH_THE or found[0].isupper()):
        return []
    if first[0] in ("my", "our") and not has_any(found, w.PETS | w.words("job work garden hometown city")):
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


def adoptee(rest: str, predicate: str) -> list[Said]:
    """A pet, or a child."""
    named = re.match(r"(.+?),?\s+(?:named|called)\s+([A-Z][\w'-]+)", rest)
    said = thing(named[1] if named else rest, predicate)
    if said and has_any(said[0].object, w.FAMILY):
        return [Said("has_family", said[0].object)]
    if said and not has_any(said[0].object, w.PETS):
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
    if found is None or ADDRESSEE.search(rest[:30]):
        return []
    head = head_of(found)
    if (
        head not in w.OWNABLE
        and head.rstrip("s") not in w.OWNABLE
        and not (has_any(found, w.PETS) and found[0].isdigit())
    ):
        return []
    if named and has_any(found, w.PETS):
        return pet(named[2], found)
    if re.match(r"(?:the|his|her|their|that)\b", rest.strip()) and predicate == "owns":
        return []
    return [Said(predicate, found)]


def vehicle(rest: str, predicate: str) -> list[Said]:
    """A vehicle, by make or by kind."""
    found = phrase(rest, longest=4)
    return (
        [Said(predicate, found)]
        if found and re.match(r"(?:a|an|my)\b", rest.strip()) and has_any(found, w.VEHICLES)
        else []
    )


def person(rest: str, predicate: str) -> list[Said]:
    """Somebody by name."""
    match = re.match(r"\s*((?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+)?)", rest)
    return [Said(predicate, match[1])] if match and is_name(match[1]) else []


def group(rest: str, predicate: str) -> list[Said]:
    """A group one belongs to."""
    found = phrase(rest)
    if found is None or not (STARTS_NOUN.match(rest.strip()) or found[0].isupper()):
        return []
    if words_of(found)[0] in w.words("conversation fun call hands forces cause party fight meeting dots"):
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
    parts = [part for part in JOINED.split(found) if part]
    known = w.INSTRUMENTS | w.GAMES
    return [
        Said(predicate, tidy(part)) for part in parts
        if has_any(part, known) or re.search(r"\b(?:video|board|computer|card) games?$", part) or part[0].isupper()
    ]  # fmt: skip


def sport(rest: str, predicate: str) -> list[Said]:
    """A practised activity."""
    found = phrase(rest, longest=3)
    return [Said(predicate, found)] if found and has_any(found, w.SPORTS) else []


def subject(rest: str, predicate: str) -> list[Said]:
    """What is studied or learned."""
    found = phrase(rest, longest=4)
    first = words_of(rest)[:1]
    if found is None or first[0] in w.words(
        "a an that how more about from what so not it your my this these why hard abroad new"
    ):
        return []
    if has_any(
        found, w.words("things lesson lessons ways skills something tricks techniques importance value test exam")
    ):
        return []
    at = re.search(r"\bat ([A-Z][\w' -]+)$", rest)
    if predicate == "learns" and len(parts := JOINED.split(found)) > 1 and all(len(p.split()) <= 2 for p in parts):
        return [Said(predicate, tidy(p)) for p in parts if p]
    extra = [Said("studies_at", tidy(at[1]))] if at and predicate == "studies" else []
    return [Said(predicate, found), *extra]


def listed(rest: str, predicate: str) -> list[Said]:
    """Tools and the like, one fact each."""
    found = phrase(rest)
    if found is None or words_of(rest)[0] in w.words("this that it these those my his her their your our to up"):
        return []
    if not (found[0].isupper() or re.match(r"\s*(?:a|an|the|\d+)\b", rest) or len(words_of(found)) <= 2):
        return []
    return [Said(predicate, part) for piece in JOINED.split(found) if (part := tidy(piece)) and sound(part, 6)]


def tool(rest: str, predicate: str) -> list[Said]:
    """What a system is built on, by name."""
    return [said for said in listed(rest, predicate) if said.object[0].isupper()]


def thing(rest: str, predicate: str) -> list[Said]:
    """Something that can be owned, given or made."""
    found = phrase(rest)
    if found is None or has_any(
        found, w.words("chance time call idea decision look difference impact mistake point progress shot break")
    ):
        return []
    ok = STARTS_NOUN.match(rest.strip()) or found[0].isupper() or has_any(found, w.OWNABLE)
    return [Said(predicate, found)] if ok else []


def business(rest: str, predicate: str) -> list[Said]:
    """A business one runs."""
    found = phrase(rest)
    if found is None or head_of(found) not in w.BUSINESSES or re.match(r"\s*(?:the|this|that)\b", rest):
        return []
    return [Said(predicate, found)]


def routine(rest: str, predicate: str) -> list[Said]:
    """What is being practised."""
    found = phrase(rest, longest=4)
    return [Said(predicate, found)] if found and words_of(found)[0] not in ("hard", "harder", "what", "a") else []
