"""One logic for sync and async: what a generator of requests gives, raises and survives in both runners."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from shared_core.steps import Call, Steps, arun, both, run, threaded


def double(value: int) -> int:
    return 2 * value


def fails(value: Any) -> Any:
    raise ConnectionError(f"no answer to {value}")


async def adouble(value: int) -> int:
    await asyncio.sleep(0)
    return 2 * value


def steps(*calls: Call) -> Steps[list[Any]]:
    found = []
    for call in calls:
        found.append((yield call))
    return found


def driven(make: Callable[[], Steps[Any]]) -> list[Any]:
    """What both runners make of the same steps: a value or an exception."""

    def outcome(drive: Callable[[], Any]) -> Any:
        try:
            return drive()
        except Exception as error:
            return type(error), str(error)

    return [outcome(lambda: run(make())), outcome(lambda: asyncio.run(arun(make())))]


def test_both_runners_give_the_same() -> None:
    assert driven(lambda: steps()) == [[], []]
    assert driven(lambda: steps(Call(double, 1), Call(double, 2, adouble))) == [[2, 4]] * 2


def test_the_async_form_is_awaited_where_there_is_one() -> None:
    def never(value: Any) -> Any:
        raise AssertionError("the sync form was called")

    assert asyncio.run(arun(steps(Call(never, 2, adouble)))) == [4]
    assert run(steps(Call(double, 2, fails))) == [4]


def test_what_a_model_raises_is_raised_where_it_was_asked() -> None:
    assert driven(lambda: steps(Call(double, 1), Call(fails, 2))) == [(ConnectionError, "no answer to 2")] * 2

    def recovers() -> Steps[Any]:
        with suppress(ConnectionError):
            yield Call(fails, 1)
        return (yield Call(double, 5))

    assert driven(recovers) == [10, 10]

    def translates() -> Steps[Any]:
        try:
            yield Call(fails, 1)
        except ConnectionError as error:
            raise LookupError("no model") from error

    assert driven(translates) == [(LookupError, "no model")] * 2

    def gives_up() -> Steps[Any]:
        try:
            yield Call(fails, 1)
        except ConnectionError:
            return "nothing"

    assert driven(gives_up) == ["nothing", "nothing"]


def test_steps_that_fail_on_their_own_fail_in_both() -> None:
    def broken() -> Steps[Any]:
        yield Call(double, 1)
        raise ValueError("mine")

    assert driven(broken) == [(ValueError, "mine")] * 2


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_through_and_the_steps_can_tidy_up(failure: type[BaseException]) -> None:
    tidied = []

    def interrupted(value: Any) -> Any:
        raise failure

    def careful() -> Steps[Any]:
        try:
            yield Call(interrupted, 1)
        finally:
            tidied.append(1)

    with pytest.raises(failure):
        run(careful())
    assert tidied == [1]


async def test_a_cancelled_wait_is_cancelled_and_the_steps_tidy_up() -> None:
    tidied = threading.Event()
    waiting = asyncio.Event()

    async def hangs(value: Any) -> Any:
        waiting.set()
        await asyncio.sleep(60)

    def careful() -> Steps[Any]:
        try:
            yield Call(double, 1, hangs)
        finally:
            tidied.set()

    task = asyncio.create_task(arun(careful()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    import gc

    gc.collect()
    assert tidied.is_set()


async def test_the_loop_is_never_blocked_by_what_is_sync() -> None:
    threads = set()

    def slow(value: Any) -> Any:
        threads.add(threading.get_ident())
        return value

    def working() -> Steps[Any]:
        threads.add(threading.get_ident())
        found = yield Call(slow, 1)
        threads.add(threading.get_ident())
        return found

    assert await arun(working()) == 1
    assert threading.get_ident() not in threads


class Verbs:
    """A class as `Scope` is made."""

    def _ask(self, question: str, *, times: int = 1) -> Steps[str]:
        """Ask a question."""
        return (yield Call(lambda text: text * times, question))

    ask, aask = both(_ask)

    def look(self, place: str = "here") -> str:
        """Look somewhere."""
        return f"{place} in {threading.get_ident()}"

    alook = threaded(look)


async def test_twins_carry_the_name_the_signature_and_the_docs_of_their_verb() -> None:
    verbs = Verbs()
    assert verbs.ask("no", times=2) == await verbs.aask("no", times=2) == "nono"
    assert Verbs.ask.__doc__ == "Ask a question."
    assert (Verbs.ask.__name__, Verbs.aask.__name__, Verbs.alook.__name__) == ("ask", "aask", "alook")
    assert Verbs.aask.__doc__ == "Async twin of `ask`."
    for sync, twin in ((Verbs.ask, Verbs.aask), (Verbs.look, Verbs.alook)):
        assert inspect.iscoroutinefunction(twin)
        assert not inspect.iscoroutinefunction(sync)
        assert list(inspect.signature(sync).parameters.values()) == list(inspect.signature(twin).parameters.values())
    assert await verbs.alook("there") != verbs.look("there")  # another thread
    with pytest.raises(TypeError):
        verbs.ask("no", colour=1)
