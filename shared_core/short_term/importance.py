"""How much an older message deserves its place when the window is full: pure functions of its text."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import cache, lru_cache

from shared_core.recall.text import is_blank
from shared_core.settings import Importance
from shared_core.short_term.sentences import Cue, Pattern, cues, split
from shared_core.values import Message


@cache
def _default() -> Importance:
    # Made at its first use: to build the model takes longer than to import this module.
    return Importance()


class Retention(IntEnum):
    """What goes first when tokens run short (A3): the lower, the sooner. Within one level `weigh` decides."""

    SMALL_TALK = 0  # greetings and acknowledgements
    TALK = 1  # all else: what was asked and demanded, answers, results
    INSTRUCTION = 2  # system messages


# Letters of scripts that put spaces between words: the others (Thai and its neighbours, kana, Han,
# Hangul with its particles) don't bound a keyword, so Chinese ones are found inside a sentence.
_LETTER = r"[^\W\u0e00-\u1cff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"

_SMALL_TALK_CHARS = 60
_PLEASANTRY = Pattern(
    rf"(?<!{_LETTER})(?:thank you(?: so much| very much)?|thanks(?: a lot)?|thx|ty|you're welcome|no problem|"
    r"no worries|sounds good|got it|i see|understood|all right|alright|okay|ok|great|cool|nice|awesome|perfect|fine|"
    r"sure|hello(?: there)?|hi(?: there)?|hey|good (?:morning|afternoon|evening|night)|goodbye|bye|"
    rf"see you(?: later| soon)?|lol|haha(?:ha)*|hm+|how are you)(?!{_LETTER})"
    "|谢谢(?:你|您|啦|了)?|多谢|感谢|不客气|不用谢|没问题|没事|好的呢?|好吧|好啊|好呀|好嘞|明白了?|知道了|了解了?|懂了|收到|"
    "太好了|太棒了|真棒|辛苦了|你好|您好|早上好|下午好|晚上好|早安|晚安|再见|拜拜|回头见|行吧?|嗯+|哦+|噢+|哈+|好"
)


def weigh(message: Message, settings: Importance | None = None) -> float:
    """A message's importance in [0, 1] (A2): `base`, plus what its text and its role add.

    Each keyword counts once however often it occurs. English keywords match whole words in any
    case ("like" is not in "unlikely"), Chinese ones wherever they stand; full-width letters and
    curly apostrophes are the same as plain ones.

    >>> weigh(Message(role="assistant", content="The sky is blue."))
    0.5
    >>> round(weigh(Message(role="user", content="Please remember: I don't eat nuts")), 2)
    0.93
    >>> round(weigh(Message(role="assistant", content="记住了，密码是1234")), 2)
    1.0
    """
    settings = settings or _default()
    text = message.text
    folded = _fold(text)
    score = settings.base
    for keyword, weight in settings.keywords.items():
        if _mentions(folded, keyword):
            score += settings.keyword * weight
    score += settings.user * (message.role == "user")
    score += settings.long * (len(text) > settings.long_chars)
    score += settings.digit * (re.search(r"\d", folded) is not None)
    return max(0.0, min(1.0, score))


def hold(message: Message, settings: Importance | None = None) -> float:
    """How hard a full window holds on to a message (A3): its weight, at least `retained` for what binds or was achieved.

    That is what a user demands (must, never, at most, budget ...) and what a task came to: a tool's
    result, or the assistant's word that something is done or failed.

    >>> hold(Message(role="user", content="Never use more than three tables"))
    0.8
    >>> hold(Message(role="user", content="The sea was calm all week"))
    0.6
    """
    settings = settings or _default()
    weight = weigh(message, settings)
    return max(weight, settings.retained) if weight < settings.retained and _binds(message) else weight


def _binds(message: Message) -> bool:
    if message.role == "tool":
        return not is_blank(message.text)
    if message.role not in ("user", "assistant"):
        return False
    wanted = Cue.CONSTRAINT if message.role == "user" else Cue.RESULT
    return any(wanted in found and Cue.QUESTION not in found for found in map(cues, split(message.text)))


def retention(message: Message) -> Retention:
    """The level at which a message leaves a full window (A3).

    Small talk is a short message that consists of pleasantries, emoji and punctuation alone.
    "Yes" and "no" are not small talk: they may be the decision the talk was about.

    >>> retention(Message(role="user", content="好的，谢谢！👍")).name
    'SMALL_TALK'
    >>> retention(Message(role="user", content="ok, delete the old branch")).name
    'TALK'
    >>> retention(Message(role="system", content="Answer in French.")).name
    'INSTRUCTION'
    """
    if message.role == "system":
        return Retention.INSTRUCTION
    text = message.content
    if message.role == "tool" or message.tool_calls or not isinstance(text, str):
        return Retention.TALK
    if not text.strip() or len(text) > _SMALL_TALK_CHARS:
        return Retention.TALK
    left = _PLEASANTRY.sub(" ", _fold(text))
    return Retention.TALK if re.search(r"\w", left) else Retention.SMALL_TALK


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def _mentions(folded: str, keyword: str) -> bool:
    keyword = _fold(keyword)
    # The plain look first: most keywords are in most messages not at all.
    return keyword != "" and keyword in folded and _whole(keyword).search(folded) is not None


@lru_cache(maxsize=256)
def _whole(keyword: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!{_LETTER}){re.escape(keyword)}(?!{_LETTER})")
