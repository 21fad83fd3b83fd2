"""Which records answer a question best: words and meaning together, with the talk around each turn.

Both legs propose candidates, their neighbours join, and a weighted sum over a few numbers puts
them in order. Each number is standardised over the whole scope, never over the candidates, so
that an order does not depend on how many were proposed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared_core.recall.dense import best
from shared_core.recall.index import Mask, ScopeIndex, Slots
from shared_core.recall.lexical import K1, B
from shared_core.recall.question import Question
from shared_core.recall.text import QUESTION, SHORT

Floats = NDArray[np.float32]

WEIGHTS: Mapping[str, float] = {
    "words": 1.0,
    "meaning": 1.0,
    "near": 0.3,
    "far": 0.15,
    "speaker": 0.5,
    "session": 0.4,
    "window": 0.3,
    "question": -1.0,
    "short": -1.0,
}
"""What each number is worth. Found on LoCoMo's development conversations; `docs/recall.md` has the ablation."""

_SAMPLE = 1_024  # vectors that tell the usual likeness of a question to anything


@dataclass(slots=True)
class Ranking:
    """Records in order: their slots, the value that ordered them, cosines, and what made the value."""

    slots: Slots
    values: Floats
    cosines: Floats
    parts: dict[str, Floats]


def rank(index: ScopeIndex, question: Question, mask: Mask | None, count: int) -> Ranking:
    """The best `count` slots for a question, among those that `mask` allows (None: all live ones)."""
    propose = max(index.settings.candidates, count)
    words = index.lexical.scores(question.terms)
    dense = _Meaning(index, question)
    found = np.unique(np.concatenate((_top_words(words, mask, propose), dense.propose(mask, propose))))
    found = np.unique(np.concatenate((found, _neighbours(index, found, mask))))
    if not len(found):
        empty = np.empty(0, np.float32)
        return Ranking(found, empty, empty, {})
    parts = _parts(index, question, found, words, dense)
    values = np.zeros(len(found), np.float32)
    for name, weight in WEIGHTS.items():
        if name in parts:
            values += np.float32(weight) * parts[name]
    # Ties by id, so that an order is the same each run: only then do ids decide.
    order = np.lexsort(([index.ids[slot] for slot in found], -values))[:count]
    return Ranking(
        found[order], values[order], dense.cosines(found[order]), {name: part[order] for name, part in parts.items()}
    )


def _top_words(words: Floats, mask: Mask | None, count: int) -> Slots:
    slots = np.flatnonzero(words > 0) if mask is None else np.flatnonzero((words > 0) & mask)
    return best(slots, words[slots], count)[0]


def _neighbours(index: ScopeIndex, slots: Slots, mask: Mask | None) -> Slots:
    around = np.concatenate((index["before"][slots], index["after"][slots]))
    around = around[around >= 0]
    return around if mask is None else around[mask[around]]


class _Meaning:
    """Cosines of a question (or of several views of a conversation) with the records of a scope."""

    def __init__(self, index: ScopeIndex, question: Question) -> None:
        self._index = index
        self._vectors = question.vectors if index.dense is not None else []
        self._lead = self._vectors[0] if self._vectors else None
        self.mean, self.deviation = 0.0, 1.0
        if self._vectors and index.dense is not None:
            step = max(1, index.dense.size // _SAMPLE)
            sample = self._over_views(np.arange(0, index.dense.size, step))
            self.mean, self.deviation = float(sample.mean()), float(sample.std()) or 1.0

    def _over_views(self, rows: Slots) -> Floats:
        assert self._index.dense is not None
        total = np.zeros(len(rows), np.float32)
        for vector in self._vectors:
            total += self._index.dense.similarities(vector, rows)
        return total / np.float32(len(self._vectors))

    def propose(self, mask: Mask | None, count: int) -> Slots:
        if self._index.dense is None:
            return np.empty(0, np.int64)
        owner = self._index.owner
        allowed = None if mask is None else mask[owner]
        found = [self._index.dense.search(vector, count, allowed)[0] for vector in self._vectors]
        return np.unique(owner[np.concatenate(found)]) if found else np.empty(0, np.int64)

    def _by_piece(self, slots: Slots, lead: bool) -> Floats:
        """The best piece of each slot; 0 for a record without a vector."""
        values = np.zeros(len(slots), np.float32)
        if self._lead is None or self._index.dense is None or not len(slots):
            return values
        counts = self._index["rows"][slots].astype(np.int64)
        held = counts > 0
        first, counts = self._index["row"][slots][held], counts[held]
        if not len(first):
            return values
        starts = np.cumsum(counts) - counts
        rows = np.arange(int(counts.sum())) - np.repeat(starts - first, counts)
        cosines = self._index.dense.similarities(self._lead, rows) if lead else self._over_views(rows)
        values[held] = np.maximum.reduceat(cosines, starts)
        return values

    def cosines(self, slots: Slots) -> Floats:
        """The cosine of the leading view with each record's best piece."""
        return self._by_piece(slots, lead=True)

    def standardised(self, slots: Slots) -> Floats:
        """How far above the usual likeness each record is, in standard deviations; 0 without a vector."""
        if not self._vectors:
            return np.zeros(len(slots), np.float32)
        values = (self._by_piece(slots, lead=False) - np.float32(self.mean)) / np.float32(self.deviation)
        values[self._index["rows"][slots] == 0] = 0.0
        return values


def _standardised(values: Floats, everything: Floats) -> Floats:
    deviation = float(everything.std())
    return (values - np.float32(everything.mean())) / np.float32(deviation) if deviation else np.zeros_like(values)


def _parts(index: ScopeIndex, question: Question, slots: Slots, words: Floats, dense: _Meaning) -> dict[str, Floats]:
    before, after = index["before"], index["after"]
    rings = [before[slots], after[slots]]
    rings += [np.where(rings[0] >= 0, before[rings[0]], -1), np.where(rings[1] >= 0, after[rings[1]], -1)]
    around, where = np.unique(np.concatenate((slots, *rings)), return_inverse=True)
    real = np.maximum(around, 0)
    z_words = np.where(around >= 0, _standardised(words[real], words), 0).astype(np.float32)
    z_meaning = np.where(around >= 0, dense.standardised(real), 0).astype(np.float32)
    both = (z_words + z_meaning)[where].reshape(5, len(slots))
    own = where[: len(slots)]
    shape = index["shape"][slots]
    turn = index["position"][slots] >= 0
    return {
        "words": z_words[own],
        "meaning": z_meaning[own],
        "near": both[1] + both[2],
        "far": both[3] + both[4],
        "speaker": _named(index, question, slots),
        "session": _session(index, question, slots),
        "window": _window(index, question, slots, rings[0], rings[1]),
        "question": ((shape & QUESTION) > 0).astype(np.float32) * turn,
        "short": ((shape & SHORT) > 0).astype(np.float32) * turn,
    }


def _named(index: ScopeIndex, question: Question, slots: Slots) -> Floats:
    """1 where the question names who said it."""
    asked = frozenset(question.asked)
    named = np.array([bool(terms & asked) for terms in index.speaker_terms] or [False], np.float32)
    found: Floats = named[index["speaker"][slots]]
    return found


def _session(index: ScopeIndex, question: Question, slots: Slots) -> Floats:
    """BM25 with whole sessions as documents, standardised over the sessions."""
    sessions = index["session"]
    size = int(sessions.max(initial=-1)) + 1
    if size < 2:
        return np.zeros(len(slots), np.float32)
    inside = sessions >= 0
    lengths = np.bincount(sessions[inside], index["length"][inside] * index["live"][inside], size)
    held = np.bincount(sessions[inside], minlength=size) > 0
    average = float(lengths[held].mean()) or 1.0
    scores = np.zeros(size)
    for term, weight in question.terms.items():
        at, counts = index.lexical.postings(term)
        at, counts = at[sessions[at] >= 0], counts[sessions[at] >= 0]
        if len(at):
            frequency = np.bincount(sessions[at], counts, size)
            documents = int(np.count_nonzero(frequency))
            idf = np.log1p((held.sum() - documents + 0.5) / (documents + 0.5))
            scores += weight * idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths / average))
    standard = np.zeros(size + 1, np.float32)  # the last entry answers for -1: no session
    deviation = float(scores[held].std())
    if deviation:
        standard[:-1] = (scores - scores[held].mean()) / deviation
    found: Floats = standard[sessions[slots]]
    return found


def _window(index: ScopeIndex, question: Question, slots: Slots, before: Slots, after: Slots) -> Floats:
    """BM25 of each turn together with the turns before and after it, standardised over the scope."""
    lengths = index["length"].astype(np.float32)
    spread = np.zeros(index.size + 1, np.float32)  # the last entry answers for -1
    lengths = np.append(lengths, np.float32(0))
    average = 3 * float(lengths.mean()) or 1.0
    total = lengths[slots] + lengths[before] + lengths[after]
    scores = np.zeros(len(slots), np.float32)
    square = 0.0
    first = 0.0
    for term, weight in question.terms.items():
        at, counts = index.lexical.postings(term)
        if not len(at):
            continue
        spread[at] = counts
        frequency = spread[slots] + spread[before] + spread[after]
        spread[at] = 0.0
        idf = weight * index.lexical.idf(len(at))
        gain = frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * total / average))
        scores += np.float32(idf) * gain
        # A term is in about three windows for each turn that holds it, with a gain near 1.
        share = min(1.0, 3 * len(at) / max(len(index), 1))
        first += idf * share
        square += idf * idf * share * (1 - share)
    return (scores - np.float32(first)) / np.float32(square**0.5 or 1.0)
