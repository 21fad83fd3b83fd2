"""The learning assistant itself: what each request does, out of the parts. Knows no HTTP."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel

from examples.learning_assistant import words
from examples.learning_assistant.adapting import (
    DEFAULT,
    RATED,
    Rules,
    approach,
    paced,
    rating_of,
    score_of,
    scored,
)
from examples.learning_assistant.catalogue import Catalogue, Lesson, Question
from examples.learning_assistant.errors import NotReviewable, UnknownContent, UnknownStudent
from examples.learning_assistant.explaining import Task
from examples.learning_assistant.learner import (
    Card,
    Completion,
    Pace,
    Rating,
    Standing,
    State,
    Student,
)
from examples.learning_assistant.practising import questions, right
from examples.learning_assistant.recommending import Recommendation, recommend
from examples.learning_assistant.reviewing import reviewed
from examples.learning_assistant.scripted import ScriptedTutor
from examples.learning_assistant.student_memory import AGENT, SETTINGS, StudentMemory
from examples.learning_assistant.tutor import Reply, Tutor
from shared_core import AgentMemory, Receipt, Record

_LOCKS: Final = 64


class Assistant:
    """All students of one twinmem file.

    `clock` gives aware UTC; `model` is a LangChain chat model, the scripted tutor by default; `embedder` is what
    `AgentMemory.open` takes. What changes a student is done by one request of that student at a time.

    >>> from examples.learning_assistant.learner import LearningStyle, Level
    >>> assistant = Assistant(embedder="hashing")
    >>> ann = Student("ann", "Ann", LearningStyle.VISUAL, ("python",), Level.BEGINNER, "en")
    >>> _ = assistant.save_profile(ann)
    >>> [each.lesson.id for each in assistant.recommendations("ann")]
    ['py-variables']
    >>> assistant.close()
    """

    def __init__(
        self, address: str | os.PathLike[str] | None = None, *, model: BaseChatModel | None = None,
        embedder: Any = None, clock: Callable[[], datetime] | None = None, rules: Rules = DEFAULT,
    ) -> None:  # fmt: skip
        self.now = clock or (lambda: datetime.now(UTC))
        self.catalogue = Catalogue.bundled(embedder=embedder)
        self.rules = rules
        self._memory = AgentMemory.open(address, embedder=embedder, clock=self.now, settings=SETTINGS)
        self._tutor = Tutor(self._memory, model or ScriptedTutor())
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    @property
    def scripted(self) -> bool:
        """Whether answers are scripted, for want of a language model."""
        return self._tutor.scripted

    def close(self) -> None:
        """Let the file go."""
        self._memory.close()
        self.catalogue.close()

    # ------------------------------------------------------------------ the student

    def save_profile(self, student: Student) -> State:
        """Make a student's profile, or change it; a new preference or style sets aside what was adapted before."""
        subjects = tuple(dict.fromkeys(self.catalogue.subject_of(name) for name in student.subjects))
        student = replace(student, subjects=subjects)
        with self._alone(student.user_id):
            memory = self._of(student.user_id)
            before = memory.state()
            after = State(student) if before is None else self._changed(before, student)
            event = {
                "text": words.sentence("name", student.language, value=student.name),
                "type": "profile",
                "source": AGENT,
            }
            memory.write(before, after, self.now(), event if before is None else None)
        return after

    def _changed(self, before: State, student: Student) -> State:
        after = replace(before, student=student)
        if before.student.preference is not student.preference:
            after = replace(after, paces={name: Pace(name, student.preference) for name in before.paces})
        if before.student.style is not student.style:
            standings = {id: replace(each, way=None, misses=0) for id, each in before.standings.items()}
            after = replace(after, standings=standings)
        return after

    def known(self, user_id: str) -> bool:
        """Whether there is a profile of a user."""
        return self._of(user_id).state() is not None

    def state(self, user_id: str) -> State:
        """All that is known of a student. Raises `UnknownStudent`."""
        found = self._of(user_id).state()
        if found is None:
            raise UnknownStudent(f"there is no profile of user {user_id!r}; POST /api/user/profile makes one")
        return found

    def remembered(self, user_id: str, limit: int = 50) -> list[Record]:
        """What is remembered of a student, in words: what results said from when on, and what happened, newest first."""
        self.state(user_id)
        memory = self._of(user_id)
        found = [*memory.versions(), *memory.events(limit)]
        return sorted(found, key=lambda record: record.event_time or record.created_at, reverse=True)[:limit]

    def export(self, user_id: str) -> bytes:
        """Everything that is kept of a student, as JSON lines."""
        self.state(user_id)
        with tempfile.TemporaryDirectory() as folder:  # nobody else may look into it
            path = Path(folder) / "student.jsonl"
            self._memory.scope(user=user_id, agent=AGENT).export(path, vectors=False)
            return path.read_bytes()

    def forget(self, user_id: str) -> tuple[Receipt, bool]:
        """Erase everything of a student; the receipt, and whether nothing of it is left in the file."""
        with self._alone(user_id):
            self.state(user_id)
            receipt = self._memory.scope(user=user_id, agent=AGENT).delete_all()
        self._memory.purge()
        return receipt, self._memory.verify(receipt).ok

    # ------------------------------------------------------------------ learning

    def ask(self, user_id: str, session_id: str, question: str, subject: str) -> tuple[Task, Reply]:
        """The tutor's answer, fitted to the student's level and past results on the topic."""
        state = self.state(user_id)
        subject = self.catalogue.subject_of(subject)
        language = words.language_of(question, state.student.language)
        memory = self._of(user_id)
        # "I don't get it" is about what was asked before.
        lesson = self.catalogue.find(question, language, subject) or memory.topic_of(session_id)
        standing = Standing("") if lesson is None else state.standing(lesson.id)
        level = state.pace(lesson.subject if lesson else subject).level
        task = Task(level, approach(state.student, standing, self.rules), language, lesson)
        try:
            reply = self._tutor.answer(user_id, session_id, question, task)
            if lesson is not None:  # after the answer: the question is no memory of its own
                memory.asked(session_id, lesson, state.student.language, self.now())
        finally:
            self._stay_forgotten(user_id)
        return task, reply

    def _stay_forgotten(self, user_id: str) -> None:
        """A student who was deleted while the model was thinking does not come back with its answer."""
        with self._alone(user_id):
            if self._of(user_id).state() is None:
                self._memory.scope(user=user_id, agent=AGENT).delete_all()
                raise UnknownStudent(f"user {user_id!r} was deleted while the answer was made")

    def recommendations(self, user_id: str, subject: str | None = None, limit: int = 5) -> list[Recommendation]:
        """What to do next."""
        subject = None if subject is None else self.catalogue.subject_of(subject)
        return recommend(
            self.state(user_id), self.catalogue, self.now(), subject=subject, limit=limit, rules=self.rules
        )

    def progress(self, user_id: str, content_id: str, status: Completion, understanding: int, minutes: float) -> State:
        """Take in what was done with a lesson. Once it is completed it comes up for review."""
        lesson, now = self._lesson(content_id), self.now()
        with self._alone(user_id):
            before = self.state(user_id)
            standing = before.standing(content_id)
            # Started is no result yet; and what is completed stays so, whatever is reported of it later.
            kept = standing.status if standing.status is Completion.COMPLETED else status
            standing = replace(standing, status=kept, minutes=standing.minutes + minutes, at=now)
            score = None if status is Completion.STARTED else score_of(understanding)
            after = self._after(before, lesson, standing, score)
            if status is Completion.COMPLETED:
                after = self._with_card(after, content_id, rating_of(understanding), now)
            text = words.progress_text(lesson.title.in_(before.student.language), status, before.student.language)
            details = {"status": status.value, "understanding": understanding, "minutes": minutes}
            self._of(user_id).write(before, after, now, _event("progress", text, lesson, details))
        return after

    def reviews(self, user_id: str, until: datetime) -> list[Card]:
        """The lessons to review up to a time, the longest due first."""
        due = [card for card in self.state(user_id).cards.values() if card.due <= until]
        return sorted(due, key=lambda card: (card.due, card.content_id))

    def review(self, user_id: str, content_id: str, rating: Rating) -> State:
        """Take in how a review went, and set the next one. Raises `NotReviewable` for a lesson not completed."""
        lesson, now = self._lesson(content_id), self.now()
        with self._alone(user_id):
            before = self.state(user_id)
            if content_id not in before.cards:
                raise NotReviewable(f"{content_id} is reviewed after it was completed: POST /api/learning/progress")
            after = self._after(before, lesson, replace(before.standing(content_id), at=now), RATED[rating])
            after = self._with_card(after, content_id, rating, now)
            language = before.student.language
            topic, told = lesson.title.in_(language), words.rating_text(rating, language)
            text = words.sentence("reviewed", language, topic=topic, rating=told)
            self._of(user_id).write(before, after, now, _event("review", text, lesson, {"rating": rating.value}))
        return after

    def practice(self, user_id: str, subject: str | None = None, count: int = 3) -> list[tuple[Lesson, Question]]:
        """Questions to practise now."""
        subject = None if subject is None else self.catalogue.subject_of(subject)
        return questions(
            self.state(user_id), self.catalogue, self.now(), subject=subject, count=count, rules=self.rules
        )

    def answer(self, user_id: str, question_id: str, given: str) -> tuple[bool, State]:
        """Whether an answer to a practice question is right, and the student after it."""
        if question_id not in self.catalogue.questions:
            raise UnknownContent(
                f"there is no practice question {question_id!r}; GET /api/learning/practice gives some"
            )
        lesson, question = self.catalogue.questions[question_id]
        correct, now = right(question, given), self.now()
        with self._alone(user_id):
            before = self.state(user_id)
            standing = before.standing(lesson.id)
            standing = replace(standing, answered={**standing.answered, question_id: correct}, at=now)
            after = self._after(before, lesson, standing, float(correct))
            language = before.student.language
            text = words.sentence(
                "answered right" if correct else "answered wrong", language,
                level=words.LEVELS[question.level][language], topic=lesson.title.in_(language),
            )  # fmt: skip
            details = {"question": question_id, "answer": given, "correct": correct}
            self._of(user_id).write(before, after, now, _event("practice", text, lesson, details))
        return correct, after

    # ------------------------------------------------------------------ parts

    def _of(self, user_id: str) -> StudentMemory:
        return StudentMemory(self._memory.scope(user=user_id, agent=AGENT), self.catalogue, self.rules)

    def _lesson(self, content_id: str) -> Lesson:
        if content_id not in self.catalogue.lessons:
            raise UnknownContent(f"there is no lesson {content_id!r}; GET /api/learning/catalogue lists them")
        return self.catalogue.lessons[content_id]

    def _after(self, state: State, lesson: Lesson, standing: Standing, score: float | None) -> State:
        """The state with a new standing, and a result if there is one."""
        if score is not None:
            pace = paced(state.pace(lesson.subject), score, self.rules)
            state = replace(state, paces={**state.paces, lesson.subject: pace})
            standing = scored(standing, score, state.student.style, self.rules)
        return replace(state, standings={**state.standings, lesson.id: standing})

    @staticmethod
    def _with_card(state: State, content_id: str, rating: Rating, now: datetime) -> State:
        card = reviewed(content_id, state.cards.get(content_id), rating, now)
        return replace(state, cards={**state.cards, content_id: card})

    @contextmanager
    def _alone(self, user_id: str) -> Iterator[None]:
        """One change of a student at a time: a state is read, changed and written."""
        with self._locks[hash(user_id) % _LOCKS]:
            yield


def _event(type: str, text: str, lesson: Lesson, details: dict[str, Any]) -> dict[str, Any]:
    found = {"content": lesson.id, "subject": lesson.subject, **details}
    return {
        "text": text, "type": type, "metadata": found, "importance": 0.6 if type == "progress" else 0.4, "source": AGENT,
    }  # fmt: skip
