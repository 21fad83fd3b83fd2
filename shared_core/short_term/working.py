"""`Working`: what the agent is doing in a session, kept with it, whoever reads it next (A6).

A thin shell around `short_term.tasks`: each verb reads the session's state, changes it and writes it
back in one transaction, so several processes work on one stack. Texts pass the redactor first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.ports import Transaction
from shared_core.prompt.words import language as language_of
from shared_core.short_term import task_text
from shared_core.short_term.task_text import Shown
from shared_core.short_term.tasks import Observation, Result, Step, Task, Tasks, TaskStatus
from shared_core.steps import threaded
from shared_core.store import rows, scopes, vault
from shared_core.store.rows import dump, instant, load
from shared_core.values import Message, aware
from shared_core.writing.intake import identifier
from shared_core.writing.plain import plain
from shared_core.writing.redact import redacted

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.session import Session

_TALK: Final = 6  # messages that tell the language of the conversation
_UNSET: Final[Any] = object()

Listed = list[Task]


class Working:
    """The working memory of a session: a stack of tasks, what they share, and what was seen around them.

    Made by `Session.working`; every verb has an async twin with the prefix `a`. A task is not a
    turn: `Session.clear` keeps it, `Session.delete` erases it, `working.clear()` erases all tasks.

    >>> from shared_core import AgentMemory
    >>> working = AgentMemory.open(embedder="hashing").scope(user="ann").session("monday").working
    >>> _ = working.start("report", "Write the report", goal="Sent by noon", constraints=["two pages"])
    >>> _ = working.step("search", "12 sources found")
    >>> _ = working.push("chart", "Draw the chart")
    >>> working.pop("chart.png").status.value, working.current.results[0].text
    ('completed', 'chart.png')
    >>> print(working.text())
    Task: Write the report (in progress)
    Goal: Sent by noon
    Constraints:
    - two pages
    Last steps:
    - search: 12 sources found
    Results so far:
    - chart: chart.png
    """

    def __init__(self, session: Session) -> None:
        """Use `Session.working`."""
        self._session = session
        self._intake = session._scope._intake

    def __repr__(self) -> str:
        return f"Working(session={self._session.id!r})"

    def __str__(self) -> str:
        return self.text()

    # ------------------------------------------------------------------ beginning

    def start(
        self, task_id: str, description: str, goal: str = "", constraints: Iterable[str] = (), *,
        deadline: datetime | timedelta | None = None, plan: Iterable[str] = (), instruction: str | None = None,
    ) -> Task:  # fmt: skip
        """Begin a task of its own; one that is still under way is paused, and `resume` goes on with it.

        `instruction` is the id of the message that caused it, by default the newest user message of
        the session. `deadline` is an aware time, or a timedelta from now. Raises `InvalidInput` for
        an id that is taken, a blank description or a naive deadline.
        """
        return self._begin(
            task_id, description, goal, constraints, deadline, plan, instruction, TaskStatus.IN_PROGRESS, below=False
        )

    def push(
        self, task_id: str, description: str, goal: str = "", constraints: Iterable[str] = (), *,
        deadline: datetime | timedelta | None = None, plan: Iterable[str] = (), instruction: str | None = None,
    ) -> Task:  # fmt: skip
        """Begin a subtask of the current task, which waits for it; `pop` goes back.

        Takes what `start` takes. Raises `NotFound` without a current task, `InvalidInput` if that
        one is paused or finished.
        """
        return self._begin(
            task_id, description, goal, constraints, deadline, plan, instruction, TaskStatus.IN_PROGRESS, below=True
        )

    def queue(
        self, task_id: str, description: str, goal: str = "", constraints: Iterable[str] = (), *,
        deadline: datetime | timedelta | None = None, plan: Iterable[str] = (), instruction: str | None = None,
    ) -> Task:  # fmt: skip
        """Note a task for later: it is pending until `resume(task_id)`. Takes what `start` takes."""
        return self._begin(
            task_id, description, goal, constraints, deadline, plan, instruction, TaskStatus.PENDING, below=False
        )

    def _begin(
        self, task_id: str, description: str, goal: str, constraints: Iterable[str],
        deadline: datetime | timedelta | None, plan: Iterable[str], instruction: str | None, status: TaskStatus,
        *, below: bool,
    ) -> Task:  # fmt: skip
        engine = self._engine
        now = instant(engine.now())
        fields: dict[str, Any] = {
            "id": identifier(task_id, "task id", engine.settings),
            "description": self._intake.text(description),
            "goal": self._intake.text(goal, blank=True),
            "constraints": self._texts(constraints, "constraints"),
            "deadline": _when(deadline, now),
            "plan": self._texts(plan, "plan"),
            "instruction": None if instruction is None else identifier(instruction, "instruction", engine.settings),
        }
        with self._changing() as (tx, session, tasks, _):
            if fields["instruction"] is None:
                asked = tx.rows("newest_asked", {"session": session})
                fields["instruction"] = asked[0][0] if asked else None
            parent = tasks.at_hand().id if below else None
            return tasks.add(Task(**fields, status=status, parent=parent, created_at=now, updated_at=now), now)

    # ------------------------------------------------------------------ working

    def step(self, action: str, result: Any = "", success: bool = True) -> Step:
        """Note what was done for the current task and what came of it.

        The result, a text or any JSON value, is cut at 500 characters (`settings.working.step_chars`);
        the last 5 steps go into the prompt. Raises `InvalidInput` unless the task is in progress.
        """
        engine = self._engine
        told = self._told(result)[: engine.settings.working.step_chars]
        done = Step(
            action=self._intake.text(action), result=told, success=bool(success), at=instant(engine.now())
        )  # fmt: skip
        with self._changing() as (_, _, tasks, now):
            task = tasks.under_way()
            tasks.change(task, now, steps=(*task.steps, done))
        return done

    def set(self, name: str, value: Any, *, shared: bool = False) -> None:
        """Keep a variable of the current task, any JSON value; with `shared` in the context across tasks."""
        key = self._intake.text(name)
        kept = self._json(value)
        with self._changing() as (_, _, tasks, now):
            if shared:
                tasks.shared[key] = kept
            else:
                task = tasks.under_way()
                tasks.change(task, now, variables={**task.variables, key: kept})

    def get(self, name: str, default: Any = None) -> Any:
        """A variable of the current task, else of the tasks it is a part of, else of the context across tasks."""
        return self._tasks().variable(self._intake.text(name), default)

    def unset(self, name: str, *, shared: bool = False) -> None:
        """Take a variable of the current task away, or with `shared` one of the context; unknown ones are passed over."""
        gone = self._intake.text(name)
        with self._changing() as (_, _, tasks, now):
            if shared:
                tasks.shared.pop(gone, None)
            else:
                task = tasks.at_hand()
                left = {key: value for key, value in task.variables.items() if key != gone}
                tasks.change(task, now, variables=left)

    def add_result(self, result: Any, name: str = "") -> Result:
        """Keep an intermediate result of the current task, whole; a name used before is written over.

        The prompt shows its first 200 characters (`settings.working.result_chars`).
        """
        engine = self._engine
        kept = Result(
            name=self._intake.text(name, blank=True), text=self._told(result), at=instant(engine.now())
        )  # fmt: skip
        with self._changing() as (_, _, tasks, _):
            tasks.keep(tasks.under_way(), kept)
        return kept

    def plan(self, steps: Iterable[str]) -> Task:
        """Give the current task a plan, in the place of the one it had; its first step is to be done next."""
        planned = self._texts(steps, "plan")
        with self._changing() as (_, _, tasks, now):
            return tasks.change(tasks.under_way(), now, plan=planned, plan_step=0)

    def advance(self) -> Task:
        """Go on to the next step of the current task's plan; raises `InvalidInput` at its end."""
        with self._changing() as (_, _, tasks, now):
            task = tasks.under_way()
            if task.next is None:
                raise InvalidInput(
                    f"the plan of task {task.id!r} has no further step; working.plan([...]) gives it a new one"
                )
            return tasks.change(task, now, plan_step=task.plan_step + 1)

    def amend(
        self, *, description: str = _UNSET, goal: str = _UNSET, constraints: Iterable[str] = _UNSET,
        deadline: datetime | timedelta | None = _UNSET, instruction: str | None = _UNSET,
    ) -> Task:  # fmt: skip
        """Change what the current task is; what is not given stays."""
        engine = self._engine
        fields: dict[str, Any] = {}
        if description is not _UNSET:
            fields["description"] = self._intake.text(description)
        if goal is not _UNSET:
            fields["goal"] = self._intake.text(goal, blank=True)
        if constraints is not _UNSET:
            fields["constraints"] = self._texts(constraints, "constraints")
        if deadline is not _UNSET:
            fields["deadline"] = _when(deadline, instant(engine.now()))
        if instruction is not _UNSET:
            given = instruction is not None
            fields["instruction"] = identifier(instruction, "instruction", engine.settings) if given else None
        with self._changing() as (_, _, tasks, now):
            return tasks.change(tasks.at_hand(), now, **fields)

    def observe(self, text: Any) -> Observation:
        """Note something seen of the environment, whatever the task; the newest 20 are kept, 5 go into the prompt."""
        engine = self._engine
        seen = Observation(text=self._intake.text(self._told(text)), at=instant(engine.now()))
        most = engine.settings.working.observations
        with self._changing() as (_, _, tasks, _):
            tasks.observations = (*tasks.observations, seen)[-most:] if most else ()
        return seen

    # ------------------------------------------------------------------ ending

    def complete(self, result: Any = None) -> Task:
        """End the current task with its final result, which is kept. A subtask stays current until `pop`."""
        told = None if result is None else self._told(result)
        with self._changing() as (_, _, tasks, now):
            return tasks.move(tasks.at_hand(), TaskStatus.COMPLETED, now, result=told)

    def fail(self, error: Any = None) -> Task:
        """End the current task as failed, and keep why; `resume(task_id)` tries it again."""
        told = None if error is None else self._told(error)
        with self._changing() as (_, _, tasks, now):
            return tasks.move(tasks.at_hand(), TaskStatus.FAILED, now, error=told)

    def pop(self, result: Any = None) -> Task:
        """Leave the current subtask, which is given back, and go on with the task it is a part of.

        With `result` it is completed; unfinished without one it is paused, and `resume(task_id)` goes on
        with it. Its final result becomes an intermediate result of the task above, under its id.
        Raises `InvalidInput` for the root task, which is never popped.
        """
        told = None if result is None else self._told(result)
        with self._changing() as (_, _, tasks, now):
            return tasks.pop(now, told)

    def pause(self) -> Task:
        """Set the current task aside; it stays current, and `resume()` goes on with it."""
        with self._changing() as (_, _, tasks, now):
            return tasks.move(tasks.at_hand(), TaskStatus.PAUSED, now)

    def resume(self, task_id: str | None = None) -> Task:
        """Go on with the current task, or with any that is pending, paused or failed; it becomes the current one.

        What was under way and is no part of it is paused. Raises `NotFound` for an unknown id,
        `InvalidInput` for a task that is completed or in progress.
        """
        with self._changing() as (_, _, tasks, now):
            return tasks.resume(task_id, now)

    def remove(self, task_id: str) -> list[str]:
        """Erase a task with its subtasks; the ids of all that went. Raises `NotFound` for an unknown one."""
        with self._changing() as (_, _, tasks, _):
            return tasks.remove(task_id)

    def clear(self) -> None:
        """Erase the whole working memory of the session: tasks, context across tasks, observations."""
        with self._changing() as (_, _, tasks, _):
            tasks.tasks, tasks.current, tasks.shared, tasks.observations = {}, None, {}, ()

    # ------------------------------------------------------------------ looking

    @property
    def current(self) -> Task | None:
        """The task being worked on, finished ones included until another begins; None where there is none."""
        tasks = self._tasks()
        return None if tasks.current is None else tasks.at_hand()

    @property
    def stack(self) -> Listed:
        """The root task, its subtask and so on; the current one last."""
        return self._tasks().stack()

    @property
    def shared(self) -> dict[str, Any]:
        """The context across tasks, as `set(..., shared=True)` made it."""
        return self._tasks().shared

    @property
    def observations(self) -> list[Observation]:
        """The newest observations of the environment, oldest first."""
        return list(self._tasks().observations)

    def tasks(self, status: str | None = None) -> Listed:
        """All tasks of the session in the order they came, or those of one status."""
        wanted = None if status is None else _status(status)
        return [task for task in self._tasks().tasks.values() if wanted is None or task.status is wanted]

    def task(self, task_id: str) -> Task | None:
        """The task with this id; None if there is none."""
        return self._tasks().tasks.get(task_id)

    def instruction(self, task_id: str | None = None) -> Message | None:
        """The message that caused a task (the current one by default); None where it is not stored any more."""
        with self._engine.store.look() as tx:
            row = self._session._row(tx)
            if row is None:
                return None
            tasks = _read(tx, row[1])
            task = tasks.at_hand() if task_id is None else tasks.named(task_id)
            if task.instruction is None:
                return None
            found = tx.rows("message_of_session", {"session": row[1], "id": task.instruction})
            return rows.message(found[0]) if found else None

    def text(self, max_tokens: int | None = None, language: str | None = None) -> str:
        """The current task as it goes into a prompt; empty where nothing is under way.

        What it is, its goal, constraints, deadline and plan, the last 5 steps, results, variables, the
        context across tasks, observations, and what was set aside; within `max_tokens` the last of
        these go first. `language` is "en" or "zh", by default that of the conversation.
        """
        engine = self._engine
        if language not in (None, "en", "zh"):
            raise InvalidInput(f"language is 'en' or 'zh', not {language!r}")
        if max_tokens is not None and (
            isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0
        ):
            raise InvalidInput(f"max_tokens is a whole number from 0, not {max_tokens!r}")
        with engine.store.look() as tx:
            row = self._session._row(tx)
            if row is None:
                return ""
            return shown(engine, tx, row[1], language or self._tongue(tx, row[1]), max_tokens)

    def _tongue(self, tx: Transaction, session: int) -> str:
        """The language of the newest messages; without any, of the task."""
        talk = [rows.message(row) for row in tx.rows("last_messages", {"session": session, "last": _TALK})]
        task = "" if talk else " ".join(task.description for task in _read(tx, session).stack())
        return language_of(task, talk)

    # ------------------------------------------------------------------ keeping

    @property
    def _engine(self) -> Engine:
        return self._session._scope._live()

    def _tasks(self) -> Tasks:
        with self._engine.store.look() as tx:
            row = self._session._row(tx)
            return Tasks() if row is None else _read(tx, row[1])

    @contextmanager
    def _changing(self) -> Iterator[tuple[Transaction, int, Tasks, datetime]]:
        """The working memory to be changed, and written back unless something raises."""
        engine = self._engine
        now = engine.now()
        scope = self._session._scope
        with engine.store.write() as tx:
            number = scopes.ensure_scope(tx, scope.user, scope.agent, now)
            session = scopes.ensure_session(tx, number, self._session.id, now)
            tasks = _read(tx, session)
            yield tx, session, tasks, instant(now)
            tx.run("set_session_state", {"session": session, "state": dump(tasks.written())})
            vault.keep(tx, number, self._intake.taken(), now)

    def _texts(self, values: Iterable[str], what: str) -> tuple[str, ...]:
        if isinstance(values, str):
            raise InvalidType(f"{what} is a list of texts, not one text")
        return tuple(self._intake.text(value) for value in values)

    def _json(self, value: Any) -> Any:
        settings = self._engine.settings
        kept = redacted(plain(value, "value", settings.limits.metadata_depth), self._intake.redactor)
        most = settings.limits.metadata_bytes
        if len(dump(kept)) > most:
            raise LimitExceeded(f"a value of {len(dump(kept))} bytes; limits.metadata_bytes is {most}")
        return kept

    def _told(self, value: Any) -> str:
        """A result as a text: itself, or its JSON."""
        if isinstance(value, str):
            return self._intake.text(value, blank=True)
        if value is None:
            return ""
        told = value.text if isinstance(value, Message) else json.dumps(self._json(value), ensure_ascii=False)
        return self._intake.text(told, blank=True)

    async def acurrent(self) -> Task | None:
        """Async twin of `current`."""
        tasks = await self._atasks()
        return None if tasks.current is None else tasks.at_hand()

    async def astack(self) -> Listed:
        """Async twin of `stack`."""
        return (await self._atasks()).stack()

    async def ashared(self) -> dict[str, Any]:
        """Async twin of `shared`."""
        return (await self._atasks()).shared

    async def aobservations(self) -> list[Observation]:
        """Async twin of `observations`."""
        return list((await self._atasks()).observations)

    _atasks = threaded(_tasks)

    astart = threaded(start)
    apush = threaded(push)
    aqueue = threaded(queue)
    astep = threaded(step)
    aset = threaded(set)
    aget = threaded(get)
    aunset = threaded(unset)
    aadd_result = threaded(add_result)
    aplan = threaded(plan)
    aadvance = threaded(advance)
    aamend = threaded(amend)
    aobserve = threaded(observe)
    acomplete = threaded(complete)
    afail = threaded(fail)
    apop = threaded(pop)
    apause = threaded(pause)
    aresume = threaded(resume)
    aremove = threaded(remove)
    aclear = threaded(clear)
    atasks = threaded(tasks)
    atask = threaded(task)
    ainstruction = threaded(instruction)
    atext = threaded(text)


def shown(engine: Engine, tx: Transaction, session: int, tongue: str, max_tokens: int | None = None) -> str:
    """The current task of a session as text, out of an open transaction; empty where there is none.

    `session` is the number of the session's row (`Session._row(tx)[1]`), `tongue` "en" or "zh". Within
    `max_tokens` the least important entries are left out; at 0 the text is empty. The text is what
    users and tools said: a context has to fence it as data.
    """
    working = engine.settings.working
    amounts = Shown(working.steps, working.result_chars, working.observations_shown, working.aside)
    text = task_text.text(_read(tx, session), tongue, instant(engine.now()), amounts)
    return text if max_tokens is None else task_text.within(text, max_tokens, engine.count)


def _read(tx: Transaction, session: int) -> Tasks:
    found = tx.rows("session_state", {"session": session})
    state = load(found[0][0]) if found else None
    return Tasks.read(state if isinstance(state, Mapping) else None)


def _when(value: datetime | timedelta | None, now: datetime) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, timedelta):
        try:
            return now + value
        except OverflowError as error:
            raise InvalidInput("the deadline lies after the year 9999; leave it out") from error
    return aware(value, "deadline")


def _status(value: str) -> TaskStatus:
    try:
        return TaskStatus(value)
    except ValueError as error:
        raise InvalidInput(f"unknown status {value!r}; the statuses are {', '.join(TaskStatus)}") from error
