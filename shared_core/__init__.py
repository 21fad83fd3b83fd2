"""twinmem's core: one memory for AI agents, in one file, for any framework or none.

Names load on first use, so that whoever only wants an error or a value does not pull in numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared_core.lazy import names

if TYPE_CHECKING:
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

_MODULES = {
    "AgentMemory": "memory",
    "Candidate": "values",
    "Change": "values",
    "CheckReport": "values",
    "Context": "values",
    "Hit": "values",
    "Kind": "values",
    "Message": "values",
    "Question": "values",
    "Receipt": "values",
    "Record": "values",
    "Reference": "values",
    "Scope": "scope",
    "Section": "values",
    "Session": "session",
    "Settings": "settings",
    "Stats": "values",
    "Status": "values",
    "Step": "short_term.tasks",
    "Task": "short_term.tasks",
    "TaskStatus": "short_term.tasks",
    "ToolUse": "values",
    "Triple": "values",
    "TwinmemError": "errors",
    "Verified": "values",
}

__getattr__, __dir__ = names(__name__, _MODULES)
