"""`Episodes`: what happened, and when (B3).

Only events are kept. A session's start, its turns and its tasks are shown beside them, read from
their own rows: no second copy, so nothing outlives what it tells of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from shared_core.errors import InvalidInput, InvalidType
from shared_core.long_term.room import make_room, move_out
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.recall.dates import Asked, asked_dates
from shared_core.short_term.tasks import Tasks, TaskStatus
from shared_core.steps import Steps, both, threaded
from shared_core.store import ledger, rows, scopes
from shared_core.store.rows import instant, micros
from shared_core.values import Hit, Kind, Message, Record, aware
from shared_core.writing.intake import identifier
from shared_core.writing.tool_calls import called, failed

if TYPE_CHECKING:
    from shared_core.scope import Scope

CONVERSATION, TOOL_CALL, ERROR = "conversation", "tool_call", "error"
TASK_START, TASK_COMPLETE = "task_start", "task_complete"
TYPES: Final = (CONVERSATION, TASK_START, TASK_COMPLETE, TOOL_CALL, ERROR, "user_feedback", "decision")
"""The types every memory knows; any other text is a type too."""

_NAMES: Final[dict[str, dict[str, str]]] = {
    "en": {
        "conversation": "conversation", "task_start": "task started", "task_complete": "task completed",
        "tool_call": "tool call", "error": "error", "user_feedback": "feedback", "decision": "decision",
        "requirement": "requirement", "code_change": "code change", "step": "step", "event": "plan",
    },
    "zh": {
        "conversation": "对话", "task_start": "任务开始", "task_complete": "任务完成", "tool_call": "工具调用", "error": "错误",
        "user_feedback": "反馈", "decision": "决定", "requirement": "需求", "code_change": "代码改动", "step": "步骤", "event": "计划",
    },
}  # fmt: skip
_START: Final = {"en": "The conversation {name} began", "zh": "对话 {name} 开始"}
_ALL_TIME: Final = (-(1 << 62), 1 << 62)

Timeline = list[Record]
Hits = list[Hit]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session in figures: how many events of each type, and the most important ones."""

    session: str
    counts: Mapping[str, int]
    important: tuple[Record, ...]
    started_at: datetime | None
    last_at: datetime | None

    def text(self, language: str = "en") -> str:
        """The summary as a few lines, in "en" or "zh"."""
        names = _NAMES[language]
        joint, colon = ("、", "：") if language == "zh" else (", ", ": ")
        counted = joint.join(f"{names.get(type, type)} {count}" for type, count in self.counts.items())
        lines = [f"{self.session}{colon}{counted}"] if counted else []
        return "\n".join(lines + [f"- {record.text}" for record in self.important])

    def __str__(self) -> str:
        return self.text()


class Episodes:
    """What happened in a scope, in order.

    Made by `Scope.episodes`; every verb that reads or writes has an async twin with the prefix `a`.

    >>> from shared_core import AgentMemory
    >>> scope = AgentMemory.open(embedder="hashing").scope(user="ann")
    >>> _ = scope.session("monday").add_messages([{"role": "user", "content": "Deploy it, please"}])
    >>> _ = scope.episodes.add("Deployed to staging", type="task_complete", importance=0.9, session="monday")
    >>> [(event.type, event.text) for event in scope.episodes.timeline()][1:]
    [('conversation', 'Deploy it, please'), ('task_complete', 'Deployed to staging')]
    >>> scope.episodes.summary("monday").counts
    {'conversation': 2, 'task_complete': 1}
    """

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.episodes`."""
        self._scope = scope

    def __repr__(self) -> str:
        return f"Episodes(user={self._scope.user!r}, agent={self._scope.agent!r})"

    # ------------------------------------------------------------------ writing

    def _add(
        self,
        summary: str,
        *,
        type: str,
        details: Mapping[str, Any] | str | None = None,
        importance: float = 0.5,
        session: str | None = None,
        at: datetime | None = None,
    ) -> Steps[Record]:
        """Keep that something happened, as a record of kind event.

        `type` is one of `TYPES` or any other text. `details` is a dict, kept as the record's metadata,
        so that `where` can filter by it; a text is kept under "details". `session` is the conversation
        it happened in, with which it goes when that is deleted. `at` is when it happened (default:
        when it is told); both times are kept. Past `settings.episodes.most` (1,000) events the least
        important leave for the archive, of equals the older one.

        Raises `InvalidInput` for a blank summary, type or session, a naive `at` or an importance
        outside [0, 1], `InvalidType` for details that JSON can't hold; nothing is stored then.
        """
        engine = self._scope._live()
        now = engine.now()
        if type is None:
            raise InvalidInput(f"an event has a type: {', '.join(TYPES)}, or one of your own")
        item = self._scope._intake.record(
            summary, now=now, kind=Kind.EVENT, type=type, importance=importance, metadata=_details(details),
            event_time=at,
        )  # fmt: skip
        if session is not None:
            identifier(session, "session", engine.settings)
        engine.ready()
        yield from engine.embed([item])
        with engine.store.write() as tx:
            number = engine.claim_embedder(tx)
            scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
            item.session = None if session is None else _session(tx, scope, session, now)
            seqs, _ = ledger.put(tx, scope, [item], now, number)
            left = make_room(tx, scope, engine.settings.episodes.most, now)
            record = self._scope._records(tx, seqs)[seqs[0]]
        if left:
            move_out(self._scope)
        return record

    add, aadd = both(_add)

    # ------------------------------------------------------------------ reading

    def timeline(
        self,
        hours: float | None = 24,
        types: Collection[str] | None = None,
        *,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        on: str | None = None,
        limit: int | None = None,
    ) -> Timeline:
        """What happened, oldest first: by when it happened, then by when it was told.

        By default the last `hours` (24; None for all), up to now, or up to `until`. `since` takes the
        place of `hours`. A range is without its end: an event at `until` is not in it, one at `since`
        is. `on` names a range in words: "yesterday", "昨天", "2024-06-01", "last month", in UTC.
        `types` keeps to some types, `session` to one conversation, `limit` to the newest.

        A session's start and its turns are in it as "conversation", "tool_call" (a tool is called or
        answers) or "error" (a tool failed), a turn's text cut at `settings.episodes.turn_chars` (100).
        Such a turn is the record of that turn; `Scope.get(id)` gives it whole. The tasks of the working
        memory are in it as "task_start" and "task_complete" (`metadata["success"]` tells how it ended).

        Raises `InvalidInput` for a naive time, hours that are not positive, a negative limit, or an
        `on` that names no day.
        """
        engine = self._scope._live()
        low, high = self._range(hours, since, until, on)
        if isinstance(limit, bool) or (limit is not None and (not isinstance(limit, int) or limit < 0)):
            raise InvalidInput(f"limit is a whole number from 0, not {limit!r}")
        wanted = None if types is None else frozenset([types] if isinstance(types, str) else types)
        if session is not None:
            identifier(session, "session", engine.settings)
        found = [
            record
            for record in self._between(low, high, session)
            if wanted is None or (record.type or CONVERSATION) in wanted
        ]
        return found if limit is None else found[len(found) - min(limit, len(found)) :]

    def _similar(self, text: str, k: int = 5, *, types: Collection[str] | None = None) -> Steps[Hits]:
        """The `k` events most like a text, by meaning and words, best first.

        `types` keeps to some types. Turns are not events of their own here; `Scope.search` finds them.
        """
        where = None if types is None else {"type": {"$in": [types] if isinstance(types, str) else [*types]}}
        return (yield from self._scope._search(text, k=k, kinds=[Kind.EVENT], where=where))

    similar, asimilar = both(_similar)

    def summary(self, session: str) -> SessionSummary:
        """A session in figures: how many events of each type, and the most important ones.

        `important` holds the `settings.episodes.top` (5) events whose importance is over
        `settings.episodes.over` (0.7), the most important first, then the newest. A session that
        nobody knows has no events.
        """
        settings = self._scope._live().settings.episodes
        events = self._between(*_ALL_TIME, identifier(session, "session", self._scope._live().settings))
        counts = Counter(record.type or CONVERSATION for record in events)
        order = {record.id: place for place, record in enumerate(events)}
        top = sorted(
            (record for record in events if record.importance > settings.over),
            key=lambda record: (-record.importance, -order[record.id]),
        )[: settings.top]
        times = [_when(record) for record in events]
        return SessionSummary(
            session=session,
            counts=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
            important=tuple(top),
            started_at=times[0] if times else None,
            last_at=times[-1] if times else None,
        )

    # ------------------------------------------------------------------ inside

    def _range(
        self, hours: float | None, since: datetime | None, until: datetime | None, on: str | None
    ) -> tuple[int, int]:
        engine = self._scope._live()
        now = engine.now()
        if on is not None:
            if since is not None or until is not None:
                raise InvalidInput("on names the range by itself; leave since and until out")
            return _named(on, instant(now))
        if hours is not None and (isinstance(hours, bool) or not isinstance(hours, int | float) or not hours > 0):
            raise InvalidInput(f"hours is a number over 0, not {hours!r}")
        high = now + 1 if until is None else micros(aware(until, "until"))
        if since is not None:
            return micros(aware(since, "since")), high
        if hours is None:
            return _ALL_TIME[0], high
        # What happens in this very moment is part of the last hours, but does not shorten them.
        end = now if until is None else high
        return end - int(min(hours, 1e9) * 3_600_000_000), high

    def _between(self, low: int, high: int, session: str | None) -> Timeline:
        """Starts, turns and events of a range, in order."""
        engine = self._scope._live()
        with engine.store.read() as tx:
            scope = self._scope._find(tx)
            if scope is None:
                return []
            number = None
            if session is not None:
                known = tx.rows("find_session", {"scope": scope, "name": session})
                if not known:
                    return []
                number = known[0][0]
            given = {"scope": scope, "since": low, "until": high, "session": number}
            turns = [
                (row[0], self._scope._counted(row))
                for row in tx.rows("scope_turns" if number is None else "turns_of_session", given)
            ]
            bodies = dict(tx.rows("bodies", {"seqs": str([seq for seq, _ in turns])})) if turns else {}
            rows_ = tx.rows("scope_events", {**given, "now": engine.now()})
            events = [(row[0], self._scope._counted(row)) for row in rows_]
            starts = tx.rows("session_starts", given)
            states = tx.rows("session_states", given)
        most = engine.settings.episodes.turn_chars
        shown = [(seq, _shown(record, bodies.get(seq), most)) for seq, record in turns]
        first = {record.session: record.text for _, record in reversed(turns)}
        importance = engine.settings.events.step
        tasks = [(0, task) for name, state in states for task in _tasks(name, state, importance)]
        tasks = [(order, task) for order, task in tasks if low <= micros(_when(task)) < high]
        begun = [(0, _start(name, at, first.get(name, ""))) for name, at in starts]
        return [r for _, r in sorted((*begun, *tasks, *shown, *events), key=lambda pair: (_when(pair[1]), pair[0]))]

    atimeline = threaded(timeline)
    asummary = threaded(summary)


def _session(tx: Transaction, scope: int, name: str, now: int) -> int:
    """The session an event belongs to; one that has ended stays so."""
    found = tx.rows("find_session", {"scope": scope, "name": name})
    return int(found[0][0]) if found else scopes.ensure_session(tx, scope, name, now)


def _details(details: Mapping[str, Any] | str | None) -> Mapping[str, Any] | None:
    if isinstance(details, str):
        return {"details": details} if details else None
    if details is not None and not isinstance(details, Mapping):
        raise InvalidType(f"details are a dict or a text, not {details.__class__.__name__}")
    return details


def _when(record: Record) -> datetime:
    return record.event_time or record.created_at


def _shown(record: Record, body: str | None, most: int) -> Record:
    """A turn as an event: its type, and the beginning of what it says or calls."""
    kept: Mapping[str, Any] = rows.load(body) or {}
    calls = kept.get("tool_calls") or ()
    text = " ".join(part for part in (record.text, *map(called, calls)) if part)
    type_ = TOOL_CALL if calls or record.role == "tool" else CONVERSATION
    if record.role == "tool" and failed(record.text, kept.get("payload")):
        type_ = ERROR
    return record.model_copy(update={"type": type_, "text": text[:most]})


def _start(name: str, at: int, first: str) -> Record:
    tongue = language(first or name, [Message(role="user", content=first)])
    when = instant(at)
    return Record(
        id=f"start/{name}", kind=Kind.EVENT, type=CONVERSATION, text=_START[tongue].format(name=name), session=name,
        source="session", event_time=when, created_at=when, updated_at=when,
    )  # fmt: skip


def _tasks(session: str, state: str, importance: float) -> Iterator[Record]:
    """The beginning of each task of the working memory, and how it ended; a finished one is a key step with its result."""
    given = rows.load(state)
    if not isinstance(given, Mapping) or not given.get("tasks"):
        return
    for task in Tasks.read(given).tasks.values():
        made = {"kind": Kind.EVENT, "session": session, "source": "working memory"}
        yield Record(
            **made, id=f"task/{session}/{task.id}", type=TASK_START, text=task.description, event_time=task.created_at,
            created_at=task.created_at, updated_at=task.created_at, metadata={"task": task.id},
        )  # fmt: skip
        if task.status.finished and task.ended_at is not None:
            how = task.result if task.status is TaskStatus.COMPLETED else task.error
            yield Record(
                **made, id=f"task/{session}/{task.id}/end", type=TASK_COMPLETE, importance=importance,
                text=f"{task.description}: {how}" if how else task.description, event_time=task.ended_at,
                created_at=task.ended_at, updated_at=task.ended_at,
                metadata={"task": task.id, "success": task.status is TaskStatus.COMPLETED},
            )  # fmt: skip


def _named(words: Any, now: datetime) -> tuple[int, int]:
    """The range of a day, month or year in words, from its first moment to the first after it."""
    found = asked_dates(words, now) if isinstance(words, str) else []
    if not found:
        raise InvalidInput(f"{words!r} names no day, month or year; give 'yesterday', '昨天', '2024-06-01' or such")
    spans = [_span(asked, now) for asked in found]
    return min(low for low, _ in spans), max(high for _, high in spans)


def _span(asked: Asked, now: datetime) -> tuple[int, int]:
    year = asked.year or now.year
    try:
        if asked.day is not None and asked.month is not None:
            first = date(year, asked.month, asked.day)
            after = first + timedelta(days=1)
        elif asked.month is not None:
            first = date(year, asked.month, 1)
            after = date(year + asked.month // 12, asked.month % 12 + 1, 1)
        else:
            first, after = date(year, 1, 1), date(year + 1, 1, 1)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"there is no day {asked.day} in month {asked.month} of {year}") from error
    return _midnight(first), _midnight(after)


def _midnight(day: date) -> int:
    return micros(datetime(day.year, day.month, day.day, tzinfo=UTC))
