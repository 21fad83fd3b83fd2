"""Names of people and things in talk, told by the words around them: "my sister Anna", "凤凰项目" (A7).

Facts and the graph know most names; these are those nobody has said anything about yet. What may be a
name at all is decided by the extraction's word lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from shared_core.short_term import phrases as p
from shared_core.writing.extraction import chinese_words, english_words
from shared_core.writing.extraction.chinese_patterns import is_name as is_chinese_name
from shared_core.writing.extraction.english_phrases import is_name as is_english_name

_HAN: Final = "\u4e00-\u9fff"
_WOMEN: Final = frozenset(
    "sister mother wife girlfriend daughter grandmother granddaughter aunt niece stepmother mrs ms miss 女士 小姐 太太 阿姨 夫人".split()
)
_MEN: Final = frozenset(
    "brother father husband boyfriend son grandfather grandson uncle nephew stepfather mr 先生 叔叔".split()
)
_TITLES: Final = {
    "dr": "doctor", "prof": "professor", "professor": "professor", "doctor": "doctor", "mr": "", "mrs": "", "ms": "", "miss": "",
    "博士": "doctor", "医生": "doctor", "大夫": "doctor", "教授": "professor", "经理": "manager", "总监": "manager", "老师": "teacher",
    "主任": "director", "律师": "lawyer", "先生": "", "女士": "", "小姐": "", "总": "manager", "师傅": "", "阿姨": "", "叔叔": "",
}  # fmt: skip
_JOBS: Final = ("doctor", "professor", "teacher", "manager", "director", "lawyer")
_CAPITAL: Final = r"[A-Z](?:[\w-]|['’](?!s\b))*[A-Za-z0-9]"


@dataclass(frozen=True, slots=True)
class Named:
    """A name with what it is known to be."""

    name: str
    tags: frozenset[str] = frozenset()
    gender: str = ""

    @property
    def key(self) -> str:
        """Equal for spellings of one name."""
        return self.name.casefold()

    def joined(self, other: Named) -> Named:
        """What both tellings say of it."""
        return Named(self.name, self.tags | other.tags, self.gender or other.gender)

    def pattern(self) -> re.Pattern[str]:
        """Finds it in a text: as whole words where it is written with spaces."""
        return _pattern(self.name)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    inner = r"\s+".join(map(re.escape, name.split()))
    start = r"(?<![A-Za-z0-9])" if name[:1].isascii() else ""
    end = r"(?![A-Za-z0-9])" if name[-1:].isascii() else ""
    return re.compile(start + inner + end)


def gender_of(tag: str) -> str:
    """What a relative's word or a title says of a person: "female", "male", or nothing."""
    return p.FEMALE if tag in _WOMEN else p.MALE if tag in _MEN else ""


def names_in(text: str) -> list[Named]:
    """The names of a text that the words around them give away.

    >>> [(named.name, sorted(named.tags)) for named in names_in("I met my sister Anna at the Phoenix project")]
    [('Anna', ['person', 'sister']), ('Phoenix', ['project'])]
    """
    found: dict[str, Named] = {}
    for named in (*_english(text), *(_chinese(text) if re.search(f"[{_HAN}]", text) else ())):
        found[named.key] = found[named.key].joined(named) if named.key in found else named
    return list(found.values())


# ---------------------------------------------------------------------- English


@cache
def _english_patterns() -> tuple[re.Pattern[str], ...]:
    jobs = [word for word in _JOBS if word.isascii()]
    kin = "|".join(sorted(map(re.escape, [*english_words.KIN, *jobs]), key=len, reverse=True))
    nouns = "|".join(
        word for tag in ("project", "company", "team", "place", "book") for word in p.nouns_of(tag) if word.isascii()
    )
    titles = "|".join(title for title in _TITLES if title.isascii())
    return (
        re.compile(rf"\b(?P<title>{titles})\b\.? (?P<name>{_CAPITAL}(?: {_CAPITAL})?)", re.I),
        re.compile(
            rf"\b(?i:my|his|her|our|their|your)\b (?:\w+ )?(?P<kin>{kin}),? (?P<name>(?:(?:Dr|Prof|Mr|Mrs|Ms)\b\.? )?{_CAPITAL}(?: {_CAPITAL})?)"
        ),
        re.compile(rf"(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}}) (?P<noun>{nouns})\b"),
        re.compile(rf"\b(?P<noun>{nouns}) (?:called |named )?(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}})"),
        re.compile(
            rf"\b(?P<cue>with|from|and|met|meet|called|call|told|tell|ask|asked|by|to|saw|see|for|let|remind|thank|help|know|knows|invite|invited|email|emailed|phone|message|contact)"
            rf" (?P<name>{_CAPITAL}(?: {_CAPITAL})?)(?![\w.]*[@/])"
        ),
        re.compile(rf"(?P<cue>\bin|\bat|\bfor) (?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}})"),
    )


def _english(text: str) -> Iterator[Named]:
    titled, kin, before, after, person, where = _english_patterns()
    for found in titled.finditer(text):
        title = found["title"].lower()
        if found["title"][0].isupper() and found["name"][0].isupper():
            yield Named(found[0], frozenset({p.PERSON, _TITLES[title] or p.PERSON}), gender_of(title))
    for found in kin.finditer(text):
        if is_english_name(re.sub(r"^(?:Dr|Prof|Mr|Mrs|Ms)\b\.? ", "", found["name"])):
            word = english_words.KIN.get(found["kin"], found["kin"])
            yield Named(found["name"], frozenset({p.PERSON, word}), gender_of(word))
    for pattern in (before, after):
        for found in pattern.finditer(text):
            if is_english_name(found["name"]):
                yield Named(found["name"], frozenset({_noun_tag(found["noun"])}))
    for found in person.finditer(text):
        if is_english_name(found["name"]) and not _typed(text, found.end("name")):
            yield Named(
                found["name"], frozenset({p.PERSON}) if found["cue"] not in ("to", "for", "from", "by") else frozenset()
            )
    for found in where.finditer(text):
        if is_english_name(found["name"]) and not _typed(text, found.end("name")):
            yield Named(
                found["name"],
                frozenset({"place"} if found["cue"] == "in" else {"company"} if found["cue"] == "at" else ()),
            )


@cache
def _noun_tag(word: str) -> str:
    return next(tag for tag in ("project", "company", "team", "place", "book") if word in p.nouns_of(tag))


def _typed(text: str, end: int) -> bool:
    """Whether a name is followed by what it is: "with the Phoenix project" meets no Phoenix."""
    found = re.match(r" ([a-z]+)", text[end:])
    return bool(found) and any(found[1] in p.nouns_of(tag) for tag in ("project", "company", "team", "place", "book"))  # type: ignore[index]


# ---------------------------------------------------------------------- Chinese

# Words that stand before a name without a space; what follows the last of them is the name.
_BEFORE: Final = re.compile(
    r".*(?:负责|参与|关于|一下|那个|这个|哪个|我们|你们|他们|的|和|与|跟|同|在|是|叫|做|用|去|到|了|给|把|对|为|从|有|家|个|我|你|他|她)"
)
_STOP: Final = r"的了在是说和跟与去来做让把给聊打发写会要想正也就都等吃见问回帮到有没上从负住工买看吗呢吧啊呀一更最很太已将该昨需忘拿带寄懂订买卖约邀刚先再，。、！？；：“”\s"


@cache
def _chinese_patterns() -> tuple[re.Pattern[str], ...]:
    kin = "|".join(sorted(chinese_words.KIN, key=len, reverse=True))
    nouns = "|".join(
        word
        for tag in ("project", "company", "team", "book")
        for word in p.nouns_of(tag)
        if len(word) > 1 and not word.isascii()
    )
    titles = "|".join(title for title in _TITLES if not title.isascii())
    surname = rf"[{chinese_words.SURNAMES}]"
    return (
        re.compile(rf"(?P<kin>{kin})(?:叫|是)?(?P<name>{surname}[{_HAN}]{{1,2}}?|[{_HAN}]{{1,2}}(?:{titles}))(?=[{_STOP}]|$)"),
        re.compile(rf"(?P<name>(?:{surname}[{_HAN}]{{0,2}}?|[A-Za-z]+)(?P<title>{titles}))"),
        re.compile(rf"(?P<name>[{_HAN}]{{2,8}}?|[A-Za-z][\w-]*)(?P<noun>{nouns})"),
        re.compile(rf"(?:和|跟|与|给|找|问|联系|叫|让|请|告诉|遇到|见到|认识|[，。！？\s]|^)(?P<name>{surname}[{_HAN}]{{1,2}}?)(?=[{_STOP}]|$)"),
    )  # fmt: skip


def _chinese(text: str) -> Iterator[Named]:
    kin, titled, typed, person = _chinese_patterns()
    for found in kin.finditer(text):
        if is_chinese_name(found["name"]) or found["name"].endswith(tuple(_TITLES)):
            word = chinese_words.KIN[found["kin"]]
            yield Named(found["name"], frozenset({p.PERSON, word}), gender_of(word))
    for found in titled.finditer(text):
        title = found["title"]
        yield Named(found["name"], frozenset({p.PERSON, _TITLES[title] or p.PERSON}), gender_of(title))
    for found in typed.finditer(text):
        name = _BEFORE.sub("", found["name"])
        if len(name) > 1:
            yield Named(name, frozenset({_noun_tag(found["noun"])}))
    for found in person.finditer(text):
        if is_chinese_name(found["name"]) and found["name"][0] != found["name"][1]:  # 谢谢 is nobody
            yield Named(found["name"], frozenset({p.PERSON}))
