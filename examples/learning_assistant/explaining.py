"""What the tutor is told for a question: how hard, in which way, out of which lesson. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from examples.learning_assistant import words
from examples.learning_assistant.catalogue import Lesson
from examples.learning_assistant.learner import Approach, Depth, Language, Level

OPEN, CLOSE = "<lesson>", "</lesson>"
_INSTRUCTIONS: Final[dict[Language, str]] = {
    "en": (
        "You are a patient personal tutor. Answer the student's question in English, at {level} level, {way}, {depth}. "
        "Build on what is remembered of the student; never reveal answers to practice questions before they were tried. "
        "Say so if you are not sure."
    ),
    "zh": (
        "你是一位耐心的私人辅导老师。请用中文回答学生的问题：{level}难度，{way}，{depth}。"
        "结合记忆中关于这个学生的信息；练习题在学生尝试之前不要给出答案。不确定时请直说。"
    ),
}
_MATERIAL: Final[dict[Language, str]] = {
    "en": "Keep to this lesson of the course:",
    "zh": "请以课程中的这一课为依据：",
}


@dataclass(frozen=True, slots=True)
class Task:
    """How a question is to be answered; `lesson` is None where the course has none on it."""

    level: Level
    approach: Approach
    language: Language
    lesson: Lesson | None = None


def prompt(task: Task) -> str:
    """The system prompt. Nothing in it comes from a user: what users said reaches the model as fenced memories."""
    language = task.language
    told = _INSTRUCTIONS[language].format(
        level=words.LEVELS[task.level][language],
        way=words.STYLES[task.approach.way][language],
        depth=words.DEPTHS[task.approach.depth][language],
    )
    if task.lesson is None:
        return told
    return f"{told}\n\n{_MATERIAL[language]}\n{OPEN}\n{material(task.lesson, task.approach, language)}\n{CLOSE}"


def material(lesson: Lesson, approach: Approach, language: Language) -> str:
    """A lesson in the way and depth it is to be explained in."""
    way = lesson.ways[approach.way].in_(language)
    steps = lesson.example.in_(language)
    head = f"{lesson.title.in_(language)}\n{lesson.idea.in_(language)}"
    if approach.depth is Depth.BRIEF:
        return head
    if approach.depth is Depth.WORKED:
        return f"{head}\n{way}\n" + ("" if language == "zh" else " ").join(steps)
    return f"{head}\n" + "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)) + f"\n{way}"
