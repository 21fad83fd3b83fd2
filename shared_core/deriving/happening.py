"""From turns to events: what a message tells has happened is stored beside it, and feedback strengthens memories (D1).

Written in the transaction of the turn, linked to it, gone with it. Rules read it, with an LLM or without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared_core.engine import Engine
from shared_core.long_term.room import make_room
from shared_core.ports import Transaction
from shared_core.store import audit, ledger, scopes, tombstones
from shared_core.store.rows import Draft, dump, load
from shared_core.values import Kind, Message
from shared_core.writing.facts import RULES, own_words, told_at
from shared_core.writing.intake import Intake, cut

FEEDBACK = "user_feedback"


@dataclass(frozen=True, slots=True)
class _Weights:
    """The importance of each weight an event can have."""

    key: float
    step: float
    plain: float
    feedback: float


def reads(engine: Engine) -> bool:
    """Whether events are taken out of messages."""
    chosen = engine.settings.events.extract
    return engine.settings.facts.extract if chosen is None else chosen


def read(engine: Engine, turn: Draft, previous: Message | None, now: int) -> list[Draft]:
    """The events that a turn tells, as drafts; `previous` is the message ahead of it."""
    settings = engine.settings.events
    if not reads(engine) or turn.kind != Kind.TURN or turn.role not in ("user", "assistant"):
        return []
    if not turn.text and not turn.body:
        return []
    from shared_core.writing.events import happened  # compiles its patterns

    weights = _Weights(settings.key, settings.step, settings.plain, settings.feedback)
    body = load(turn.body) or {}
    told = Message(
        role=turn.role, content=own_words(turn.text), name=turn.name, tool_calls=tuple(body.get("tool_calls", ()))
    )
    made = []
    for event in happened(told, previous):
        details = {**event.details, **({} if event.success is None else {"success": event.success})}
        made.append(_draft(engine.intake, turn, event.type, event.text, getattr(weights, event.weight), details, now))
    return made


def _draft(
    intake: Intake, turn: Draft, type: str, text: str, importance: float, details: dict[str, object], now: int
) -> Draft:
    item = Draft(
        kind=Kind.EVENT.value, text=intake.text(text), type=type, importance=importance, metadata=intake.metadata(details),
        source=turn.source, role=turn.role, event_time=told_at(turn, now), created_at=turn.created_at,
    )  # fmt: skip
    cut(item)
    return item


def is_told(item: Draft) -> bool:
    """Whether a draft is an event by these rules: a dated plan of the facts' extractor has a triple."""
    return item.kind == Kind.EVENT and item.triple is None


def write(
    engine: Engine, tx: Transaction, scope: int, turn: Draft, made: Sequence[Draft], now: int, embedder: int | None
) -> None:
    """Write the events of a turn, which stands in the database by now, and do what feedback asks for."""
    seq = tx.rows("seq_by_id", (scope, turn.id))[0][0]
    wanted = [item for item in made if not tombstones.was_erased(tx, scope, turn.id or "", item.text)]
    for item in wanted:
        item.session = turn.session
    if not wanted:
        return
    seqs, _ = ledger.put(tx, scope, wanted, now, embedder)
    tx.many("add_link", [(event, seq, RULES, now) for event in seqs])
    if any(item.type == FEEDBACK for item in wanted):
        reinforce(engine, tx, scope, turn, now)
    make_room(tx, scope, engine.settings.episodes.most, now)


def reinforce(engine: Engine, tx: Transaction, scope: int, turn: Draft, now: int) -> int:
    """Raise the importance of the memories of the task that a user praises or complains about; how many.

    They are the turns since the current task of the working memory began, or else the last
    `settings.events.reinforce_turns` (2) exchanges, with what was read from them and the events told meanwhile.
    """
    settings = engine.settings.events
    if not settings.reinforce or turn.session is None or turn.position is None:
        return 0
    given = {"session": turn.session, "position": turn.position, "turns": settings.reinforce_turns}
    turns = [row[0] for row in tx.rows("turns_of_task", {**given, "since": _task_began(tx, turn.session)})]
    if not turns:
        return 0
    meant = tx.rows("memories_of_turns", {"scope": scope, "session": turn.session, "turns": dump(turns)})
    revision = scopes.bump(tx, scope)
    for seq, id in meant:
        if tx.run("reinforce", {"seq": seq, "by": settings.reinforce, "revision": revision}):
            audit.note(tx, scope, id, "reinforced", now, {})
    return len(meant)


def _task_began(tx: Transaction, session: int) -> int | None:
    """When the root of the tasks under way in a session began, in microseconds; None without one."""
    from shared_core.short_term.tasks import Tasks
    from shared_core.store.rows import micros

    found = tx.rows("session_state", {"session": session})
    state = load(found[0][0]) if found else None
    if not isinstance(state, dict) or not state.get("tasks"):
        return None
    tasks = Tasks.read(state)
    task = tasks.tasks.get(tasks.current or "")
    while task is not None and task.parent in tasks.tasks:
        task = tasks.tasks[task.parent]
    return None if task is None else micros(task.created_at)
