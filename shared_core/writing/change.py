"""Facts on their way in: met with what is known, inside the transaction that writes them (D3, D4).

`conflict` decides; here its decisions become rows: the old fact superseded, linked and dated, both
told in the audit log, the relation in the graph, a question where the user is to be asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from shared_core.errors import InvalidInput
from shared_core.long_term.graph import entities, forgetting, relations
from shared_core.long_term.graph.names import checked, predicate_key
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.settings import Facts
from shared_core.store import audit, cascade, ledger, scopes, tombstones
from shared_core.store.rows import Draft, draft, dump, instant, load
from shared_core.values import Triple
from shared_core.writing import conflict, statement
from shared_core.writing.conflict import Action, Claim, Decision, Fact, Lookup, Policy, Strategy
from shared_core.writing.intake import cut

ACTIVE, SUPERSEDED, WAITING = "active", "superseded", "waiting"
_NO_RELATION = frozenset({"noted", "should", "plans"})  # what they say of is a sentence, not a thing
_LONGEST_NAME = 200
_FEW = 4  # facts in one write, up to which each looks for its own topics


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact came from: the turn's seq and id, and what took the fact out of it."""

    seq: int
    record: str
    extractor: str


@dataclass(slots=True)
class Incoming:
    """A fact to be written."""

    item: Draft
    source: Source | None = None
    denied: frozenset[str] = frozenset()  # ids of facts it contradicts, as an NLI model says


@dataclass(slots=True)
class Written:
    """What became of drafts: their seqs in order, and those whose rows say more than the draft."""

    seqs: list[int] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    first: int | None = None


Accesses = Callable[[int], int]


@lru_cache(maxsize=64)
def _declared(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(statement.predicate(word).key for word in words)


def policy(facts: Facts, *, same: bool = False, denied: frozenset[str] = frozenset()) -> Policy:
    """The rules of a memory, as its settings say."""
    one, many = _declared(facts.single_valued), _declared(facts.many_valued)

    def single(key: str) -> bool:
        return key in one or (key not in many and statement.single_valued(key))

    return Policy(Strategy(facts.strategy), single, denied, same)


# ---------------------------------------------------------------------- writing


class Writer:
    """Writes facts and all they change, in one open transaction."""

    def __init__(
        self, tx: Transaction, scope: int, now: int, embedder: int | None, facts: Facts, accesses: Accesses
    ) -> None:
        self._tx, self._scope, self._now, self._embedder = tx, scope, now, embedder
        self._facts, self._accesses = facts, accesses
        self._revision: int | None = None
        self._waiting: list[tuple[int, Draft]] = []  # without a conflict, to be written together: place, draft
        self._topics: dict[int, set[int | None]] = {}  # topics and things of those
        self._done = Written()

    def write(self, incoming: Sequence[Incoming]) -> Written:
        """Write facts in order; each meets what was written before it."""
        self._done = Written(seqs=[0] * len(incoming))
        busy = self._busy(incoming) if len(incoming) > _FEW else None
        for place, one in enumerate(incoming):
            item, source = one.item, one.source
            if source is not None and tombstones.was_erased(self._tx, self._scope, source.record, item.text):
                continue
            alone = item.topic is None or (busy is not None and item.triple is None and item.topic not in busy)
            if alone and not one.denied and source is None:
                self._waiting.append((place, item))
                continue
            self._meet(place, one)
        self._flush()
        return self._done

    def _busy(self, incoming: Sequence[Incoming]) -> set[int]:
        """The topics of free texts on which something stands already, or more than one of these texts."""
        counted = Counter(one.item.topic for one in incoming if one.item.topic is not None)
        given = {"scope": self._scope, "topics": dump(list(counted))}
        known = {row[0] for row in self._tx.rows("known_topics", given)}
        return known | {topic for topic, times in counted.items() if topic is not None and times > 1}

    def _flush(self) -> None:
        if not self._waiting:
            return
        items = [item for _, item in self._waiting]
        seqs, first = ledger.put(self._tx, self._scope, items, self._now, self._embedder)
        for (place, item), seq in zip(self._waiting, seqs, strict=True):
            if seq < first:
                self._done.changed.add(seq)
            self._done.seqs[place] = seq
            if item.triple is not None and seq >= first:
                self._relate(seq, item)
        seen: set[int] = set()
        for seq in seqs:  # told twice in one batch
            if seq in seen:
                self._done.changed.add(seq)
            seen.add(seq)
        self._waiting.clear()
        self._topics.clear()

    def _meet(self, place: int, one: Incoming) -> None:
        item = one.item
        claim = conflict.claim_of(item.text, item.triple, polarity=item.polarity, over=item.over)
        rules = policy(self._facts, same=one.source is not None, denied=one.denied)
        # What is yet to be replaces nothing now, and is no reason against what is.
        timely = claim is not None and not self._lies_ahead(item)
        places = conflict.lookups(claim, rules.single, self._names(item)) if timely and claim is not None else []
        if one.denied or any(self._is_waiting(place) for place in places):
            self._flush()
        new = self._fact(item, claim or Claim())
        olds = self._on(places, ACTIVE, item.id) + self._by_id(one.denied)
        if claim is not None and claim.over and places and places[0][1] is not None and not olds:
            self._flush()  # "sold the car": the red one, if there is one car
            olds = self._ending_in(claim.object, [topic for topic, things in places if things == places[0][1]], item)
        decision = Decision(Action.ADD)
        if olds or rules.strategy is Strategy.ASK:
            decision = conflict.decide([fact for _, fact in olds], new, rules)
            if (
                decision.action is not Action.ADD
                and one.source is None
                and ledger.is_known(self._tx, self._scope, item)
            ):
                decision = Decision(Action.ADD)  # told again word for word: the ledger's affair, and nothing changes
            if decision.action is Action.ASK and one.source is not None:
                decision = self._asked_already(places, new) or decision
        if decision.action is Action.ADD and one.source is None:
            self._waiting.append((place, item))
            if item.topic is not None:
                self._topics.setdefault(item.topic, set()).add(item.thing)
            return
        self._flush()
        seqs = {fact.id: seq for seq, fact in olds}
        self._done.seqs[place] = self._act(item, new, decision, seqs, one.source)

    # ------------------------------------------------------------------ looking up

    def _names(self, item: Draft) -> list[str]:
        """The other names of a fact's subject, as aliases and merges of the graph tell them."""
        if item.triple is None:
            return []
        found = entities.find(self._tx, self._scope, item.triple.subject)
        if found is None:
            return []
        group = entities.group(self._tx, found)
        return [] if len(group) == 1 else [self._tx.rows("entity_row", (each,))[0][2] for each in group]

    def _is_waiting(self, place: Lookup) -> bool:
        topic, things = place
        return topic in self._topics and (things is None or not self._topics[topic].isdisjoint(things))

    def _on(self, places: Iterable[Lookup], status: str, but: str | None) -> list[tuple[int, Fact]]:
        seqs: dict[int, None] = {}
        for topic, things in places:
            if things is None:
                seqs.update((row[0], None) for row in self._tx.rows("on_topic", (self._scope, topic, status)))
            for thing in things or ():
                seqs.update((row[0], None) for row in self._tx.rows("on_thing", (self._scope, topic, status, thing)))
        found = [(seq, self._item(seq)) for seq in seqs]
        return [(seq, self._old(seq, item)) for seq, item in found if item.id != but and not self._lies_ahead(item)]

    def _ending_in(self, object: str, topics: Iterable[int], item: Draft) -> list[tuple[int, Fact]]:
        """The facts on these topics whose object may be the one that is meant by its last words."""
        words = "%" + re.sub(r"([\\%_])", r"\\\1", object) + "%"
        rows = [row for topic in topics for row in self._tx.rows("on_ending", (self._scope, topic, ACTIVE, words))]
        found = [(int(row[0]), self._item(row[0])) for row in rows]
        return [(seq, self._old(seq, old)) for seq, old in found if old.id != item.id and not self._lies_ahead(old)]

    def _lies_ahead(self, item: Draft) -> bool:
        return item.event_time is not None and item.event_time > max(self._now, item.created_at or self._now)

    def _by_id(self, ids: Collection[str]) -> list[tuple[int, Fact]]:
        rows = [row for id in ids for row in self._tx.rows("seq_by_id", (self._scope, id))]
        olds = [(int(row[0]), self._item(row[0])) for row in rows]
        return [(seq, self._fact(item, Claim(), seq)) for seq, item in olds if item.status == ACTIVE]

    def _item(self, seq: int) -> Draft:
        return draft(self._tx.rows("raw_record", {"seq": seq})[0])

    def _old(self, seq: int, item: Draft) -> Fact:
        return self._fact(item, conflict.claim_of(item.text, item.triple, polarity=item.polarity) or Claim(), seq)

    def _fact(self, item: Draft, claim: Claim, seq: int | None = None) -> Fact:
        told = self._now if item.created_at is None else item.created_at
        since = None if self._lies_ahead(item) else item.event_time
        recalled = 0
        if seq is not None and self._facts.strategy == Strategy.ACCESSES.value:
            recalled = sum(row[1] for row in self._tx.rows("accesses_of", {"seqs": str([seq])})) + self._accesses(seq)
        return Fact(item.id or "", item.text, claim, told, since, item.importance, item.confidence, recalled)

    def _asked_already(self, places: Iterable[Lookup], new: Fact) -> Decision | None:
        for _, fact in self._on(places, WAITING, None):
            if (fact.claim.object, fact.claim.polarity) == (new.claim.object, new.claim.polarity):
                return Decision(Action.AGAIN, (fact,), "asked already")
        return None

    # ------------------------------------------------------------------ acting

    def _act(self, item: Draft, new: Fact, decision: Decision, seqs: dict[str, int], source: Source | None) -> int:
        action, olds = decision.action, decision.olds
        if action is Action.AGAIN:
            seq = seqs.get(olds[0].id) or int(self._tx.rows("seq_by_id", (self._scope, olds[0].id))[0][0])
            ledger.tell_again(self._tx, self._scope, seq, item, self._now)
            self._done.changed.add(seq)
            self._link(seq, source)
            return seq
        if item.id is None and olds:
            item.id = item.wish or ledger.new_id(self._now)
        if action is Action.MERGE:
            for old in reversed(olds):
                self._take_in(item, self._item(seqs[old.id]), seqs[old.id])
        if action is Action.REPLACE or action is Action.MERGE:
            item.supersedes = olds[-1].id
            item.valid_from = new.start
        elif action is Action.YIELD:
            self._give_way(item, new, decision)
        elif action is Action.ASK:
            item.status = WAITING
        written, _ = ledger.put(self._tx, self._scope, [item], self._now, self._embedder)
        seq, id = written[0], str(item.id)
        self._link(seq, source)
        for old in olds if action in (Action.REPLACE, Action.MERGE) else decision.also:
            self.supersede(seqs[old.id], old, id, until=max(new.start, old.start), why=decision.why)
        if olds:
            verb = {Action.YIELD: "yielded", Action.ASK: "asked", Action.MERGE: "merged"}.get(action, "replaced others")
            self._audit(id, verb, {"records": [old.id for old in olds], "why": decision.why})
        if action is Action.ASK:
            self._ask(seq, item, olds[-1], seqs[olds[-1].id])
        if action is Action.YIELD:
            self._take_place(seq, item, olds[0])
        if item.triple is not None:
            self._relate(seq, item)
        self._done.changed.add(seq)
        return seq

    def _take_in(self, item: Draft, old: Draft, seq: int) -> None:
        """Make one fact of two values: both texts, the vectors of both, the higher importance."""
        joint = "；" if language(item.text, []) == "zh" else "; "
        item.text = f"{old.text}{joint}{item.text}"
        if item.triple is not None and old.triple is not None:
            item.triple = item.triple._replace(object=f"{old.triple.object}; {item.triple.object}")
        item.digest = None
        item.importance = max(item.importance, old.importance)
        item.confidence = min(item.confidence, old.confidence)
        item.entities = dump(list(dict.fromkeys([*(load(old.entities) or ()), *(load(item.entities) or ())])))
        item.metadata = dump({**(load(old.metadata) or {}), **(load(item.metadata) or {})})
        item.pinned = item.pinned or old.pinned
        cut(item)
        if self._embedder is not None:
            rows = self._tx.rows("vector_of", (seq << 8 | self._embedder,))
            item.vector = b"".join(part for part in (rows[0][0] if rows else None, item.vector) if part) or None

    def _give_way(self, item: Draft, new: Fact, decision: Decision) -> None:
        """A fact that is not the present one: true from its start until the other's, or, outvoted, never."""
        item.status = SUPERSEDED
        item.superseded_by = decision.olds[0].id
        item.valid_from = new.start
        item.valid_until = max(decision.at or new.start, new.start)

    def _take_place(self, seq: int, item: Draft, later: Fact) -> None:
        """Put a fact of the past between the versions before and after it."""
        if item.topic is None or item.valid_from is None or item.valid_from == item.valid_until:
            return
        for other, fact in self._on([(item.topic, None)], SUPERSEDED, item.id):
            before = self._item(other)
            end = before.valid_until
            if before.superseded_by is None or end is None or not fact.start <= item.valid_from < end:
                continue
            after = before.superseded_by
            self._set(seq, item, supersedes=fact.id, superseded_by=after, valid_until=end)
            self._set(other, before, superseded_by=item.id, valid_until=item.valid_from)
            rows = self._tx.rows("seq_by_id", (self._scope, after))
            if rows:
                successor = self._item(rows[0][0])
                if successor.supersedes == fact.id:
                    self._set(rows[0][0], successor, supersedes=item.id)
            return

    def _set(self, seq: int, item: Draft, **changes: str | int | None) -> None:
        for name, value in changes.items():
            setattr(item, name, value)
        given = {name: getattr(item, name) for name in ("supersedes", "superseded_by", "valid_from", "valid_until")}
        state = {"seq": seq, "status": item.status, "now": self._now, "revision": self._bump(), **given}
        self._tx.run("set_state", state)
        self._done.changed.add(seq)

    def supersede(self, seq: int, old: Fact, by: str, *, until: int, why: str) -> None:
        """Let a fact be replaced: kept, linked, dated, and told in its history."""
        given = {"seq": seq, "by": by, "until": until, "now": self._now, "revision": self._bump()}
        self._tx.run("supersede", given)
        cascade.unfold(self._tx, self._scope, seq, self._now)
        self._tx.run("delete_questions_of", (seq,))
        self._audit(old.id, "superseded", {"by": by, "why": why, "until": instant(until).isoformat()})
        self._done.changed.add(seq)

    def settle(self, new: int, old: int, chosen: str) -> int:
        """Do as the user answered about a fact that waited: "new", "old" or "both"; the seq of what holds."""
        waited, item = self._item(new), self._item(old)
        id, other = str(waited.id), str(item.id)
        fact = self._old(new, waited)
        if chosen == "old":
            waited.status = SUPERSEDED
            self._set(new, waited, superseded_by=other, valid_from=fact.start, valid_until=fact.start)
            self._audit(id, "answered", {"kept": other})
            return old
        waited.status = ACTIVE
        self._set(new, waited, supersedes=other if chosen == "new" else None, valid_from=fact.start)
        self._audit(id, "answered", {"kept": id if chosen == "new" else "both"})
        if chosen == "new":
            replaced = self._old(old, item)
            self.supersede(old, replaced, id, until=max(fact.start, replaced.start), why="the user's answer")
        return new

    def _bump(self) -> int:
        if self._revision is None:
            self._revision = scopes.bump(self._tx, self._scope)
        return self._revision

    def _audit(self, record: str, action: str, detail: dict[str, object]) -> None:
        audit.note(self._tx, self._scope, record, action, self._now, detail)

    def _link(self, seq: int, source: Source | None) -> None:
        if source is not None:
            self._tx.run("add_link", (seq, source.seq, source.extractor, self._now))

    def retell(self, seq: int, old: Draft, new: Draft) -> None:
        """Let the graph say of a changed record what it says now."""
        if old.triple is not None and old.triple != new.triple:
            subject, object_ = (entities.find(self._tx, self._scope, part) for part in old.triple[::2])
            if subject is not None and object_ is not None:
                key = predicate_key(old.triple.predicate)
                names = (subject, key, object_, seq, old.triple.subject, old.triple.object)
                told = [(row[0], subject, key, object_, seq) for row in self._tx.rows("find_relation", names)]
                forgetting.of_relations(self._tx, self._scope, told, scopes.bump(self._tx, self._scope))
        self._relate(seq, new)

    def _relate(self, seq: int, item: Draft) -> None:
        """The fact as a relation of the graph, which lives and dies with it."""
        if item.kind != "fact" or item.triple is None or item.topic is None:
            return
        claim = conflict.claim_of(item.text, item.triple, polarity=item.polarity, over=item.over)
        if claim is None or not claim.polarity or claim.predicate in _NO_RELATION:
            return
        try:
            names = (checked(part, "name", _LONGEST_NAME) for part in item.triple)
            triple = Triple(*names)
        except InvalidInput:
            return  # a whole sentence is no name of a thing
        relations.tell(
            self._tx, self._scope, triple, record=seq, confidence=item.confidence,
            revision=scopes.bump(self._tx, self._scope), now=self._now,
        )  # fmt: skip

    def _ask(self, seq: int, item: Draft, old: Fact, other: int) -> None:
        text, choices = conflict.clarifying(old.text, item.text, language(item.text, []))
        values = (ledger.new_id(self._now), self._scope, text, dump(list(choices)), dump({}), seq, other, self._now)
        self._tx.run("add_question", values)
