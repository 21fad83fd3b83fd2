"""A question as the statement that would answer it.

People tell their memories in the first person ("I went to Lyon"), and are asked for them in the
third, as a question ("When did Alice go to Lyon?"). A sentence embedder puts the two far apart: on
LoCoMo's development conversations the bundled one finds .21 of the evidence in its first ten with
the question as it is, .51 with the speaker's name as "I", .62 as a statement (`docs/recall.md`).
So a question is embedded in several forms, each a plain rewriting by rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|had|would|will|might|could|can|should|may)"
_ASKS = r"(?:what|when|where|whose|whom|who|which|why|how)"
_HOW = r"(?:\s+(?:many|much|long|often|old))?"
_OPENING = re.compile(rf"^(?:(?:in|on|at|for|with|from|to|of|by|about|during)\s+)?{_ASKS}\b{_HOW}\s*", re.I)
_BARE_OPENING = re.compile(rf"^{_ASKS}{_HOW}\b\s*", re.I)
_KIND_OF = re.compile(r"^(?:kind|type|sort)s? of\s+", re.I)
_FIRST_AUXILIARY = re.compile(rf"\b{_AUXILIARY}\b\s*", re.I)
_LEADING_AUXILIARY = re.compile(rf"^{_AUXILIARY}\b\s*", re.I)
_INVERTED = re.compile(rf"^(.*?)\b{_AUXILIARY}(?:n't)?\b\s*(I|my|you)\b\s*(.*)$", re.I)
_PAST = re.compile(r"\bdid (?:I|my)\b")
_ENGLISH_QUESTION = re.compile(rf"^(?:\w+\s+)?(?:{_ASKS}|{_AUXILIARY})\b|\?\s*$", re.I)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CHINESE_ASKS = re.compile(
    r"(?:是)?(?:什么时候|什么时间|什么地方|哪一天|哪一年|哪年|哪天|何时|哪里|哪儿|为什么|怎么样|怎样|怎么|什么|多少|"
    r"多久|多大|几个|几次|几岁|哪个|哪些|哪家|谁)(?:的)?|[吗呢么]\s*(?=[?？。]|$)|[?？]"
)
_PRONOUNS = (
    (re.compile(r"\b(?:she|he)\b"), "I"),
    (re.compile(r"\b(?:her|his)\b(?=\s+\w)"), "my"),
    (re.compile(r"\b(?:him|herself|himself)\b"), "me"),
)
_PUNCTUATION = " ，。、！!?？."
_IRREGULAR = dict(
    pair.split(":")
    for pair in (
        "go:went take:took get:got buy:bought make:made see:saw have:had meet:met give:gave find:found start:started "
        "begin:began write:wrote read:read win:won feel:felt say:said tell:told think:thought come:came do:did "
        "lose:lost leave:left eat:ate speak:spoke bring:brought know:knew become:became build:built run:ran "
        "teach:taught catch:caught drive:drove draw:drew send:sent spend:spent hold:held keep:kept hear:heard "
        "fall:fell sell:sold sing:sang swim:swam wear:wore break:broke choose:chose"
    ).split()
)


def first_person(text: str, names: Iterable[str]) -> tuple[str, int]:
    """The text as the speakers it names would say it themselves, and how many of them it names.

    Their names become "I" and "my"; where it names one, so do the pronouns that stand for that one.

    >>> first_person("When did Alice sell her bike?", ["Alice", "Bob"])
    ('When did I sell my bike?', 1)
    >>> first_person("张伟什么时候买了车？", ["张伟"])
    ('我什么时候买了车？', 1)
    """
    named = 0
    for name in sorted(names, key=len, reverse=True):
        if _CHINESE.search(name):
            found, text = text.count(name), text.replace(name, "我")
        else:
            pattern = rf"(?<!\w){re.escape(name)}('s|’s|s'|')?(?!\w)"
            text, found = re.subn(pattern, lambda match: "my" if match[1] else "I", text)
        named += found > 0
    if named == 1:
        for pronoun, mine in _PRONOUNS:
            text = pronoun.sub(mine, text)
    return text, named


def is_question(text: str) -> bool:
    """Whether a text asks something.

    >>> is_question("When did I go"), is_question("green tea"), is_question("我住在哪里")
    (True, False, True)
    """
    if _CHINESE.search(text):
        return bool(_CHINESE_ASKS.search(text))
    return bool(_ENGLISH_QUESTION.search(text.strip()))


def statements(question: str) -> tuple[str, str] | None:
    """A question in the first person as statements: in the order and tense of an answer, and as bare words.

    None for a text that asks nothing, or that a question mark alone makes a question.

    >>> statements("When did I go to the museum?")
    ('I went to the museum', 'I go to the museum')
    >>> statements("我在哪里工作？")
    ('我在工作', '我在工作')
    """
    if not is_question(question):
        return None
    if _CHINESE.search(question):
        told = bare = _CHINESE_ASKS.sub("", question).strip(_PUNCTUATION)
    else:
        told, bare = _reordered(question), _shortened(question)
    said = question.strip(_PUNCTUATION)
    told, bare = told or said, bare or said
    return None if told == bare == said else (told, bare)


def _shortened(question: str) -> str:
    """The question without its question word and first auxiliary."""
    text = _KIND_OF.sub("", _BARE_OPENING.sub("", question.strip()))
    return _FIRST_AUXILIARY.sub("", text, count=1).rstrip("?").strip()


def _reordered(question: str) -> str:
    """Subject, verb (in the past where it was "did"), what was asked for."""
    text = _KIND_OF.sub("", _OPENING.sub("", question.strip().rstrip("?").strip()))
    found = _INVERTED.match(text)
    if found is None:
        return _LEADING_AUXILIARY.sub("", text)
    head, subject, rest = found[1].strip(), found[2], found[3].strip()
    if subject == "I" and _PAST.search(question):
        verb, _, more = rest.partition(" ")
        if verb.isalpha() and verb.islower():
            rest = f"{_past(verb)} {more}".strip()
    return f"{subject} {rest} {head}".strip()


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if re.search(r"[^aeiou]y$", verb) else verb + "ed"
