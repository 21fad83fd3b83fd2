"""The Chinese rules: clause by clause, from what is said to subject, predicate and object.

There is no word segmenter: jieba and rjieba were measured (300 and 420 ms to import; 测试工程师,
字节跳动 and 后端工程师 cut apart) and the closed patterns here need none. A name is a surname with
one or two characters, 小/老/阿 with one or two, or Latin letters, and counts only where one of the
patterns follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from shared_core.writing.extraction import chinese_words as w
from shared_core.writing.extraction import times
from shared_core.writing.extraction.chinese_patterns import GONE, PATTERNS, Pattern, Reading, is_name, tidy
from shared_core.writing.extraction.extracted import (
    ASSISTANT,
    EVENT,
    LEARNED_RULE,
    PROJECT_CONTEXT,
    USER,
    USER_FACT,
    Extracted,
    importance,
)


@dataclass(slots=True)
class _Talk:
    """What the clauses of one message share."""

    at: datetime
    speaker: str
    text: str
    found: list[Extracted] = field(default_factory=list)
    antecedent: _Subject | None = None
    previous: _Subject | None = None


@dataclass(frozen=True, slots=True)
class _Subject:
    """Who a clause may be about, and what is said of them."""

    name: str
    rest: str
    own: bool = False
    relation: tuple[str, str, str] | None = None  # (owner, predicate, name) that naming them tells
    pet: str = ""


_SENTENCE: Final = re.compile(r"([^。！？!?；;\n…]+)([。！？!?；;\n…]*)")
_CLAUSE: Final = re.compile(r"[，,（）()：]|:(?!\d)|——|\s-\s")
_RESET: Final = re.compile(r"^(?:但是|但|不过|可是|然而|只是|可)(?!能)")
_ASKS: Final = re.compile(
    r"[?？]|(?:吗|呢|么)$|什么|哪里|哪儿|哪个|哪些|谁|怎么|为何|多少|几点|是不是|要不要|能不能|会不会|可不可以|有没有|该不该|喜不喜欢|行不行|对不对|好不好"
)
_UNREAL: Final = re.compile(
    r"如果|要是|假如|假设|假使|倘若|若是|万一|除非|否则|希望|但愿|祝|可能|也许|大概|或许|应该|应当|恐怕|估计|觉得|感觉|认为|以为|猜|听说|据说|传说|传闻|有人说"
    r"|听起来|看起来|看样子|好像|似乎|仿佛|梦见|梦到|差点|险些|本来|原本|本想|宁愿|宁可|就好了|比如|例如|打个比方|比方说|假装|扮演|翻译|写一[个篇首段]"
    r"|(?:小说|电影|故事|书|剧|游戏|歌|诗)(?:里|中)|呵呵|开玩笑|才怪|不确定|不知道|考虑|在想|想着|(?<![梦思理联幻])想(?![法念起到象])|总有一天|有朝一日|迟早|吧$|巴不得|等不及"
    r"|恨不得|早知道|说不准|怀疑|担心|害怕|绝对不会|不会去|不是说|他说|她说|他们说|说他|说她|告诉我|问我|需要|该不会|难道|仿如|不敢"
)
_PLAN: Final = re.compile(
    r"^(?:要|会|将要?|打算|准备|计划|就要?|得|约了?|还要)*(?P<o>(?:(?P<whom>(?:[跟和与同陪带]|约)(?:[^，和跟去]{1,8}?))(?:一起)?(?=去|飞|看|见|开|吃|聊|谈|签)(?:开(?=\S*会)|见面|吃|聊|谈|签|去|飞|看|见)|开(?=\S{0,6}会)|去|飞|结婚|订婚|搬|参加|考|做|看|见|开始|入职|毕业|出差|回|举办|办|有(?:一?[个场次])?(?=\S*(?:面试|考试|手术|比赛|演出|会议|航班|体检|答辩|婚礼|演讲))|动手术|体检|生|拍|跑|出国|旅行|面试|答辩|手术|接|启程|出发|开会)\S*)$"
)
_PROPOSED: Final = re.compile(r"[吧么嘛]$")
_LEAD: Final = re.compile(
    r"^(?:其实|对了|另外|还有|而且|然后|所以|因为|由于|嗯+|哦+|哈+|啊|那个|顺便说一下|顺便说一句|顺便|总之|你好|您好|嗨|大家好|说实话|说真的|老实说|告诉你"
    r"|跟你说|后来|结果|于是|现在|目前|最近|当时|那时候?|这样|不过|但是?|可是|原来|终于|另|比起[^我]{1,8}(?=我)|相比[^我]{1,8}(?=我)|今后|平时|一直以来|周末|好消息|是的|对|不对|没错|好的|谢谢)+[,，\s]*"
)
_NAME: Final = rf"(?:[{w.SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[小老阿][\u4e00-\u9fff]{{1,2}}?|[A-Za-z][A-Za-z0-9_.+#-]*(?: [A-Z][A-Za-z0-9]*)?|[\u4e00-\u9fff]{{1,3}}(?:{w.TITLES})(?=就是|是))"
_KINS: Final = "|".join(sorted(w.KIN, key=len, reverse=True))
_OWN: Final = re.compile(
    r"^(?:我[\u4e00-\u9fff]{1,4}和我|我们一?家?|咱们?|我|俺|本人)(?:自己|家里|家)?(?:(?:[和跟与]|带着?)(?:[^，。去到在搬]{1,6}?)(?:一起|都|就)?(?=[去到在搬又从上一刚都参领买]|结婚))?"
)
_MINE: Final = re.compile(
    rf"^(?:我们?|咱)(?:家|现在|目前|如今|现任|新|的)*(?P<side>大|小|二|三|双胞胎|亲|前)?(?P<kin>{_KINS}|{w.PETS})(?P<name>{_NAME}|[\u4e00-\u9fffA-Za-z]{{2,3}}?)?(?=(?P<rest>.*)$)"
)
_THEIRS: Final = re.compile(rf"^(?P<owner>{_NAME})的?(?P<kin>{_KINS})(?P<rest>.+)$")
_OTHER: Final = re.compile(rf"^(?P<name>{_NAME})(?P<rest>.+)$")
_AT_WORK: Final = re.compile(r"(?:主要|最近|一直|还|目前|现在|正|也)*(?:正?在)(?:做|开发|写|研究|忙|参与|筹备|搞|设计)")
_LIKED: Final = re.compile(r"(?:现在|也|还|很|最|特别|非常|不再?|从不|不太)*(?:喜欢|讨厌|爱[吃喝看听玩]|对.+过敏)")
_DONE: Final = re.compile(
    r"(?:已经|刚刚?|也|又|早就|再也|从来)*(?:不再|不|没|搬|买|卖|养|换|加入|参加|去了|去过|领养|完成|辞|把)"
)
_ALSO_TITLED: Final = re.compile(rf"^(?P<name>[\u4e00-\u9fff]{{1,2}}(?:{w.TITLES}))(?P<rest>(?:就是|也叫|指的是).+)$")
_ITEM: Final = re.compile(
    r"^(?:我们的?)?(?P<name>项目[A-Z\d]{1,3}|[\w\u4e00-\u9fff-]{1,12}?(?:项目|模块|系统|服务|平台|应用|产品|网站|小程序|仓库|团队|部门|后台|后端|前端|数据库|索引))(?P<rest>(?:使用|用|采用|依赖|属于|归|基于|是|部署).+)$"
)
_FIRM: Final = re.compile(
    rf"^(?P<name>[^我你他她它这那哪某每各的家个有在是，\s]{{2,8}}?(?:科技|网络|软件|{w.FIRMS}))(?P<rest>(?:现在|目前|也|都|还)*(?:使用|用|采用|改用|依赖|属于|是一).+)$"
)
_CALLED_SO: Final = re.compile(r"^(?P<name>[\u4e00-\u9fff]{2,6}?)(?P<rest>(?:使用|用|采用|改用|换成|依赖|基于).+)$")
_PRONOUN: Final = re.compile(r"^(?:他|她|它)(?!们|的)(?P<rest>.+)$")


def chinese(text: str, at: datetime, speaker: str | None) -> list[Extracted]:
    """The facts of a Chinese text that is already cut down to what was said in earnest."""
    talk = _Talk(at, speaker or USER, text)
    for match in _SENTENCE.finditer(text):
        sentence = match[1].strip()
        if not sentence:
            continue
        if _remember(sentence, match[2], talk):
            continue
        if _ASKS.search(sentence) or "?" in match[2] or "？" in match[2]:
            continue
        _sentence(sentence, talk)
    return talk.found


# ---------------------------------------------------------------------- set phrases

_REMEMBER: Final = re.compile(
    r"^(?:请|麻烦|帮我|帮忙|你要|一定要|要|给我|你|好|嗯|，|,)*(?:记住了?|(?:记得|别忘了|不要忘记?了?)(?=我|，|,|：|:)|记一下|记下来?|记着|备注一下|备忘|(?:备注|笔记|提醒自己)(?=：|:))(?:了|一下|哦|啊|这个|这点)*[，,：:\s]*(?P<o>\S.+)$"
)
_GONE: Final = re.compile(rf"(?:{w.THINGS}){GONE}$")
_RULE: Final = re.compile(
    r"^(?P<lead>(?:以后|今后|从现在(?:开始|起)|往后|接下来|之后|请|你|麻烦|都|，|,|\s)*)(?P<o>"
    r"(?:一直|总是|永远|始终|一律|尽量|务必|统一)?(?:用|以)[\u4e00-\u9fffA-Za-z]{1,8}?(?:来)?(?:回答|回复|跟我|和我|与我|交流|作答)\S*"
    r"|(?:回答|回复|解释|答案)(?:我|问题)*(?:的时候|时)?(?:请|要|尽量|都|一律|务必|应该|需要|不要|别)\S*"
    r"|(?:不要|别)再?(?:给我|向我|对我|跟我)(?:推荐|发|用|说|提)\S*"
    r"|(?:总是|永远|始终|一律|尽量)(?:回答|回复|说|写|给出|保持|用)\S*)$"
)
_LATER: Final = re.compile(
    r"^(?:以后|今后|从现在(?:开始|起)|往后)(?:请|你|都|，|,|\s)*(?P<o>(?:不要|别|只|尽量|多|少|先)\S+)$"
)
_NO: Final = re.compile(r"^(?:请|再)*(?:不要|别|不许)再?")
_CALLED: Final = re.compile(
    r"^(?:(?:大家|别人|朋友们?|同事们?|家人)都?(?:叫|喊|称呼)我|(?:以后|今后|你|请|就|可以|直接)*(?:叫|喊|称呼)我|我的?(?:外号|绰号|昵称|小名|英文名)(?:是|叫))(?P<o>[\u4e00-\u9fffA-Za-z]{1,10}?)(?:就好|吧|就行|就可以|即可|好了)?$"
)


def _remember(sentence: str, ending: str, talk: _Talk) -> bool:
    """Something somebody asked to have remembered: as the facts it says, or else in their words."""
    match = _REMEMBER.match(sentence)
    if match is None or "?" in ending or "？" in ending or sentence.endswith(("吗", "没有")):
        return False
    told = match["o"].strip(" ，,。")
    before = len(talk.found)
    _sentence(told, talk)
    if len(talk.found) == before:
        talk.found.append(_make(Reading("noted", told), talk.speaker, told, talk, None))
    talk.found[before:] = [
        replace(fact, explicit=True, confidence=1.0, importance=max(0.9, fact.importance))
        for fact in talk.found[before:]
    ]
    return True


def _set_phrase(sentence: str, talk: _Talk) -> bool:
    """How to be called, and how to be answered."""
    if (match := _CALLED.match(sentence)) and not re.match(r"他|她|你|我|来|去|了|帮|起|不", match["o"]):
        talk.found.append(_make(Reading("also_called", match["o"]), talk.speaker, sentence, talk, None))
        return True
    match = _RULE.match(sentence) or _LATER.match(sentence)
    if match is None:
        return False
    wish = match["o"]
    polarity = not _NO.match(wish)
    talk.found.append(_make(Reading("should", _NO.sub("", wish), polarity), ASSISTANT, sentence, talk, None))
    return True


# ---------------------------------------------------------------------- clauses


def _sentence(sentence: str, talk: _Talk) -> None:
    talk.previous = None
    if _set_phrase(sentence, talk):
        return
    blocked = False
    lead: times.Mention | None = None
    pieces = [piece.strip() for piece in _CLAUSE.split(sentence) if piece.strip()]
    for number, clause in enumerate(pieces):
        if _RESET.match(clause):
            blocked, clause = False, _RESET.sub("", clause)
        ahead = not re.search(r"[了过]|已经|刚", clause)
        mentions = times.chinese(clause, talk.at, ahead=ahead)
        # The date of a birthday is what is told, not when it was told of.
        bare = clause if _BORN.search(clause) else _without(clause, mentions)
        mention = next((m for m in mentions if m.when is not None), None) if bare != clause else None
        often = any(m.when is None for m in mentions)
        if not bare:
            lead = mention
            continue
        ours = talk.previous.own if talk.previous else all(_LEAD.fullmatch(f"{piece}，") for piece in pieces[:number])
        if _planned(clause, bare, mention or lead, talk, blocked=blocked, ours=ours):
            continue
        if blocked or _UNREAL.search(clause):
            blocked = True
            continue
        if number and _name_of_pet(clause, talk):
            continue
        if number and _set_phrase(clause, talk):
            continue
        _clause(clause, bare, mention or lead, talk, often=often)
        lead = None


_BORN: Final = re.compile(r"生日|出生的?$|生于|^.{0,6}生的$")


def _without(clause: str, mentions: list[times.Mention]) -> str:
    for m in reversed(mentions):
        clause = clause[: m.start] + clause[m.end :]
    return clause.strip()


def _planned(clause: str, bare: str, mention: times.Mention | None, talk: _Talk, *, blocked: bool, ours: bool) -> bool:
    """A plan of the speaker's with its date; `ours` if a clause without a subject is about the speaker."""
    if (
        mention is None
        or not mention.future
        or re.search(r"[了过]$|可能|也许|大概|如果|要是|希望|想", clause)
        or blocked
    ):
        return False
    told = _LEAD.sub("", bare)
    rest = re.sub(r"^(?:我们|我)", "", told)
    if (match := _PLAN.match(rest)) is None:
        return False
    # Without a subject it is the speaker's, unless the clause before is about somebody else, who is not met in it.
    if rest == told and (_PROPOSED.search(told) or not (ours or match["whom"])):
        return False
    talk.found.append(_make(Reading("plans", tidy(match["o"])), talk.speaker, clause, talk, mention.when))
    return True


def _name_of_pet(clause: str, talk: _Talk) -> bool:
    """ "…, and its name is": names the pet or the relative told of just before."""
    match = re.match(
        r"^(?:它|他|她|取名)?(?:的?名字)?(?:名?叫做?|叫做|取名叫?|名为|是)(?P<o>[\u4e00-\u9fffA-Za-z]{1,6})$", clause
    )
    last = talk.found[-1] if talk.found else None
    if match is None or last is None or last.predicate not in ("owns", "has_family") or not last.polarity:
        return False
    text = f"{last.text}，{clause}"
    if kind := re.search(rf"(?:{w.PETS})$", last.object):
        talk.found[-1] = _make(Reading("pet", match["o"]), last.subject, text, talk, last.when)
        talk.found.append(_make(Reading("is_a", kind[0]), match["o"], text, talk, None))
        return True
    relation = next((w.KIN[kin] for kin in sorted(w.KIN, key=len, reverse=True) if last.object.endswith(kin)), None)
    if relation is None:
        return False
    talk.found.append(_make(Reading(relation, match["o"]), last.subject, text, talk, None))
    talk.previous = talk.antecedent = _Subject(match["o"], "")
    return True


def _subjects(bare: str, talk: _Talk) -> list[_Subject]:
    """Everyone the clause may be about, the likeliest first."""
    text = _LEAD.sub("", bare)
    match = _MINE.match(text)
    found = _mine(text, match, talk) if match else []
    if match := _OWN.match(text):
        return [*found, _Subject(talk.speaker, text[match.end() :], own=True)]
    if (match := _PRONOUN.match(text)) and talk.antecedent:
        return [replace(talk.antecedent, rest=match["rest"], relation=None)]
    found += [*_things(text, talk), *_people(text)]
    if talk.previous is not None:
        found.append(replace(talk.previous, rest=text, relation=None))
    elif _is_own(text):
        found.append(_Subject(talk.speaker, text, own=True))
    return found


def _things(text: str, talk: _Talk) -> Iterator[_Subject]:
    """The project, system or firm a clause may be about."""
    if match := _ITEM.match(text) or _FIRM.match(text):
        yield _Subject(match["name"], match["rest"])
    elif (match := _CALLED_SO.match(text)) and re.search(
        f"{match['name']}(?:项目|系统|平台|模块|服务|应用|产品)", talk.text
    ):
        yield _Subject(match["name"], match["rest"])  # the short name of what was named in full


def _people(text: str) -> Iterator[_Subject]:
    """Those a clause may name: somebody's relative, a name of any length, a family name with a title."""
    if (match := _THEIRS.match(text)) and is_name(match["owner"]):
        yield _Subject(f"{match['owner']}的{match['kin']}", match["rest"])
    for length in (1, 2, 3, 4) if not text[:1].isascii() else ():
        name, rest = text[:length], text[length:]
        if rest and is_name(name):
            yield _Subject(name, rest)
    if text[:1].isascii() and (match := _OTHER.match(text)):
        yield _Subject(match["name"], match["rest"].strip())
    if match := _ALSO_TITLED.match(text):
        yield _Subject(match["name"], match["rest"])


def _is_own(text: str) -> bool:
    """Whether a clause without a subject is the speaker's: likings, what is over or done, what is being worked on."""
    return bool(
        _LIKED.match(text) or (_DONE.match(text) and re.search(r"[了过]", text)) or _GONE.match(text)
        or _AT_WORK.match(text)
    )  # fmt: skip


def _mine(text: str, match: re.Match[str], talk: _Talk) -> list[_Subject]:
    kin, whole = match["kin"], (match["side"] or "") + match["kin"]
    end = match.end("kin")
    relation = w.KIN.get(kin)
    found: list[_Subject] = []
    for length in (2, 3, 4, 1):
        name, rest = text[end : end + length], text[end + length :]
        if (
            rest
            and re.fullmatch(r"[^和跟与的在是有也都不没又正刚\x00-\x40][\u4e00-\u9fff]{1,2}|[A-Za-z]+", name)
            and (is_name(name) or length == 2)
        ):
            if relation is None:
                found.append(_Subject(name, rest, relation=(talk.speaker, "pet", name), pet=kin))
            else:
                found.append(_Subject(name, rest, relation=(talk.speaker, relation, name)))
    found.insert(0, _Subject(f"{talk.speaker}的{whole}", text[end:], pet="" if relation else kin))
    return found


def _clause(clause: str, bare: str, mention: times.Mention | None, talk: _Talk, *, often: bool) -> None:
    for who in _subjects(bare, talk):
        readings = _read(who, clause, often=often)
        if not readings:
            continue
        if who.relation:
            owner, predicate, name = who.relation
            talk.found.append(_make(Reading(predicate, name), owner, _kinship(who, clause, talk), talk, None))
            if who.pet:
                talk.found.append(_make(Reading("is_a", who.pet), name, clause, talk, None))
        for reading in readings:
            _tell(reading, who, clause, mention, talk)
        talk.previous = who
        if not who.own:
            talk.antecedent = who
        return
    if re.match(r"^(?:你|您|他|她|它|这|那|大家)", bare) or _MINE.match(_LEAD.sub("", bare)):
        talk.previous = None
    elif match := _OWN.match(_LEAD.sub("", bare)):
        talk.previous = _Subject(talk.speaker, bare[match.end() :], own=True)


def _kinship(who: _Subject, clause: str, talk: _Talk) -> str:
    """A relation in words of its own: what the clause says beside it may change, and the relation stays."""
    match = _MINE.match(_LEAD.sub("", clause))
    if who.pet or match is None or who.relation is None:
        return clause
    whose = "我" if talk.speaker == USER else f"{talk.speaker}的"
    return f"{who.name}是{whose}{match['side'] or ''}{match['kin']}"


def _tell(reading: Reading, who: _Subject, clause: str, mention: times.Mention | None, talk: _Talk) -> None:
    subject = reading.subject or who.name
    kin = re.match(rf"^(?P<owner>.+?)的(?:[大小二三前亲]|双胞胎)?(?P<kin>{_KINS})$", who.name) if not who.own else None
    if reading.predicate == "name" and kin:
        reading, subject = replace(reading, predicate=w.KIN[kin["kin"]]), kin["owner"]
    if reading.predicate == "name" and who.pet:
        talk.found.append(_make(Reading("pet", reading.object), talk.speaker, clause, talk, None))
        reading, subject = Reading("is_a", who.pet), reading.object
    if reading.predicate == "kin":
        reading, subject = replace(reading, predicate=w.KIN[reading.object], object=who.name), talk.speaker
    if reading.predicate == "alias":
        if is_name(reading.object) and re.search(rf"(?:{w.TITLES})$", subject):
            subject, reading = reading.object, Reading("also_called", subject)
        else:
            reading = replace(reading, predicate="also_called")
    if reading.predicate == "surname":
        if not kin:
            return
        reading, subject = replace(reading, predicate=w.KIN[kin["kin"]]), kin["owner"]
    when = mention.when if mention and not mention.future and reading.predicate != "age" else None
    if mention and mention.future:
        return
    talk.found.append(_make(reading, subject, clause, talk, when, third=not who.own, who=who))


_ADVERBS: Final = re.compile(
    r"^(?:\s|现在|目前|已经|早就|早已|刚刚|刚|才|就(?!是)|也(?!叫)|都|还是|还|一直|平时|平常|通常|经常|常常|最近|近来|其实|真的|真|主要是|主要|终于|又|一般|基本上?|从小(?!米|红书|鹏)|从来|后来|今年|今天|正好|自己|一个人|总是|向来|再也|到|最终|正式|顺利|成功地?|有幸|如今|从?开始|自从|以前|之前|曾经|曾|过去|原来|原先|当年|小时候)*"
)
_IS_NAMED: Final = re.compile(r"(?:就)?是(?P<o>[\u4e00-\u9fff]{2,5}|[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)?)$")
_TITLED: Final = re.compile(rf"(?P<name>[{w.SURNAMES}][\u4e00-\u9fff]?)(?:{w.TITLES})")


def _names_somebody(text: str) -> bool:
    """Whether what a relative or a boss "is" names them: "张总监", "陈敏", and not "程序员" or "高级经理"."""
    if _TITLED.fullmatch(text):
        return not any(text.startswith(word) for word in w.NOT_NAMES)
    return is_name(text) and not re.search(r"[人生师员家座手迷控党族医者汉友猫狗]$", text)


_PAST: Final = re.compile(r"以前|之前|曾经?|过去|原来|原先|当年|小时候")


def _read(who: _Subject, clause: str, *, often: bool) -> list[Reading]:
    """What a clause says of this subject: the first pattern that fits."""
    lead = _ADVERBS.match(who.rest)
    before = lead[0] if lead else ""
    rest = who.rest[len(before) :].strip().rstrip("。！!~～ ")
    if (
        (match := _IS_NAMED.match(rest))
        and re.search(rf"的.{{0,3}}(?:{_KINS})$", who.name)
        and _names_somebody(match["o"])
    ):
        return [] if _PAST.search(before) else [Reading("name", match["o"])]
    past = bool(_PAST.search(before))
    again = "再也" in before
    for pattern in PATTERNS:
        if pattern.latin and not who.name.isascii():
            continue
        if (not pattern.own and who.own) or (pattern.own is None and not who.own):
            continue
        if pattern.often and not often:
            continue
        match = pattern.regex.match(rest)
        if match is None:
            continue
        found = _from(pattern, match, past=past or again)
        if found:
            return found
    return []


def _from(pattern: Pattern, match: re.Match[str], *, past: bool) -> list[Reading]:
    readings = pattern.read(match)
    if past and pattern.state:
        readings = [replace(one, polarity=False, ended=True) for one in readings]
    return readings


def _make(
    one: Reading,
    subject: str,
    text: str,
    talk: _Talk,
    when: datetime | None,
    *,
    third: bool = False,
    who: _Subject | None = None,
) -> Extracted:
    planned = one.predicate == "plans"
    names = [name for name in (subject,) if name not in (USER, ASSISTANT)]
    if one.predicate not in ("likes", "plans", "noted", "should", "age") and not one.predicate.startswith("favourite"):
        names.append(one.object)
    project = one.predicate in ("works_on", "belongs_to") or (third and one.predicate in ("uses", "is_a"))
    kind = (
        LEARNED_RULE if one.predicate == "should" else EVENT if planned else PROJECT_CONTEXT if project else USER_FACT
    )
    return Extracted(
        subject=subject,
        predicate=one.predicate,
        object=one.object,
        polarity=one.polarity,
        text=_readable(text, talk, who),
        type=kind,
        confidence=0.8 if third else 0.9,
        when=when,
        ended=one.ended,
        entities=tuple(dict.fromkeys(names)),
        planned=planned,
        importance=importance(one.predicate),
    )


def _readable(text: str, talk: _Talk, who: _Subject | None) -> str:
    """The clause so that it can be read alone: its subject put in, a named speaker's name for 我."""
    text = text.strip("，, ")
    if who is not None and who.name not in text and not re.search(r"我|咱", text):
        text = ("我" if who.own else who.name) + text
    return re.sub(r"我们|咱们|我", talk.speaker, text) if talk.speaker != USER else text
