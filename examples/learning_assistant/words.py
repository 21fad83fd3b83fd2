"""What the memory and the answers say, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from examples.learning_assistant.learner import Completion, Depth, Language, LearningStyle, Level, Rating, Verdict

LEVELS: Final[dict[Level, dict[Language, str]]] = {
    Level.BEGINNER: {"en": "beginner", "zh": "初级"},
    Level.INTERMEDIATE: {"en": "intermediate", "zh": "中级"},
    Level.ADVANCED: {"en": "advanced", "zh": "高级"},
}
STYLES: Final[dict[LearningStyle, dict[Language, str]]] = {
    LearningStyle.VISUAL: {"en": "with pictures and diagrams", "zh": "用图画和图示"},
    LearningStyle.AUDITORY: {"en": "by saying and hearing it", "zh": "通过听和说"},
    LearningStyle.READING: {"en": "by reading and writing", "zh": "通过阅读和书写"},
    LearningStyle.KINESTHETIC: {"en": "by doing it", "zh": "通过动手做"},
}
DEPTHS: Final[dict[Depth, dict[Language, str]]] = {
    Depth.STEPWISE: {"en": "step by step, with a worked example", "zh": "一步一步，配完整例题"},
    Depth.WORKED: {"en": "with the idea and one example", "zh": "讲清思路并举一例"},
    Depth.BRIEF: {"en": "briefly", "zh": "简短"},
}
_VERDICTS: Final[dict[Verdict, dict[Language, str]]] = {
    Verdict.WEAK: {"en": "{topic} is a weakness", "zh": "「{topic}」是弱项"},
    Verdict.DEVELOPING: {"en": "{topic} is coming along", "zh": "「{topic}」正在进步"},
    Verdict.STRONG: {"en": "{topic} is a strength", "zh": "「{topic}」是强项"},
}
_DONE: Final[dict[Completion, dict[Language, str]]] = {
    Completion.STARTED: {"en": "Started the lesson {topic}", "zh": "开始学习「{topic}」"},
    Completion.IN_PROGRESS: {"en": "Worked on the lesson {topic}", "zh": "正在学习「{topic}」"},
    Completion.COMPLETED: {"en": "Completed the lesson {topic}", "zh": "学完了「{topic}」"},
}
_RATED: Final[dict[Rating, dict[Language, str]]] = {
    Rating.AGAIN: {"en": "forgotten", "zh": "忘记了"},
    Rating.HARD: {"en": "hard", "zh": "较难"},
    Rating.GOOD: {"en": "good", "zh": "良好"},
    Rating.EASY: {"en": "easy", "zh": "轻松"},
}
_SENTENCES: Final[dict[str, dict[Language, str]]] = {
    "name": {"en": "The student is called {value}", "zh": "学生叫{value}"},
    "style": {"en": "Learns best {value}", "zh": "最适合{value}来学习"},
    "subjects": {"en": "Studies {value}", "zh": "学习科目：{value}"},
    "preference": {"en": "Wants to begin at {value} level", "zh": "希望从{value}难度开始"},
    "language": {"en": "Is answered in English", "zh": "用中文回答"},
    "answering": {"en": "Explain {value}", "zh": "{value}来讲解"},
    "level": {"en": "Works at {level} level in {subject}", "zh": "{subject}的难度是{level}"},
    "approach": {"en": "{topic} is explained {way}, {depth}", "zh": "「{topic}」{way}讲解，{depth}"},
    "answered right": {
        "en": "Answered a {level} question on {topic} rightly",
        "zh": "答对了一道「{topic}」的{level}题",
    },
    "answered wrong": {
        "en": "Answered a {level} question on {topic} wrongly",
        "zh": "答错了一道「{topic}」的{level}题",
    },
    "reviewed": {"en": "Reviewed {topic}: {rating}", "zh": "复习了「{topic}」：{rating}"},
    "asked": {"en": "Asked about {topic}", "zh": "问到「{topic}」"},
    "due": {"en": "due for review since {date}", "zh": "自 {date} 起该复习"},
    "weak": {"en": "results so far are weak ({mastery} %)", "zh": "目前掌握不牢（{mastery}%）"},
    "because": {"en": "{topic} builds on it", "zh": "「{topic}」以它为基础"},
    "continue": {"en": "begun, not finished", "zh": "已开始，还没学完"},
    "next": {"en": "new, at {level} level; all it needs is there", "zh": "新课，{level}难度，基础已具备"},
}


def sentence(key: str, language: Language, **values: object) -> str:
    """A sentence in a language.

    >>> sentence("asked", "zh", topic="递归")
    '问到「递归」'
    """
    return _SENTENCES[key][language].format(**values)


def verdict_text(topic: str, found: Verdict, language: Language) -> str:
    """A strength or weakness, said."""
    return _VERDICTS[found][language].format(topic=topic)


def progress_text(topic: str, status: Completion, language: Language) -> str:
    """What was done with a lesson, said."""
    return _DONE[status][language].format(topic=topic)


def rating_text(rating: Rating, language: Language) -> str:
    """How a review went, said."""
    return _RATED[rating][language]


def listed(items: Iterable[str], language: Language) -> str:
    """Items as one text."""
    return ("、" if language == "zh" else ", ").join(items)


def language_of(text: str, fallback: Language = "en") -> Language:
    """The language of a text: Chinese where it has Chinese characters; `fallback` where it has no letters.

    >>> language_of("什么是递归？"), language_of("What is recursion?"), language_of("1/2 + 1/3 = ?", "zh")
    ('zh', 'en', 'zh')
    """
    if any("\u3400" <= c <= "\u9fff" for c in text):
        return "zh"
    return "en" if any(c.isalpha() for c in text) else fallback
