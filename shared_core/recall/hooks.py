"""What a user hands in to help recall (C3): a query expansion and a reranker, called within bounds.

A hook may be a plain callable, an `async def`, or an object with `acall` beside its call (as those of
`as_llm` and `as_reranker`). It helps or it is left out: one that raises, takes longer than
`hook_seconds` or answers with nonsense costs a warning, and the search goes on without it.
"""

from __future__ import annotations

import contextvars
import inspect
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from shared_core.errors import TwinmemError
from shared_core.recall.arrays import NDArray
from shared_core.recall.score import same_text
from shared_core.recall.text import has_words
from shared_core.steps import Call, Steps
from shared_core.values import Record

_LOG: Final = logging.getLogger("twinmem.recall")
_LATE: Final = "no answer within {:g} s"


class HookFailed(TwinmemError, ValueError):
    """A hook's answer has not the form that its setting describes."""


def ask(hook: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Call:
    """The call of a hook in its sync and async forms, neither of which waits longer than `seconds`."""
    given = getattr(hook, "acall", None)
    if given is None and (inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(type(hook).__call__)):
        given = hook

    def sync(values: tuple[Any, ...]) -> Any:
        return _in_thread(lambda: hook(*values), seconds)

    async def twin(values: tuple[Any, ...]) -> Any:
        import asyncio

        assert given is not None
        try:
            return await asyncio.wait_for(given(*values), seconds)
        except TimeoutError as error:
            raise TimeoutError(str(error) or _LATE.format(seconds)) from None

    return Call(sync, arguments, twin if given is not None else None)


def _in_thread(work: Callable[[], Any], seconds: float) -> Any:
    """What `work` gives, or `TimeoutError`; a thread can't be stopped, so a late one is left to itself."""
    done: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
    around = contextvars.copy_context()  # tracing of frameworks hangs on context variables

    def run() -> None:
        try:
            done.put((True, around.run(_finished, work)))
        except BaseException as error:  # noqa: BLE001  raised again where it is waited for
            done.put((False, error))

    threading.Thread(target=run, name="twinmem-hook", daemon=True).start()
    try:
        fine, value = done.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(_LATE.format(seconds)) from None
    if not fine:
        raise value
    return value


def _finished(work: Callable[[], Any]) -> Any:
    value = work()
    return value if not inspect.isawaitable(value) else _awaited(value)


def _awaited(value: Awaitable[Any]) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


@dataclass(frozen=True, slots=True)
class Order:
    """The places of texts, best first, and the score of each text where there are scores."""

    places: list[int]
    scores: list[float] | None = None


def expanded(
    hook: Callable[..., Any], argument: str, read: Callable[[Any], Sequence[str]], seconds: float
) -> Steps[Sequence[str]]:
    """The further questions a hook has for `argument`; none, with a warning, if it fails."""
    try:
        return read((yield ask(hook, (argument,), seconds)))
    except Exception as error:  # noqa: BLE001  whatever a hook does, the question itself is answered
        _LOG.warning("query expansion failed, searching without it: %s: %s", type(error).__name__, error)
        return []


def reranked(hook: Callable[..., Any], query: str, texts: list[str], seconds: float) -> Steps[Order | None]:
    """The order a reranker gives texts; None, with a warning, if it fails."""
    try:
        return order_of((yield ask(hook, (query, list(texts)), seconds)), len(texts))
    except Exception as error:  # noqa: BLE001  whatever a hook does, the plain order stands
        _LOG.warning("the reranker failed, the plain order stands: %s: %s", type(error).__name__, error)
        return None


def told(record: Record) -> str:
    """What a reranker reads of a record: its text, after the name of who said it, as "I" alone means nobody."""
    return f"{record.name}: {record.text}" if record.name else record.text


# ---------------------------------------------------------------------- what they answer


def queries_of(answer: Any, asked: str, most: int, longest: int = 400_000) -> list[str]:
    """The further questions in a hook's answer: each once, without the one asked and without blanks.

    Raises `HookFailed` for what is neither a text nor a list of texts of at most `longest` characters.

    >>> queries_of(["green tea", "GREEN TEA", "tea?", " "], "Tea?", 3)
    ['green tea']
    """
    texts = [answer] if isinstance(answer, str) else answer
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise HookFailed(f"an expansion gives a list of texts, not {_shown(answer)}")
    if any(len(text) > longest for text in texts):
        raise HookFailed(f"an expansion gives texts of at most {longest} characters (limits.query_chars)")
    found: list[str] = []
    for text in texts:
        if has_words(text) and not any(same_text(text, other) for other in (asked, *found)):
            found.append(text)
    return found[:most]


def order_of(answer: Any, count: int) -> Order:
    """The order in a reranker's answer: scores, the highest first and equals as they were, or the places themselves.

    Whole numbers that name every place once are places; anything else is scores. Raises `HookFailed`
    for another number of them than texts, for NaN and infinity, and for what is no number.

    >>> order_of([0.1, 0.9, 0.1], 3).places, order_of([2, 0, 1], 3).places
    ([1, 0, 2], [2, 0, 1])
    """
    values = _numbers(answer)
    if values.shape != (count,):
        raise HookFailed(f"{count} texts were given, and {values.size} scores came back")
    if values.dtype.kind in "iu" and sorted(values.tolist()) == list(range(count)):
        return Order(values.tolist())
    scores = values.astype(np.float64)
    if not np.isfinite(scores).all():
        raise HookFailed("a score is NaN or infinite")
    return Order(np.argsort(-scores, kind="stable").tolist(), scores.tolist())


def _numbers(answer: Any) -> NDArray[Any]:
    try:
        values = np.asarray(answer)
    except Exception as error:
        raise HookFailed(f"a reranker gives a score a text, not {_shown(answer)}") from error
    if values.ndim == 2 and values.shape[1] == 1:  # as cross-encoders with one output give them
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise HookFailed(f"a reranker gives a score a text, not {_shown(answer)}")
    return values


def _shown(answer: Any) -> str:
    return f"{type(answer).__name__} {str(answer)[:60]!r}"
