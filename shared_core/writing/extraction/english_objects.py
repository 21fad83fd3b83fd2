"""What follows an English verb of doing, read as an object: trips, events, works; and the table of all readers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from shared_core.writing.extraction import english_words as w
from shared_core.writing.extraction.english_phrases import (
    ABSTRACT,
    BLANK,
    CUT,
    CUT_TOPIC,
    LONGEST,
    NO_GERUND,
    NOT_MADE,
    STARTS_NOUN,
    Said,
    has_any,
    head_of,
    phrase,
    sound,
    tidy,
    words_of,
)
from shared_core.writing.extraction.english_states import (
    activity,
    adoptee,
    area,
    business,
    employer,
    food,
    fromto,
    game,
    group,
    itself,
    job,
    language,
    listed,
    org,
    ownable,
    person,
    place,
    prefer,
    routine,
    school,
    sport,
    subject,
    taste,
    thing,
    tool,
    topic,
    vehicle,
)


def novel(rest: str, predicate: str) -> list[Said]:
    """Something come upon: with its article, and a thing rather than a feeling."""
    found = phrase(rest, longest=6)
    if (
        found is None
        or not re.match(r"\s*(?:an?|the perfect|two|three) ", rest)
        or has_any(found, NOT_MADE | ABSTRACT | w.words("lot job home"))
    ):
        return []
    return [Said(predicate, found)] if len(words_of(found)) > 1 else []


_NO_TRIP: Final = w.words(
    "bed sleep work school college university church hell court war jail prison therapy store bathroom toilet doctor"
    " dentist market gym shower extremes town class office hospital kitchen side point next top end other lengths trouble"
    " night house home room grocery supermarket bank mall pieces waste show see get do find help check visit meet be"
)


def trip(rest: str, predicate: str) -> list[Said]:
    """Somewhere visited, or something attended there."""
    rest = re.sub(r"^(?:an?|my|our|the) (?:\w+[ -]){0,2}?(?:trip|vacation|holiday|tour|visit|journey|honeymoon)s? (?:to|in|through|around|across) ",
                  "", rest.strip(), flags=re.IGNORECASE)  # fmt: skip
    found = phrase(rest, longest=7)
    if found is None:
        return []
    first, head = words_of(found)[0], head_of(found)
    if first in _NO_TRIP or head in _NO_TRIP or first.endswith("ly") or found.lower() in BLANK:
        return []
    if has_any(found, w.HAPPENINGS):
        return [Said("attended", found)] if predicate == "visited" else []
    return [Said(predicate, found)] if found[0].isupper() or STARTS_NOUN.match(rest) else []


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
        if found and head_of(found) in ("job", "gig", "internship") and re.match(r"\s*(?:an?|my) ", rest)
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
    if found and has_any(
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
        or found.lower() in BLANK
        or not (STARTS_NOUN.match(rest.strip()) or found[0].isupper() or has_any(found, w.HAPPENINGS))
    ):
        return []
    return [Said(predicate, found)]


def gathering(rest: str, predicate: str) -> list[Said]:
    """A class, a team or the like."""
    found = phrase(rest)
    if (
        found is None
        or not has_any(found, w.GATHERINGS | w.HAPPENINGS)
        or head_of(found).rstrip("s") in ("walk", "drive", "game", "camp")
    ):
        return []
    return [Said("attended" if predicate == "attended" else predicate, found)] if len(words_of(found)) > 1 else []


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
    found = phrase(rest, CUT_TOPIC if words_of(rest)[:1] and words_of(rest)[0].endswith("ing") else CUT)
    if found is None or (
        words_of(rest)[0] in NO_GERUND and not re.search(r"\b(?:lessons|class(?:es)?|courses?)$", found)
    ):
        return []
    return [Said(predicate, found)] if STARTS_NOUN.match(rest.strip()) or words_of(found)[0].endswith("ing") else []


def done(rest: str, predicate: str) -> list[Said]:
    """What one finishes."""
    found = title(rest) or phrase(rest)
    if found is None or words_of(rest)[0] in ("up", "off", "with", "it", "what", "that"):
        return []
    return (
        [Said(predicate, found)]
        if re.match(r"\s*(?:this|these) ", rest)
        or STARTS_NOUN.match(rest.strip())
        or words_of(found)[0].endswith("ing")
        or found[0].isupper()
        else []
    )


def _with(lexicon: frozenset[str], longest: int = LONGEST) -> Callable[[str, str], list[Said]]:
    def read(rest: str, predicate: str) -> list[Said]:
        found = phrase(rest, longest=longest)
        return [Said(predicate, found)] if found and has_any(found, lexicon) else []

    return read


def prize(rest: str, predicate: str) -> list[Said]:
    """A prize: what the phrase ends in."""
    found = phrase(rest)
    if found is None or not (
        head_of(found).rstrip("s") in w.PRIZES or re.match(r"(?:first|second|third) (?:place|prize)", found)
    ):
        return []
    return [] if re.match(r"\s*(?:his|her|their|this|that)\b", rest) else [Said(predicate, found)]


def loss(rest: str, predicate: str) -> list[Said]:
    """Somebody or something lost: one's own."""
    found = phrase(rest, longest=3)
    return (
        [Said(predicate, found)]
        if found and has_any(found, w.LOSSES) and re.match(r"\s*(?:my|our|a|an|the)\b", rest)
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
    if found and re.match(r"\s*(?:this|these) \w", rest) and not has_any(found, NOT_MADE):
        return [Said(predicate, found)]
    if found is None or not has_any(found, w.WORKS) or words_of(found)[0] in ("sure", "fun", "up", "friends", "out"):
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
        or has_any(found, NOT_MADE)
        or found.lower() in BLANK
    ):
        return []
    return [Said(predicate, found)]


def project(rest: str, predicate: str) -> list[Said]:
    """Something being made: a noun phrase with its article."""
    found = phrase(rest, CUT_TOPIC, 7)
    if (
        found is None
        or not re.match(r"\s*(?:an?|my|our|another|some|this) ", rest)
        or has_any(found, NOT_MADE)
        or found.lower() in BLANK
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
        and has_any(found, w.BUSINESSES | w.words("business campaign podcast blog channel project garden book journey"))
        else []
    )


def film(rest: str, predicate: str) -> list[Said]:
    """A film by its title, or called one."""
    found = title(rest) or phrase(rest)
    return (
        [Said(predicate, found)]
        if found
        and (has_any(found, w.SHOWS | w.words("series anime show trilogy")) or (title(rest) and found[0].isupper()))
        else []
    )


def outing(rest: str, predicate: str) -> list[Said]:
    """ "went camping in the Alps"."""
    if (words_of(rest) or [""])[0] not in w.OUTINGS and not re.match(
        r"(?:rock|scuba|horseback|bird|ice|window|paddle) ?-?\w+ing\b", rest.strip()
    ):
        return []
    found = tidy(CUT_TOPIC.sub("", " " + rest))
    return [Said(predicate, found)] if sound(found) else []


def trail(rest: str, predicate: str) -> list[Said]:
    """A named trail or mountain that was hiked."""
    found = phrase(rest, longest=5)
    return [Said(predicate, "hike " + found)] if found and found[0].isupper() else []


def book(rest: str, predicate: str) -> list[Said]:
    """A book: by its title, or called one."""
    found = title(rest) or phrase(rest)
    if found is None or not (has_any(found, w.BOOKS) or (found[0].isupper() and rest.strip()[:1].isupper())):
        return []
    return [Said(predicate, found)]


def someone(rest: str, predicate: str) -> list[Said]:
    """Somebody met, by name."""
    return person(rest, predicate)


def nothing(rest: str, predicate: str) -> list[Said]:
    """No fact: thoughts and moods."""
    return []


def show(rest: str, predicate: str) -> list[Said]:
    """A performance or a film that was seen."""
    found = phrase(rest)
    return (
        [Said(predicate, found)] if found and has_any(found, w.SHOWS) and re.match(r"\s*(?:an?|the|my)\b", rest) else []
    )


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
