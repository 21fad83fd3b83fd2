"""Whether two facts say the same, word for word but for their spelling (D7, DESIGN rule 9). Pure.

Likeness only proposes a pair. Here every part is compared: subject, predicate, object, polarity,
every number and every word of time. Whatever is not understood counts as different: two memories
too many cost a line, a wrong merge costs what somebody said.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from shared_core.long_term.graph.names import UNSPACED, entity_key
from shared_core.recall.text import ASKS, normal
from shared_core.store.rows import Draft, load
from shared_core.writing import statement
from shared_core.writing.conflict import Claim, claim_of

_BESIDE: Final = re.compile(rf"(?<=[{UNSPACED}]) (?=\S)|(?<=\S) (?=[{UNSPACED}])")
# Says nothing where it stands between words; inside a word or a number (10:30, 3.5, don't, f(x)) it may.
_POINTS: Final = r",.;:!\"'“”‘’()\[\]{}…—–、。《》「」『』~·"
_POINT: Final = re.compile(rf"(?<![^\W{UNSPACED}])[{_POINTS}]+|[{_POINTS}]+(?![^\W{UNSPACED}])")
_TOKEN: Final = re.compile(r"\S+")
_CODE: Final = re.compile(r"[^\W_]*[\d/\\@_#+$€£¥%°&=<>|^*][^\s]*")
_SECRET: Final = re.compile(
    r"passw|passphrase|passcode|\bpin\b|\bkeys?\b|\btokens?\b|secret|\bcodes?\b|\blogin|\busername|\baccount|\bwi-?fi\b"
    r"|密码|口令|密钥|秘钥|令牌|验证码|暗号|账号|帐号|用户名|代码|编号",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[-−]?\d+(?:[.,:/-]\d+)*")
_CHINESE_NUMBER: Final = re.compile(r"[〇零一二两三四五六七八九十百千万亿半双几]")
_NUMBER_WORD: Final = re.compile(
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|quarter|once|twice|first|second|third|fourth"
    r"|fifth|both|all|no|none|some|few|several|many|most|every|each|another|only)\b"
)
_TIME: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\b(?:today|tonight|tomorrow|yesterday|now|ago|last|next|this|since|until|till|before|after|during|recently|soon"
    r"|always|never|usually|often|sometimes|rarely|seldom|daily|weekly|monthly|yearly|a\.?m|p\.?m|noon|midnight"
    r"|mornings?|afternoons?|evenings?|nights?|weeks?|weekends?|months?|years?|days?|hours?|minutes?"
    r"|spring|summer|autumn|fall|winter|christmas|easter)\b"
    r"|[昨前今明后]天|[上下本这]个?(?:周|星期|礼拜|月|年)|[去今明前后]年|(?:周|星期|礼拜)[一二三四五六日天末]|月底|年底|上午|下午|早上"
    r"|晚上|中午|凌晨|傍晚|春|夏|秋|冬|每[天周月年]|总是|从不|经常|偶尔|有时|以前|以后|之前|之后|曾经?|将要?|刚"
)
_OWNERS: Final = re.compile(
    r"^(?:a |an |the )*(my|our|his|her|its|their|your|this|that|these|those|some|any)\b"
    r"|^(我们?的?|他们?的?|她们?的?|它们?的?|你们?的?|您的?|那|这)(?=.)"
)
_FILLERS: Final = frozenset(
    "the a an really also currently still just is am are was were be 真的 也 目前 还 很 了 的 着 是 在".split()
)
_OF_THE_SPEAKER: Final = frozenset(
    {"my", "our", "i", "me", "myself", "we", "user", "the user", "我", "我们", "用户", "本人"}
)


@lru_cache(maxsize=4_096)
def plain(text: str) -> str:
    """Equal for the spellings of one sentence: case, width, spaces and the marks between words.

    >>> plain("Ann likes tea.") == plain("ANN  likes ｔｅａ!!"), plain("张 伟喜欢茶。") == plain("张伟喜欢茶")
    (True, True)
    >>> plain("it opens at 10:30") == plain("it opens at 1030")
    False
    """
    text = normal(text).replace("’", "'").replace("‘", "'")
    text = _POINT.sub(" ", text)
    return _BESIDE.sub("", " ".join(text.split()))


def _codes(text: str) -> list[str]:
    """Words in which case and marks carry meaning: with a digit, a path, an address; in their own case."""
    text = unicodedata.normalize("NFKC", text)
    found = [_POINT.sub("", token) for token in _TOKEN.findall(text) if any(c.isascii() for c in token)]
    return sorted(token for token in found if _CODE.search(token) and not token.isdigit())


@lru_cache(maxsize=4_096)
def _counted(text: str) -> tuple[list[str], ...]:
    """Every number, date and word of time in a text."""
    text = normal(text)
    return (*(sorted(each.findall(text)) for each in (_NUMBER, _NUMBER_WORD, _TIME)), _CHINESE_NUMBER.findall(text))


def _asks(item: Draft) -> bool:
    return bool(item.shape & ASKS) or "?" in item.text or "？" in item.text


# ---------------------------------------------------------------------- facts with a triple


def _owner(name: str) -> str:
    match = _OWNERS.match(normal(name).strip())
    found = next(filter(None, match.groups()), "") if match else ""
    return "my" if found.removesuffix("的") in _OF_THE_SPEAKER else found


def _same_claim(one: Claim, other: Claim) -> bool:
    mine = (one.subject, one.predicate, one.object, one.polarity, one.over)
    return mine == (other.subject, other.predicate, other.object, other.polarity, other.over)


def _beyond(item: Draft, claim: Claim) -> str:
    """What the text of a fact says that its triple does not, in order; empty where it says the same."""
    assert item.triple is not None
    left = f" {plain(item.text)} "
    spaced = left.isascii()
    parts = [plain(part.replace("_", " ")) for part in item.triple]
    for part in sorted((part for part in parts if part), key=len, reverse=True):
        left = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)" if part.isascii() else re.escape(part), " ", left, count=1)
    words = [word for word in left.split() if word not in _FILLERS]
    if claim.subject == statement.SELF:
        words = [word for word in words if word not in _OF_THE_SPEAKER]
    rest = " ".join(words)
    if not spaced:
        rest = "".join(char for char in rest if char not in _FILLERS)
        if claim.subject == statement.SELF:
            rest = re.sub(r"我们?|用户|本人", "", rest)
    if rest:
        said = statement.predicate(rest.strip().replace(" ", "_"))
        if said.key == claim.predicate and said.polarity and not said.over and claim.polarity:
            return ""
    return rest.strip()


def _same_statement(one: Draft, other: Draft) -> bool:
    """Two facts with triples: the triples agree in their normal form, and neither text says more."""
    if one.triple is None or other.triple is None:
        return False
    mine = claim_of(one.text, one.triple, polarity=one.polarity, over=one.over)
    theirs = claim_of(other.text, other.triple, polarity=other.polarity, over=other.over)
    if mine is None or theirs is None or not _same_claim(mine, theirs):
        return False
    for place in (0, 2):
        if place and _owner(one.triple[place]) != _owner(other.triple[place]):
            return False
    if _plural(one.triple.object) != _plural(other.triple.object):
        return False
    return _beyond(one, mine) == _beyond(other, theirs)


def _plural(name: str) -> bool:
    """Whether the last word has the s of the plural: one cat and cats are not the same."""
    words = normal(name).split()
    return bool(words) and statement.object_key(words[-1]) != words[-1] and words[-1].endswith("s")


# ---------------------------------------------------------------------- any two facts


def same(one: Draft, other: Draft) -> bool:
    """Whether two facts say the same, so that one of them is enough.

    Facts with triples need the same subject, predicate and object in their normal form (synonyms of
    the table in `statement` count), the same polarity, and texts that say nothing besides. Others
    need the same sentence but for its spelling. Numbers, dates and words of time agree in any case,
    and so do type, source, speaker and event time; metadata must not contradict.

    >>> def fact(text, triple=None): return Draft(kind="fact", text=text, triple=triple)
    >>> same(fact("Ann likes tea"), fact("ann likes TEA!")), same(fact("Ann likes tea"), fact("Ann likes no tea"))
    (True, False)
    """
    if one.kind != "fact" or other.kind != "fact" or one.status != "active" or other.status != "active":
        return False
    if (one.type, one.source, one.name, one.event_time, one.polarity, _asks(one)) != (
        other.type, other.source, other.name, other.event_time, other.polarity, _asks(other)
    ):  # fmt: skip
        return False
    if _counted(one.text) != _counted(other.text) or _codes(one.text) != _codes(other.text):
        return False
    if _contradict(load(one.metadata) or {}, load(other.metadata) or {}):
        return False
    if _SECRET.search(one.text) or _SECRET.search(other.text):
        return one.text.split() == other.text.split() and one.triple == other.triple
    if plain(one.text) == plain(other.text):
        return _same_spelled(one, other)
    return _same_statement(one, other)


def _same_spelled(one: Draft, other: Draft) -> bool:
    """The same sentence, read as the same triple: two readings of one sentence are two facts."""
    if one.triple is None or other.triple is None:
        return True
    if [entity_key(part) for part in one.triple] == [entity_key(part) for part in other.triple]:
        return True
    return _same_statement(one, other)


def _contradict(mine: dict[str, object], theirs: dict[str, object]) -> bool:
    return any(theirs[key] != value for key, value in mine.items() if key in theirs)


def alike(one: Draft, other: Draft) -> bool:
    """Whether two texts are one but for spelling, so that no model has to say that they are alike."""
    return plain(one.text) == plain(other.text)
