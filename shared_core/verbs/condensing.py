"""What stands in for the past of a conversation: its running summary (A4) and its snapshot (A5).

Both are computed from the turns as they are stored and kept in the session's row, the summary with
the position it reaches. A turn that is erased or changed takes with it what was made of it: the
row is reset in the same transaction (`ledger`), and what is wanted again is made from what is left.
Nothing computed from a state of the talk is written over another one: each write looks again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared_core.deriving.folding import Row, ask, asks_llm, due, stored, tellable
from shared_core.deriving.folding import fold as fold  # others fold through here
from shared_core.errors import InvalidInput, StoreBusy, StoreError
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.short_term import snapshot
from shared_core.steps import Steps, arun, both, run
from shared_core.store import rows

if TYPE_CHECKING:
    from shared_core.scope import Scope

_PAST = 100  # replaced facts whose words a snapshot no longer gives as true

_LOG = logging.getLogger("twinmem.summary")


class Condensing:
    """What `Session` does about its own past."""

    if TYPE_CHECKING:
        _scope: Scope
        id: str

        def _row(self, tx: Transaction) -> tuple[int, int] | None: ...

    @property
    def summary(self) -> str:
        """The running summary of what has left the window, "" where nothing has.

        With an LLM it is what that wrote last (`settings.summary.llm` says when it is asked: a
        property never waits for a model). Without one it is brought up to date here, extracted in
        the conversation's own words.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> chat.summary
        ''
        """
        return run(self._told())

    async def asummary(self) -> str:
        """Async twin of `summary`."""
        return await arun(self._told())

    def _told(self) -> Steps[str]:
        engine = self._scope._live()
        if not asks_llm(engine) and due(self):
            with suppress(StoreError):  # locked, or not writable: then it is told as it stands
                yield from fold(self)
        return stored(self)

    def _summarise(self, keep_turns: int | None = None) -> Steps[str]:
        """Fold all but the newest `keep_turns` turns (5) into the running summary now, and give it.

        Each message is folded once, in order, onto the summary so far; the messages themselves stay.
        Asks the LLM if there is one (`settings.summary.llm` other than "never"). If it fails, or
        answers nothing, the summary stays as it was, a warning is logged, and the messages wait for
        the next time. A tool call and its results are never parted.

        Raises `InvalidInput` for less than one turn: the newest turn is never folded.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> _ = chat.add_messages([{"role": "user", "content": "I decided to move to Oslo"},
        ...                        {"role": "user", "content": "What is the weather?"}])
        >>> print(chat.summarise(keep_turns=1))
        Decisions:
        - User: I decided to move to Oslo
        """
        if keep_turns is not None and (
            isinstance(keep_turns, bool) or not isinstance(keep_turns, int) or keep_turns < 1
        ):
            raise InvalidInput(f"keep_turns is a whole number from 1, not {keep_turns!r}")
        engine = self._scope._live()
        yield from fold(self, keep_turns=engine.settings.summary.keep_turns if keep_turns is None else keep_turns)
        return stored(self)

    summarise, asummarise = both(_summarise)

    @property
    def snapshot(self) -> str:
        """Facts and state so far, in place of the raw history: "" before the first turn.

        What the user wants, what they gave and require, what was decided, what the assistant
        promised, what is known, which names occurred. It is brought up to date by rules when it is
        read; what an LLM wrote (`take_snapshot`) is given as long as nothing was said since.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> _ = chat.add_messages([{"role": "user", "content": "Please plan a trip to Oslo"}])
        >>> print(chat.snapshot)
        What the user wants: Please plan a trip to Oslo
        Named: Oslo
        """
        return _snapshot(self)

    async def asnapshot(self) -> str:
        """Async twin of `snapshot`."""
        import asyncio

        return await asyncio.to_thread(_snapshot, self)

    def _take_snapshot(self) -> Steps[str]:
        """Let the LLM write the snapshot of the conversation as it is now, and give it.

        It is asked about what was said since it wrote last. Without an LLM, or where it fails, it is
        the one that rules make, and a warning is logged. By itself this happens after each turn
        with `settings.snapshot.llm="now"`.
        """
        yield from _written(self)
        return _snapshot(self)

    take_snapshot, atake_snapshot = both(_take_snapshot)


def after(session: Condensing) -> Steps[None]:
    """What follows a message once it is stored: a summary that is due, a snapshot. The message stands, come what may."""
    engine = session._scope._live()
    try:
        if (not asks_llm(engine) or engine.settings.summary.llm == "now") and due(session):
            yield from fold(session)
        if engine.llm is not None and engine.settings.snapshot.llm == "now":
            yield from _written(session, ended=True)
    except StoreError:
        _LOG.warning("the summary of session %r waits for the next message", session.id, exc_info=True)


# ---------------------------------------------------------------------- the snapshot


@dataclass(frozen=True, slots=True)
class _Taken:
    """A snapshot as it is stored: the state rules read, what an LLM wrote, and how far each reaches."""

    reaches: int = 0
    state: snapshot.State = field(default_factory=snapshot.State)
    written: str = ""
    written_to: int = 0

    def dumped(self) -> str:
        return rows.dump(
            {"reaches": self.reaches, "state": snapshot.dumped(self.state), "written": self.written, "to": self.written_to}
        )  # fmt: skip

    @staticmethod
    def loaded(text: str | None) -> _Taken:
        value = rows.load(text) or {}
        state = snapshot.loaded(value.get("state") or {})
        return _Taken(int(value.get("reaches", 0)), state, str(value.get("written", "")), int(value.get("to", 0)))


def _snapshot(session: Condensing) -> str:
    """The snapshot up to the newest message; what it cost to read the talk is kept."""
    engine = session._scope._live()
    settings = engine.settings.snapshot
    with engine.store.read() as tx:
        row = session._row(tx)
        if row is None:
            return ""
        before = tx.rows("session_digest", {"session": row[1]})[0][2]
        taken = _Taken.loaded(before)
        fresh = tx.rows("messages_after", {"session": row[1], "position": taken.reaches})
        told = tellable(tx, row[0], fresh)
        given = {"session": row[1], "now": engine.now(), "limit": 2 * settings.facts}
        facts = [each[0] for each in tx.rows("facts_of_session", given)]
        past = [each[0] for each in tx.rows("past_facts_of_session", {**given, "limit": _PAST})]
        tongue = language("", told or [rows.message(each) for each in tx.rows("last_messages", {**given, "last": 6})])
    if not fresh and not taken.reaches:
        return ""
    last = int(fresh[-1][8]) if fresh else taken.reaches
    if fresh:
        state = snapshot.advance(taken.state, told, settings)
        taken = _Taken(last, state, taken.written, taken.written_to)
        with suppress(StoreError):  # a read that can't be kept is only made again
            _keep(session, before, fresh, taken, wait=False)
    if taken.written and taken.written_to == last:
        return taken.written
    return snapshot.render(snapshot.without(taken.state, past), facts, tongue, settings)


def _keep(session: Condensing, before: str | None, fresh: Sequence[Row], taken: _Taken, *, wait: bool = True) -> bool:
    """Store a snapshot, unless what it was made of is no longer so."""
    with session._scope._live().store.write(wait=wait) as tx:
        row = session._row(tx)
        if row is None or tx.rows("session_digest", {"session": row[1]})[0][2] != before:
            return False
        position = int(fresh[0][8]) - 1 if fresh else taken.reaches
        if tx.rows("messages_after", {"session": row[1], "position": position})[: len(fresh)] != list(fresh):
            return False
        tx.run("set_snapshot", {"session": row[1], "snapshot": taken.dumped()})
    return True


def _written(session: Condensing, *, ended: bool = False) -> Steps[None]:
    """Let the LLM write the snapshot; with `ended` only where an answer has ended the turn."""
    engine = session._scope._live()
    settings = engine.settings.snapshot
    if engine.llm is None or settings.llm == "never":
        return
    _snapshot(session)  # brings the state up to date, so that one write is left to do
    with engine.store.read() as tx:
        row = session._row(tx)
        before = None if row is None else tx.rows("session_digest", {"session": row[1]})[0][2]
        if row is None or before is None:
            return
        taken = _Taken.loaded(before)
        fresh = tx.rows("messages_after", {"session": row[1], "position": taken.written_to})
        told = tellable(tx, row[0], fresh)
    if not fresh or (ended and (told[-1].role != "assistant" or told[-1].tool_calls)):
        return
    tongue = language("", told)
    previous = taken.written or snapshot.render(taken.state, (), tongue, settings)
    asked = snapshot.prompt(previous, told, tongue, engine.settings.summary.batch_tokens)
    answer = yield from ask(engine, asked, "the snapshot is the one that rules make")
    text = "" if answer is None else snapshot.read(answer, tongue, settings.max_chars)
    if not text:
        if answer is not None:
            _LOG.warning("the LLM's answer holds no snapshot; it is the one that rules make")
        return
    with suppress(StoreBusy):
        _keep(session, before, fresh, _Taken(taken.reaches, taken.state, text, int(fresh[-1][8])))
