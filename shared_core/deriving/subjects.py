"""Many small facts on one subject (D7): a summary beside them, made anew as soon as one of them changes."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared_core.long_term.graph import entities
from shared_core.ports import Transaction
from shared_core.steps import Steps
from shared_core.store import audit, cascade, ledger, rows
from shared_core.store.rows import Draft, dump
from shared_core.values import Fold
from shared_core.writing import statement
from shared_core.writing.consolidate import FOLDED, SUBJECT, folded, prompt
from shared_core.writing.intake import cut

if TYPE_CHECKING:
    from shared_core.deriving.consolidating import Work
    from shared_core.engine import Engine
    from shared_core.scope import Scope

_LOG = logging.getLogger("twinmem.consolidation")
_DIGITS = re.compile(r"\d+")


def fold_all(scope: Scope, number: int, reached: int, work: Work) -> Steps[None]:
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
                cascade.erase(tx, number, [old[0][0]], now, action="replaced", derived=False)
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
        audit.note(tx, number, id, "folded", now, {"facts": len(ids)})
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
