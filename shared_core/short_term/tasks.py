"""What an agent is working on: a stack of tasks, each with its plan, steps and results (A6).

Values and the rules by which they change, without a database and without a clock: `Tasks` is the
working memory of one session, and every verb of it takes the time it happens at. Whatever is not
allowed raises before anything has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from shared_core.errors import InvalidInput, NotFound, StoreTooNew

VERSION: Final = 1
_MINE: Final = frozenset({"version", "tasks", "current", "shared", "observations"})


class TaskStatus(StrEnum):
    """How far a task is."""

    PENDING = "pending"  # noted for later
    IN_PROGRESS = "in_progress"  # the current task, or one that waits for its subtask
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        """Completed or failed."""
        return self in (TaskStatus.COMPLETED, TaskStatus.FAILED)


_NEXT: Final[Mapping[TaskStatus, tuple[TaskStatus, ...]]] = {
    TaskStatus.PENDING: (TaskStatus.IN_PROGRESS, TaskStatus.FAILED),
    TaskStatus.IN_PROGRESS: (TaskStatus.PAUSED, TaskStatus.COMPLETED, TaskStatus.FAILED),
    TaskStatus.PAUSED: (TaskStatus.IN_PROGRESS, TaskStatus.FAILED),
    TaskStatus.COMPLETED: (),
    TaskStatus.FAILED: (TaskStatus.IN_PROGRESS,),  # tried again
}
_ADVICE: Final[Mapping[TaskStatus, str]] = {
    TaskStatus.PENDING: "working.resume({id!r}) begins it",
    TaskStatus.IN_PROGRESS: "it is under way already",
    TaskStatus.PAUSED: "working.resume() goes on with it",
    TaskStatus.COMPLETED: "working.start(...) begins another, and working.pop() leaves a subtask",
    TaskStatus.FAILED: "working.resume({id!r}) tries it again, working.start(...) begins another",
}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class Step(_Value):
    """One thing that was done for a task: the action, its result (cut at 500 characters), and when."""

    action: str
    result: str = ""
    success: bool = True
    at: datetime


class Result(_Value):
    """An intermediate result of a task, kept whole; the prompt shows its first 200 characters."""

    name: str
    text: str
    at: datetime


class Observation(_Value):
    """Something seen of the environment, whatever the task."""

    text: str
    at: datetime


class Task(_Value):
    """Something the agent has to do.

    `parent` is the task it is a part of; `instruction` the id of the message that caused it.
    `plan_step` is the place in `plan` of what is to be done next, counted from 0; at the plan's end
    it equals its length. `result` is the final result, `error` why it failed. Times are aware UTC.
    """

    id: str
    description: str
    goal: str = ""
    constraints: tuple[str, ...] = ()
    status: TaskStatus = TaskStatus.IN_PROGRESS
    parent: str | None = None
    instruction: str | None = None
    deadline: datetime | None = None
    plan: tuple[str, ...] = ()
    plan_step: int = 0
    variables: dict[str, Any] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    results: tuple[Result, ...] = ()
    result: str | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None

    @property
    def next(self) -> str | None:
        """What the plan says is to be done now; None without a plan, or at its end."""
        return self.plan[self.plan_step] if self.plan_step < len(self.plan) else None

    def overdue(self, now: datetime) -> bool:
        """Whether its deadline has passed and it is not finished."""
        return self.deadline is not None and self.deadline < now and not self.status.finished


@dataclass(slots=True)
class Tasks:
    """The working memory of a session: its tasks, which of them is current, and what holds for all.

    The stack is the current task with the tasks it is a part of; the first of them is the root.
    Tasks in progress are on the stack, all others are finished, pending or paused.
    """

    tasks: dict[str, Task] = field(default_factory=dict)
    current: str | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    observations: tuple[Observation, ...] = ()
    other: dict[str, Any] = field(default_factory=dict)  # what else the session's state holds

    # ------------------------------------------------------------------ as JSON

    @classmethod
    def read(cls, state: Mapping[str, Any] | None) -> Tasks:
        """The working memory in a session's state."""
        given = state or {}
        if given.get("version", VERSION) > VERSION:
            raise StoreTooNew("a newer twinmem wrote the tasks of this session; upgrade this installation to read them")
        tasks = [Task.model_validate(task) for task in given.get("tasks", ())]
        return cls(
            tasks={task.id: task for task in tasks},
            current=given.get("current"),
            shared=dict(given.get("shared", {})),
            observations=tuple(Observation.model_validate(seen) for seen in given.get("observations", ())),
            other={key: value for key, value in given.items() if key not in _MINE},
        )

    def written(self) -> dict[str, Any]:
        """The session's state with this working memory in it; a value for JSON."""
        return {
            **self.other,
            "version": VERSION,
            "tasks": [task.model_dump(mode="json") for task in self.tasks.values()],
            "current": self.current,
            "shared": self.shared,
            "observations": [seen.model_dump(mode="json") for seen in self.observations],
        }

    # ------------------------------------------------------------------ looking

    def at_hand(self) -> Task:
        """The current task, or an error that says how to begin one."""
        if self.current is None:
            raise NotFound("there is no current task; session.working.start(task_id, description) begins one")
        return self.tasks[self.current]

    def under_way(self) -> Task:
        """The current task, which must be in progress."""
        task = self.at_hand()
        if task.status is not TaskStatus.IN_PROGRESS:
            raise _refused(task, "worked on")
        return task

    def named(self, id: str) -> Task:
        """The task with this id."""
        found = self.tasks.get(id)
        if found is None:
            raise NotFound(f"no task {id!r} in this session; session.working.tasks() gives those there are")
        return found

    def stack(self) -> list[Task]:
        """The root, its subtask and so on, the current task last."""
        chain: list[Task] = []
        place = self.current
        while place is not None:
            chain.append(self.tasks[place])
            place = chain[-1].parent
        return chain[::-1]

    def variable(self, name: str, default: Any) -> Any:
        """A variable of the current task, else of those it is a part of, else of the context across tasks."""
        for task in reversed(self.stack()):
            if name in task.variables:
                return task.variables[name]
        return self.shared.get(name, default)

    # ------------------------------------------------------------------ changing

    def change(self, task: Task, now: datetime, **fields: Any) -> Task:
        """Put a changed task in the place of what it was."""
        changed = task.model_copy(update={**fields, "updated_at": now})
        self.tasks[task.id] = changed
        return changed

    def move(self, task: Task, status: TaskStatus, now: datetime, **fields: Any) -> Task:
        """Give a task another status, if it can follow the one it has."""
        if status not in _NEXT[task.status]:
            raise _refused(task, status.value)
        return self.change(task, now, status=status, ended_at=now if status.finished else None, **fields)

    def add(self, task: Task, now: datetime) -> Task:
        """Take a new task in; one that is in progress becomes the current one."""
        if (known := self.tasks.get(task.id)) is not None:
            raise InvalidInput(
                f"task {task.id!r} is here already, {known.status}; {_ADVICE[known.status].format(id=task.id)}, "
                "and a new task needs an id of its own"
            )
        if task.parent is not None:
            self.under_way()
        elif task.status is TaskStatus.IN_PROGRESS:
            self._set_aside((), now)
        if task.status is TaskStatus.IN_PROGRESS:
            self.current = task.id
        self.tasks[task.id] = task
        return task

    def pop(self, now: datetime, result: str | None = None) -> Task:
        """Leave a subtask and go back to the task it is a part of, which gets its result."""
        task = self.at_hand()
        if task.parent is None:
            raise InvalidInput(
                f"{task.id!r} is the root task, which is never popped; complete() or fail() ends it, "
                "start(...) begins another"
            )
        if result is not None:
            task = self.move(task, TaskStatus.COMPLETED, now, result=result)
        elif task.status is TaskStatus.IN_PROGRESS:
            task = self.move(task, TaskStatus.PAUSED, now)
        self.current = task.parent
        if task.result is not None:
            self.keep(self.at_hand(), Result(name=task.id, text=task.result, at=now))
        return task

    def keep(self, task: Task, result: Result) -> None:
        """Add an intermediate result; one of the same name is replaced."""
        others = tuple(kept for kept in task.results if not result.name or kept.name != result.name)
        self.change(task, result.at, results=(*others, result))

    def resume(self, id: str | None, now: datetime) -> Task:
        """Go on with a task and those it is a part of; what was current is set aside."""
        task = self.at_hand() if id is None else self.named(id)
        chain = [task]
        while chain[-1].parent is not None:
            above = self.named(chain[-1].parent)
            if above.status.finished:
                raise InvalidInput(f"{id!r} is a part of {above.id!r}, which is {above.status}; start it as a new task")
            chain.append(above)
        if TaskStatus.IN_PROGRESS not in _NEXT[task.status]:
            raise _refused(task, "resumed")
        self._set_aside({each.id for each in chain}, now)
        for each in chain:
            if each.status is not TaskStatus.IN_PROGRESS:
                self.move(each, TaskStatus.IN_PROGRESS, now, error=None)
        self.current = task.id
        return self.tasks[task.id]

    def _set_aside(self, staying: Iterable[str], now: datetime) -> None:
        for task in self.stack():
            if task.status is TaskStatus.IN_PROGRESS and task.id not in staying:
                self.move(task, TaskStatus.PAUSED, now)

    def remove(self, id: str) -> list[str]:
        """Take a task out with its subtasks; where it was on the stack, the task above it is current."""
        task = self.named(id)
        gone = [task.id]
        for each in gone:
            gone += [other.id for other in self.tasks.values() if other.parent == each]
        if self.current in gone:
            self.current = task.parent
        for each in gone:
            del self.tasks[each]
        return gone


def _refused(task: Task, what: str) -> InvalidInput:
    return InvalidInput(
        f"task {task.id!r} is {task.status} and can't be {what}; {_ADVICE[task.status].format(id=task.id)}"
    )
