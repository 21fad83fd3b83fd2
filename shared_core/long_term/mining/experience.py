"""From rows to runs, and from patterns to rows: the mining of procedures against the database (B7)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from shared_core.long_term.mining import by_llm as mining_llm
from shared_core.long_term.mining.counting import Pattern, patterns
from shared_core.long_term.mining.runs import Action, Moment, Run, runs
from shared_core.long_term.procedure import Procedure, alike
from shared_core.ports import Transaction
from shared_core.recall.text import terms
from shared_core.settings import Procedures as Settings
from shared_core.short_term.tasks import Tasks, TaskStatus
from shared_core.steps import Steps
from shared_core.store.rows import load, micros
from shared_core.writing.tool_calls import failed

if TYPE_CHECKING:
    from shared_core.engine import Engine

MINED: Final = "mined"
_LOG = logging.getLogger("twinmem.procedures")
_DONE: Final = frozenset({"tool_call", "step", "code_change"})
Timed = tuple[int, int, Moment]


def found(tx: Transaction, scope: int, settings: Settings) -> list[Run]:
    """The runs of the newest sessions, the oldest first: out of turns, events told directly, and tasks."""
    sessions = tx.rows("newest_sessions", {"scope": scope, "limit": settings.sessions})[::-1]
    given = {"scope": scope, "sessions": str([row[0] for row in sessions])}
    judged = {row[0]: _verdict(load(row[1])) for row in tx.rows("feedback_by_turn", {"scope": scope})}
    moments: dict[int | None, list[Timed]] = {None: [], **{row[0]: [] for row in sessions}}
    turns = tx.rows("turns_to_mine", given)
    clock: dict[int, int] = {}
    for row in turns:
        clock[row[1]] = max(clock.get(row[1], row[5]), row[5])  # turns stand in their order, whatever their times say
        moments[row[1]] += [(clock[row[1]], row[0], moment) for moment in _of_turn(row, judged)]
    for seq, session, type_, text, metadata, at in tx.rows("events_to_mine", given):
        if moment := _of_event(seq, type_, text, load(metadata) or {}):
            moments[session].append((at, seq, moment))
    made = []
    for each in moments.values():
        made += runs(moment for _, _, moment in sorted(each, key=lambda timed: timed[:2]))
    for number, _, state in sessions:
        if state is not None:
            made += _of_tasks(load(state), [row for row in turns if row[1] == number])
    return made


def _of_turn(row: tuple[Any, ...], judged: Mapping[int, bool]) -> Iterator[Moment]:
    seq, _, role, text, body = row[:5]
    if role == "user":
        yield Moment("judged", success=judged[seq]) if seq in judged else Moment("asked", text, seq)
        return
    kept = load(body) or {}
    for call in kept.get("tool_calls") or () if role == "assistant" else ():
        if isinstance(call, Mapping) and call.get("name"):
            args = call.get("args")
            yield Moment("did", str(call["name"]), args=args if isinstance(args, Mapping) else {})
    if role == "tool":
        yield Moment("went", text, success=not failed(text, kept.get("payload")))


def _of_event(seq: int, type_: str, text: str, details: Mapping[str, Any]) -> Moment | None:
    success = details.get("success")
    if type_ == "task_start":
        return Moment("began", text, seq)
    if type_ == "task_complete":
        return Moment("ended", text, success=success is not False)
    if type_ == "user_feedback":
        return Moment("judged", text, success=_verdict(details))
    if type_ == "error":
        return Moment("went", text, success=False)
    if type_ not in _DONE:
        return None
    tool = details.get("tool")
    if isinstance(tool, str) and tool:
        args = details.get("args")
        return Moment("did", tool, success=success, args=args if isinstance(args, Mapping) else {})
    return Moment("did", text, success=success)


def _verdict(details: Mapping[str, Any] | None) -> bool:
    return (details or {}).get("success") is not False


def _of_tasks(state: Any, turns: Sequence[tuple[Any, ...]]) -> Iterator[Run]:
    """The finished tasks of a session, each known from the message that caused it, or one before it."""
    if not isinstance(state, Mapping) or not turns:
        return  # without a turn nothing could take the run along when it is erased
    for task in Tasks.read(state).tasks.values():
        if not task.steps or not task.status.finished:
            continue
        earlier = [row for row in turns if row[5] <= micros(task.created_at)]
        cause = next((row for row in turns if task.instruction and row[6] == task.instruction), None)
        source = cause or (earlier[-1] if earlier else turns[0])
        actions: list[Action] = []
        for step in task.steps:
            action = Action(step.action)
            if not actions or actions[-1].key != action.key:
                actions.append(action)
        success = task.status is TaskStatus.COMPLETED
        yield Run(task.description, tuple(actions), success, int(source[0]), "" if success else task.error or "")


def recurring(engine: Engine, told: Sequence[Run]) -> Steps[list[Pattern]]:
    """The patterns of runs: as an LLM sees them where there is one, and as counting does."""
    settings = engine.settings.procedures
    counted = patterns(told, support=settings.support, share=settings.alike, works=settings.works)
    if engine.llm is None or not settings.llm or len(told) < settings.support:
        return counted
    asked = list(told)[-settings.asked :]
    try:
        answer = yield from engine.ask(mining_llm.prompt(asked, settings.support))
        seen = mining_llm.parse(str(answer), asked, support=settings.support, works=settings.works)
    except mining_llm.UnreadableProcedures as error:
        _LOG.warning("the answer about procedures could not be read, patterns are counted: %s", error)
        return counted
    except Exception:  # noqa: BLE001  a model that is down takes nothing from what counting finds
        _LOG.warning("the LLM failed on procedures, patterns are counted", exc_info=True)
        return counted
    return seen + [each for each in counted if not any(_overlap(each.sources, one.sources) for one in seen)]


def same_pattern(pattern: Pattern, known: Procedure, sources: Sequence[int], share: float) -> bool:
    """Whether a pattern is a procedure that was mined before: of the same actions and a like situation, or the same runs."""
    if known.record.metadata.get("pattern") != pattern.key:
        return False
    if _overlap(pattern.sources, sources):
        return True
    return pattern.key != "llm" and alike(terms(pattern.situation), terms(known.situation)) >= share


def _overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two sets of runs share at least half of the smaller."""
    shared = len(set(one) & set(other))
    return shared * 2 >= min(len(one), len(other)) and shared > 0
