"""What is known, as the answers that go over HTTP, in the student's language."""

from __future__ import annotations

from datetime import datetime

from examples.learning_assistant import words
from examples.learning_assistant.adapting import approach, mastery, verdict
from examples.learning_assistant.assistant import Assistant
from examples.learning_assistant.catalogue import Lesson, Question
from examples.learning_assistant.explaining import Task
from examples.learning_assistant.learner import Card, Language, State, Verdict
from examples.learning_assistant.recommending import Reason, Recommendation
from examples.learning_assistant.reviewing import retrievability
from examples.learning_assistant.schemas import (
    LessonItem,
    MemoryLine,
    PracticeItem,
    PracticeResult,
    ProfileAnswer,
    QuestionAnswer,
    Recalled,
    RecommendedLesson,
    ReviewItem,
    Topic,
)
from examples.learning_assistant.tutor import Reply
from shared_core import Record


class Views:
    """Answers out of the values of an assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._catalogue = assistant.catalogue

    def profile(self, state: State) -> ProfileAnswer:
        """A student with all topics, the newest first."""
        student = state.student
        order = sorted(
            state.standings.values(), key=lambda each: (each.at is not None and each.at.timestamp(), each.content_id)
        )
        topics = [self.topic(state, self._catalogue.lessons[each.content_id]) for each in reversed(order)]
        levels = {name: state.pace(name).level for name in (*student.subjects, *state.paces)}
        return ProfileAnswer(
            user_id=student.user_id, name=student.name, learning_style=student.style, subjects=list(student.subjects),
            difficulty_preference=student.preference, language=student.language, levels=levels,
            strengths=[topic.title for topic in topics if topic.verdict is Verdict.STRONG],
            weaknesses=[topic.title for topic in topics if topic.verdict is Verdict.WEAK], topics=topics,
        )  # fmt: skip

    def topic(self, state: State, lesson: Lesson) -> Topic:
        """How a student stands with a lesson."""
        standing, rules = state.standing(lesson.id), self._assistant.rules
        card, way = state.cards.get(lesson.id), approach(state.student, standing, rules)
        return Topic(
            content_id=lesson.id, title=lesson.title.in_(state.student.language), subject=lesson.subject,
            status=standing.status, mastery=mastery(standing.scores, rules), verdict=verdict(standing.scores, rules),
            way=way.way, depth=way.depth, minutes=standing.minutes, review_due=card.due if card else None,
        )  # fmt: skip

    def reply(self, session_id: str, subject: str, task: Task, reply: Reply) -> QuestionAnswer:
        """The tutor's answer, with what of the memory was in it."""
        memories = [Recalled(text=hit.record.text, why=hit.reason) for hit in reply.memories]
        return QuestionAnswer(
            answer=reply.text, session_id=session_id, message_id=reply.message_id,
            subject=task.lesson.subject if task.lesson else self._catalogue.subject_of(subject),
            content_id=task.lesson.id if task.lesson else None, difficulty=task.level, way=task.approach.way,
            depth=task.approach.depth, scripted=self._assistant.scripted, memories=memories,
        )  # fmt: skip

    def recommended(self, state: State, found: Recommendation) -> RecommendedLesson:
        """A recommended lesson, with the reason in words."""
        lesson, language = found.lesson, state.student.language
        return RecommendedLesson(
            content_id=lesson.id, title=lesson.title.in_(language), subject=lesson.subject, level=lesson.level,
            minutes=lesson.minutes, reason=found.reason, why=self._why(state, found, language),
        )  # fmt: skip

    def _why(self, state: State, found: Recommendation, language: Language) -> str:
        lesson = found.lesson
        if found.because is not None:
            return words.sentence("because", language, topic=found.because.title.in_(language))
        if found.reason is Reason.DUE:
            return words.sentence("due", language, date=state.cards[lesson.id].due.date().isoformat())
        if found.reason is Reason.WEAK:
            value = mastery(state.standing(lesson.id).scores, self._assistant.rules) or 0.0
            return words.sentence("weak", language, mastery=round(value * 100))
        return words.sentence(found.reason.value, language, level=words.LEVELS[lesson.level][language])

    def review(self, state: State, card: Card, now: datetime) -> ReviewItem:
        """A lesson to review."""
        lesson = self._catalogue.lessons[card.content_id]
        return ReviewItem(
            content_id=lesson.id, title=lesson.title.in_(state.student.language), subject=lesson.subject, due=card.due,
            overdue_days=max(0, (now - card.due).days), retrievability=retrievability(card, now),
        )  # fmt: skip

    def question(self, state: State, lesson: Lesson, question: Question) -> PracticeItem:
        """A question, without its answer."""
        language = state.student.language
        return PracticeItem(
            question_id=question.id, content_id=lesson.id, title=lesson.title.in_(language), level=question.level,
            question=question.ask.in_(language),
        )  # fmt: skip

    def result(self, state: State, question_id: str, correct: bool) -> PracticeResult:
        """What became of an answer."""
        lesson, question = self._catalogue.questions[question_id]
        return PracticeResult(
            correct=correct, answer=question.answers[0], why=question.why.in_(state.student.language),
            topic=self.topic(state, lesson), level=state.pace(lesson.subject).level,
        )  # fmt: skip

    def lesson(self, lesson: Lesson, language: Language) -> LessonItem:
        """A lesson of the catalogue."""
        return LessonItem(
            content_id=lesson.id, title=lesson.title.in_(language), subject=lesson.subject, level=lesson.level,
            minutes=lesson.minutes, needs=list(lesson.needs),
        )  # fmt: skip

    @staticmethod
    def remembered(record: Record) -> MemoryLine:
        """Something remembered."""
        at = record.event_time or record.created_at
        return MemoryLine(text=record.text, type=record.type or "", at=at, current=record.status.value == "active")
