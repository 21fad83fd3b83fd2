"""What a short message means by the one before it: an answer to a question, or a correction of a fact."""

from __future__ import annotations

import re
from typing import Final

_QUESTIONS: Final = [
    ("name", re.compile(r"what(?:'s| is) your name|你叫什么|怎么称呼|你的名字", re.IGNORECASE), "My name is {}", "我叫{}"),
    ("lives_in", re.compile(r"where (?:do you|are you) liv(?:e|ing)|which city (?:do you live|are you) in|你住(?:在)?哪|你在哪个城市", re.IGNORECASE), "I live in {}", "我住在{}"),
    ("from", re.compile(r"where are you from|where do you come from|你是哪里人|你老家", re.IGNORECASE), "I am from {}", "我来自{}"),
    ("age", re.compile(r"how old are you|your age|你多大|几岁", re.IGNORECASE), "I am {} years old", "我今年{}岁"),
    ("works_at", re.compile(r"where do you work|who do you work for|你在哪(?:里|儿|家公司)?(?:工作|上班)", re.IGNORECASE), "I work at {}", "我在{}上班"),
    ("works_as", re.compile(r"what do you do(?: for a living)?\s*\?|what(?:'s| is) your (?:job|profession|occupation)|你(?:是)?做什么工作|你的职业", re.IGNORECASE), "I am {}", "我是{}"),
    ("allergic_to", re.compile(r"(?:any|have) allergies|allergic to anything|对什么过敏|有什么过敏", re.IGNORECASE), "I am allergic to {}", "我对{}过敏"),
    ("birthday", re.compile(r"when(?:'s| is) your birthday|你(?:的)?生日", re.IGNORECASE), "My birthday is {}", "我的生日是{}"),
]  # fmt: skip
_FILLER: Final = re.compile(
    r"^(?:(?:it's|it is|i'm|i am|in|at|from|on|to|my name is|well|oh|yes|sure)\b[,，\s]*|[嗯是在我叫对的，]+)+|[.!。！~]+$",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"^(?:(?:no|nope|sorry|oops|actually|wait|correction|i mean|i meant|不对|不是|说错了|抱歉|更正一下|应该|其实)[,，.\s!！]*)*"
    r"(?:(?:it's|it is|that's|i meant|i mean|make that|should be|是|应该是|是说)\s*)?(?P<new>[^,，.。!！]{1,40}?)(?:[,，]\s*(?:and )?(?:not|而?不是)\s*(?P<old>[^.。!！]{1,40}))?[.。!！]*$",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(
    r"^(?:no\b|nope|sorry|oops|actually|wait|correction|i mean|不对|不是|说错了|抱歉|更正)|,\s*not\b|[,，]而?不是",
    re.IGNORECASE,
)
_ANSWER_WORDS: Final = 6


def answered(question: str, answer: str, *, chinese: bool) -> str | None:
    """The sentence that a short answer stands for.

    >>> answered("Where do you live?", "In Lyon.", chinese=False)
    'I live in Lyon'
    """
    if not re.search(r"[?？]", question) or len(answer.split()) > _ANSWER_WORDS or len(answer) > 60:
        return None
    said = _FILLER.sub("", _FILLER.sub("", answer.strip())).strip()
    if (
        not said
        or re.match(r"(?:no|none|nothing|nowhere|why|what|how)\b|你|没有|不", said, re.IGNORECASE)
        or "?" in answer
        or "？" in answer
    ):
        return None
    asked = [
        (end, form_en, form_zh)
        for _, pattern, form_en, form_zh in _QUESTIONS
        for end in [pattern.search(question)]
        if end
    ]
    if len(asked) != 1:
        return None
    _, form_en, form_zh = asked[0]
    if chinese:
        return form_zh.replace("{}", said.removesuffix("岁") if "岁" in form_zh else said)
    return form_en.replace("{}", re.sub(r" years? old$", "", said))


def corrected(message: str) -> tuple[str, str | None] | None:
    """The new value and, if told, the old one of "actually it's Berlin, not Munich".

    >>> corrected("Actually, it's Berlin, not Munich."), corrected("I like tea")
    (('Berlin', 'Munich'), None)
    """
    if not _MARKED.search(message) or len(message) > 100:
        return None
    match = _CORRECTION.match(message.strip())
    if match is None or not match["new"].strip() or len(match["new"].split()) > 4:
        return None
    return match["new"].strip(), match["old"].strip() if match["old"] else None
