"""twinmem's core: one memory for AI agents, in one file, for any framework or none."""

from shared_core.errors import TwinmemError
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.session import Session
from shared_core.settings import Settings
from shared_core.short_term.tasks import Step, Task, TaskStatus
from shared_core.values import (
    Candidate,
    Change,
    CheckReport,
    Context,
    Hit,
    Kind,
    Message,
    Question,
    Receipt,
    Record,
    Reference,
    Section,
    Stats,
    Status,
    ToolUse,
    Triple,
    Verified,
)

__all__ = [
    "AgentMemory",
    "Candidate",
    "Change",
    "CheckReport",
    "Context",
    "Hit",
    "Kind",
    "Message",
    "Question",
    "Receipt",
    "Record",
    "Reference",
    "Scope",
    "Section",
    "Session",
    "Settings",
    "Stats",
    "Status",
    "Step",
    "Task",
    "TaskStatus",
    "ToolUse",
    "Triple",
    "TwinmemError",
    "Verified",
]
