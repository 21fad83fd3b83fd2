"""twinmem's core: one memory for AI agents, in one file, for any framework or none."""

from shared_core.errors import TwinmemError
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.session import Session
from shared_core.settings import Settings
from shared_core.values import (
    Change,
    CheckReport,
    Context,
    Hit,
    Kind,
    Message,
    Question,
    Receipt,
    Record,
    Section,
    Stats,
    Status,
    Triple,
)

__all__ = [
    "AgentMemory",
    "Change",
    "CheckReport",
    "Context",
    "Hit",
    "Kind",
    "Message",
    "Question",
    "Receipt",
    "Record",
    "Scope",
    "Section",
    "Session",
    "Settings",
    "Stats",
    "Status",
    "Triple",
    "TwinmemError",
]
