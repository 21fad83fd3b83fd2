"""What the application refuses, each with its HTTP status and a name clients can rely on."""

from __future__ import annotations

from typing import ClassVar


class AssistantError(Exception):
    """Something the client is told: `code` for programs, the message for people."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500


class UnknownStudent(AssistantError):
    """There is no profile of this user; POST /api/user/profile makes one."""

    code = "unknown_student"
    status = 404


class UnknownContent(AssistantError):
    """The catalogue has no such lesson or question."""

    code = "unknown_content"
    status = 404


class NotReviewable(AssistantError):
    """A lesson is reviewed after it was completed."""

    code = "not_completed"
    status = 409


class ModelFailed(AssistantError):
    """The language model did not answer."""

    code = "model_failed"
    status = 502


class NotConfigured(AssistantError):
    """The environment names a model, but not where to ask it."""

    code = "not_configured"
