"""`Session`: one conversation. Messages in, the window and the context out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared_core import learning
from shared_core.context import Part, assemble, language
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.ports import Transaction
from shared_core.recall.question import Query
from shared_core.short_term import importance, window
from shared_core.steps import Steps, both, threaded
from shared_core.store import ledger, rows
from shared_core.store.rows import Draft, instant
from shared_core.values import Context, Message, Receipt, Record, as_message

if TYPE_CHECKING:
    from shared_core.scope import Scope

Turn = tuple[int, str, Message]  # seq, record id, message
_SHORTEST, _FEW = 16, 10
_TAIL = 64  # messages read at first for a window; twice as many each time that was not enough


class Session:
    """One conversation of a scope. Made by `Scope.session`; every verb has an async twin with the prefix `a`."""

    def __init__(self, scope: Scope, id: str) -> None:
        self._scope = scope
        self.id = id

    def __repr__(self) -> str:
        return f"Session({self.id!r}, user={self._scope.user!r}, agent={self._scope.agent!r})"

    @property
    def scope(self) -> Scope:
        """The scope this conversation belongs to."""
        return self._scope

    # ------------------------------------------------------------------ messages in

    def _add_messages(self, messages: Iterable[Message | Mapping[str, Any]]) -> Steps[list[Record]]:
        """Append messages in one transaction, together and in order; a turn record for each.

        A message is a `Message` or a dict with `role`, `content` and, if known, `id`, `name`,
        `created_at`, `tool_calls`, `tool_call_id`. An id this session has already is the same turn:
        unchanged it is left alone, changed it is replaced where it stands. Messages without an id
        are always new; a whole history sent again without ids goes through `replace_messages`.

        The facts that a user's messages state are stored beside them, in the same transaction
        (`settings.facts`); with an LLM they follow in a second one.

        Raises `InvalidType` or `InvalidInput` for what is no message; then nothing is stored.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> _ = chat.add_messages([{"role": "user", "content": "I moved to Lyon"}])
        >>> [message.text for message in chat.messages()]
        ['I moved to Lyon']
        """
        engine = self._scope._live()
        now = engine.now()
        given = self._given(messages)
        drafts = [engine.intake.turn(message, self.id, now=now) for message in given]
        if not drafts:
            return []
        while True:
            with engine.store.look() as tx:
                unchanged = self._unchanged(tx, drafts)
                before = learning.newest(tx, self._number(tx))
            fresh = [item for item, same in zip(drafts, unchanged, strict=True) if not same]
            found = learning.read(engine, fresh, before, now)
            if fresh:
                engine.ready()
                yield from engine.embed([*fresh, *learning.facts_of(found)])
            with engine.store.write() as tx:
                known = [item for item, same in zip(drafts, unchanged, strict=True) if same]
                if not all(self._unchanged(tx, known)):
                    continue  # another writer took or changed what we meant to leave alone
                number = engine.claim_embedder(tx)
                scope = ledger.ensure_scope(tx, self._scope.user, self._scope.agent, now)
                session = ledger.ensure_session(tx, scope, self.id, now)
                position = int(tx.rows("last_position", {"session": session})[0][0])
                for offset, item in enumerate(fresh, 1):
                    item.session, item.position = session, position + offset
                    _name(item, self.id, now)
                said_anew = [row[0] for item in fresh for row in tx.rows("seq_by_id", (scope, item.id))]
                learning.withdraw(tx, scope, said_anew, now)
                ledger.put(tx, scope, fresh, now, number)
                learning.keep(engine, tx, scope, fresh, found, now, number)
                wanted = [tx.rows("seq_by_id", (scope, item.id))[0][0] for item in drafts]
                stored = self._scope._records(tx, wanted)
                records = [stored[seq] for seq in wanted]
            yield from learning.after(self._scope)
            return records

    add_messages, aadd_messages = both(_add_messages)

    def _given(self, messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
        if isinstance(messages, str | Mapping | Message):
            raise InvalidType("add_messages takes a list of messages; put the one you have into a list")
        given = [as_message(message) for message in messages]
        limit = self._scope._engine.settings.limits.batch
        if len(given) > limit:
            raise LimitExceeded(f"{len(given)} messages in one call; limits.batch is {limit}")
        return given

    def _unchanged(self, tx: Transaction, drafts: Sequence[Draft]) -> list[bool]:
        """Which drafts are stored already, just as they are."""
        scope = self._scope._find(tx)
        found: list[bool] = []
        seen: set[str] = set()
        for item in drafts:
            known = [] if scope is None or item.id is None else tx.rows("seq_by_id", (scope, item.id))
            same = bool(known) and item.id not in seen and _same(item, rows.draft(_raw(tx, known[0][0])))
            found.append(same)
            if item.id is not None:
                seen.add(item.id)
        return found

    def _replace_messages(self, messages: Iterable[Message | Mapping[str, Any]]) -> Steps[list[Record]]:
        """Make the conversation exactly this, in one transaction.

        What is unchanged at the beginning keeps its records, so sending a growing history again and
        again stores each message once, with ids or without. What the new history does not have is
        erased, its facts with it. If anything fails the old history stays.
        """
        engine = self._scope._live()
        now = engine.now()
        given = self._given(messages)
        drafts = [engine.intake.turn(message, self.id, now=now) for message in given]
        while True:
            with engine.store.look() as tx:
                old = self._raws(tx)
            kept = self._common(old, drafts)
            fresh = drafts[kept:]
            found = learning.read(engine, fresh, learning.message(old[kept - 1][1]) if kept else None, now)
            if fresh:
                engine.ready()
                yield from engine.embed([*fresh, *learning.facts_of(found)])
            with engine.store.write() as tx:
                old = self._raws(tx)
                if self._common(old, drafts) < kept:
                    continue  # another writer took or changed what we meant to keep
                number = engine.claim_embedder(tx)
                scope = ledger.ensure_scope(tx, self._scope.user, self._scope.agent, now)
                session = ledger.ensure_session(tx, scope, self.id, now)
                staying = {item.id for item in fresh if item.id is not None}
                # What the new history does not say, or says elsewhere, is taken back with what was read from it.
                learning.withdraw(tx, scope, [seq for seq, _ in old[kept:]], now)
                ledger.erase(tx, scope, [seq for seq, item in old[kept:] if item.id not in staying], now)
                # Not `kept`: where turns were deleted, positions run ahead of the count.
                position = (old[kept - 1][1].position or 0) if kept else 0
                for offset, item in enumerate(fresh, 1):
                    item.session, item.position = session, position + offset
                    _name(item, self.id, now)
                for seq, item in old[kept:]:
                    if item.id in staying:  # moved or edited: written anew, in its new place
                        ledger.erase(tx, scope, [seq], now, action="replaced", derived=False)
                ledger.put(tx, scope, fresh, now, number)
                learning.keep(engine, tx, scope, fresh, found, now, number)
                turns = [seq for seq, _ in self._raws(tx)]
                stored = self._scope._records(tx, turns)
                records = [stored[seq] for seq in turns]
            yield from learning.after(self._scope)
            return records

    replace_messages, areplace_messages = both(_replace_messages)

    @staticmethod
    def _common(old: Sequence[tuple[int, Draft]], new: Sequence[Draft]) -> int:
        count = 0
        for (_, mine), theirs in zip(old, new, strict=False):
            if (theirs.id is not None and theirs.id != mine.id) or not _same(theirs, mine):
                break
            count += 1
        return count

    def _raws(self, tx: Transaction) -> list[tuple[int, Draft]]:
        return [(seq, rows.draft(_raw(tx, seq))) for seq, _, _ in self._turns(tx)]

    # ------------------------------------------------------------------ messages out

    def _row(self, tx: Transaction) -> tuple[int, int] | None:
        """The numbers of the scope and of this session, or None where nothing was written."""
        scope = self._scope._find(tx)
        if scope is None:
            return None
        found = tx.rows("find_session", {"scope": scope, "name": self.id})
        return (scope, found[0][0]) if found else None

    def _about(self, max_tokens: int, tongue: str, shown: Collection[str]) -> tuple[list[str], list[str]]:
        """The profile within its share of a context, and the ids of the lines the user wrote.

        What the prompt says already in the words of these turns is left out.
        """
        settings = self._scope._live().settings.profile
        most = min(settings.max_tokens, int(settings.share * max_tokens))
        return self._scope.profile.within(most, tongue, shown) if most else ([], [])

    def _number(self, tx: Transaction) -> int | None:
        row = self._row(tx)
        return None if row is None else row[1]

    def _turns(self, tx: Transaction, last: int | None = None) -> list[Turn]:
        row = self._row(tx)
        if row is None or last == 0:
            return []
        if last is None:
            found = tx.rows("session_messages", {"session": row[1]})
        else:
            found = tx.rows("last_messages", {"session": row[1], "last": last})[::-1]
        return [(each[0], each[7], rows.message(each)) for each in found]

    def messages(self, last: int | None = None) -> list[Message]:
        """The conversation in order, or its `last` messages, as they were stored."""
        if last is not None and (isinstance(last, bool) or not isinstance(last, int) or last < 0):
            raise InvalidInput(f"last is a whole number from 0, not {last!r}")
        with self._scope._live().store.look() as tx:
            return [message for _, _, message in self._turns(tx, last)]

    def window(self, max_tokens: int | None = None, max_turns: int | None = None) -> list[Message]:
        """The messages that go into the next prompt.

        The newest turns within `max_turns` (20) and `max_tokens` (4096), never fewer than the
        newest one; with `settings.window.policy="importance"` older messages are chosen by what
        they say (A2). Tool calls keep their results, and the first message is a user's. Nothing
        stored is changed.
        """
        engine = self._scope._live()
        settings = engine.settings.window
        with engine.store.read() as tx:
            return self._newest(
                tx,
                settings.max_tokens if max_tokens is None else max_tokens,
                settings.max_turns if max_turns is None else max_turns,
            )[1]

    def _newest(self, tx: Transaction, max_tokens: int, max_turns: int | None) -> tuple[list[Turn], list[Message]]:
        """The newest part of the conversation and the window cut from it.

        A sliding window is decided by its own messages, so no more of a long conversation is read
        than it takes to see a turn that is left out, and the system messages at the beginning.
        """
        count = None if self._scope._engine.settings.window.policy == "importance" else _TAIL
        while True:
            turns = self._turns(tx, count)
            if count is not None and len(turns) == count:
                known = {seq for seq, _, _ in turns}
                turns = [turn for turn in self._head(tx) if turn[0] not in known] + turns
            chosen = self._windowed([message for _, _, message in turns], max_tokens, max_turns)
            if count is None or len(turns) < count or _asking(chosen) < _asking([m for _, _, m in turns]):
                return turns, chosen
            count *= 2

    def _head(self, tx: Transaction) -> list[Turn]:
        """The system messages at the beginning of the conversation."""
        row = self._row(tx)
        found = [] if row is None else tx.rows("session_head", {"session": row[1]})
        return [(each[0], each[7], rows.message(each)) for each in found]

    def _windowed(self, messages: list[Message], max_tokens: int, max_turns: int | None) -> list[Message]:
        settings = self._scope._engine.settings
        if settings.window.policy == "importance":
            return window.by_importance(
                window.sliding(messages, max_turns=max_turns),
                max_tokens=max_tokens,
                keep_turns=settings.window.keep_turns,
                weigh=lambda message: importance.weigh(message, settings.importance),
                count=self._scope._engine.count,
            )
        return window.sliding(messages, max_turns=max_turns, max_tokens=max_tokens, count=self._scope._engine.count)

    def _context(
        self,
        query: Query | None = None,
        *,
        max_tokens: int = 2000,
        k: int | None = None,
        shown: Iterable[Message | Mapping[str, Any]] | None = None,
    ) -> Steps[Context]:
        """What the model should know to answer: recent talk and the memories that fit the budget.

        `query`: a question or messages; by default the newest user message, with the talk before
        it. That message and whatever is in the recent talk are never recalled as memories of
        themselves. `text` is the whole as one text of at most `max_tokens` tokens under headings in
        the language of the conversation; `messages`, `hits` and `sections` give its parts. `k` is
        the most memories it may hold (`settings.context.memories`).

        `shown` is for a caller that puts the conversation into the prompt itself, as `window` gave
        it: the context then holds memories only, and none of these messages.
        """
        scope = self._scope
        engine = scope._live()
        if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
            raise InvalidInput(f"max_tokens is a whole number from 1, not {max_tokens!r}")
        room = int(max_tokens * engine.settings.context.recent_share)
        with engine.store.read() as tx:
            turns, recent = self._newest(tx, room, None)
        talk = [message for _, _, message in turns]
        if shown is not None or not engine.settings.context.recent_messages:
            recent = []
        # The window may hold shortened copies; what they are copies of is excluded all the same.
        seen = recent if shown is None else [as_message(message) for message in shown]
        known = {id(message) for message in seen} | {message.id for message in seen if message.id}
        excluded = [record for _, record, message in turns if id(message) in known or message.id in known]
        asked: Query = query if query is not None else _up_to_newest_question(talk)
        if query is None and asked:
            excluded += [record for _, record, message in turns if message is asked[-1]]
        if isinstance(query, str):
            excluded += [record for _, record, message in turns[-1:] if message.text == query]
        tongue = language(query if isinstance(query, str) else "", talk)
        about, written = self._about(max_tokens, tongue, excluded if shown is not None else ())
        hits = []
        if asked:
            # A line of the context takes at least `_SHORTEST` tokens; no more are looked for than could fit.
            fitting = max(_FEW, max_tokens // _SHORTEST)
            most = min(engine.settings.context.memories if k is None else k, fitting, engine.settings.limits.k)
            hits = yield from scope._search(asked, k=most, exclude=[*excluded, *written])
        parts = [Part("profile", lines=about), Part("memories", hits=hits), Part("recent", messages=recent)]
        return assemble(parts, max_tokens, tongue, engine.count)

    context, acontext = both(_context)

    # ------------------------------------------------------------------ ending

    def clear(self) -> Receipt:
        """Take the turns away and keep the facts that came from them."""
        return self._erase(derived=False)

    def delete(self) -> Receipt:
        """Erase the conversation, and the facts that came only from it."""
        return self._erase(derived=True)

    def delete_messages(self, ids: Iterable[str]) -> Receipt:
        """Erase single messages by their ids, and the facts that came only from them.

        An id this session does not have is passed over.
        """
        engine = self._scope._live()
        now = engine.now()
        wanted = [ids] if isinstance(ids, str) else list(ids)
        with engine.store.write() as tx:
            scope = self._scope._find(tx)
            if scope is None or not wanted:
                return Receipt(count=0, at=instant(now))
            seqs = [row[0] for id in wanted for row in tx.rows("seq_by_id", (scope, ledger.turn_id(self.id, id)))]
            receipt = ledger.erase(tx, scope, seqs, now)
        engine.model.forget()
        return receipt

    def _erase(self, *, derived: bool) -> Receipt:
        engine = self._scope._live()
        now = engine.now()
        with engine.store.write() as tx:
            row = self._row(tx)
            if row is None:
                return Receipt(count=0, at=instant(now))
            seqs = [each[0] for each in tx.rows("session_records", {"session": row[1]})]
            receipt = ledger.erase(tx, row[0], seqs, now, derived=derived)
            if derived:  # what was told in another conversation too
                tx.run("leave_session", {"session": row[1], "revision": ledger.bump(tx, row[0])})
            tx.run("drop_session" if derived else "reset_session", {"session": row[1]})
        engine.model.forget()
        return receipt

    def end(self) -> None:
        """Say that the conversation is over; a later message opens it again."""
        engine = self._scope._live()
        with engine.store.write() as tx:
            row = self._row(tx)
            if row is not None:
                tx.run("end_session", {"session": row[1], "now": engine.now()})

    amessages = threaded(messages)
    awindow = threaded(window)
    aclear = threaded(clear)
    adelete = threaded(delete)
    adelete_messages = threaded(delete_messages)
    aend = threaded(end)


def _asking(messages: Sequence[Message]) -> int:
    return sum(message.role == "user" for message in messages)


def _raw(tx: Transaction, seq: int) -> tuple[Any, ...]:
    return tx.rows("raw_record", {"seq": seq})[0]


def _name(item: Draft, session: str, now: int) -> None:
    """Give a message without an id one, and its record the id that follows from it."""
    if item.message_id is None:
        item.message_id = ledger.new_id(now)
        item.id = ledger.turn_id(session, item.message_id)


def _same(a: Draft, b: Draft) -> bool:
    return (a.role, a.name, a.text, a.body) == (b.role, b.name, b.text, b.body)


def _up_to_newest_question(talk: list[Message]) -> list[Message]:
    newest = next((i for i in range(len(talk) - 1, -1, -1) if talk[i].role == "user"), None)
    return [] if newest is None else talk[max(0, newest - 3) : newest + 1]
