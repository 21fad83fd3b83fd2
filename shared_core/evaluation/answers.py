"""Answer quality with and without memory: the difference is what the memory is worth (C7).

A question is put to a model twice: alone, and with what the memory has for it. Each answer is compared
with the expected one: by a judge, or without one by exact match and token F1 as question answering
does it (Rajpurkar et al., "SQuAD", 2016), where a Chinese character counts as a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from shared_core.errors import InvalidInput
from shared_core.evaluation.retrieval import aggregate

LLM = Callable[[str], str]
Judge = Callable[[str, str, str], float]
"""From a question, the expected answer and the given one to a share in [0, 1] that is right."""

_WORD: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_NUMBER: Final = re.compile(r"(?<![\d.])(?:0?\.\d+|[01](?:\.\d+)?)(?![\d.])")
_YES: Final = re.compile(r"^\W*(?:yes|correct|right|true|是|对|正确)\b|^\W*(?:是|对|正确)", re.I)
_NO: Final = re.compile(r"^\W*(?:no|wrong|incorrect|false)\b|^\W*(?:否|不|错)", re.I)


@dataclass(frozen=True)
class Answered:
    """What a model said to one question, with and without memory, and what each is worth."""

    question: str
    expected: str
    given: str
    without: str
    figures: dict[str, float]


def tokens(text: str) -> list[str]:
    """Words in lower case, without articles and punctuation; of Chinese the characters.

    >>> tokens("The Green-Tea, 绿茶!")
    ['green', 'tea', '绿', '茶']
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
    return [word for word in words if word not in _ARTICLES]


def exact(given: str, expected: str) -> float:
    """1 where both say the same words, else 0."""
    return float(tokens(given) == tokens(expected) != [])


def f1(given: str, expected: str) -> float:
    """The harmonic mean of the shares of words that the two have in common.

    >>> round(f1("in Lyon", "Lyon"), 3), f1("里昂", "里昂"), f1("", "Lyon")
    (0.667, 1.0, 0.0)
    """
    mine, theirs = Counter(tokens(given)), Counter(tokens(expected))
    common = sum((mine & theirs).values())
    if not common:
        return 0.0
    return 2 * common / (mine.total() + theirs.total())


def prompt(question: str, context: str = "") -> str:
    """What a model is asked: the question, after what the memory has for it, in the question's language."""
    if _CHINESE.search(question):
        head = "用尽量少的词回答问题；不知道就回答“不知道”。"
        return f"{head}\n\n{context}\n\n问题：{question}\n" if context else f"{head}\n\n问题：{question}\n"
    head = 'Answer the question in as few words as you can; if you do not know, answer "I don\'t know".'
    return f"{head}\n\n{context}\n\nQuestion: {question}\n" if context else f"{head}\n\nQuestion: {question}\n"


def as_judge(llm: LLM) -> Judge:
    """A judge out of a language model: asked whether the answer means the expected one.

    Its answer is read as yes or no, or as a number from 0 to 1; anything else raises `InvalidInput`.

    >>> as_judge(lambda prompt: "Yes.")("Where?", "Lyon", "In Lyon"), as_judge(lambda prompt: "0.5")("", "", "")
    (1.0, 0.5)
    """

    def judge(question: str, expected: str, given: str) -> float:
        return _verdict(str(llm(_judging(question, expected, given))))

    return judge


def _judging(question: str, expected: str, given: str) -> str:
    if _CHINESE.search(question):
        return (
            "判断给出的答案与标准答案意思是否一致（措辞可以不同）。只回答“是”或“否”。\n"
            f"问题：{question}\n标准答案：{expected}\n给出的答案：{given}\n"
        )
    return (
        "Does the given answer mean the same as the expected one, in whatever words? Answer yes or no only.\n"
        f"Question: {question}\nExpected answer: {expected}\nGiven answer: {given}\n"
    )


def _verdict(text: str) -> float:
    if _NO.search(text):  # 不是, 不对 before 是, 对
        return 0.0
    if _YES.search(text):
        return 1.0
    number = _NUMBER.search(text)
    if number is None:
        raise InvalidInput(f"the judge said neither yes nor no: {text[:80]!r}")
    return float(number[0])


def answered(question: str, expected: str, context: str, llm: LLM, judge: Judge | None = None) -> Answered:
    """Ask a model with and without the memory's context, and score both answers.

    The figures are "with" and "without" (the judge's, else F1) and, without a judge, "exact with" and
    "exact without". Raises what the model raises, and `InvalidInput` for a judge that leaves [0, 1].
    """
    given, without = str(llm(prompt(question, context))), str(llm(prompt(question)))
    if judge is None:
        figures = {"with": f1(given, expected), "without": f1(without, expected)}
        figures |= {"exact with": exact(given, expected), "exact without": exact(without, expected)}
    else:
        figures = {
            "with": _share(judge(question, expected, given)),
            "without": _share(judge(question, expected, without)),
        }
    return Answered(question, expected, given, without, figures)


def _share(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"a judge gives a share from 0 to 1, not {value!r}")
    return float(value)


def gain(rows: Iterable[Answered]) -> dict[str, float]:
    """The mean figures over all questions, and the gain: what is right with memory less what is right without."""
    mean = aggregate(row.figures for row in rows)
    if mean["n"]:
        mean["gain"] = mean["with"] - mean["without"]
        if "exact with" in mean:
            mean["exact gain"] = mean["exact with"] - mean["exact without"]
    return mean
