"""What "to be", "to have" and the set phrases say: "I'm a nurse", "I have two cats", "my email is …"."""

from __future__ import annotations

import re
from typing import Final

from shared_core.writing.extraction import english_words as w
from shared_core.writing.extraction.english_clauses import Predication, Subject
from shared_core.writing.extraction.english_objects import trip
from shared_core.writing.extraction.english_phrases import Said, has_any, is_name, phrase, sound, tidy, words_of
from shared_core.writing.extraction.english_states import group, job, org, ownable, person, pet, place, taste

_NUMBER: Final = r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|eighteen|nineteen)"
_WHO: Final = r"(?P<who>[Mm]y|[Oo]ur|[A-Z][\w-]+'s)"
_NAME: Final = r"(?P<it>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})"
_KIN: Final = r"(?:(?:best|older|elder|younger|little|big|twin) )*(?P<kin>[\w-]+)"
_CATEGORIES: Final = {"favorite": "favourite", "color": "colour", "colors": "colour"}


_SPECIAL: Final = [
    ("name", re.compile(rf"\b{_WHO} (?:full |first |real |last )?name is {_NAME}")),
    ("email", re.compile(rf"\b{_WHO} e-?mail(?: address)? is (?P<it>[\w.+-]+@[\w-]+\.[\w.-]*\w)", re.IGNORECASE)),
    ("email", re.compile(r"\b(?:reach|e-?mail|contact) me (?:at|on) (?P<it>[\w.+-]+@[\w-]+\.[\w.-]*\w)", re.IGNORECASE)),
    ("phone", re.compile(rf"\b(?:{_WHO} (?:new )?(?:phone|cell|mobile|telephone|work|home)?(?: phone)?(?: number)? is|(?:reach|call|text|phone) me (?:at|on))"
                         r" (?P<it>\+?[\d(][\d ()-]{5,}\d)", re.IGNORECASE)),
    ("address", re.compile(rf"\b{_WHO} (?:new |home |postal |mailing |work )?address is (?P<it>(?!not\b).*\w.*)$", re.IGNORECASE)),
    ("birthday", re.compile(rf"\b{_WHO} birthday is (?:on |the )?(?P<it>(?=.*\d|.*(?:January|February|March|April|May|June|July|August|September|October|November|December))[^,]{{3,30}}?(?:, ?\d{{4}})?)(?=\s*$|,|\s(?:and|but|so|because|when|which)\b)", re.I)),
    ("birthday", re.compile(r"\bI was born (?:on |in )(?P<it>(?:(?:\w+ )?\d[\w, ]*|\w+ \d\w*,? \d{4}))$", re.IGNORECASE)),
    ("favourite", re.compile(rf"\b{_WHO} (?:all-time )?favou?rite (?P<kin>[\w -]{{2,25}}?) (?:of all time )?(?:is|are)(?P<no> not| no longer)? (?P<it>(?!when|how|that|the one|because).+)$", re.I)),
    ("kinname", re.compile(rf"\b{_WHO} {_KIN}(?:'s name is| is called| is named) {_NAME}")),
    ("also_called", re.compile(rf"\b(?<!not )(?<!never )(?i:(?:everyone|everybody|people|my friends|friends) (?:just )?calls? me|call me|I go by|my nickname is|they call me) {_NAME}")),
    ("attribute", re.compile(rf"\b{_WHO} (?P<kin>blood type|height|weight|shoe size|star sign|nationality|time ?zone) is (?P<it>.+)$", re.IGNORECASE)),
    ("works_as", re.compile(rf"\b{_WHO} (?:job|profession|occupation) is (?:being )?(?P<it>an? .+)$", re.IGNORECASE)),
    ("studies", re.compile(rf"\b{_WHO} major is (?P<it>.+)$", re.IGNORECASE)),
    ("age", re.compile(rf"\bI (?:just |recently |finally )?turned (?P<it>{_NUMBER})\b(?! (?:people|heads|pages))", re.IGNORECASE)),
    ("lost", re.compile(r"\bI (?:was|got) (?P<it>laid off|fired|let go)")),
    ("pet", re.compile(rf"\bI (?:have |just |already )?named (?:him|her|it|my (?:dog|cat|puppy|kitten|pup)|the (?:dog|cat|puppy|kitten|pup)) {_NAME}")),
    ("died", re.compile(rf"\b[Mm]y {_KIN}(?: [A-Z]\w+)? (?:just |recently |sadly )*(?P<it>passed away|died)\b")),
    ("favourite one", re.compile(r"^(?P<it>[A-Z\"][\w' :-]{2,40}?) (?:is|are) (?:definitely |probably |also )*one of my (?:all-time )?favou?rites?(?: [\w ]{3,20})?$")),
    ("hobby", re.compile(r"^(?P<it>[A-Z][\w' -]{2,40}?) (?:is|are|has been|have been) (?:always |really )?(?:one of )?(?:my|our) (?:biggest |main |true |greatest |favou?rite |other |number one )*(?:passions?|hobb(?:y|ies))$")),
    ("hobby", re.compile(r"^(?P<it>[\w' -]{2,30}?) (?:is|are) (?:definitely )?(?:my|our) (?:top pick|go-to|favou?rites?|fave)$")),
    ("runs", re.compile(r"^(?!.*\b(?:want|dream|ideal|future|someday|thinking|would|wish|hop(?:e|ing)|plan|start|starting|open|opening|own a)\b).*?\b(?P<who>[Mm]y) (?P<it>(?:(?:own|online|new|little|small|dance|clothing|clothes|yoga|coffee|pet|book) )*(?:store|shop|studio|bakery|restaurant|cafe|startup|business|salon|biz))\b(?! (?:plan|idea|trip|card|class|partner|model|owner)|'s plan)")),
    ("won", re.compile(r"\bI (?:just |recently |finally |also )?got (?:a )?(?P<it>promot)(?:ed|ion)\b(?! to)")),
    ("graduated", re.compile(r"\bI (?:just |recently |finally )?(?P<it>graduated)\b(?! from| with)")),
]  # fmt: skip


def special(part: str, speaker: str) -> tuple[list[tuple[Said, str]], str]:
    """The set phrases of a part, with the clause each stands in, and what is left of the part."""
    found: list[tuple[Said, str]] = []
    if not re.search(r"\b(?:is|are|me|born|by|was|turned|got|graduated|died|away|been|my)\b", part):
        return found, part
    for kind, pattern in _SPECIAL:
        match = pattern.search(part)
        if match is None:
            continue
        groups = match.groupdict()
        it = groups["it"].strip(" .,!")
        who = groups.get("who") or "my"
        owner = None if who.lower() in ("my", "our") else who[:-2]
        if owner and (not owner[0].isupper() or owner.lower() in w.NOT_NAMES):
            if not re.search(r"\b(?:my|our) $", part[: match.start()], re.IGNORECASE) or owner.lower() not in w.KIN:
                continue
            owner = f"{speaker}'s {owner.lower()}"
        for one in _special(kind, it, groups.get("kin") or "", owner, bool(groups.get("no"))):
            article = "an" if one.object[:1] in "aeiou" else "a"
            whole = f"my {match[0]}" if owner and owner.startswith(f"{speaker}'s ") else match[0]
            found.append((one, f"I run {article} {one.object}" if kind == "runs" else whole))
        if kind not in ("lost", "died", "runs"):
            part = part[: match.start()] + part[match.end() :]
    return found, part


def _special(kind: str, it: str, kin: str, owner: str | None, negated: bool) -> list[Said]:
    if kind == "kinname":
        return _named_kin(kin.lower(), it, owner)
    if kind in ("name", "also_called"):
        return [Said(kind, it, subject=owner)] if is_name(it) or kind == "name" else []
    if kind == "favourite":
        return _favourite(kin, it, owner, negated)
    if kind == "runs":
        return [Said("runs", re.sub(r"^own ", "", it))]
    if kind == "attribute":
        return [Said(kin.lower().replace("timezone", "time zone"), tidy(it), subject=owner)]
    if kind == "works_as":
        return job(it, "works_as")
    if kind in ("lost", "won", "graduated"):
        return [
            Said(
                *{"lost": ("lost", "job"), "won": ("won", "promotion"), "graduated": ("completed", "graduation")}[kind]
            )
        ]
    if kind == "died":
        return [Said("lost", kin.lower())] if kin.lower() in w.KIN or kin.lower() in w.PETS else []
    if kind in ("favourite one", "hobby"):
        return [
            Said("likes", part[0].lower() + part[1:] if kind == "hobby" and not re.search(r"[A-Z]", part[1:]) else part)
            for part in re.split(r" and | & ", it)
            if sound(part, 5) and part.lower() not in w.NOT_NAMES
        ]
    return [Said(kind, it if kind in ("address", "phone", "email") else tidy(it), subject=owner)] if it else []


def _favourite(kin: str, it: str, owner: str | None, negated: bool) -> list[Said]:
    """A favourite of its category; "no longer blue, it's green" gives both."""
    category = " ".join(_CATEGORIES.get(word, word) for word in kin.lower().split())
    category = category if category == "class" else category.removesuffix("s")
    if not category or re.search(r"\b(?:thing|part|memory|way|moment|one|to|of|from|place)\b", category):
        return []
    parts = re.split(r",\s*|\bbut\b", it) if negated else [it]
    found: list[Said] = []
    for part in parts:
        part = re.sub(r"\s(?:because|since|as|so|which|by far|these days|right now|with)\b.*$|,.*$", "", part)
        part = tidy(re.sub(r"^\s*(?:it is|rather|now)\s+", "", part))
        if sound(part, 8):
            over = negated and not found
            found.append(Said(f"favourite {category}", part, subject=owner, polarity=not over, ended=over))
    return found


def _named_kin(kin: str, name: str, owner: str | None) -> list[Said]:
    if kin in w.KIN:
        return [Said(w.KIN[kin], name, subject=owner)]
    if kin in w.PETS:
        return [Said("pet", name, subject=owner), Said("is_a", kin, subject=name)]
    return []


# ---------------------------------------------------------------------- to be

_AGE: Final = re.compile(
    rf"(?:turning |about to turn )?({_NUMBER})(?: years?[- ]old| years of age| yo)?$", re.IGNORECASE
)
_FROM: Final = re.compile(r"(?:originally |actually )?from (.+)$", re.IGNORECASE)
_CUT_ORIGIN: Final = re.compile(r"\s+(?:but|and|so|originally|where|who|by|because|with|for)\b.*$")
_ALLERGIC: Final = re.compile(
    r"(?:(?:severely|very|highly|quite|also|deathly|really) )*(?:allergic|intolerant) to (.+)$", re.IGNORECASE
)
_AFRAID: Final = re.compile(r"(?:really |very |so |quite |a bit |terribly )*(?:afraid|scared|terrified) of (.+)$")
_FAN: Final = re.compile(
    r"(?:(?:an?|quite an?|the|such an?) )?(?:(?:big|huge|massive|lifelong|great|total|real|avid|major|die-hard) )*(?:fan|lover) of (.+)$"
    r"|(?:really |very |so |super |totally |quite )*(?:into|fond of|passionate about|obsessed with|crazy about|keen on|addicted to) (.+)$",
    re.IGNORECASE,
)
_LOVER: Final = re.compile(
    r"an? (?:(?:big|huge|massive|lifelong|total|real|avid|major) )*([\w' -]+?) (?:lover|fan|enthusiast|person|nerd|geek|buff|addict)$",
    re.IGNORECASE,
)
_MEMBER: Final = re.compile(r"(?:an? (?:\w+ )?member of|part of|on the|in the|in a|with the) (.+)$", re.IGNORECASE)
_STATUS: Final = re.compile(
    r"(?:(?:happily|recently|newly|still|now|already|finally|currently) )*(married|divorced|single|engaged|widowed|separated)(?: to (.+))?$",
    re.IGNORECASE,
)
_DIET: Final = re.compile(r"(?:(?:an?|strict|strictly|mostly) )*([\w-]+(?: free| intolerant)?)$", re.IGNORECASE)
_NATION: Final = re.compile(r"(?:half |part )?[A-Z]\w+(?:ish|ese|ian|ean|can|ench|utch|eek|erman|wiss|aqi|ani|ai)$")
_FAITHS: Final = w.words("catholic muslim hindu buddhist sikh")
_GROUPS: Final = w.words(
    "team club band choir orchestra board committee society group crew squad union association league guild union council party"
)
_TITLE: Final = re.compile(
    r"^(?:the )?(?:director|doctor|dr\.?|professor|prof\.?|president|manager|boss|captain|chef|uncle|aunt|mr\.?|ms\.?|mrs\.?|teacher|coach|chief|big|little|old)\b",
    re.IGNORECASE,
)
_LIGHT: Final = w.words(
    "part way one kind sort form type member friend reason example must great time member fan lot bit symbol sign mix testament chance"
    " something step place goal source inspiration supporter community topic subject skill process hobby passion job career dream"
    " feeling gift journey language-learner safe talk trip idea plan story family home experience opportunity process priority choice"
)
_ABSTRACT_SUBJECT: Final = re.compile(r"(?:ing|tion|sion|ness|ment|ity|ship|ance|ence|hood|ism|ure|ies|ude)s?$")
_ADJECTIVES: Final = {"left-handed": "is_a", "right-handed": "is_a", "colour-blind": "has_condition", "color-blind": "has_condition",
                      "deaf": "has_condition", "blind": "has_condition", "retired": "is_a", "bilingual": "is_a",
                      "transgender": "is_a", "trans": "is_a", "self-employed": "is_a", "unemployed": "is_a",
                      "diabetic": "has_condition", "dyslexic": "has_condition", "asthmatic": "has_condition",
                      "autistic": "has_condition"}  # fmt: skip


def being(said: Predication, who: Subject) -> list[Said]:
    """What a complement of "to be" says of its subject."""
    rest = tidy_end(said.rest)
    if not rest or said.tense == "h":
        return []
    if said.tense == "f" and (match := re.match(r"to (.+)$", rest)):
        return trip(match[1], "visited")
    if match := _AGE.match(rest):
        return [Said("age", match[1])] if not who.item and said.tense == "p" else []
    for told in (_origin, _health, _state, _belonging):
        found = told(rest, said)
        if found is not None:
            return found
    return _noun(rest, said, who)


def _origin(rest: str, said: Predication) -> list[Said] | None:
    """Where somebody was born, lives or comes from; None where nothing is told of that."""
    if match := re.match(r"born (?:and raised )?in (.+)$", rest):
        return place(match[1], "born_in")
    if match := re.match(r"(?:now )?based (?:in|out of) (.+)$", rest):
        return place(match[1], "lives_in")
    if (match := _FROM.match(rest)) and said.tense == "p":
        found = phrase(match[1], _CUT_ORIGIN, 6)
        return [Said("from", found)] if found and (found[0].isupper() or re.match(r"an? ", match[1])) else []
    return None


def _health(rest: str, said: Predication) -> list[Said] | None:
    """What somebody suffers from, can't stand or fears; None where nothing is told of that."""
    if match := re.match(r"(?:recently |just )?diagnosed with (.+)$", rest):
        found = phrase(match[1])
        return [Said("has_condition", found)] if found else []
    if match := _ALLERGIC.match(rest):
        found = phrase(match[1])
        parts = re.split(r",\s*|\s+(?:and|or)\s+", found) if found else []
        return [Said("allergic_to", part) for part in parts if part]
    if (match := _AFRAID.match(rest)) and said.tense == "p":
        found = phrase(match[1], longest=3)
        named = found and not found.split()[0].endswith("ing") and found.lower().endswith("s")
        return [Said("fears", found)] if found and named else []
    return None


def _state(rest: str, _: Predication) -> list[Said] | None:
    """Whether somebody is married, what they eat, and what one word says of them; None where nothing is told of that."""
    if match := _STATUS.match(rest):
        return _status(match[1].lower(), match[2])
    if (match := _DIET.match(rest)) and (diet := match[1].lower().replace(" ", "-")) in w.DIETS:
        return [Said("allergic_to", "lactose")] if diet == "lactose-intolerant" else [Said("diet", match[1].lower())]
    if rest.lower() in _ADJECTIVES:
        return [Said(_ADJECTIVES[rest.lower()], rest.lower())]
    return None


def _belonging(rest: str, said: Predication) -> list[Said] | None:
    """What somebody is into, a member of, or no longer with; None where nothing is told of that."""
    if (match := _FAN.match(rest)) and said.tense in "pf":
        liked = match[1] or match[2]
        return [one for one in taste(liked, "likes") if not re.match(r"(?:the|this|that|it)\b", liked)]
    if (match := _MEMBER.match(rest)) and has_any(match[1], _GROUPS):
        return group(match[1] if re.match(r"(?:the|a|an|my|our)\b", match[1]) else f"the {match[1]}", "member_of")
    if said.ended and (match := re.match(r"(?:with|at) (.+)$", rest)):
        return [one for one in org(match[1], "works_at") if one.object[0].isupper()]
    return None


def tidy_end(rest: str) -> str:
    """The rest of a clause without closing adverbs and punctuation."""
    rest = re.sub(
        r"^(?:(?:just|also|actually|still|now|currently|originally|really|only|already|both|officially|proud to be) )+",
        "",
        rest.strip(" .,!"),
    )
    return re.sub(
        r"(?:\s+(?:too|now|again|by the way|btw|anymore|any more|any longer|as well|originally|actually|though|haha|lol|myself|these days|right now|already|yet))+$",
        "",
        rest,
    )


def _status(status: str, whom: str | None) -> list[Said]:
    if whom is None:
        return [Said("marital_status", status)]
    if status not in ("married", "engaged"):
        return []
    return person(whom, f"{status}_to")


def _noun(rest: str, said: Predication, who: Subject) -> list[Said]:
    if aged := re.match(rf"an? ({_NUMBER})[- ]years?[- ]old (.+)$", rest):
        return [Said("age", aged[1]), *_noun(f"a {aged[2]}", said, who)]
    kin = re.match(r"(?:my|our) (?:(?:best|older|younger|little|big|twin|good|close) )*([\w-]+)$", rest)
    if kin and who.name and not who.own and not who.item and kin[1].lower() in w.KIN:
        return [Said(w.KIN[kin[1].lower()], who.name, kin=True)]
    article = re.match(r"(?:an?|our|the|my|one of)\b", rest)
    if who.kin in w.KIN and not who.name and not article and said.tense == "p" and is_name(rest):
        if _NATION.match(rest) or rest.lower() in _FAITHS:
            return []
        return [Said(w.KIN[who.kin], rest, subject=who.owner or None, kin=not who.owner)]
    if who.own or who.kin:
        if not article and is_name(rest) and who.own and said.tense == "p" and len(rest) > 2:
            return [Said("is_a", rest)] if _NATION.match(rest) else [Said("name", rest)]
        if not article:
            return []
        if (match := _LOVER.match(rest)) and said.tense == "p":
            return (
                taste(match[1], "likes")
                if not set(words_of(match[1]))
                & (w.EVALUATIONS | w.words("morning night changed different new busy creative positive caring driven"))
                else []
            )
        if found := job(rest, "works_as"):
            return found
        return _class(rest)
    if not article:
        if (_TITLE.match(who.name) or who.item) and is_name(rest) and not _TITLE.match(rest):
            return [Said("also_called", rest)]
        return []
    if re.match(r"(?:our|the|an?)\b", rest) and (found := job(rest, "works_as")) and not who.item:
        return found
    return _is_a(rest, who) if re.match(r"an?\b", rest) and said.tense == "p" else []


def _class(rest: str) -> list[Said]:
    found = phrase(rest, longest=5)
    if found is None or not rest.startswith(("a ", "an ")) or words_of(found)[-1] not in w.CLASSES:
        return []
    return [] if set(words_of(found)) & (w.EVALUATIONS | w.words("changed different grown")) else [Said("is_a", found)]


def _is_a(rest: str, who: Subject) -> list[Said]:
    """A thing of a kind, in the third person: no praise, no abstract nouns."""
    found = phrase(rest, longest=5)
    if found is None or re.search(r"\b(?:that|which|who|where|to)\b", rest):
        return []
    words = words_of(found)
    if set(words) & (w.EVALUATIONS | _LIGHT) or any(word.endswith(("ing", "ful", "ive", "ous")) for word in words):
        return []
    name = words_of(who.name)[-1]
    if _ABSTRACT_SUBJECT.search(name) or words[-1] in ("friend", "kid", "guy", "girl", "person", "day"):
        return []
    return [Said("is_a", found)]


# ---------------------------------------------------------------------- to have

_ALLERGY: Final = re.compile(
    r"(?:an? |severe |bad |serious )*(?:([\w ]+?) allerg(?:y|ies)|(?:an? )?(?:severe |bad |serious )*allerg(?:y|ies) to (.+))$",
    re.IGNORECASE,
)
_OCCASIONS: Final = w.words(
    "picnic barbecue bbq sleepover party bonfire wedding photoshoot interview audition recital gig"
)
_FOOD: Final = re.compile(
    r"(?:dairy|gluten|nuts|peanuts|sugar|caffeine|alcohol|seafood|shellfish|meat|lactose|milk|eggs)\b"
)
_NOT_HAD: Final = w.words("feeling question headache meeting problem lot fun time faith party talk chat blast")


def having(said: Predication, who: Subject, *, coming: bool) -> list[Said]:
    """What is owned, who is family, and what one suffers from."""
    rest = tidy_end(said.rest)
    if not rest or re.match(r"(?:to|been|not|it|this|that|these|no idea)\b", rest):
        return []
    if (match := re.match(r"(?:no|any) (.+)$", rest)) and said.tense == "p":
        return _lacking(match[1], said) if rest.startswith("no ") or said.negated else []
    if match := _ALLERGY.match(rest):
        found = phrase(match[1] or match[2], longest=4)
        return [Said("allergic_to", found)] if found and said.tense == "p" else []
    if said.tense == "d" and not said.ended:
        found = phrase(rest, longest=4) if re.match(r"an? ", rest) else None
        return [Said("did", found, polarity=True)] if found and words_of(found)[-1] in _OCCASIONS else []
    if said.negated and _FOOD.match(rest):
        return [Said("eats", phrase(rest) or rest)]
    return _had(rest)


def _lacking(what: str, said: Predication) -> list[Said]:
    """ "No siblings", "not any pets": only of family and animals the lack is a fact."""
    found = phrase(what, longest=3)
    if found is None or not has_any(found, w.FAMILY | w.PETS):
        return []
    flip = None if said.negated else False
    return [Said("has_family" if has_any(found, w.FAMILY) else "owns", found, polarity=flip)]


def _had(rest: str) -> list[Said]:
    """Who or what somebody has: relatives and animals, by name if they are named, a condition, or a thing."""
    named = re.match(r"(.+?),?\s+(?:named|called)\s+([A-Z][\w'-]+)", rest)
    found = phrase(named[1] if named else rest)
    if found is None or set(words_of(found)) & _NOT_HAD:
        return []
    kin = words_of(found)[-1]
    if named and kin in w.KIN:
        return [Said(w.KIN[kin], named[2])]
    if named and has_any(found, w.PETS):
        return pet(named[2], found)
    if kin in w.FAMILY:
        counted = re.match(r"(?:an?|two|three|four|five|six|\d+|twin|twins|kids|children)\b", rest)
        return [Said("has_family", found)] if counted else []
    if has_any(found, w.CONDITIONS):
        return [Said("has_condition", found)]
    counted = re.match(r"(?:an?|two|three|four|five|six|\d+|my own|some|several|my)\b", rest)
    return ownable(rest, "owns") if counted else []
