"""What a session's turns become (D7): memories of those that matter, and a summary of a talk whose turns go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shared_core.deriving import learning
from shared_core.errors import EmbedderMismatch
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.recall.text import is_blank
from shared_core.short_term import summary
from shared_core.steps import Steps
from shared_core.store import ledger, rows, tombstones
from shared_core.store.rows import Draft, dump
from shared_core.values import Message
from shared_core.verbs import condensing
from shared_core.writing.change import Incoming, Source
from shared_core.writing.consolidate import CONVERSATION, EXTRACTOR, kept
from shared_core.writing.intake import cut

if TYPE_CHECKING:
    from shared_core.deriving.consolidating import Work
    from shared_core.engine import Engine
    from shared_core.session import Session


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
    current_embedder = tx.rows("current_embedder")
    embedder = current_embedder[0][0] if current_embedder else None  # ours or another: vectors are only copied
    incoming = []
    for seq, turn in turns:
        item = drafts[seq]
        if item is None or seq in read or seq not in current or current[seq][4] != turn.text:
            continue
        if tombstones.still_said(tx, scope, str(turn.id), turn.text) != turn.text:
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


def sum_up(session: Session) -> Steps[None]:
    """Sum up all of a conversation. A second time carries the summary of the first one on."""
    scope = session._scope
    engine = scope._live()
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
        left = tombstones.still_said(tx, row[0], each[7], message.text)
        yield message if left == message.text else message.model_copy(update={"content": left})
