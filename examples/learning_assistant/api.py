"""The HTTP interface: thin endpoints over `Assistant`, errors as JSON, the pages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi_offline import FastAPIOffline
from pydantic import AwareDatetime
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from examples.learning_assistant import pages
from examples.learning_assistant.assistant import Assistant
from examples.learning_assistant.errors import AssistantError
from examples.learning_assistant.guarding import Guard
from examples.learning_assistant.learner import Language, Student
from examples.learning_assistant.schemas import (
    ContentId,
    ErrorAnswer,
    ErrorBody,
    Forgotten,
    LessonItem,
    MemoryLine,
    PracticeItem,
    PracticeRequest,
    PracticeResult,
    Problem,
    ProfileAnswer,
    ProfileRequest,
    ProgressRequest,
    QuestionAnswer,
    QuestionRequest,
    RecommendedLesson,
    ReviewItem,
    ReviewRequest,
    SubjectName,
    Topic,
    UserId,
)
from examples.learning_assistant.views import Views
from examples.learning_assistant.words import language_of
from shared_core.errors import InvalidInput, NotFound, StoreBusy, StoreUnavailable, TwinmemError

LOCAL = ("127.0.0.1", "localhost", "[::1]")
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": text}
    for status, text in (
        (404, "No such student, lesson or question"),
        (422, "The request is refused; nothing was kept"),
    )
}
_User = Annotated[UserId, Query()]
_Subject = Annotated[SubjectName | None, Query()]


def create_app(make: Callable[[], Assistant], *, hosts: Sequence[str] = LOCAL) -> FastAPI:
    """The application; `make` opens the assistant when the server starts, and it is closed when the server stops.

    `hosts` are the names it answers under: others are refused, so that no page on the net can reach it by DNS.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.assistant = make()
        app.state.views = Views(app.state.assistant)
        try:
            yield
        finally:
            app.state.assistant.close()

    app = FastAPIOffline(
        title="Learning assistant", version="1", lifespan=life, responses=_ERRORS,
        description="A personal learning assistant that keeps everything it knows of a student in twinmem.",
    )  # fmt: skip
    app.add_middleware(Guard)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    _answer_errors(app)
    _student(app)
    _learning(app)
    _repeating(app)
    pages.add(app)
    return app


def _of(request: Request) -> tuple[Assistant, Views]:
    return request.app.state.assistant, request.app.state.views


# ---------------------------------------------------------------------- endpoints


def _student(app: FastAPI) -> None:
    """Who learns: profile, what is remembered, export, erasure."""

    @app.post("/api/user/profile", tags=["student"])
    def save_profile(request: Request, body: ProfileRequest) -> ProfileAnswer:
        """Make a student's profile, or change it."""
        assistant, views = _of(request)
        student = Student(
            body.user_id, body.name, body.learning_style, tuple(body.subjects), body.difficulty_preference,
            body.language or language_of(body.name),
        )  # fmt: skip
        return views.profile(assistant.save_profile(student))

    @app.get("/api/user/profile", tags=["student"])
    def profile(request: Request, user_id: _User) -> ProfileAnswer:
        """A student: what was told, and what results say: levels, strengths, weaknesses, each topic."""
        assistant, views = _of(request)
        return views.profile(assistant.state(user_id))

    @app.get("/api/user/memory", tags=["student"])
    def remembered(
        request: Request, user_id: _User, limit: Annotated[int, Query(ge=1, le=500)] = 50
    ) -> list[MemoryLine]:
        """What is remembered of a student, in words, newest first; what was replaced is marked."""
        assistant, views = _of(request)
        return [views.remembered(record) for record in assistant.remembered(user_id, limit)]

    @app.get("/api/user/export", tags=["student"], response_class=Response)
    def export(request: Request, user_id: _User) -> Response:
        """Everything that is kept of a student, as JSON lines."""
        headers = {"content-disposition": 'attachment; filename="learning-assistant.jsonl"'}
        return Response(_of(request)[0].export(user_id), media_type="application/x-ndjson", headers=headers)

    @app.delete("/api/user", tags=["student"])
    def forget(request: Request, user_id: _User) -> Forgotten:
        """Erase everything that is kept of a student, and look whether it is gone."""
        receipt, gone = _of(request)[0].forget(user_id)
        return Forgotten(
            count=receipt.count,
            erased=receipt.erased,
            at=receipt.at,
            verified=gone,
            pending=receipt.pending and not gone,
        )


def _learning(app: FastAPI) -> None:
    """What is learnt: questions, recommendations, progress, the catalogue."""

    @app.post("/api/learning/question", tags=["learning"], responses={502: {"model": ErrorAnswer}})
    def ask(request: Request, body: QuestionRequest) -> QuestionAnswer:
        """Ask the tutor; the answer is fitted to the student's level and past results."""
        assistant, views = _of(request)
        task, reply = assistant.ask(body.user_id, body.session_id, body.question, body.subject)
        return views.reply(body.session_id, body.subject, task, reply)

    @app.get("/api/learning/recommendations", tags=["learning"])
    def recommendations(
        request: Request, user_id: _User, subject: _Subject = None, limit: Annotated[int, Query(ge=1, le=50)] = 5
    ) -> list[RecommendedLesson]:
        """What to do next: reviews that are due, weak topics, what was begun, what the prerequisites open."""
        assistant, views = _of(request)
        state = assistant.state(user_id)
        return [views.recommended(state, each) for each in assistant.recommendations(user_id, subject, limit)]

    @app.post("/api/learning/progress", tags=["learning"])
    def progress(request: Request, body: ProgressRequest) -> Topic:
        """Report what was done with a lesson."""
        assistant, views = _of(request)
        state = assistant.progress(
            body.user_id, body.content_id, body.completion_status, body.understanding_level, body.time_spent
        )
        return views.topic(state, assistant.catalogue.lessons[body.content_id])

    @app.get("/api/learning/catalogue", tags=["learning"])
    def catalogue(request: Request, subject: _Subject = None, language: Language = "en") -> list[LessonItem]:
        """The lessons there are."""
        assistant, views = _of(request)
        name = None if subject is None else assistant.catalogue.subject_of(subject)
        return [views.lesson(lesson, language) for lesson in assistant.catalogue.lessons_of(name)]


def _repeating(app: FastAPI) -> None:
    """What is repeated: reviews when they are due, questions to practise."""

    @app.get("/api/learning/reviews", tags=["repeating"])
    def reviews(
        request: Request, user_id: _User, due_before: Annotated[AwareDatetime | None, Query()] = None
    ) -> list[ReviewItem]:
        """The lessons to review now, or up to a time (with its offset), the longest due first."""
        assistant, views = _of(request)
        state, now = assistant.state(user_id), assistant.now()
        return [views.review(state, card, now) for card in assistant.reviews(user_id, due_before or now)]

    @app.post("/api/learning/reviews/{content_id}", tags=["repeating"], responses={409: {"model": ErrorAnswer}})
    def review(request: Request, content_id: ContentId, body: ReviewRequest) -> Topic:
        """Report how a review went; the answer tells when the next one is due."""
        assistant, views = _of(request)
        return views.topic(
            assistant.review(body.user_id, content_id, body.rating), assistant.catalogue.lessons[content_id]
        )

    @app.get("/api/learning/practice", tags=["repeating"])
    def practice(
        request: Request, user_id: _User, subject: _Subject = None, count: Annotated[int, Query(ge=1, le=20)] = 3
    ) -> list[PracticeItem]:
        """Questions to practise now, as hard as the student's results say."""
        assistant, views = _of(request)
        state = assistant.state(user_id)
        return [views.question(state, *each) for each in assistant.practice(user_id, subject, count)]

    @app.post("/api/learning/practice/{question_id}", tags=["repeating"])
    def answer(request: Request, question_id: ContentId, body: PracticeRequest) -> PracticeResult:
        """Answer a practice question."""
        assistant, views = _of(request)
        correct, state = assistant.answer(body.user_id, question_id, body.answer)
        return views.result(state, question_id, correct)


# ---------------------------------------------------------------------- errors


def _error(status: int, type: str, message: str, problems: Sequence[Problem] = ()) -> JSONResponse:
    body = ErrorAnswer(error=ErrorBody(type=type, message=message, problems=list(problems)))
    # ASCII: a message may name what can't be written as UTF-8.
    return JSONResponse(json.loads(json.dumps(body.model_dump()).encode("ascii", "replace")), status)


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(AssistantError)
    def refused(request: Request, error: AssistantError) -> JSONResponse:
        return _error(error.status, error.code, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        # Where and why, never the value: it may be long, secret, or not even text.
        problems = [Problem(where=".".join(map(str, each["loc"])), message=each["msg"]) for each in error.errors()]
        return _error(422, "invalid_request", "the request is refused; nothing was kept", problems)

    @app.exception_handler(TwinmemError)
    def unkept(request: Request, error: TwinmemError) -> JSONResponse:
        if isinstance(error, StoreBusy | StoreUnavailable):
            return _error(503, "busy", str(error))
        if isinstance(error, InvalidInput):
            return _error(422, "invalid_request", str(error))
        return (
            _error(404, "not_found", str(error)) if isinstance(error, NotFound) else _error(500, "memory", str(error))
        )

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, "http", str(error.detail))
