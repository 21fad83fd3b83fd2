"""From turns to facts: the rules at once, in the turn's own transaction; an LLM afterwards, in one of its own.

Whatever goes wrong here, the turn is stored. What an LLM owes is a `pending` row, committed with the
turn, so that a crash, a failure or another process leaves nothing undone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared_core.deriving import happening
from shared_core.engine import Engine
from shared_core.errors import InvalidType
from shared_core.long_term.room import move_out
from shared_core.ports import Transaction
from shared_core.steps import Steps
from shared_core.store import audit, cascade, rows
from shared_core.store.rows import Draft, instant
from shared_core.values import Message
from shared_core.writing import facts
from shared_core.writing.change import Incoming, Source, Writer

if TYPE_CHECKING:
    from shared_core.scope import Scope
    from shared_core.writing.extraction import Extracted

_LOG = logging.getLogger("twinmem.facts")
_WORK = "extract"
_AT_ONCE = 100  # turns an LLM is asked about in one go

Found = list[tuple[Draft, list[Draft]]]
"""Turns, each with the facts and events in it."""


def asks_llm(engine: Engine) -> bool:
    """Whether facts are left to the LLM."""
    settings = engine.settings.facts
    return settings.extract and engine.llm is not None and settings.llm != "never"


def read(engine: Engine, turns: Sequence[Draft], before: Message | None, now: int) -> Found:
    """What the rules, or the extractor in the settings, find in new turns; `before` is the message ahead of them."""
    with_facts = engine.settings.facts.extract and not asks_llm(engine)
    if not with_facts and not happening.reads(engine):
        return []
    found: Found = []
    previous = before
    for turn in turns:
        made = []
        if with_facts and facts.worth_reading(turn):
            made = facts.drafts(_extracted(engine, turn, previous, now), turn, engine.intake, now)
        made += happening.read(engine, turn, previous, now)
        if made:
            found.append((turn, made))
        if turn.text:
            previous = message(turn)
    return found


def _extracted(engine: Engine, turn: Draft, previous: Message | None, now: int) -> Sequence[Extracted]:
    from shared_core.writing.extraction import Extracted, extract

    chosen = engine.settings.facts.extractor or extract
    at = instant(facts.told_at(turn, now))
    try:
        found = [*chosen(facts.spoken(turn), at=at, speaker=turn.name, previous=previous)]
        if not all(isinstance(fact, Extracted) for fact in found):
            raise InvalidType("an extractor gives a list of Extracted")
    except Exception:  # noqa: BLE001  a message that no rule understands is stored all the same
        _LOG.warning("no facts were read from message %s", turn.message_id, exc_info=True)
        return []
    return found


def write(engine: Engine, tx: Transaction, scope: int, found: Found, now: int, embedder: int | None, by: str) -> None:
    """Write facts and events with their turns, which stand in the database by now."""
    incoming = []
    for turn, all_ in found:
        made = [item for item in all_ if not happening.is_told(item)]
        if len(made) < len(all_):
            happening.write(engine, tx, scope, turn, [item for item in all_ if happening.is_told(item)], now, embedder)
        seq = tx.rows("seq_by_id", (scope, turn.id))[0][0]
        source = Source(seq, turn.id or "", by)
        for item in made:
            item.session = turn.session  # without a place in it: a fact is no part of the talk
        incoming += [Incoming(item, source) for item in made]
    if incoming:
        writer(engine, tx, scope, now, embedder).write(incoming)


def writer(engine: Engine, tx: Transaction, scope: int, now: int, embedder: int | None) -> Writer:
    """A writer of facts under this memory's settings."""
    return Writer(tx, scope, now, embedder, engine.settings.facts, lambda seq: (engine.accesses(seq) or (0, 0))[0])


def keep(
    engine: Engine, tx: Transaction, scope: int, turns: Sequence[Draft], found: Found, now: int, embedder: int | None
) -> None:
    """Write what was read from turns, or that an LLM has still to read them; the turns stand by now."""
    if asks_llm(engine):
        owe(tx, scope, turns, now)
    if found:
        write(engine, tx, scope, found, now, embedder, extractor_name(engine))


def after(scope: Scope) -> Steps[None]:
    """What follows a message once it is stored: the LLM reads it, and whatever it owes from before."""
    engine = scope._live()
    if happening.reads(engine):
        move_out(scope)
    if asks_llm(engine) and engine.settings.facts.llm == "now":
        yield from resume(scope)


def message(turn: Draft) -> Message:
    """A stored turn as the message before another."""
    return Message(role=turn.role or "user", content=turn.text, name=turn.name)


def extractor_name(engine: Engine) -> str:
    """What the provenance calls the extractor that works without an LLM."""
    return facts.RULES if engine.settings.facts.extractor is None else facts.CUSTOM


def withdraw(tx: Transaction, scope: int, seqs: Sequence[int], now: int) -> None:
    """Take back what was read from turns that are said anew: their facts go, and what those replaced is true again."""
    derived = [row[0] for row in tx.rows("read_only_from", {"seqs": str(list(seqs))})]
    if derived:
        cascade.erase(tx, scope, derived, now, action="replaced", revive=True)
    for seq in seqs:
        tx.run("delete_links_to", (seq,))
        tx.run("delete_pending", (seq,))


# ---------------------------------------------------------------------- with an LLM


def owe(tx: Transaction, scope: int, turns: Sequence[Draft], now: int) -> None:
    """Write down, with the turns, that an LLM has still to read them."""
    for turn in turns:
        if facts.worth_reading(turn):
            seq = tx.rows("seq_by_id", (scope, turn.id))[0][0]
            tx.run("add_pending", (scope, turn.session, seq, _WORK, now))


def owed(engine: Engine) -> list[tuple[str, str]]:
    """The users and agents of whose turns the LLM has some still to read."""
    with engine.store.look() as tx:
        return [(row[0], row[1]) for row in tx.rows("pending_scopes", {"work": _WORK})]


def resume(scope: Scope) -> Steps[int]:
    """Let the LLM read what it owes; how many turns are done with.

    An LLM that raises is asked again at a later time, `facts.attempts` times in all; an answer
    without facts in JSON, or a last failure, leaves the turn to the rules. The turn itself stays.
    """
    engine = scope._live()
    if engine.llm is None:
        return 0
    with engine.store.look() as tx:
        number = scope._find(tx)
        given = {"scope": -1 if number is None else number, "work": _WORK, "limit": _AT_ONCE}
        waiting = tx.rows("pending_work", given)
    done = 0
    for row, record, attempts in waiting:
        done += yield from _one(scope, int(row), int(record), int(attempts))
    return done


def _one(scope: Scope, row: int, record: int, attempts: int) -> Steps[int]:
    from shared_core.writing.extraction import UnreadableAnswer, parse, prompt

    engine = scope._live()
    now = engine.now()
    with engine.store.look() as tx:
        raw = tx.rows("raw_record", {"seq": record})
        if not raw:
            return 0
        turn = rows.draft(raw[0])
        previous = _before(tx, turn)
    at = instant(facts.told_at(turn, now))
    by = facts.LLM
    try:
        asked = prompt(facts.spoken(turn), at=at, speaker=turn.name, previous=previous)
        answer = yield from engine.ask(asked)
        found: Sequence[Extracted] = parse(str(answer), at=at, speaker=turn.name)
    except UnreadableAnswer as error:
        _LOG.warning("the answer about message %s holds no facts: %s", turn.message_id, error)
        by, found = extractor_name(engine), _extracted(engine, turn, previous, now)
    except Exception:  # noqa: BLE001  a model that is down may be up tomorrow; the row stays
        _LOG.warning("the LLM failed on message %s", turn.message_id, exc_info=True)
        if attempts + 1 < engine.settings.facts.attempts:
            with engine.store.write() as tx:
                tx.run("count_attempt", (row,))
            return 0
        by, found = extractor_name(engine), _extracted(engine, turn, previous, now)
    made = facts.drafts(found, turn, engine.intake, now)
    if made:
        engine.ready()
        yield from engine.embed(made)
    with engine.store.write() as tx:
        current = tx.rows("raw_record", {"seq": record})
        if not tx.run("done_pending", (row,)) or not current or current[0][4] != turn.text:
            return 0  # another process was quicker, or the message has changed
        number = engine.claim_embedder(tx)
        write(engine, tx, current[0][0], [(turn, made)], now, number, by)
        audit.note(tx, current[0][0], turn.id, "read", now, {"extractor": by, "facts": len(made)})
    return 1


def _before(tx: Transaction, turn: Draft) -> Message | None:
    found = tx.rows("message_before", {"session": turn.session, "position": turn.position})
    return rows.message(found[0]) if found else None


def newest(tx: Transaction, session: int | None) -> Message | None:
    """The last message of a session as it stands."""
    found = [] if session is None else tx.rows("last_messages", {"session": session, "last": 1})
    return rows.message(found[0]) if found else None


def facts_of(found: Found) -> list[Draft]:
    """The facts of all turns, to be embedded with them."""
    return [item for _, made in found for item in made]
