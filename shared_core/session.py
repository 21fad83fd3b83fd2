"""`Session`: one conversation. Messages in, the window and the context out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared_core.deriving import folding, learning
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.ports import TokenCounter, Transaction
from shared_core.recall.question import Query
from shared_core.short_term import importance, summary, window
from shared_core.steps import Steps, both, threaded
from shared_core.store import cascade, ledger, rows, scopes
from shared_core.store.rows import Draft, instant
from shared_core.turns import in_turn
from shared_core.values import Context, Message, Receipt, Record, Reference, ToolUse, as_message
from shared_core.verbs import condensing, replying
from shared_core.verbs.background import Job
from shared_core.verbs.condensing import Condensing
from shared_core.verbs.replying import Replying, Trace

if TYPE_CHECKING:
    import os

    from shared_core.moving.exporting import Exported
    from shared_core.scope import Scope
    from shared_core.short_term.working import Working

Turn = tuple[int, str, Message]  # seq, record id, message
_TAIL = 64  # messages read at first for a window; twice as many each time that was not enough


class Session(Condensing, Replying):
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

    @property
    def working(self) -> Working:
        """What the agent is doing in this conversation: a stack of tasks (A6)."""
        from shared_core.short_term.working import Working

        return Working(self)

    # ------------------------------------------------------------------ messages in

    def _add_messages(
        self, messages: Iterable[Message | Mapping[str, Any]], *, trace: Trace | None = None
    ) -> Steps[list[Record]]:
        """Append messages in one transaction, together and in order; a turn record for each.

        A message is a `Message` or a dict with `role`, `content` and, if known, `id`, `name`,
        `created_at`, `tool_calls`, `tool_call_id`. An id this session has already is the same turn:
        unchanged it is left alone, changed it is replaced where it stands. Messages without an id
        are always new; a whole history sent again without ids goes through `replace_messages`.

        The facts that a user's messages state are stored beside them, in the same transaction
        (`settings.facts`); with an LLM they follow in a second one.

        `trace` is the `Context` (or its `trace`) that the assistant messages among them had;
        `Session.trace` then tells which memories those were.

        Raises `InvalidType` or `InvalidInput` for what is no message; then nothing is stored.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> _ = chat.add_messages([{"role": "user", "content": "I moved to Lyon"}])
        >>> [message.text for message in chat.messages()]
        ['I moved to Lyon']
        """
        queue = self._scope._engine.queue
        if queue.takes():
            return self._queued(messages, trace)
        records = yield from self._stored(messages, trace)
        yield from self._follow(records)
        return records

    def _follow(self, records: Sequence[Record]) -> Steps[None]:
        """What follows messages once they are stored."""
        if records:
            yield from learning.after(self._scope)
            yield from condensing.after(self)
            from shared_core.deriving import consolidating

            consolidating.after(self)

    def _queued(self, messages: Iterable[Message | Mapping[str, Any]], trace: Trace | None) -> list[Record]:
        """Have the background writer add messages: checked, named and dated now, written later (D8)."""
        engine = self._scope._live(wait=False)
        told = replying.traced(trace)
        now = engine.now()
        intake = self._scope._intake
        drafts = [intake.turn(message, self.id, now=now) for message in self._given(messages)]
        if not drafts:
            return []
        for item in drafts:
            _name(item, self.id, now)
            item.created_at = now if item.created_at is None else item.created_at

        def write(items: Sequence[Draft], at: int) -> Steps[list[Record]]:
            records = yield from self._append(list(items), at, told)
            yield from self._follow(records)
            return records

        key = (self._scope.user, self._scope.agent)
        engine.queue.put(Job(key, self.id, "add_messages", tuple(drafts), write, now, alone=bool(told)))
        return [item.record(now, self.id) for item in drafts]

    def _stored(
        self, messages: Iterable[Message | Mapping[str, Any]], trace: Trace | None = None
    ) -> Steps[list[Record]]:
        """`add_messages`, without what follows a message once it is stored."""
        engine = self._scope._live()
        told = replying.traced(trace)
        now = engine.now()
        given = self._given(messages)
        intake = self._scope._intake
        drafts = [intake.turn(message, self.id, now=now) for message in given]
        return (yield from self._append(drafts, now, told)) if drafts else []

    def _append(self, drafts: list[Draft], now: int, told: Any) -> Steps[list[Record]]:
        engine = self._scope._live()
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
                scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
                session = scopes.ensure_session(tx, scope, self.id, now)
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
                if told:
                    replying.keep(tx, scope, [seq for seq in wanted if stored[seq].role == "assistant"], told)
            return records

    add_messages, aadd_messages = both(_add_messages)

    def _given(self, messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
        if isinstance(messages, str | Mapping | Message):
            raise InvalidType("add_messages takes a list of messages; put the one you have into a list")
        given = [message for message in map(as_message, messages) if not summary.is_shown(message)]
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
        intake = self._scope._intake
        drafts = [intake.turn(message, self.id, now=now) for message in given]
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
                scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
                session = scopes.ensure_session(tx, scope, self.id, now)
                staying = {item.id for item in fresh if item.id is not None}
                # What the new history does not say, or says elsewhere, is taken back with what was read from it.
                learning.withdraw(tx, scope, [seq for seq, _ in old[kept:]], now)
                cascade.erase(tx, scope, [seq for seq, item in old[kept:] if item.id not in staying], now)
                # Not `kept`: where turns were deleted, positions run ahead of the count.
                position = (old[kept - 1][1].position or 0) if kept else 0
                for offset, item in enumerate(fresh, 1):
                    item.session, item.position = session, position + offset
                    _name(item, self.id, now)
                for seq, item in old[kept:]:
                    if item.id in staying:  # moved or edited: written anew, in its new place
                        cascade.erase(tx, scope, [seq], now, action="replaced", derived=False)
                ledger.put(tx, scope, fresh, now, number)
                learning.keep(engine, tx, scope, fresh, found, now, number)
                turns = [seq for seq, _ in self._raws(tx)]
                stored = self._scope._records(tx, turns)
                records = [stored[seq] for seq in turns]
            yield from learning.after(self._scope)
            yield from condensing.after(self)
            from shared_core.deriving import consolidating

            consolidating.after(self)
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

    def _window(self, max_tokens: int | None = None, max_turns: int | None = None) -> Steps[list[Message]]:
        """The messages that go into the next prompt.

        The newest turns within `max_turns` (20) and `max_tokens` (4096), never fewer than the
        newest one; with `settings.window.policy="importance"` older messages are chosen by what
        they say (A2, A3); with "summary" one system message with the running summary stands for
        those that don't fit, and is written first where there is none yet (A4). Tool calls keep
        their results, and the first message is a user's. Nothing said is changed.
        """
        engine = self._scope._live()
        settings = engine.settings.window
        tokens = settings.max_tokens if max_tokens is None else max_tokens
        turns = settings.max_turns if max_turns is None else max_turns
        if settings.policy == "summary":
            chosen: list[Message] = yield from folding.windowed(self, tokens, turns)
            return chosen
        with engine.store.read() as tx:
            return self._newest(tx, tokens, turns, engine.count)[1]

    window, awindow = both(_window)

    def _newest(
        self, tx: Transaction, max_tokens: int, max_turns: int | None, counter: TokenCounter
    ) -> tuple[list[Turn], list[Message]]:
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
            chosen = self._windowed([message for _, _, message in turns], max_tokens, max_turns, counter)
            if count is None or len(turns) < count or _asking(chosen) < _asking([m for _, _, m in turns]):
                return turns, chosen
            count *= 2

    def _head(self, tx: Transaction) -> list[Turn]:
        """The system messages at the beginning of the conversation."""
        row = self._row(tx)
        found = [] if row is None else tx.rows("session_head", {"session": row[1]})
        return [(each[0], each[7], rows.message(each)) for each in found]

    def _windowed(
        self, messages: list[Message], max_tokens: int, max_turns: int | None, counter: TokenCounter
    ) -> list[Message]:
        settings = self._scope._engine.settings
        if settings.window.policy == "importance":
            return window.by_importance(
                window.sliding(messages, max_turns=max_turns),
                max_tokens=max_tokens,
                keep_turns=settings.window.keep_turns,
                weigh=lambda message: importance.hold(message, settings.importance),
                count=counter,
            )
        return window.sliding(messages, max_turns=max_turns, max_tokens=max_tokens, count=counter)

    def _context(
        self,
        query: Query | None = None,
        *,
        max_tokens: int = 2000,
        k: int | None = None,
        shown: Iterable[Message | Mapping[str, Any]] | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Steps[Context]:
        """What the model should know to answer, as one text of at most `max_tokens` tokens (C4, C5).

        Out of what is known of the user, the current task, what worked before, people and things the
        question names, memories, past events, what was said earlier and the recent talk: each under a
        heading in the language of the conversation. By default at least the last 6 messages, 3
        memories and 3 relevant events, then what is worth most for its tokens. Nothing stands in it
        twice. Memories are fenced as data, each with its date and source.

        `query`: a question or messages; by default the newest user message, with the talk before
        it. That message and whatever is in the recent talk are never recalled as memories of
        themselves; a question that is not stored here is the caller's to add. The newest turn is
        always in the text, shortened if it has to be. `messages`, `hits` and `sections` give the
        parts, `omitted` what was left out, and why. `k` is the most memories it may hold
        (`settings.context.memories`); up to 3 relevant events may come on top.

        `shown` is for a caller that puts the conversation into the prompt itself, as `window` gave
        it: the context then holds no talk, and none of these messages as memories.

        `where` keeps out memories, events, procedures, facts of the profile and relations that it does
        not fit, as in `search`: `where={"source": {"$nin": ["web", "tool"]}}` recalls nothing that a web
        page or a tool has said. The conversation itself, its summary and its task are not filtered.

        Handed to `add_messages(..., trace=context)` with the reply, it is what `trace` tells later.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add("The spare key is under the blue pot")
        >>> context = scope.session("monday").context("Where is the spare key?")
        >>> print(context.text)  # doctest: +ELLIPSIS
        ## Relevant memories
        <memories>
        - [..., user] The spare key is under the blue pot
        </memories>
        """
        from shared_core.prompt.gathering import gather

        return (yield from gather(self, query, max_tokens, k, shown, where))

    context, acontext = both(_context, taken=in_turn)

    # ------------------------------------------------------------------ what is meant

    def resolve(self, phrase: str) -> Reference:
        """What a phrase refers to: "the document I just mentioned", "那个链接", "the second one", "the last error", "her".

        Looked for among the files, links, ids, errors, tool calls, listed items, people and things of
        the newest messages (`settings.references.messages`, 400): the most recent of its kind, unless
        the phrase counts ("the second"), describes, or says who named it. Needs no LLM. The result has
        the choice (None where there is nothing of the kind), all candidates with scores, and why.
        Raises `InvalidInput` for a blank phrase.

        >>> from shared_core import AgentMemory
        >>> chat = AgentMemory.open(embedder="hashing").scope(user="alice").session("monday")
        >>> _ = chat.add_messages([{"role": "user", "content": "Read plan.pdf, then 预算表.xlsx"}])
        >>> chat.resolve("the document I just mentioned").text, chat.resolve("那个表格").text
        ('plan.pdf', '预算表.xlsx')
        """
        from shared_core.short_term.references import of_session

        return of_session(self, phrase)

    def tools(self, last: int = 10) -> list[ToolUse]:
        """The last tool calls with their arguments, outputs and errors, oldest first; read from the newest messages."""
        from shared_core.short_term.references import tools

        if isinstance(last, bool) or not isinstance(last, int) or last < 0:
            raise InvalidInput(f"last is a whole number from 0, not {last!r}")
        engine = self._scope._live()
        with engine.store.look() as tx:
            turns = self._turns(tx, engine.settings.references.messages)
        return tools([message for _, _, message in turns], last)

    # ------------------------------------------------------------------ ending

    def _clear(self) -> Steps[Receipt]:
        """Consolidate the conversation, then take its turns away: the facts that came from them stay (D7).

        The user's turns that mattered stay as memories of their own, unless `settings.facts.extract`
        is off; with `settings.consolidation.keep_summary` so does a summary of all.
        """
        from shared_core.deriving import consolidating

        yield from consolidating.farewell(self)
        return self._erase(derived=False)

    clear, aclear = both(_clear)

    def delete(self) -> Receipt:
        """Erase the conversation, also what of it lies in the archive, and the facts that came only from it."""
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
            receipt = cascade.erase(tx, scope, seqs, now, archived=[ledger.turn_id(self.id, id) for id in wanted])
        return engine.erased(receipt, self._scope.user, self._scope.agent)

    def _erase(self, *, derived: bool) -> Receipt:
        engine = self._scope._live()
        now = engine.now()
        with engine.store.write() as tx:
            row = self._row(tx)
            if row is None:
                return Receipt(count=0, at=instant(now))
            # Events that were told of it directly are no part of the talk: they stay when only that is cleared.
            whole = "session_records" if derived else "session_turns"
            seqs = [each[0] for each in tx.rows(whole, {"session": row[1]})]
            away = tx.rows("cold_of_session", {"scope": row[0], "session": self.id}) if derived else []
            cascade.mark(tx)  # the summary and the tasks go even where there are no turns
            receipt = cascade.erase(tx, row[0], seqs, now, derived=derived, archived=[each[0] for each in away])
            if derived:  # what was told in another conversation too
                tx.run("leave_session", {"session": row[1], "revision": scopes.bump(tx, row[0])})
            tx.run("drop_session" if derived else "reset_session", {"session": row[1]})
        return engine.erased(receipt, self._scope.user, self._scope.agent)

    def _end(self) -> Steps[None]:
        """Say that the conversation is over, and consolidate it (D7); a later message opens it again."""
        engine = self._scope._live()
        from shared_core.deriving import consolidating

        yield from consolidating.ended(self)
        with engine.store.write() as tx:
            row = self._row(tx)
            if row is not None:
                tx.run("end_session", {"session": row[1], "now": engine.now()})
        yield from self._scope.procedures._after_session()

    end, aend = both(_end)

    def export(self, path: str | os.PathLike[str], *, vectors: bool = True) -> Exported:
        """Write this conversation as a bundle of JSON lines, for another memory or another agent (E5).

        Its messages, the most important memories (`settings.transfer.memories`, 50) and newest events
        (`settings.transfer.events`, 100) of the scope, and the graph. `Scope.import_` reads it;
        `Scope.export` says what the file is like, and what is raised.
        """
        from shared_core.moving import exporting

        return exporting.session(self._scope, self.id, path, vectors=vectors)

    aexport = threaded(export)
    amessages = threaded(messages)
    adelete = threaded(delete)
    adelete_messages = threaded(delete_messages)
    aresolve = threaded(resolve)
    atools = threaded(tools)


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
