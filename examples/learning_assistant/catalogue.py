"""The learning content: subjects, their lessons in an order of prerequisites, questions to practise.

It comes with the application (`content/*.json`, written in English and Chinese) and is the same for all, so it is
no student's memory; an index of it in RAM, a twinmem like any other, finds the lesson a question is about.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from examples.learning_assistant.learner import Language, LearningStyle, Level
from shared_core import AgentMemory

_Id = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]
_LIKE = 0.4  # a score below it: the question is about something else (questions of no lesson score up to .35)


class _Content(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Both(_Content):
    """A text in both languages."""

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        """The text in a language."""
        return self.zh if language == "zh" else self.en


class Steps(_Content):
    """A worked example, step by step, in both languages."""

    en: tuple[str, ...]
    zh: tuple[str, ...]

    def in_(self, language: Language) -> tuple[str, ...]:
        """The steps in a language."""
        return self.zh if language == "zh" else self.en


class Question(_Content):
    """A question to practise, with the answers that count as right and why they are."""

    id: _Id
    level: Level
    ask: Both
    answers: tuple[str, ...] = Field(min_length=1)
    why: Both


class Lesson(_Content):
    """One topic: its idea, a worked example, a way to see it for each learning style, and questions."""

    id: _Id
    subject: str = ""
    level: Level
    minutes: int = Field(gt=0)
    needs: tuple[_Id, ...] = ()
    title: Both
    idea: Both
    example: Steps
    ways: dict[LearningStyle, Both]
    practice: tuple[Question, ...] = Field(min_length=1)


class Subject(_Content):
    """A subject with its lessons, easier ones first; `also` are other names it is known by."""

    id: _Id
    title: Both
    also: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...]

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        return {**data, "lessons": [{**lesson, "subject": data["id"]} for lesson in data["lessons"]]}


class Catalogue:
    """The subjects and lessons there are.

    >>> catalogue = Catalogue.bundled(embedder="hashing")
    >>> catalogue.subject_of("Maths"), catalogue.subject_of("数学"), catalogue.subject_of(" Physics ")
    ('mathematics', 'mathematics', 'Physics')
    >>> catalogue.find("How do I add fractions?", "en").id
    'math-fractions'
    """

    def __init__(self, subjects: tuple[Subject, ...], *, embedder: Any = None) -> None:
        self.subjects = {subject.id: subject for subject in subjects}
        self.lessons = {lesson.id: lesson for subject in subjects for lesson in subject.lessons}
        self.questions = {each.id: (lesson, each) for lesson in self.lessons.values() for each in lesson.practice}
        self._names = {_key(name): subject.id for subject in subjects for name in _names(subject)}
        missing = {need for lesson in self.lessons.values() for need in lesson.needs} - set(self.lessons)
        if missing:
            raise ValueError(f"lessons that others need are not in the catalogue: {sorted(missing)}")
        self._index = AgentMemory.open(embedder=embedder, settings={"facts": {"extract": False}})
        self._index.scope(user="catalogue").add_many(self._entries())

    @classmethod
    def bundled(cls, *, embedder: Any = None) -> Catalogue:
        """The content that comes with the application; `embedder` is what `AgentMemory.open` takes."""
        folder = files(__package__ or "examples.learning_assistant") / "content"
        found = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
        return cls(tuple(Subject.model_validate_json(file.read_text("utf-8")) for file in found), embedder=embedder)

    def close(self) -> None:
        """Let the index go."""
        self._index.close()

    def subject_of(self, name: str) -> str:
        """The id of a subject by any of its names; a name that is not in the catalogue as it was given."""
        return self._names.get(_key(name), name.strip())

    def subject_title(self, subject: str, language: Language) -> str:
        """What a subject is called."""
        known = self.subjects.get(subject)
        return subject if known is None else known.title.in_(language)

    def lessons_of(self, subject: str | None) -> tuple[Lesson, ...]:
        """The lessons of a subject in their order, or all of them."""
        if subject is None:
            return tuple(self.lessons.values())
        return self.subjects[subject].lessons if subject in self.subjects else ()

    def find(self, question: str, language: Language, subject: str | None = None) -> Lesson | None:
        """The lesson a question is about: of the subject, else of any; None where no lesson fits."""
        anywhere: dict[str, Any] = {"metadata.language": language}
        inside = [{**anywhere, "metadata.subject": subject}] if subject in self.subjects else []
        for where in (*inside, anywhere):
            hits = self._index.scope(user="catalogue").search(question, k=1, where=where, min_score=_LIKE)
            if hits:
                return self.lessons[hits[0].record.metadata["lesson"]]
        return None

    def _entries(self) -> Iterator[dict[str, Any]]:
        """Each lesson by its title, idea and questions, in each language."""
        languages: tuple[Language, ...] = ("en", "zh")
        for lesson in self.lessons.values():
            for language in languages:
                asked = [each.ask.in_(language) for each in lesson.practice]
                for text in (lesson.title.in_(language), lesson.idea.in_(language), *asked):
                    metadata = {"lesson": lesson.id, "language": language, "subject": lesson.subject}
                    # An event: what is told of two lessons in the same words stays two entries.
                    yield {"text": text, "kind": "event", "metadata": metadata}


def _names(subject: Subject) -> tuple[str, ...]:
    return (subject.id, subject.title.en, subject.title.zh, *subject.also)


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
