"""The verbs of a scope about its upkeep: consolidating it, taking a merge back, letting go of what has faded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidType
from shared_core.steps import Steps, both, threaded
from shared_core.store import cascade, rows
from shared_core.store.rows import instant
from shared_core.values import CleanupReport, ConsolidationReport, Faded, Kind, Record, Status
from shared_core.verbs import erasing
from shared_core.verbs.handle import Handle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared_core.deriving.consolidating import Stop
    from shared_core.engine import Progress
    from shared_core.ports import Transaction

Records = list[Record]


class Upkeep(Handle):
    """What `Scope` does to keep itself small and whole. None of it runs unasked but what `settings` say."""

    def _consolidate(
        self, *, fold: bool | None = None, progress: Progress | None = None, stop: Stop | None = None
    ) -> Steps[ConsolidationReport]:
        """Move what matters to the long term, merge what says the same, and, with `fold`, sum up subjects (D7).

        A user's turn of an importance over `settings.consolidation.threshold` (0.6) becomes a fact
        unless facts were read from it. Facts that are alike (cosine over 0.8) and agree in subject,
        predicate, object, polarity, numbers and dates become one: highest importance, newest time,
        accesses added up; the others are kept as superseded by it, and `separate` takes that back.
        With `fold` (default `settings.consolidation.fold`: off) eight or more small facts on one
        subject get a summary beside them, made by the LLM if there is one.

        Looks only at what was written since the last time, in small transactions. `progress(done,
        total)` is told how far it is; `stop()` is asked in between, and ends it without harm.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["Ann likes green tea", "ann likes GREEN tea!", "Ann likes no green tea"])
        >>> [len(each.merged) for each in scope.consolidate().merges], scope.count()
        ([1], 2)
        """
        from shared_core.deriving import consolidating

        return (yield from consolidating.scope(self._whole, fold=fold, progress=progress, stop=stop))

    consolidate, aconsolidate = both(_consolidate)

    def separate(self, id: str) -> Records:
        """Take a merge back: the record and those that were merged into it, each for itself again.

        They are never merged again. What the record took over besides counts (importance, metadata)
        it keeps. Raises `NotFound` for an unknown id; a record that stands for itself alone is given back.
        """
        from shared_core.deriving import merging

        found = merging.separate(self._whole, id)
        with self._live().store.look() as tx:
            records = self._records(tx, found)
        return [records[seq] for seq in found if seq in records]

    def cleanup(
        self, dry_run: bool = True, *, progress: Progress | None = None, stop: Stop | None = None
    ) -> CleanupReport:
        """Let go of memories that have faded, are doubtful or have expired (D6); by default only say which.

        `settings.decay` has the rules: under a worth of 0.2 (importance less a sixtieth for every day
        of age, less up to 0.1 for disuse), under a confidence of 0.3, past the end. Age counts from
        the event time where there is one. What is pinned stays. They go into the archive, or are
        deleted for good, as `settings.decay.to` says; what has expired is deleted. Never runs by itself.

        Raises `InvalidInput`, and takes nothing away, where memories should go into the archive of a
        database in memory that has no `settings.archive.address`.

        >>> from datetime import timedelta
        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add("It may rain", confidence=0.1), scope.add("Likes tea")
        >>> [(each.text, each.reason, each.to) for each in scope.cleanup().gone]
        [('It may rain', 'low confidence', 'archive')]
        """
        if not isinstance(dry_run, bool):
            raise InvalidType(f"dry_run is True or False, not {type(dry_run).__name__}")
        engine = self._live()
        engine.flush()
        found, examined, pinned = self._faded()
        if dry_run or not found:
            return CleanupReport(
                dry_run=dry_run, examined=examined, gone=tuple(each for _, each in found), pinned=pinned
            )
        gone: list[Faded] = []
        archives: list[str] = []
        stopped = False
        size = engine.settings.decay.batch
        for start in range(0, len(found), size):
            if stop is not None and stop():
                stopped = True
                break
            taken, archive = self._let_go(found[start : start + size])
            gone += taken
            archives += archive
            if progress is not None:
                progress(min(start + size, len(found)), len(found))
        engine.model.forget()
        erasing.swept(engine, len(gone))
        return CleanupReport(
            dry_run=False, examined=examined, gone=tuple(gone), pinned=pinned, archives=tuple(archives), stopped=stopped
        )

    def _faded(self) -> tuple[list[tuple[int, Faded]], int, int]:
        """What may go, by seq; how many were looked at, and how many only their pin keeps."""
        from shared_core.writing.decay import verdict

        engine = self._engine
        settings, now = engine.settings.decay, instant(engine.now())
        found: list[tuple[int, Faded]] = []
        examined = pinned = 0
        with engine.store.read() as tx:
            scope = self._find(tx)
            for row in () if scope is None else tx.each("scope_records", {"scope": scope}):
                record = self._counted(row)
                examined += record.status is Status.ACTIVE
                why = verdict(record, now, settings)
                if why is not None:
                    found.append((row[0], self._gone(record, why)))
                elif record.pinned and verdict(record.model_copy(update={"pinned": False}), now, settings):
                    pinned += 1
        return found, examined, pinned

    def _gone(self, record: Record, why: Any) -> Faded:
        from shared_core.writing.decay import EXPIRED

        settings = self._engine.settings.decay
        return Faded(
            id=record.id, kind=record.kind, text=record.text, reason=why.reason, worth=why.worth,
            importance=record.importance, confidence=record.confidence, age=why.age, idle=why.idle,
            to=settings.expired_to if why.reason == EXPIRED else settings.to,
        )  # fmt: skip

    def _let_go(self, batch: Sequence[tuple[int, Faded]]) -> tuple[list[Faded], list[str]]:
        """Take a batch away; what was confirmed, recalled or pinned meanwhile stays."""
        from shared_core.writing.decay import verdict

        engine = self._engine
        now = engine.now()
        with engine.store.look() as tx:
            current = self._records(tx, [seq for seq, _ in batch])
        still = [
            (seq, self._gone(current[seq], why))
            for seq, _ in batch
            if seq in current and (why := verdict(current[seq], instant(now), engine.settings.decay)) is not None
        ]
        away = [each.id for _, each in still if each.to == "archive"]
        archives = self._archive(away) if away else []
        if away:
            with engine.store.look() as tx:  # what waits for the user's answer was passed over
                here = {row[1] for seq, _ in still for row in tx.rows("raw_record", {"seq": seq})}
            still = [(seq, each) for seq, each in still if each.to == "delete" or each.id not in here]
        erased = [seq for seq, each in still if each.to == "delete"]
        if erased:
            with engine.store.write() as tx:
                scope = self._find(tx)
                assert scope is not None
                kept = {seq for seq in erased if self._stays(tx, seq, now)}
                turns = {seq for seq, each in still if each.kind is Kind.TURN}
                going = [seq for seq in erased if seq not in kept]
                cascade.erase(tx, scope, [seq for seq in going if seq not in turns], now)
                # What was read from a turn outlives it here: it fades by itself.
                cascade.erase(tx, scope, [seq for seq in going if seq in turns], now, derived=False)
            still = [(seq, each) for seq, each in still if seq not in kept]
        return [each for _, each in still], archives

    def _stays(self, tx: Transaction, seq: int, now: int) -> bool:
        """Whether a record that should be deleted is wanted again, as this transaction sees it."""
        from shared_core.writing.decay import verdict

        found = tx.rows("records_by_seq", {"seqs": f"[{seq}]"})
        return not found or verdict(rows.record(found[0]), instant(now), self._engine.settings.decay) is None

    def _archive(self, ids: Sequence[str]) -> list[str]:
        """Move records into the archive; the ids of what was written."""
        from shared_core.long_term.archive import put_records

        found = put_records(self._whole, ids, why="cleanup")
        return [] if found is None else [found.id]

    aseparate = threaded(separate)
    acleanup = threaded(cleanup)
