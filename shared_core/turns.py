"""Threads that compute take turns, so that eight of them answer about as much as one and not half of it.

Python runs one thread at a time. A search gives the interpreter up at every call into SQLite and FAISS, and
with eight threads it goes to another each time: measured, eight threads asking eight scopes gave half the
answers a second that one gives. Only the computing takes turns; whoever waits for a model, or has waited
`_PATIENCE`, goes ahead.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from shared_core.steps import Steps

R = TypeVar("R")

_PATIENCE = 0.5  # seconds: more than eight searches of 100,000 records take; nothing that waits on us is ever stuck


class _Turn:
    """The turn of one thread of this process; a semaphore, since that gives it to whoever has waited longest."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._renew()

    def _renew(self) -> None:
        self._pid, self._free = os.getpid(), threading.Semaphore()
        self._number, self._late = 0, -1  # of the turn that is taken, and of one that somebody waited for in vain

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            self._renew()  # a fork: whoever had the turn is not here
        held: list[threading.Semaphore | None] = self._mine.__dict__.setdefault("held", [])
        held.append(None if any(held) else self._taken())

    def _taken(self) -> threading.Semaphore | None:
        number = self._number
        if not self._free.acquire(timeout=0 if self._late == number else _PATIENCE):
            if self._number == number:  # a scope of a million is being loaded: nobody else waits for that
                self._late = number
            return None
        self._number += 1
        return self._free

    def __exit__(self, *_: object) -> None:
        taken = self._mine.held.pop()
        if taken is not None:
            taken.release()


_TURN = _Turn()


def in_turn(steps: Steps[R]) -> Steps[R]:
    """The same steps, computed in turn with those of other threads; what they ask of models is asked outside of it."""
    act, value = steps.send, None
    while True:
        with _TURN:
            try:
                call = act(value)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
        try:
            act, value = steps.send, (yield call)
        except GeneratorExit:  # cancelled: by an event loop, which must not wait for anybody
            steps.close()
            raise
        except BaseException as error:  # noqa: BLE001  the steps decide
            act, value = steps.throw, error
