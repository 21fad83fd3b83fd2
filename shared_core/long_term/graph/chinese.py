"""Chinese questions about one relation, understood by position.

Names and the question word are replaced by signs of the private use area first, so that the rest is
a short string of verbs and particles. Where a question can be cut in several ways ("哪些应用使用了"),
the cut counts that accounts for every character, with the longest verb and then the longest noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared_core.long_term.graph import asking_words as ask
from shared_core.long_term.graph.asked import Asked, Words
from shared_core.long_term.graph.knowledge import Knowledge
from shared_core.long_term.graph.mentions import mentions, tokens
from shared_core.long_term.graph.predicates import Form

_NAME = "\ue000"
_WHO, _WHERE, _WHICH = "\ue100", "\ue101", "\ue102"
_ASKS = _WHO + _WHERE + _WHICH
_NEVER = frozenset("的了着过吗呢吧啊是有在被都也还和谁哪什么些个里儿位我们你您他她它")
_PARTICLES = "了着过于在到"
_SELF = re.compile("我(?!们)")
_KINDS = {_WHO: "who", _WHERE: "where", _WHICH: "which"}
_PERSONS = ("人", "人员", "同事", "人们")


@dataclass(frozen=True, slots=True)
class _Masked:
    """A question with its names as signs, in order, and the nodes of each."""

    text: str
    names: tuple[frozenset[int], ...]
    spelt: tuple[str, ...]
    yes_no: bool

    def without(self, which: int) -> _Masked:
        """The same with one name as its text again."""
        parts = self.text.split(_NAME)
        text = _NAME.join([*parts[:which], parts[which] + self.spelt[which] + parts[which + 1], *parts[which + 2 :]])
        names = self.names[:which] + self.names[which + 1 :]
        return _Masked(text, names, self.spelt[:which] + self.spelt[which + 1 :], self.yes_no)

    def at(self, place: int) -> frozenset[int]:
        """The nodes of the name that stands at a place."""
        return self.names[self.text[:place].count(_NAME)]


def understand(known: Knowledge, text: str, words: Words, own: frozenset[int]) -> Asked | None:
    """What a question asks; None if it is not understood. `own` are the nodes 我 means."""
    if ask.CHINESE_UNSUPPORTED.search(text):
        return None
    for skip in (True, False):  # a name that is also a verb is taken for the verb first
        masked = _mask(known, text, words, own, skip)
        if masked is None:
            continue
        asked = _parse(masked, words)
        if asked is None and len(masked.names) > 1:  # the noun after "which" may be an entity too
            found = [_parse(masked.without(place), words) for place in range(len(masked.names))]
            asked = max((each for each in found if each and each.type), key=lambda each: len(each.type), default=None)
        if asked is not None:
            return asked
    return None


def _mask(known: Knowledge, text: str, words: Words, own: frozenset[int], skip: bool) -> _Masked | None:
    split = tokens(text)
    found = mentions(known, text, split, _NEVER)
    if skip:
        found = [each for each in found if each.text not in words.chinese_verbs]
    pieces, names, at = [], [], 0
    for mention in found:
        pieces += [text[at : split[mention.start].start], _NAME]
        names.append(mention.nodes)
        at = split[mention.end - 1].end
    masked = "".join([*pieces, text[at:]])
    yes_no = bool(ask.CHINESE_YES_NO.search(masked)) or bool(re.search(r"吗[？?。！!\s]*$", masked))
    masked = ask.CHINESE_YES_NO.sub(lambda match: "是" if match[0] == "是不是" else "", masked)
    if ask.CHINESE_NEGATION.search(masked.replace("不喜欢", "讨厌")):
        return None  # else it could be taken for part of a noun: "项目没"
    for phrases, sign in (
        (ask.CHINESE_WHERE[:-1], _WHERE), (ask.CHINESE_WHO, _WHO), (ask.CHINESE_WHICH, _WHICH),
        (ask.CHINESE_WHERE[-1:], _WHERE),
    ):  # fmt: skip
        for phrase in phrases:
            masked = masked.replace(phrase, sign)
    if not names and own:
        masked, changed = _SELF.subn(_NAME, masked, count=1)
        names += [own] * changed
    spelt = tuple(each.text for each in found) or ("我",) * len(names)
    return _Masked("".join(masked.split()), tuple(names), spelt, yes_no)


def _parse(masked: _Masked, words: Words) -> Asked | None:
    asks = [place for place, sign in enumerate(masked.text) if sign in _ASKS]
    if not asks and masked.yes_no:
        return _yes_no(masked, words)
    if len(asks) != 1:
        return None
    found = [*_nouns(masked, words, asks[0])] or _verbs(masked, words, asks[0]) or [*_being(masked, asks[0])]
    return max(found, key=lambda asked: len(asked.type), default=None)


def _filler(text: str) -> bool:
    return not text or ask.CHINESE_FILLER.fullmatch(text) is not None


def _asked(
    masked: _Masked,
    forms: list[Form],
    about: frozenset[int],
    place: int,
    *,
    subject: bool = False,
    type: str = "",
    noun: bool = False,
) -> Asked:
    kind = _KINDS[masked.text[place]]
    if type in _PERSONS:
        kind, type = "who", ""
    return Asked(tuple(forms), about, subject=subject, kind=kind, type=type, noun=noun, language="zh")


def _nouns(masked: _Masked, words: Words, place: int) -> Iterator[Asked]:
    """ "张伟的老板是谁", "谁是张伟的老板", "ACME有哪些员工"."""
    if len(masked.names) != 1:
        return
    sign = re.escape(masked.text[place])
    for pattern in (
        rf"^(.*?){_NAME}的?([^{_NAME}{_ASKS}是有叫]+)(?:是|有|都有|都是|叫|在)?{sign}(.*)$",
        rf"^(.*?){sign}是{_NAME}的?([^{_NAME}{_ASKS}]+?)([的呢啊？?。！!]*)$",
        rf"^(.*?){_NAME}有{sign}([^{_NAME}{_ASKS}]+?)([呢啊？?。！!]*)$",
    ):
        found = re.match(pattern, masked.text)
        if found and _filler(found[1]) and _filler(found[3]) and found[2] in words.chinese_nouns:
            yield _asked(masked, words.chinese_nouns[found[2]], masked.names[0], place, noun=True)


def _occurrences(text: str, words: Words) -> Iterator[tuple[int, int, list[Form]]]:
    for verb, forms in words.chinese_verbs.items():
        if verb in ("是", "在", "类型", "类别"):
            continue
        start = text.find(verb)
        while start >= 0:
            end = start + len(verb)
            while end < len(text) and text[end] in _PARTICLES:
                end += 1
            yield start, end, forms
            start = text.find(verb, start + 1)


def _verbs(masked: _Masked, words: Words, place: int) -> list[Asked]:
    """The readings with the longest verb: "使用", not "用" after "项目使"."""
    if len(masked.names) != 1:
        return []
    text, name = masked.text, masked.text.index(_NAME)
    found: list[tuple[int, Asked]] = []
    for start, end, forms in _occurrences(text, words):
        read = _asked_last if place >= end else _asked_first
        if place >= end or place < start:
            found += [(end - start, asked) for asked in read(masked, forms, place, name, start, end)]
    longest = max((length for length, _ in found), default=0)
    return [asked for length, asked in found if length == longest]


def _asked_last(masked: _Masked, forms: list[Form], place: int, name: int, start: int, end: int) -> Iterator[Asked]:
    """ "Alpha用了什么数据库", "张伟住在哪里"; and "用了Kafka的项目有哪些"."""
    text = masked.text
    if name < start:
        if "被" in text[name:start] or not (_filler(text[:name]) and _filler(text[name + 1 : start])):
            return
        noun = text[place + 1 :].rstrip("呢啊吗？?。！!的")
        if _filler(text[end:place]) and not re.search(f"[{_ASKS}的在是]", noun):
            yield _asked(masked, forms, masked.at(name), place, type=noun)
    elif name < place and _filler(text[:start]) and _filler(text[end:name]) and _filler(text[place + 1 :]):
        found = re.fullmatch(r"的([^的]*?)(?:都?[是有])", text[name + 1 : place])
        if found:
            yield _asked(masked, forms, masked.at(name), place, subject=True, type=found[1])


def _asked_first(masked: _Masked, forms: list[Form], place: int, name: int, start: int, end: int) -> Iterator[Asked]:
    """ "谁在ACME工作", "哪些项目用了Kafka", "ACME是谁创立的", "张伟在哪家公司工作"."""
    text = masked.text
    inside = text[:place].endswith(("在", "于", "到")) or text[place] == _WHERE
    if name < place:
        between = text[name + 1 : place]
        if not (_filler(text[:name]) and _filler(between) and _filler(text[end:])):
            return
        noun = text[place + 1 : start]
        if re.search("[是在被的有]", noun):
            return
        if inside:
            yield _asked(masked, forms, masked.at(name), place, type=noun)
        elif text[place] == _WHO or re.search("[是被由]", between):
            yield _asked(masked, forms, masked.at(name), place, subject=True, type=noun)
        return
    if inside or not _filler(text[:place]):
        return
    middle = re.sub("[都也还正]*在?$", "", text[place + 1 : start])
    if name > start:
        if _filler(text[end:name]) and _filler(text[name + 1 :]) and not re.search("[是在被有]", middle):
            yield _asked(masked, forms, masked.at(name), place, subject=True, type=middle)
        return
    found = re.fullmatch(rf"([^{_NAME}是在被由的]*)(在|被|由){_NAME}(里|中|内|那里|所)?", text[place + 1 : start])
    if found and _filler(text[end:]):
        passive = found[2] in "被由"
        yield _asked(masked, forms, masked.at(name), place, subject=not passive, type=found[1].rstrip("都也正还"))


def _being(masked: _Masked, place: int) -> Iterator[Asked]:
    """ "RabbitMQ是什么", "哪些项目是微服务", "ACME在哪里", "谁在北京"."""
    if len(masked.names) != 1:
        return
    text, about = masked.text, masked.names[0]
    for verb, meaning in (("是", "is_a"), ("在", "located_in")):
        found = re.fullmatch(rf"(.*?){_NAME}{verb}[{_ASKS}](.*)", text)
        if found and _filler(found[1]) and _filler(found[2]):
            yield _asked(masked, [Form(meaning)], about, place)
        found = re.fullmatch(rf"(.*?)[{_ASKS}]([^{_NAME}]*?)都?{verb}{_NAME}(.*)", text)
        if found and _filler(found[1]) and _filler(found[3]) and not re.search("[的有被]", found[2]):
            yield _asked(masked, [Form(meaning)], about, place, subject=True, type=found[2])


def _yes_no(masked: _Masked, words: Words) -> Asked | None:
    """ "Alpha用了Kafka吗", "张伟在ACME工作吗", "Kafka是消息队列吗"."""
    if len(masked.names) != 2:
        return None
    text, (first, second) = masked.text, masked.names
    one, other = text.index(_NAME), text.rindex(_NAME)
    if not _filler(text[:one]):
        return None
    for start, end, forms in _occurrences(text, words):
        between = start > one and end <= other and _filler(text[one + 1 : start]) and _filler(text[end:other])
        after = start > other and text[one + 1 : other] in ("在", "是在") and _filler(text[other + 1 : start])
        if "被" not in text and ((between and _filler(text[other + 1 :])) or (after and _filler(text[end:]))):
            return Asked(tuple(forms), first, other=second, language="zh")
    for verb, meaning in (("是", "is_a"), ("在", "located_in")):
        if re.fullmatch(f"都?{verb}(?:一[种个名位家])?", text[one + 1 : other]) and _filler(text[other + 1 :]):
            return Asked((Form(meaning),), first, other=second, language="zh")
    return None
