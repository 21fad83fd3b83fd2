"""Consolidation (D7): what matters becomes a memory, what says the same becomes one, a subject is folded.

Everything works in small transactions, so that others can write in between, and every one of them
leaves the memory whole and says how far it came: stopped or killed anywhere, the next call goes on.
What is looked at is what was written since the last time, found by revision.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shared_core.deriving import learning
from shared_core.errors import EmbedderMismatch, InvalidType
from shared_core.long_term.graph import entities
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.recall.text import is_blank
from shared_core.short_term import summary
from shared_core.steps import Steps
from shared_core.store import ledger, rows
from shared_core.store.rows import Draft, dump, instant
from shared_core.values import ConsolidationReport, Fold, Merge, Message, Status
from shared_core.verbs import condensing
from shared_core.writing import statement
from shared_core.writing.change import Incoming, Source
from shared_core.writing.consolidate import (
    CONVERSATION,
    EXTRACTOR,
    FOLDED,
    MERGED,
    SUBJECT,
    Told,
    chosen,
    folded,
    kept,
    merged,
    prompt,
)  # fmt: skip
from shared_core.writing.intake import cut
from shared_core.writing.sameness import alike, same

if TYPE_CHECKING:
    from shared_core.engine import Engine, Progress
    from shared_core.recall.arrays import Slots
    from shared_core.recall.dense import DenseIndex
    from shared_core.scope import Scope
    from shared_core.session import Session

Stop = Callable[[], bool]
"""Asked between two transactions whether to stop."""

_CHUNK = 4_096  # vectors compared at a time
_NEAREST = 16  # neighbours of a fact that are compared with it word by word
_LOG = logging.getLogger("twinmem.consolidation")
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Work:
    """What has been done so far, who is told of it, and who may stop it."""

    progress: Progress | None = None
    stop: Stop | None = None
    examined: int = 0
    done: int = 0
    total: int = 0
    remembered: list[str] = field(default_factory=list)
    merges: dict[str, list[str]] = field(default_factory=dict)
    folds: list[Fold] = field(default_factory=list)
    stopped: bool = False

    def goes_on(self, more: int = 0) -> bool:
        """Count what was done, tell it, and ask whether to go on."""
        self.done += more
        if more and self.progress is not None:
            self.progress(min(self.done, self.total), self.total)
        self.stopped = self.stopped or (self.stop is not None and bool(self.stop()))
        return not self.stopped

    def report(self) -> ConsolidationReport:
        """What has been done."""
        merges = tuple(Merge(kept=id, merged=tuple(gone)) for id, gone in self.merges.items())
        return ConsolidationReport(
            examined=self.examined, remembered=tuple(self.remembered), merges=merges, folds=tuple(self.folds),
            stopped=self.stopped,
        )  # fmt: skip


def scope(
    scope: Scope, *, fold: bool | None = None, progress: Progress | None = None, stop: Stop | None = None
) -> Steps[ConsolidationReport]:
    """Consolidate all of a scope: the turns of its sessions, its new facts, and with `fold` its subjects."""
    for given in (progress, stop):
        if given is not None and not callable(given):
            raise InvalidType(f"progress and stop are callables, not {type(given).__name__}")
    engine = scope._live()
    settings = engine.settings.consolidation
    work = Work(progress, stop)
    engine.flush()
    with engine.store.look() as tx:
        number = scope._find(tx)
        names = [] if number is None else [row[0] for row in tx.rows("session_names", {"scope": number})]
    if number is None:
        return work.report()
    for name in names:
        if not work.goes_on():
            return work.report()
        remember(scope.session(name), work)
    with engine.store.look() as tx:
        upto, after, last_fold = tx.rows("consolidation_reached", {"scope": number})[0]
        since = {"scope": number, "revision": after, "upto": upto}
        work.total = tx.rows("count_facts_since", since)[0][0]
    if settings.merge and work.goes_on():
        _merge_all(scope, number, after, upto, work)
    if (settings.fold if fold is None else fold) and work.goes_on():
        yield from _fold_all(scope, number, last_fold, work)
    return work.report()


# ---------------------------------------------------------------------- a session's turns


def after(session: Session) -> None:
    """What follows new messages: every few of the user's, the session is consolidated."""
    engine = session._scope._live()
    every = engine.settings.consolidation.every
    if not every or not engine.settings.facts.extract:
        return
    with engine.store.look() as tx:
        number = session._number(tx)
        if number is None or tx.rows("asked_since_consolidated", {"session": number})[0][0] < every:
            return
    close(session)


def close(session: Session, *, final: bool = False) -> ConsolidationReport:
    """Consolidate one session: what matters in its new turns, and duplicates among the facts of it."""
    work = Work()
    written = remember(session, work, final=final)
    engine = session._scope._live()
    if written and engine.settings.consolidation.merge:
        with engine.store.look() as tx:
            number = session._scope._find(tx)
        if number is not None:
            _merge(session._scope, number, written, [], None, work)
    return work.report()


def ended(session: Session, *, final: bool = False) -> Steps[None]:
    """What a conversation is consolidated by when it is over: the LLM reads what it owes, then `close`."""
    engine = session._scope._live()
    if not engine.settings.facts.extract:
        return
    if learning.asks_llm(engine) and (final or engine.settings.facts.llm == "now"):
        yield from learning.resume(session._scope)
    close(session, final=final)


def farewell(session: Session) -> Steps[None]:
    """Consolidate a conversation whose turns are about to go; with `consolidation.keep_summary` sum all of it up.

    A second farewell carries the summary of the first one on.
    """
    scope = session._scope
    engine = scope._live()
    yield from ended(session, final=True)
    if not engine.settings.facts.extract or not engine.settings.consolidation.keep_summary:
        return
    whole = yield from condensing.fold(session, keep_turns=0)
    now = engine.now()
    id = ledger.summary_id("talk", session.id)
    with engine.store.read() as tx:
        row = session._row(tx)
        if row is None:
            return
        before = tx.rows("get_record", {"scope": row[0], "id": id})
        previous = "\n".join(filter(None, [before[0][4] if before else "", summary.stored(tx, row[1])]))
        rest = [] if whole else list(_still_told(tx, row))
    if not whole or before:
        previous = summary.extract(previous, rest, language(previous, rest), engine.settings.summary)
    if is_blank(previous):
        return
    item = Draft(kind="summary", type=CONVERSATION, text=engine.intake.text(previous), id=id, source="memory",
                 importance=engine.settings.consolidation.fold_importance, session=row[1])  # fmt: skip
    cut(item)
    embedded = True
    try:
        engine.ready()
        yield from engine.embed([item])
    except EmbedderMismatch:  # kept without a vector: found by its words, and by `reembed`
        embedded = False
    with engine.store.write() as tx:
        if session._row(tx) == row:
            ledger.put(tx, row[0], [item], now, engine.claim_embedder(tx) if embedded else None)


def _still_told(tx: Transaction, row: tuple[int, int]) -> Iterator[Message]:
    """The messages no summary covers, without what somebody erased of them."""
    reaches = tx.rows("session_digest", {"session": row[1]})[0][1]
    for each in tx.rows("messages_after", {"session": row[1], "position": reaches}):
        message = rows.message(each)
        left = ledger.still_said(tx, row[0], each[7], message.text)
        yield message if left == message.text else message.model_copy(update={"content": left})


def remember(session: Session, work: Work, *, final: bool = False) -> list[int]:
    """Make memories of the turns that matter and of which no fact was read; the seqs of the facts of its new turns.

    Their vectors are those of their turns, so nothing is embedded. What an LLM has still to read is
    left to it, unless this is the `final` chance. Nothing is derived where `settings.facts.extract` is off.
    """
    engine = session._scope._live()
    settings = engine.settings
    found: list[int] = []
    if not settings.facts.extract:
        return found
    promotes = final or settings.consolidation.promote == "always"
    reached = 0 if final and settings.consolidation.promote == "clear" else None  # none was promoted before
    while True:
        now = engine.now()
        with engine.store.look() as tx:
            row = session._row(tx)
            turns = [] if row is None else _new_turns(tx, row[1], settings.consolidation.batch, reached)
        if row is None or not turns:
            return found
        reached = None if reached is None else max(item.position or 0 for _, item in turns)
        drafts = {
            seq: kept(item, settings.consolidation, settings.importance) if promotes else None for seq, item in turns
        }
        with engine.store.write() as tx:
            found += _remembered(engine, tx, row, turns, drafts, now, work, final)
        if not work.goes_on():
            return found


def _new_turns(tx: Transaction, session: int, limit: int, after: int | None = None) -> list[tuple[int, Draft]]:
    if after is None:
        reached = tx.rows("session_consolidated", {"session": session})
        after = reached[0][0] if reached else 0
    given = {"session": session, "position": after, "limit": limit}
    raw = [(row[0], tx.rows("raw_record", {"seq": row[0]})) for row in tx.rows("turns_after", given)]
    return [(seq, rows.draft(found[0])) for seq, found in raw if found]


def _remembered(
    engine: Engine, tx: Transaction, row: tuple[int, int], turns: Sequence[tuple[int, Draft]],
    drafts: dict[int, Draft | None], now: int, work: Work, final: bool,
) -> list[int]:  # fmt: skip
    scope, session = row
    seqs = dump([seq for seq, _ in turns])
    current = {seq: found[0] for seq, _ in turns if (found := tx.rows("raw_record", {"seq": seq}))}
    read = {each[0] for each in tx.rows("already_read", {"seqs": seqs})}
    read |= set() if final else {each[0] for each in tx.rows("still_to_read", {"seqs": seqs})}
    embedder, _ = _embedder(tx)
    incoming = []
    for seq, turn in turns:
        item = drafts[seq]
        if item is None or seq in read or seq not in current or current[seq][4] != turn.text:
            continue
        if ledger.still_said(tx, scope, str(turn.id), turn.text) != turn.text:
            continue  # somebody erased what was read from it
        if embedder is not None:
            vectors = tx.rows("vector_of", (seq << 8 | embedder,))
            item.vector = vectors[0][0] if vectors else None
        incoming.append(Incoming(item, Source(seq, str(turn.id), EXTRACTOR)))
    if incoming:
        learning.writer(engine, tx, scope, now, embedder).write(incoming)
        work.remembered += [str(one.item.id) for one in incoming if one.item.id]
    newest = max((turn.position or 0) for _, turn in turns)
    tx.run("set_session_consolidated", {"session": session, "position": newest})
    return [each[0] for seq in current for each in tx.rows("derived_from", {"source": seq})]


# ---------------------------------------------------------------------- near-duplicates


def _merge_all(scope: Scope, number: int, reached: int, upto: int, work: Work) -> None:
    engine = scope._live()
    size = engine.settings.consolidation.batch
    seq, at, own = 0, reached, 0
    while True:
        with engine.store.look() as tx:
            given = {"scope": number, "revision": at, "seq": seq if at > reached else 2**63 - 1, "upto": upto}
            found = tx.rows("facts_since", {**given, "limit": size})
        fresh = [row[0] for row in found]
        # A revision of which more is to come is not reached yet.
        whole = upto if len(found) < size else found[-1][1] - 1
        near = list(_near(scope, number, fresh)) if fresh else []
        own += _merge(scope, number, fresh, near, whole, work)
        if len(found) < size:
            break
        seq, at = found[-1][0], found[-1][1]
        if not work.goes_on(len(fresh)):
            return
    work.goes_on(len(fresh))
    with engine.store.write() as tx:  # what only we have written since has been looked at already
        revision = tx.rows("consolidation_reached", {"scope": number})[0][0]
        if revision == upto + own:
            tx.run("set_consolidated", {"scope": number, "revision": revision})


def _near(scope: Scope, number: int, fresh: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a new fact and another one that are more alike than `consolidation.likeness`, by their best pieces."""
    engine = scope._live()
    least = engine.settings.consolidation.likeness
    with engine.recalling(number) as (_, index):
        if index.dense is None:
            return
        from shared_core.recall.index import KINDS, STATUSES
        from shared_core.values import Kind

        facts = (index["kind"] == KINDS.index(Kind.FACT)) & (index["status"] == STATUSES.index(Status.ACTIVE))
        slots = np.flatnonzero(facts & index["live"])
        mine = np.array(sorted(index.slot_of[seq] for seq in fresh if seq in index.slot_of), np.int64)
        asked, theirs = index.rows_of(mine), index.rows_of(slots)
        near = _nearest(index.dense, asked, theirs, least)
        seqs, owner = index["seq"], index.owner
        pairs = {(int(seqs[owner[one]]), int(seqs[owner[other]])) for one, other in near if owner[one] != owner[other]}
    yield from sorted(pairs)


def _nearest(dense: DenseIndex, asked: Slots, theirs: Slots, least: float) -> Iterator[tuple[int, int]]:
    """For each of some rows the nearest others over a cosine. A few: of a hundred that are alike, the same come first."""
    queries = dense.vectors(asked)
    best = np.full((len(asked), 0), 0, np.float32)
    which = np.full((len(asked), 0), 0, np.int64)
    for start in range(0, len(theirs), _CHUNK):
        part = theirs[start : start + _CHUNK]
        best = np.concatenate((best, queries @ dense.vectors(part).T), axis=1)
        which = np.concatenate((which, np.broadcast_to(part, (len(asked), len(part)))), axis=1)
        if best.shape[1] > _NEAREST:
            top = np.argpartition(-best, _NEAREST - 1, axis=1)[:, :_NEAREST]
            best, which = np.take_along_axis(best, top, 1), np.take_along_axis(which, top, 1)
    for row, column in zip(*np.nonzero(best > least), strict=True):
        yield int(asked[row]), int(which[row, column])


def _merge(
    scope: Scope, number: int, fresh: Sequence[int], near: Iterable[tuple[int, int]], reached: int | None, work: Work
) -> int:
    """Merge what says the same, in one transaction; how many revisions that took."""
    engine = scope._live()
    now, least = engine.now(), engine.settings.consolidation.likeness
    with engine.store.look() as tx:  # most often nothing is the same, and nobody has to wait for that
        beside = {seq: [other for one, other in near if one == seq] for seq in fresh} if near else {}
        pairs = [pair for seq in fresh for pair in _pairs(tx, number, seq, beside.get(seq, ()), least)]
    work.examined += len(fresh)
    if not pairs and reached is None:
        return 0
    bumps = 0
    with engine.store.write() as tx:
        for one, other in pairs:
            bumps += _join(tx, number, one, other, now, work)
        if reached is not None:
            tx.run("set_consolidated", {"scope": number, "revision": reached})
    return bumps


def _pairs(tx: Transaction, scope: int, seq: int, near: Sequence[int], least: float) -> Iterator[tuple[int, int]]:
    """The pairs of a fact and others that are alike and say the same."""
    raw = tx.rows("raw_record", {"seq": seq})
    if not raw:
        return
    item = rows.draft(raw[0])
    others: dict[int, bool] = dict.fromkeys(near, True)
    if item.topic is not None:  # the same normal form stands at the same place
        named = ("on_thing", (scope, item.topic, "active", item.thing)) if item.triple is not None else None
        keyed = tx.rows(*named) if named else tx.rows("on_topic", (scope, item.topic, "active"))
        for row in keyed:
            others.setdefault(row[0], False)
    for other, known in others.items():
        found = tx.rows("raw_record", {"seq": other}) if other != seq else []
        if not found or not same(item, theirs := rows.draft(found[0])) or _apart(tx, scope, item, theirs):
            continue
        if known or alike(item, theirs) or _likeness(tx, seq, other) > least:
            yield min(seq, other), max(seq, other)


def _embedder(tx: Transaction) -> tuple[int | None, int]:
    """The embedder of the database and its dimensions, be it ours or another: vectors are only copied and compared."""
    found = tx.rows("current_embedder")
    return (found[0][0], found[0][2]) if found else (None, 0)


def _likeness(tx: Transaction, one: int, other: int) -> float:
    embedder, size = _embedder(tx)
    if embedder is None:
        return 0.0
    found = [tx.rows("vector_of", (seq << 8 | embedder,)) for seq in (one, other)]
    if not all(found):
        return 0.0
    mine, theirs = (np.frombuffer(each[0][0], np.float16).astype(np.float32).reshape(-1, size) for each in found)
    return float((mine @ theirs.T).max())


def _apart(tx: Transaction, scope: int, one: Draft, other: Draft) -> bool:
    """Whether somebody has separated these two before."""
    for item, id in ((one, other.id), (other, one.id)):
        for action, _, detail in tx.rows("audit_of", {"scope": scope, "id": item.id}):
            if action == "separated" and id in (rows.load(detail) or {}).get("from", ()):
                return True
    return False


def _told(tx: Transaction, scope: int, seq: int) -> Told | None:
    raw = tx.rows("raw_record", {"seq": seq})
    if not raw or raw[0][0] != scope:
        return None
    item = rows.draft(raw[0])
    given = {"scope": scope, "seqs": f"[{seq}]"}
    waiting = tx.rows("waiting_on", (seq,))
    relations = tx.rows("relations_of_records", given)
    by_hand = len(relations) > (item.triple is not None) or (
        tx.rows("traits_of_records", given) or tx.rows("aliases_of_records", given)
    )
    counted = tx.rows("accesses_of", {"seqs": f"[{seq}]"})
    recalled, at = counted[0][1:] if counted else (0, 0)
    return Told(seq, item, not tx.rows("has_sources", (seq,)), recalled, at, not waiting and not by_hand)


def _join(tx: Transaction, scope: int, one: int, other: int, now: int, work: Work) -> int:
    """Let one of two facts stand for both, if they still say the same; how many revisions it took."""
    mine, theirs = _told(tx, scope, one), _told(tx, scope, other)
    if mine is None or theirs is None or not same(mine.item, theirs.item):
        return 0
    pick = chosen(mine, theirs)
    if pick is None:
        return 0
    winner, loser = pick
    before = {name: getattr(winner.item, name) for name in ("importance", "confidence", "seen", "pinned", "expires_at")}
    item = merged(winner.item, loser.item)
    ledger.change(tx, scope, winner.seq, item, now, None)
    if not winner.direct:
        tx.run("copy_links", (winner.seq, loser.seq))
    tx.run("add_link", (loser.seq, winner.seq, MERGED, now))
    if loser.accesses:
        tx.run("add_access", (winner.seq, loser.accesses, loser.accessed_at))
    until = max(winner.item.created_at or now, loser.item.created_at or now)
    gone = {"seq": loser.seq, "by": item.id, "until": until, "now": now, "revision": ledger.bump(tx, scope)}
    tx.run("supersede", gone)
    why = {"by": item.id, "why": "says the same", "until": instant(until).isoformat()}
    ledger.audit(tx, scope, loser.item.id, "merged into", now, why)
    ledger.audit(tx, scope, item.id, "merged", now, {"records": [loser.item.id], "before": before})
    names = work.merges.setdefault(str(item.id), [])
    names += [str(loser.item.id), *work.merges.pop(str(loser.item.id), [])]
    return 2


def separate(scope: Scope, id: str) -> list[int]:
    """Take a merge back: what was merged into a record stands for itself again; the seqs of both sides."""
    engine = scope._live()
    now = engine.now()
    engine.flush()
    with engine.store.write() as tx:
        seq, item, number = scope._raw(tx, id)
        found = [row[0] for row in tx.rows("linked_to", (seq, MERGED))]
        if not found:
            return [seq]
        back = []
        for other in found:
            raw = tx.rows("raw_record", {"seq": other})
            tx.run("drop_link", (other, seq))
            if not raw or raw[0][34] != item.id:
                continue
            loser = rows.draft(raw[0])
            state = {"seq": other, "status": "active", "supersedes": loser.supersedes, "superseded_by": None,
                     "valid_from": loser.valid_from, "valid_until": None, "now": now}  # fmt: skip
            tx.run("set_state", {**state, "revision": ledger.bump(tx, number)})
            recalled = tx.rows("accesses_of", {"seqs": f"[{other}]"})
            tx.run("take_accesses", (recalled[0][1] if recalled else 0, seq))
            ledger.audit(tx, number, loser.id, "separated", now, {"from": [item.id]})
            theirs = {row[0] for row in tx.rows("linked_from_any", (other,))}
            mine = {row[0] for row in tx.rows("linked_from_any", (seq,))}
            for source in mine & theirs if mine - theirs else ():  # what the merge had lent it
                tx.run("drop_link", (seq, source))
            item.seen = max(1, item.seen - loser.seen)
            item.supersedes = None if item.supersedes == loser.id else item.supersedes
            back.append(other)
        ledger.change(tx, number, seq, item, now, None)
        ids = [tx.rows("raw_record", {"seq": other})[0][1] for other in back]
        ledger.audit(tx, number, item.id, "separated", now, {"from": ids})
        return [seq, *back]


# ---------------------------------------------------------------------- many on one subject


def _fold_all(scope: Scope, number: int, reached: int, work: Work) -> Steps[None]:
    """Fold the subjects of which something was told since the last time."""
    engine = scope._live()
    with engine.store.look() as tx:
        upto = tx.rows("consolidation_reached", {"scope": number})[0][0]
        given = {"scope": number, "revision": reached, "upto": upto}
        names = [row[0] for row in tx.rows("subjects_since", given)]
    subjects = {statement.subject_key(name): name for name in sorted(names, reverse=True)}
    work.done, work.total = 0, len(subjects)
    for key, name in sorted(subjects.items()):
        yield from _fold(scope, number, key, name, work)
        if not work.goes_on(1):
            return
    with engine.store.write() as tx:
        tx.run("set_folded", {"scope": number, "revision": upto})


def _fold(scope: Scope, number: int, key: str, name: str, work: Work) -> Steps[None]:
    engine = scope._live()
    settings = engine.settings.consolidation
    now = engine.now()
    id = ledger.summary_id("about", key)
    with engine.store.look() as tx:
        facts = _small(tx, number, key, name, settings.small_chars)
        old = tx.rows("seq_by_id", (number, id))
        known = {row[0] for row in tx.rows("linked_from", (old[0][0], FOLDED))} if old else set()
    if len(facts) < settings.fold_from:
        if old:
            with engine.store.write() as tx:
                ledger.erase(tx, number, [old[0][0]], now, action="replaced", derived=False)
        return
    text, places = folded(name, [item for _, item in facts], settings.fold_chars)
    inside = [facts[place] for place in places]
    if known == {seq for seq, _ in inside} and old:
        return
    if engine.llm is not None and inside:
        text = (yield from _told_by_llm(engine, name, [item for _, item in inside])) or text
    item = Draft(kind="summary", type=SUBJECT, text=engine.intake.text(text), id=id, source="memory",
                 importance=settings.fold_importance, entities=dump([name]))  # fmt: skip
    cut(item)
    engine.ready()
    yield from engine.embed([item])
    with engine.store.write() as tx:
        for seq, fact in inside:  # told otherwise meanwhile: the next time
            raw = tx.rows("raw_record", {"seq": seq})
            if not raw or (raw[0][4], raw[0][32]) != (fact.text, "active"):
                return
        seqs, _ = ledger.put(tx, number, [item], now, engine.claim_embedder(tx))
        tx.run("delete_links", (seqs[0],))
        tx.many("add_link", [(seqs[0], seq, FOLDED, now) for seq, _ in inside])
        ids = tuple(str(fact.id) for _, fact in inside)
        ledger.audit(tx, number, id, "folded", now, {"facts": len(ids)})
    work.folds.append(Fold(subject=name, record=id, facts=ids))


def _small(tx: Transaction, scope: int, key: str, name: str, chars: int) -> list[tuple[int, Draft]]:
    """The small facts on a subject that hold without end, oldest first; found by topic, not by looking at all."""
    from shared_core.writing.extraction.extracted import PREDICATES

    found = entities.find(tx, scope, name)
    group = [] if found is None else list(entities.group(tx, found))
    verbs = [row[0] for row in tx.rows("verbs_of", {"subjects": dump(group)})] if group else []
    predicates = {statement.predicate(verb).key for verb in verbs} | set(PREDICATES)
    topics = [statement.topic(key, predicate) for predicate in sorted(predicates)]
    seqs = sorted(row[0] for row in tx.rows("facts_on_topics", {"scope": scope, "topics": dump(topics)}))
    drafts = [(seq, rows.draft(tx.rows("raw_record", {"seq": seq})[0])) for seq in seqs]
    return [(seq, item) for seq, item in drafts if len(item.text) <= chars and item.expires_at is None]


def _told_by_llm(engine: Engine, name: str, facts: Sequence[Draft]) -> Steps[str | None]:
    """What the LLM makes of the facts; None if it fails, says nothing, too much, or loses a number."""
    chars = engine.settings.consolidation.fold_chars
    try:
        answer = yield from engine.ask(prompt(name, facts, chars))
    except Exception:  # noqa: BLE001  a model that is down leaves the facts as they stand, word for word
        _LOG.warning("the LLM failed on the facts about a subject", exc_info=True)
        return None
    text = " ".join(str(answer).split())
    wanted = {number for item in facts for number in _DIGITS.findall(item.text)}
    if not text or len(text) > 2 * chars or not wanted <= set(_DIGITS.findall(text)):
        return None
    return text
