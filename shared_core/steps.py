"""One logic for sync and async.

A verb that needs an embedder or an LLM is a generator: it yields `Call`s and is sent their
results. `run` drives it in the calling thread; `arun` drives it from an event loop, running the
generator's own work in a worker thread (SQLite and FAISS would block the loop) and awaiting the
async form of a call where there is one. A generator never yields inside a transaction, so no
model is ever waited for while the database is locked.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a model: the sync function, its argument, and the async form if there is one."""

    function: Callable[[Any], Any]
    argument: Any
    coroutine: Callable[[Any], Awaitable[Any]] | None = None


Steps = Generator[Call, Any, R]


def run(steps: Steps[R]) -> R:
    """Drive `steps` to its end in this thread."""
    try:
        call = next(steps)
        while True:
            try:
                result = call.function(call.argument)
            except BaseException as error:  # noqa: BLE001  the generator decides, and raises it again if it does not
                call = steps.throw(error)
            else:
                call = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def arun(steps: Steps[R]) -> R:
    """Drive `steps` to its end from an event loop, without ever blocking it."""

    import asyncio  # loads in 40 ms, which only async callers should pay

    def advance(act: Callable[[Any], Call], value: Any) -> tuple[bool, Any]:
        # StopIteration can't cross a future, so the end is told apart by a flag.
        try:
            return False, act(value)
        except StopIteration as stop:
            return True, stop.value

    done, call = await asyncio.to_thread(advance, steps.send, None)
    while not done:
        try:
            if call.coroutine is not None:
                result = await call.coroutine(call.argument)
            else:
                result = await asyncio.to_thread(call.function, call.argument)
        except Exception as error:  # noqa: BLE001  the same; cancellation is let through
            done, call = await asyncio.to_thread(advance, steps.throw, error)
        except BaseException:
            steps.close()  # cancelled while it waits: it ends now, not when it is collected
            raise
        else:
            done, call = await asyncio.to_thread(advance, steps.send, result)
    return call  # type: ignore[no-any-return]


def _named(twin: Callable[..., Any], verb: Callable[..., Any], name: str, what: Any) -> None:
    functools.update_wrapper(twin, verb)
    twin.__name__ = name
    twin.__qualname__ = verb.__qualname__.replace(verb.__name__, name)
    twin.__annotations__ = {**verb.__annotations__, "return": what}
    # What `inspect.signature` reads: the verb's parameters with what the twin returns. Making the
    # signature itself here would cost every import a tenth of a second.
    assert isinstance(verb, FunctionType)
    shown = FunctionType(verb.__code__, verb.__globals__, name, verb.__defaults__, verb.__closure__)
    shown.__kwdefaults__, shown.__annotations__ = verb.__kwdefaults__, twin.__annotations__
    twin.__wrapped__ = shown  # type: ignore[attr-defined]


def both(
    verb: Callable[Concatenate[S, P], Steps[R]], *, taken: Callable[[Steps[R]], Steps[R]] | None = None
) -> tuple[Callable[Concatenate[S, P], R], Callable[Concatenate[S, P], Coroutine[Any, Any, R]]]:
    """The sync verb and its async twin out of one generator method `_name`; `taken` says in what way its steps are."""

    def steps(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Steps[R]:
        found = verb(self, *args, **kwargs)
        return found if taken is None else taken(found)

    def sync(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return run(steps(self, *args, **kwargs))

    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await arun(steps(self, *args, **kwargs))

    name = verb.__name__.lstrip("_")
    what = str(verb.__annotations__.get("return", "")).removeprefix("Steps[").removesuffix("]")
    _named(sync, verb, name, what)
    _named(twin, verb, "a" + name, what)
    twin.__doc__ = f"Async twin of `{name}`."
    return sync, twin


def threaded(
    verb: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """The async twin of a verb that needs no model: the same verb in a worker thread."""

    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio

        return await asyncio.to_thread(verb, self, *args, **kwargs)

    _named(twin, verb, "a" + verb.__name__, verb.__annotations__.get("return", ""))
    twin.__doc__ = f"Async twin of `{verb.__name__}`."
    return twin
