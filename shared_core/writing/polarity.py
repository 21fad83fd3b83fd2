"""Whether a short statement affirms or denies, and what: the free text's way of meeting its opposite.

Two statements are about the same thing when nothing but affirming or denying words tells them
apart: "likes tea" and "no longer likes tea", "我会游泳" and "我不会游泳". Likeness plays no part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared_core.recall.text import normal

_LONGEST = 48  # characters, half as many Chinese ones: longer texts say more than one thing
_HAN = re.compile(r"[\u3400-\u9fff]")
_CLAUSES = re.compile(r"[?？,，;；:：\n]|[.!。！](?=.*\w)")
_WORD = re.compile(r"[^\W_]+(?:['’.+#&/@_-]+[^\W_]+)*(?:\+\+|#)?")
_NOT = re.compile(r"(\w+)n't\b")
_IRREGULAR = {"ca": "can", "wo": "will", "sha": "shall"}

_LIKES = frozenset("like likes liked love loves enjoy enjoys adore adores".split())
_DISLIKES = frozenset("dislike dislikes hate hates detest detests".split())
_BE = frozenset("is are am was were be been".split())
_USES = frozenset("use uses using utilise utilises utilize utilizes".split())
_NEVER = frozenset("not never cannot".split())
# Says nothing of its own beside a verb; "no" denies only after "has", "have" and "there is".
_DROPPED = frozenset(
    "i we me my our user the a an do does did will now currently still really any at all anymore longer more just also"
    " today these days please".split()
)
_OVER = frozenset("anymore longer".split())

# Words of which 不, 没, 别, 非 and 无 are a part and deny nothing.
WHOLE_WORDS = re.compile(
    r"不错|不但|不过|不同|不断|不仅|不久|不如|不管|不论|不得不|不能不|不可不|差不多|了不起|不锈钢|不动产|对不起|不好意思|不一定"
    r"|不只|不止|不光|不免|不禁|不幸|不安|不良|不妨|不至于|好不容易|不少|不知不觉|不倒翁|不夜城|不丹|不列颠|忍不住|来不及|说不定|舍不得"
    r"|没关系|没事|没收|沉没|淹没|埋没|出没|没落|特别|区别|分别|级别|性别|个别|别人|别墅|别的|识别|告别|类别|派别"
    r"|非常|非洲|是非|除非|无锡|无线|无人机|无论|无数|无非|无印良品|无糖|无花果"
)
_DENIES = re.compile(r"再也不|不再|从不|从来不|并不|不|没有|没|并非|无法")
_CHINESE_OVER = re.compile(r"再也不|不再|(?:现在|已经|早就?)[^了]*(?:不|没)|(?:不|没).*了$")
_CHINESE_DROPPED = re.compile(
    r"[\s。！!.~～“”\"']|^(?:用户|本人|我们?|咱们?|俺)|现在|目前|如今|已经|其实|真的|一直|最近|[了着的也都还很]"
)
_CHINESE_LIKES = re.compile(r"喜欢|喜爱|热爱|爱(?=[吃喝玩看听读打踢])")
_CHINESE_DISLIKES = re.compile(r"讨厌|厌恶|反感")
_CHINESE_USES = re.compile(r"使用|采用")
_INTENSE = re.compile(r"(?:特别|非常|很|超级?)(?=喜欢|喜爱|热爱|爱|讨厌)")
_LIKE = "♥"  # stands for every word of liking, so that "like" and "dislike" are the same core


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement without what affirms or denies it.

    `core` is the rest, equal for a statement and its denial; `bare` is the core without words of
    liking ("likes drinking tea": "drink tea"). `over`: it was so, and is no longer.
    """

    core: str
    bare: str
    polarity: bool
    over: bool = False


def read(text: str) -> Reading | None:
    """What a short text affirms or denies; None for one that is long, asks, or has several clauses.

    >>> read("likes tea") == read("I like the tea"), read("doesn't like tea").polarity
    (True, False)
    >>> read("我会游泳").core == read("我不会游泳").core, read("这家店不错").polarity
    (True, True)
    """
    if len(text) > _LONGEST:
        return None
    text = normal(text).strip()
    if _CLAUSES.search(text):
        return None
    return _english(text) if text.isascii() or not _HAN.search(text) else _chinese(text)


def _english(text: str) -> Reading | None:
    if "'" in text or "’" in text:
        text = _NOT.sub(lambda m: f"{_IRREGULAR.get(m[1], m[1])} not", text.replace("’", "'"))
    words = _WORD.findall(text)
    polarity, over, core = True, False, list[str]()
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        if word in _NEVER:
            polarity = not polarity
            core += ["can"] if word == "cannot" else []
        elif word == "no" and (after == "longer" or before in ("has", "have", "had", *_BE)):
            polarity = not polarity
            over = over or after == "longer"
        elif word in _DISLIKES:
            polarity = not polarity
            core.append(_LIKE)
        elif word in _DROPPED:
            over = over or (word in _OVER and not polarity)
        else:
            core.append(_plain(word))
    return _reading(core, polarity, over, " ")


def _plain(word: str) -> str:
    if word in _LIKES:
        return _LIKE
    if word in _BE:
        return "be"
    if word in _USES:
        return "use"
    if word in ("can", "could"):
        return "can"
    return singular(word)


def singular(word: str) -> str:
    """A word without the s of the plural or the third person; nothing else is taken off.

    >>> singular("cats"), singular("drinks"), singular("glass"), singular("universe")
    ('cat', 'drink', 'glass', 'universe')
    """
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word.isalpha():
        return word[:-1]
    return word


def _chinese(text: str) -> Reading | None:
    if len(text) > _LONGEST // 2:
        return None
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        return chr(0xE000 + len(kept) - 1)

    hidden = WHOLE_WORDS.sub(hide, _INTENSE.sub("", text))
    over = bool(_CHINESE_OVER.search(hidden.rstrip("。！!.")))
    hidden = _CHINESE_DROPPED.sub("", hidden)
    hidden, denied = _DENIES.subn("", hidden)
    hidden, disliked = _CHINESE_DISLIKES.subn(_LIKE, hidden)
    hidden = _CHINESE_USES.sub("用", _CHINESE_LIKES.sub(_LIKE, hidden))
    core = re.sub(r"[\ue000-\ue0ff]", lambda m: kept[ord(m[0]) - 0xE000], hidden)
    polarity = (denied + disliked) % 2 == 0
    return _reading(list(core), polarity, over and not polarity, "")


def _reading(core: list[str], polarity: bool, over: bool, joint: str) -> Reading | None:
    if not core or core == [_LIKE]:
        return None
    rest: list[str] = []
    for place, part in enumerate(core):
        if part == _LIKE or (part == "to" and place and core[place - 1] == _LIKE):
            continue
        rest.append(_base(part) if place and core[place - 1] == _LIKE else part)
    return Reading(joint.join(core), joint.join(rest), polarity, over)


def _base(word: str) -> str:
    return word[:-3] if word.endswith("ing") and len(word) > 5 and word.isascii() else word


def opposed(one: Reading, other: Reading) -> bool:
    """Whether one of two statements denies the other.

    >>> opposed(read("喜欢喝乌龙茶"), read("现在不喝乌龙茶了")), opposed(read("likes swimming"), read("can't swim"))
    (True, False)
    """
    if one.polarity is other.polarity:
        return False
    if one.core == other.core:
        return True
    # Who no longer drinks tea no longer likes drinking it; who has never drunk it may still like it.
    denial = other if one.polarity else one
    return one.bare == other.bare and denial.over and _LIKE not in denial.core
