"""Near-duplicates among facts (D7): finding them, letting one stand for both, and taking that back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shared_core.ports import Transaction
from shared_core.store import audit, ledger, rows, scopes
from shared_core.store.rows import Draft, instant
from shared_core.values import Status
from shared_core.writing.consolidate import MERGED, Told, chosen, merged
from shared_core.writing.sameness import alike, same

if TYPE_CHECKING:
    from shared_core.deriving.consolidating import Work
    from shared_core.recall.arrays import Slots
    from shared_core.recall.dense import DenseIndex
    from shared_core.scope import Scope

_CHUNK = 4_096  # vectors compared at a time
_NEAREST = 16  # neighbours of a fact that are compared with it word by word


def merge_all(scope: Scope, number: int, reached: int, upto: int, work: Work) -> None:
    """Merge the near-duplicates of all facts that were written between two revisions, a batch at a time."""
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
        own += merge(scope, number, fresh, near, whole, work)
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


def merge(
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


def _likeness(tx: Transaction, one: int, other: int) -> float:
    current = tx.rows("current_embedder")  # ours or another: vectors are only compared
    if not current:
        return 0.0
    embedder, _, size = current[0]
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
    gone = {"seq": loser.seq, "by": item.id, "until": until, "now": now, "revision": scopes.bump(tx, scope)}
    tx.run("supersede", gone)
    why = {"by": item.id, "why": "says the same", "until": instant(until).isoformat()}
    audit.note(tx, scope, loser.item.id, "merged into", now, why)
    audit.note(tx, scope, item.id, "merged", now, {"records": [loser.item.id], "before": before})
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
            tx.run("set_state", {**state, "revision": scopes.bump(tx, number)})
            recalled = tx.rows("accesses_of", {"seqs": f"[{other}]"})
            tx.run("take_accesses", (recalled[0][1] if recalled else 0, seq))
            audit.note(tx, number, loser.id, "separated", now, {"from": [item.id]})
            theirs = {row[0] for row in tx.rows("linked_from_any", (other,))}
            mine = {row[0] for row in tx.rows("linked_from_any", (seq,))}
            for source in mine & theirs if mine - theirs else ():  # what the merge had lent it
                tx.run("drop_link", (seq, source))
            item.seen = max(1, item.seen - loser.seen)
            item.supersedes = None if item.supersedes == loser.id else item.supersedes
            back.append(other)
        ledger.change(tx, number, seq, item, now, None)
        ids = [tx.rows("raw_record", {"seq": other})[0][1] for other in back]
        audit.note(tx, number, item.id, "separated", now, {"from": ids})
        return [seq, *back]
