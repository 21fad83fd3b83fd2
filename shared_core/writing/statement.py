"""The normal form of a fact: when two spellings of a subject, predicate or object are the same one.

Only spelling, grammar and a short table of synonyms in both languages decide; likeness never does.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, lru_cache

from shared_core.long_term.graph.names import entity_key, predicate_key
from shared_core.recall.text import normal
from shared_core.values import Triple
from shared_core.writing.polarity import WHOLE_WORDS, read, singular

SELF = "user"
"""The subject of what an unnamed speaker says of themselves."""

_SELVES = frozenset("user the user i me myself 我 用户 本人 自己 俺".split()) | {"the user"}

# What says the same as a predicate of the extractor; keys as `predicate_key` gives them.
_SYNONYMS = {
    "lives_in": "live_in lives_at live_at resides_in reside_in resides_at residence home home_city current_city lives"
    " based_in is_based_in moved_to relocated_to 住在 居住在 居住于 住 现居 现住 现居地 居住地 居住城市 定居在 定居于 定居 搬到 搬到了 搬去 生活在",
    "works_at": "work_at works_for work_for employed_by is_employed_by employed_at employer joined_company job_at 就职于 就职 任职于"
    " 任职 供职于 工作单位 工作于 上班于 雇主 所在公司 入职",
    "works_as": "work_as job occupation profession job_title position has_job 职业 职位 岗位 职务 担任 工作是 职业是",
    "name": "is_called is_named named has_name full_name name_is 名字 姓名 叫 名叫 叫做 名字是 名字叫",
    "age": "is_aged aged has_age 年龄 岁数 年纪",
    "birthday": "birth_date date_of_birth born_on has_birthday 生日 出生日期 生日是",
    "born_in": "birthplace was_born_in place_of_birth 出生于 出生在 出生地",
    "from": "comes_from is_from hometown native_of 来自 老家 家乡 籍贯 老家在",
    "married_to": "is_married_to marries spouse partner_in_marriage 嫁给 娶 娶了 配偶 爱人",
    "engaged_to": "is_engaged_to fiance fiancee",
    "wife": "has_wife 妻子 老婆 太太",
    "husband": "has_husband 丈夫 老公 先生",
    "marital_status": "relationship_status 婚姻状况 婚姻状态 感情状况",
    "email": "e_mail email_address mail has_email 邮箱 电子邮箱 邮件地址 邮箱是",
    "phone": "phone_number mobile mobile_number telephone has_phone 电话 手机 手机号 电话号码 手机号码 联系电话",
    "address": "home_address lives_at_address 地址 住址 家庭住址",
    "diet": "follows_diet 饮食 饮食习惯",
    "studies_at": "study_at goes_to_school_at attends_school 就读于 就读 在读 学校",
    "likes": "like love loves enjoy enjoys adores is_fond_of fond_of hobby 喜欢 爱 喜爱 热爱 爱好 钟爱 喜欢吃 喜欢喝",
    "uses": "use is_using utilises utilizes 使用 用 在用 采用 正在使用",
    "owns": "own has have possesses bought 拥有 有 养 养了 买了",
    "speaks": "speak 会说 说 讲 会讲",
    "plays": "play 玩 弹 打 踢",
    "visited": "visit visits has_visited been_to travelled_to traveled_to 去过 到过 访问过",
    "drinks": "drink 喝 爱喝",
    "eats": "eat 吃 爱吃",
    "works_on": "work_on 负责 从事 在做",
    "allergic_to": "is_allergic_to allergy 过敏 对过敏 过敏于",
    "boss": "manager_is reports_to has_boss 老板 上司 领导",
    "deadline": "due_date due_on has_deadline 截止日期 截止时间 期限",
    "status": "has_status state 状态 进度",
}  # fmt: skip
_DENIED = {"likes": "dislike dislikes hate hates detests loathes 讨厌 厌恶 反感 不喜欢"}
_ENDED = {
    "lives_in": "moved_away_from moved_from moved_out_of left_city used_to_live_in lived_in 搬离 搬出 离开了 曾住在 以前住在",
    "works_at": "resigned_from quit_job_at left_job_at left_company was_fired_from retired_from used_to_work_at"
    " used_to_work_for formerly_worked_at worked_at worked_for 离职 离职于 辞职于 辞去 离开公司",
    "owns": "sold got_rid_of gave_away used_to_own 卖了 卖掉 卖掉了 扔了",
    "uses": "stopped_using used_to_use switched_from 停用 弃用 不用了",
    "likes": "stopped_liking used_to_like 曾喜欢 以前喜欢",
    "drinks": "stopped_drinking gave_up_drinking 戒 戒了",
    "eats": "stopped_eating",
    "married_to": "divorced divorced_from separated_from 离婚 和离婚",
}
_MORE_SINGLE = frozenset({"deadline", "status"})

_NEGATION = re.compile(
    r"^(?:does_not|doesn't|doesn’t|do_not|don't|did_not|didn't|is_not|isn't|are_not|not|never)_(?=.)"
)
_OVER = re.compile(r"^(?:is_|are_|does_)?(?:no_longer|not_any_longer)_(?=.)|^(?:不再|再也不)(?=.)")
_CHINESE_NEGATION = re.compile(r"^(?:从不|从来不|并不|没有|不|没)(?=.)")
_BARE_PARTICLES = re.compile(r"[了着过]$")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in its normal form; `polarity` False if its words deny, `over` if they say it has ended."""

    key: str
    polarity: bool = True
    over: bool = False


@cache
def _table() -> dict[str, Predicate]:
    from shared_core.writing.extraction.extracted import PREDICATES  # its package loads the extractor's rules

    found = {key: Predicate(key) for key in PREDICATES}
    for source, polarity, over in ((_SYNONYMS, True, False), (_DENIED, False, False), (_ENDED, False, True)):
        for key, words in source.items():
            for word in words.split():
                found.setdefault(word, Predicate(key, polarity, over))
            found.setdefault(key, Predicate(key))
    return found


@lru_cache(maxsize=20_000)
def predicate(words: str) -> Predicate:
    """The normal form of a predicate.

    >>> predicate("lives in") == predicate("住在") == Predicate("lives_in")
    True
    >>> predicate("no longer lives in"), predicate("讨厌").polarity
    (Predicate(key='lives_in', polarity=False, over=True), False)
    """
    table = _table()
    key = predicate_key(words)
    for form in (words, key, _BARE_PARTICLES.sub("", key)):
        if form in table:
            return table[form]
    for pattern, over in ((_OVER, True), (_NEGATION, False), (_CHINESE_NEGATION, False)):
        rest = pattern.sub("", key)
        if rest != key and not WHOLE_WORDS.match(key):
            inner = predicate(rest)
            return Predicate(inner.key, not inner.polarity, over or inner.over)
    if key.startswith("favorite_"):
        key = "favourite_" + key.removeprefix("favorite_")
    if re.match(r"最(?:喜欢|爱)的?(?=.)", key):
        key = "favourite_" + re.sub(r"^最(?:喜欢|爱)的?", "", key)
    return Predicate(key)


def single_valued(key: str) -> bool:
    """Whether a predicate has one value at a time, unless the user declares otherwise."""
    from shared_core.writing.extraction.extracted import is_single

    return key in _MORE_SINGLE or is_single(key) or is_single(key.replace("_", " "))


@lru_cache(maxsize=20_000)
def subject_key(name: str) -> str:
    """Equal for the spellings of one subject; all words for the speaker are one.

    >>> subject_key("我") == subject_key("The User") == "user"
    True
    """
    key = entity_key(name)
    return SELF if key in _SELVES else key


_LEADING = re.compile(r"^(?:(?:a|an|the|my|our|his|her|their|your|some|any|to)\s+)+(?=\S)")
_CHINESE_LEADING = re.compile(
    r"^(?:我们?的?|他们?的?|她们?的?)?(?:那|这)?(?:[一两三]?[只辆个台套条间部匹把本张杯])?(?=.{1,})"
)
_END = re.compile(r"[\s.,;!?。，；！？]+$")
_YEARS = re.compile(r"^(\d{1,3})\s*(?:years?(?:\s*old)?|岁)$")


@lru_cache(maxsize=20_000)
def object_key(name: str) -> str:
    """Equal for the spellings of one object: case, width, articles, plural s; numbers and dates stay.

    >>> object_key("the cats"), object_key("一辆车") == object_key("车"), object_key("30岁")
    ('cat', True, '30')
    """
    key = _END.sub("", entity_key(normal(name))) or entity_key(name)
    if key.isascii():
        key = _LEADING.sub("", key)
        if match := _YEARS.match(key):
            return match[1]
        return " ".join(singular(word) for word in key.split())
    if match := _YEARS.match(key):
        return match[1]
    return _CHINESE_LEADING.sub("", key, count=1) or key


def number(*parts: str) -> int:
    """63 bits for some parts, the same in every process."""
    content = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big") >> 1


@lru_cache(maxsize=4096)  # a profile asks for the same few hundred with every context
def topic(subject: str, key: str) -> int:
    """The number of "this subject, this predicate"."""
    return number("topic", subject, key)


def thing(key: str) -> int:
    """The number of an object."""
    return number("thing", key)


def free_topic(bare: str) -> int:
    """The number of what a free text is about: its `Reading.bare`."""
    return number("text", bare)


def denied(text: str, triple: Triple) -> tuple[bool, bool]:
    """Whether the text of a triple denies it, and whether it says that it has ended.

    Only where the text says nothing besides: ("Ann", "likes", "tea") and "Ann no longer likes tea".
    """
    found = read(text)
    if found is None or found.polarity:
        return False, False
    said = set(found.core.split() if found.core.isascii() or " " in found.core else found.core)
    held: set[str] = set()
    for part in triple:
        inner = read(part.replace("_", " "))
        core = "" if inner is None else inner.core
        held |= set(core.split()) | (set() if core.isascii() else set(core)) | set(part)
    words = held | {"♥", "be", "use", "can", "have", "用"}
    return said <= words, found.over


__all__ = [
    "SELF",
    "Predicate",
    "denied",
    "free_topic",
    "number",
    "object_key",
    "predicate",
    "single_valued",
    "subject_key",
    "thing",
    "topic",
]
