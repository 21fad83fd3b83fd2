"""Words of one scope in memory: postings over term ids, scored by BM25.

Why not tantivy, bm25s or FTS5: tantivy's writer holds 15 MB and six threads a scope, bm25s can't
add or remove, FTS5 needs 57 ms at 100,000 records. Postings in numpy arrays answer in well under
a millisecond at 10,000, load from the rows in one sort, and remove by a flag.

BM25 as in Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009), with
k1 = 1.2 and b = 0.4: turns of talk are short, so their length says little.
"""

from __future__ import annotations

import numpy as np

from shared_core.recall.arrays import Floats, NDArray, Slots
from shared_core.recall.growing import Column

K1 = 1.2
B = 0.4
_MERGE = 20_000  # postings that wait in dictionaries before they are merged into the arrays


class LexicalIndex:
    """An inverted index whose documents are slots, numbered as they are added."""

    def __init__(self) -> None:
        self._terms: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._slots: NDArray[np.int32] = np.empty(0, np.int32)
        self._counts: NDArray[np.uint16] = np.empty(0, np.uint16)
        self._fresh: dict[int, list[tuple[int, int]]] = {}
        self._waiting = 0
        self._lengths = Column(np.float32)
        self._live = Column(np.bool_)
        self._total = 0.0
        self._alive = 0

    def __len__(self) -> int:
        return self._alive

    def add(self, packed: list[bytes]) -> None:
        """Add documents, each the packed ids of its terms (8 bytes each, with repeats)."""
        first = self._lengths.size
        lengths = np.fromiter(map(len, packed), np.int64, len(packed)) // 8
        self._lengths.extend(lengths)
        self._live.extend(np.ones(len(packed), np.bool_))
        self._total += float(lengths.sum())
        self._alive += len(packed)
        if int(lengths.sum()) > _MERGE:
            ids = np.frombuffer(b"".join(packed), np.uint64)
            self._merge(ids, np.repeat(np.arange(first, first + len(packed), dtype=np.int32), lengths))
            return
        for slot, blob in enumerate(packed, first):
            counts: dict[int, int] = {}
            for term in memoryview(blob).cast("Q"):
                counts[term] = counts.get(term, 0) + 1
            for term, count in counts.items():
                self._fresh.setdefault(term, []).append((slot, count))
            self._waiting += len(counts)
        if self._waiting > _MERGE:
            self._merge(np.empty(0, np.uint64), np.empty(0, np.int32))

    def _merge(self, ids: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
        """Sort everything into the arrays: what they hold, what waits, and `ids` at `slots`."""
        parts_terms = [np.repeat(self._terms, np.diff(self._starts))]
        parts_slots, parts_counts = [self._slots], [self._counts]
        if self._fresh:
            sizes = np.fromiter((len(p) for p in self._fresh.values()), np.int64, len(self._fresh))
            parts_terms.append(np.repeat(np.fromiter(self._fresh, np.uint64, len(self._fresh)), sizes))
            pairs = np.array([pair for postings in self._fresh.values() for pair in postings], np.int64)
            parts_slots.append(pairs[:, 0].astype(np.int32))
            parts_counts.append(np.minimum(pairs[:, 1], 65_535).astype(np.uint16))
        if len(ids):
            order = np.argsort(ids, kind="stable")  # documents come in the order of their slots
            ids, slots = ids[order], slots[order]
            head = np.flatnonzero(np.r_[True, (ids[1:] != ids[:-1]) | (slots[1:] != slots[:-1])])
            parts_terms.append(ids[head])
            parts_slots.append(slots[head])
            parts_counts.append(np.minimum(np.diff(np.r_[head, len(ids)]), 65_535).astype(np.uint16))
        self._settle(np.concatenate(parts_terms), np.concatenate(parts_slots), np.concatenate(parts_counts))

    def _settle(self, terms: NDArray[np.uint64], slots: NDArray[np.int32], counts: NDArray[np.uint16]) -> None:
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        head = np.flatnonzero(np.r_[True, terms[1:] != terms[:-1]]) if len(terms) else np.empty(0, np.int64)
        self._terms = terms[head]
        self._starts = np.r_[head, len(terms)].astype(np.int64)
        self._slots, self._counts = slots[order], counts[order]
        self._fresh = {}
        self._waiting = 0

    def remove(self, slot: int) -> None:
        """Take a document out; its postings are skipped until `keep` drops them."""
        if self._live.values[slot]:
            self._live.values[slot] = False
            self._total -= float(self._lengths.values[slot])
            self._alive -= 1

    def keep(self, slots: Slots) -> None:
        """Renumber: only these slots stay, in this order."""
        self._merge(np.empty(0, np.uint64), np.empty(0, np.int32))
        renumbered = np.full(self._lengths.size, -1, np.int32)
        renumbered[slots] = np.arange(len(slots), dtype=np.int32)
        terms = np.repeat(self._terms, np.diff(self._starts))
        moved = renumbered[self._slots]
        stay = moved >= 0
        self._settle(terms[stay], moved[stay], self._counts[stay])
        self._lengths.keep(slots)
        self._live.keep(slots)
        self._alive = int(np.count_nonzero(self._live.values))
        self._total = float(self._lengths.values[self._live.values].sum())

    def postings(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        """The live documents that hold a term, and how often each does."""
        at = int(np.searchsorted(self._terms, np.uint64(term)))
        if at < len(self._terms) and int(self._terms[at]) == term:
            part = slice(int(self._starts[at]), int(self._starts[at + 1]))
            slots = self._slots[part].astype(np.int64)
            counts = self._counts[part].astype(np.float32)
        else:
            slots, counts = np.empty(0, np.int64), np.empty(0, np.float32)
        fresh = self._fresh.get(term)
        if fresh:
            pairs = np.array(fresh, np.int64)
            slots = np.concatenate((slots, pairs[:, 0]))
            counts = np.concatenate((counts, pairs[:, 1].astype(np.float32)))
        if self._alive < self._live.size:
            alive = self._live.values[slots]
            slots, counts = slots[alive], counts[alive]
        return slots, counts

    def idf(self, documents: int, of: int | None = None) -> float:
        """The weight of a term that `documents` of the live documents, or of `of` documents, hold; never negative."""
        of = self._alive if of is None else of
        return float(np.log1p((of - documents + 0.5) / (documents + 0.5)))

    def gain(self, slots: Slots, counts: Floats, average: float | None = None) -> Floats:
        """BM25's saturating term frequency, between 0 and k1 + 1; `average` is the length of a document."""
        average = average or self._total / max(self._alive, 1) or 1.0
        lengths = self._lengths.values[slots]
        return (counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / average))).astype(np.float32)

    def scores(self, terms: dict[int, float]) -> Floats:
        """The BM25 score of every slot for a question's terms, each with its own weight."""
        scores = np.zeros(self._lengths.size, np.float32)
        for term, weight in terms.items():
            slots, counts = self.postings(term)
            if len(slots):
                scores[slots] += weight * self.idf(len(slots)) * self.gain(slots, counts)
        return scores

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = self._terms.nbytes + self._starts.nbytes + self._slots.nbytes + self._counts.nbytes
        return arrays + self._lengths.nbytes + self._live.nbytes + 120 * self._waiting
