"""The background writer (D8): `add`, `add_many` and `add_messages` return at once, and a thread writes.

Opt-in, by `settings.background.on` or `with memory.background():`. What is queued is checked at
once (bad input raises where it is given) and written by the very same verbs, in the order in which
it came, what waits together embedded together. It counts as written only when `flush()` or `close()`
has returned. Every other verb of a scope first waits for what is queued of that scope, so a reader
sees what it wrote, and all writes keep their order.

What can't be written (the model is down, the disk is full) stops the queue of its scope and stays
in it: `flush()` tries once more, then raises `QueuedWriteFailed`, which tells what waits and why.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Self

from shared_core.errors import QueuedWriteFailed
from shared_core.settings import Background
from shared_core.steps import Steps, run
from shared_core.store.rows import Draft, draft_copy
from shared_core.values import FailedWrite, Record

if TYPE_CHECKING:
    from shared_core.memory import AgentMemory

Key = tuple[str, str]  # a user and an agent
Write = Callable[[Sequence[Draft], int], Steps[list[Record]]]
_IDLE = 1.0  # seconds a thread waits for more before it ends
_PATIENCE = 10.0  # seconds a fork waits for the write that is under way


@dataclass(frozen=True, slots=True)
class Job:
    """Drafts of one call, when it was made, and the verb that writes them."""

    key: Key
    session: str | None
    verb: str
    drafts: tuple[Draft, ...]
    write: Write
    now: int
    alone: bool = False  # not to be written together with others

    def failed(self, error: BaseException | None) -> FailedWrite:
        """What is told of it."""
        texts = tuple(item.text for item in self.drafts)
        ids = tuple(item.id or item.wish or "" for item in self.drafts)
        why = "" if error is None else f"{type(error).__name__}: {error}"
        return FailedWrite(
            user=self.key[0], agent=self.key[1], session=self.session, verb=self.verb, ids=ids, texts=texts, error=why
        )


class Queue:
    """The writes of one open database that wait, a queue for each scope, and the thread that writes them."""

    def __init__(self, settings: Background) -> None:
        self._settings = settings
        self._on = int(settings.on)
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition(threading.Lock())
        self._running = threading.Lock()  # held while a write is under way
        self._waiting: OrderedDict[Key, deque[Job]] = OrderedDict()
        self._failed: dict[Key, BaseException] = {}
        self._records = 0
        self._thread: threading.Thread | None = None
        self._ending = False

    def _here(self) -> None:
        if self._pid != os.getpid():  # a fork: what waits is the parent's to write, and so are its locks
            self._reset()

    def switch(self, on: int) -> None:
        """Turn queueing on (1) or off (-1); it is on while anybody wants it."""
        self._on = max(0, self._on + on)

    @property
    def records(self) -> int:
        """How many records wait."""
        self._here()
        return self._records

    def takes(self) -> bool:
        """Whether a write of this thread is to be queued."""
        self._here()
        return self._on > 0 and not self._ending and threading.current_thread() is not self._thread

    # ------------------------------------------------------------------ in

    def put(self, job: Job) -> None:
        """Queue a write; waits while the queue is full, unless nothing moves in it."""
        self._here()
        with self._changed:
            self._changed.wait_for(lambda: self._records < self._settings.queued or not self._moves())
            self._waiting.setdefault(job.key, deque()).append(job)
            self._records += len(job.drafts)
            self._begin()
            self._changed.notify_all()

    def _begin(self) -> None:
        if self._thread is None:
            _watch()
            _queues.add(self)
            self._thread = threading.Thread(target=self._work, name="twinmem-writer", daemon=True)
            self._thread.start()

    # ------------------------------------------------------------------ waiting

    def _moves(self) -> bool:
        return any(key not in self._failed for key in self._waiting)

    def wait(self, key: Key | None = None) -> None:
        """Wait until what is queued of a scope (of all) is written, or has failed."""
        if not self._waiting:
            return
        self._here()
        if threading.current_thread() is self._thread:
            return
        with self._changed:
            if key is None:
                self._changed.wait_for(lambda: not self._moves())
            else:
                self._changed.wait_for(lambda: key not in self._waiting or key in self._failed)

    def drain(self) -> None:
        """Write all that waits, what has failed before included; raises `QueuedWriteFailed` for what fails again."""
        self._here()
        if not self._waiting or threading.current_thread() is self._thread:
            return
        with self._changed:
            self._failed.clear()
            self._begin()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._moves())
            if not self._waiting:
                return
            errors = dict(self._failed)
            left = tuple(
                job.failed(errors.get(key) if place == 0 else None)
                for key, jobs in self._waiting.items()
                for place, job in enumerate(jobs)
            )
        first = next(iter(errors.values()))
        raise QueuedWriteFailed(left) from first

    def drop_failed(self) -> tuple[FailedWrite, ...]:
        """Give up the write that stopped each scope; what waits behind it goes on."""
        self._here()
        with self._changed:
            dropped = []
            for key, error in self._failed.items():
                job = self._waiting[key][0]
                self._took(key, 1)
                dropped.append(job.failed(error))
            self._failed.clear()
            if self._waiting:
                self._begin()
            self._changed.notify_all()
        return tuple(dropped)

    def end(self) -> None:
        """Write what waits and let the thread end; raises what `drain` raises, and then nothing waits any more."""
        try:
            self.drain()
        finally:
            with self._changed:
                self._ending = True
                self._waiting.clear()
                self._records = 0
                thread = self._thread
                self._changed.notify_all()
            if thread is not None and thread is not threading.current_thread():
                thread.join()

    # ------------------------------------------------------------------ the thread

    def _took(self, key: Key, jobs: int) -> None:
        queue = self._waiting.get(key)
        for _ in range(jobs if queue else 0):
            assert queue is not None
            self._records -= len(queue.popleft().drafts)
        if not queue:
            self._waiting.pop(key, None)
        else:
            self._waiting.move_to_end(key)  # the next scope's turn

    def _next(self) -> list[Job]:
        """Writes of one kind to one place that came one after the other, as many as one batch holds."""
        for key, jobs in self._waiting.items():
            if key in self._failed:
                continue
            found: list[Job] = []
            size = 0
            for job in jobs:
                size += len(job.drafts)
                if found and (size > self._settings.batch or not _together(found[0], job)):
                    break
                found.append(job)
            return found
        return []

    def _work(self) -> None:
        while True:
            with self._changed:
                deadline = time.monotonic() + _IDLE
                while not (jobs := self._next()) and not self._ending and time.monotonic() < deadline:
                    self._changed.wait(_IDLE)
                if not jobs:
                    self._thread = None
                    return
            with self._running:
                self._write(jobs)

    def _write(self, jobs: list[Job]) -> None:
        key = jobs[0].key
        for part in _parts(jobs):
            # Copies: a write that fails leaves ids on drafts that were never stored.
            drafts = [draft_copy(item) for job in part for item in job.drafts]
            try:
                run(part[-1].write(drafts, part[-1].now))
            except Exception as error:  # noqa: BLE001  whatever it is, the caller is told by flush
                if part is not jobs or len(jobs) == 1:
                    with self._changed:
                        self._failed[key] = error
                        self._changed.notify_all()
                    return
                continue  # one by one, to see which it is
            with self._changed:
                self._took(key, len(part))
                self._changed.notify_all()
            if part is jobs:
                return


def _together(one: Job, other: Job) -> bool:
    return (one.session, one.verb) == (other.session, other.verb) and not one.alone and not other.alone


def _parts(jobs: list[Job]) -> Iterator[list[Job]]:
    yield jobs
    if len(jobs) > 1:
        yield from ([job] for job in jobs)


class Backgrounding:
    """What `memory.background()` gives: a block whose writes are queued, and written when it ends."""

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    def __call__(self) -> Self:
        return self

    def __enter__(self) -> AgentMemory:
        self._memory._live().queue.switch(1)
        return self._memory

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        queue = self._memory._engine.queue
        queue.switch(-1)
        try:
            queue.drain()
        except QueuedWriteFailed as failed:
            if error is None:
                raise
            error.add_note(str(failed))

    async def __aenter__(self) -> AgentMemory:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        await asyncio.to_thread(self.__exit__, kind, error, trace)


# ---------------------------------------------------------------------- forks, and the end of the process

_queues: weakref.WeakSet[Queue] = weakref.WeakSet()


@cache
def _watch() -> None:
    """Let forks wait for a write that is under way, and write what waits when the process ends; asked for once."""
    held: list[threading.Lock] = []

    def before() -> None:
        for queue in list(_queues):
            if threading.current_thread() is not queue._thread and queue._running.acquire(timeout=_PATIENCE):
                held.append(queue._running)

    def after() -> None:
        while held:
            held.pop().release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=held.clear)
    atexit.register(_at_exit)


def _at_exit() -> None:
    # Nobody closed it: what can be written is, and what can't has nobody left to tell.
    for queue in list(_queues):
        if queue._pid == os.getpid():
            queue.wait()
