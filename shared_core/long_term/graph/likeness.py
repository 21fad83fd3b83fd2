"""Which names may mean one thing: proposed by how they are written, never merged.

Likeness proposes, meaning decides: names whose numbers differ are not proposed ("App v1", "App v2"),
nor Chinese names of which one begins the other ("张伟", "张伟民" are two people), nor pairs that
a relation holds apart or the user has split.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from shared_core.long_term.graph.names import entity_key, has_unspaced
from shared_core.long_term.graph.values import Proposal

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_FORMS = frozenset(
    "inc incorporated corp corporation co company ltd limited llc llp plc gmbh ag sa bv the group holdings".split()
)
_PARTS = frozenset(
    "lab labs bank university school college hospital hotel street road square city park cafe restaurant team project"
    " club center centre studio store shop app api cloud institute museum library station airport north south east west"
    " junior senior jr sr new old".split()
)  # what makes a name that of another thing
_TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir director manager president chairman captain teacher engineer boss ceo cto"
    " doctor minister general officer judge".split()
)
_CHINESE_FORMS = ("股份有限公司", "有限责任公司", "有限公司", "集团公司", "公司", "集团")
_CHINESE_TITLES = (
    "总经理", "董事长", "副主任", "工程师", "主任", "老师", "教授", "经理", "先生", "女士", "小姐", "医生", "博士",
    "院长", "校长", "部长", "局长", "书记", "导演", "律师", "总监", "总", "工", "董", "哥", "姐",
)  # fmt: skip
_LIKE = 0.88  # of SequenceMatcher, for names of at least six letters
_BLOCK = 60  # names under one key that are compared with each other


def proposals(names: Iterable[tuple[int, str]], apart: set[tuple[int, int]], most: int) -> list[Proposal]:
    """The likeliest pairs among names, each with its node; pairs of nodes in `apart` are left out."""
    nodes: dict[str, int] = {}
    shown: dict[str, str] = {}
    for node, name in names:
        key = entity_key(name)
        nodes.setdefault(key, node)
        shown.setdefault(key, name)
    best: dict[tuple[int, int], tuple[float, str, str, str]] = {}
    for one, other in _pairs(list(nodes)):
        pair = (min(nodes[one], nodes[other]), max(nodes[one], nodes[other]))
        if pair[0] == pair[1] or pair in apart:
            continue
        found = likeness(one, other)
        if found is not None and found[0] > best.get(pair, (0.0,))[0]:
            first, second = (one, other) if nodes[one] == pair[0] else (other, one)
            best[pair] = (*found, shown[first], shown[second])
    ordered = sorted(best.values(), key=lambda each: (-each[0], each[2], each[3]))[:most]
    return [Proposal(name=name, other=other, reason=why, score=score) for score, why, name, other in ordered]


def _pairs(keys: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs that share something worth a look, so that not all have to be compared with all."""
    blocks: dict[str, list[str]] = {}
    for key in keys:
        words = _words(key)
        marks = {f"w{word}" for word in words} | {"i" + "".join(word[0] for word in words), "s" + _letters(key)}
        marks |= {f"b{key[:1]}", f"p{_letters(key)[:4]}", f"e{key[-4:]}"}
        if has_unspaced(key):
            marks = {f"b{key[:1]}"}
        if len(words) == 1:
            marks.add("i" + key)
        for mark in marks:
            blocks.setdefault(mark, []).append(key)
    seen = set()
    for block in blocks.values():
        if len(block) > _BLOCK:
            continue  # a word that so many names share says nothing
        for place, one in enumerate(block):
            for other in block[place + 1 :]:
                if (one, other) not in seen:
                    seen.add((one, other))
                    yield one, other


def likeness(one: str, other: str) -> tuple[float, str] | None:
    """How likely two keys are one name, and why; None for no reason to think so.

    >>> likeness("acme", "acme inc"), likeness("张三", "张主任")
    ((0.9, 'the same but for the form of company'), (0.6, 'the same family name, and a title'))
    >>> likeness("app v1", "app v2"), likeness("张伟", "张伟民")
    (None, None)
    """
    if _DIGITS.findall(one) != _DIGITS.findall(other):
        return None
    if has_unspaced(one) or has_unspaced(other):
        return _chinese(one, other)
    if _letters(one) == _letters(other) and _letters(one):
        return 0.95, "the same but for accents, hyphens or dots"
    mine, theirs = _words(one), _words(other)
    core, their_core = [w for w in mine if w not in _FORMS], [w for w in theirs if w not in _FORMS]
    if core and core == their_core:
        return 0.9, "the same but for the form of company"
    for short, long in ((mine, theirs), (theirs, mine)):
        if len(short) == 1 and len(long) > 1 and len(short[0]) == len(long) and short[0] == "".join(w[0] for w in long):
            return 0.8, "the initials of the other"
    return _person(mine, theirs) or _typing(one, other)


def _person(mine: list[str], theirs: list[str]) -> tuple[float, str] | None:
    """A title and a name that the other has too, or a first name alone."""
    for short, long in ((mine, theirs), (theirs, mine)):
        rest = [word for word in short if word not in _TITLES]
        if len(rest) < len(short) and len(rest) == 1 and rest[0] in long:
            return 0.6, "a title, and a name of the other"
        if len(short) == 1 and len(long) == 2 and short[0] in long and not set(long) & (_TITLES | _FORMS | _PARTS):
            return 0.5, "a part of the other's name"
    return None


def _typing(one: str, other: str) -> tuple[float, str] | None:
    if min(len(one), len(other)) < 6 or len(_words(one)) != len(_words(other)):
        return None
    ratio = SequenceMatcher(None, one, other).ratio()
    return (round(0.7 * ratio, 3), "spelled almost alike") if ratio >= _LIKE else None


def _chinese(one: str, other: str) -> tuple[float, str] | None:
    if _core(one, _CHINESE_FORMS) == _core(other, _CHINESE_FORMS):
        return 0.9, "the same but for the form of company"
    for titled, name in ((one, other), (other, one)):
        for title in _CHINESE_TITLES:
            family = titled.removesuffix(title)
            if family != titled and 1 <= len(family) <= 2 and name.startswith(family) and 2 <= len(name) <= 4:
                if any(name.endswith(each) and len(name) > len(each) for each in _CHINESE_TITLES if len(each) > 1):
                    continue  # two titles of one family name: nothing says which of them
                return 0.6, "the same family name, and a title"
    return None


def _core(name: str, forms: tuple[str, ...]) -> str:
    for form in forms:
        if name.endswith(form) and len(name) > len(form) + 1:
            return name.removesuffix(form)
    return name


def _words(key: str) -> list[str]:
    return _WORD.findall(key)


def _letters(key: str) -> str:
    bare = unicodedata.normalize("NFD", key)
    return "".join(c for c in bare if c.isalnum())
