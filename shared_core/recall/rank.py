"""Which records answer a question best: words and meaning together, with the talk around each turn.

Every record of the scope gets a value, the weighted sum of a few numbers (`WEIGHTS` says what each
is worth). Numbers without a natural scale are standardised over the whole scope, never over a
choice of candidates, so that an order does not depend on how it was cut. For a record without
neighbours or a session, the numbers about those are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shared_core.recall.arrays import Floats, Mask, NDArray, Slots
from shared_core.recall.dates import nearness
from shared_core.recall.dense import best
from shared_core.recall.index import Layout, ScopeIndex
from shared_core.recall.lexical import K1, B
from shared_core.recall.question import Question
from shared_core.recall.text import ASKS, NAMES, NUMBERS, TEMPORAL, term_id

WEIGHTS: Mapping[str, float] = {
    "meaning": 0.28,
    "meaning around": 0.29,
    "session meaning": 0.26,
    "coverage": 1.67,
    "coverage around": 1.65,
    "window": 0.22,
    "session": 0.34,
    "speaker": 1.3,
    "about": 1.5,
    "asks": -0.71,
    "length": 0.91,
    "answers": 0.17,
    "date": 6.37,
    "near date": 4.37,
    "when": 1.56,
    "which": 2.23,
    "how many": 1.67,
    "temporal": 0.42,
    "names": 0.84,
    "same words": 10.0,
}
"""What each number is worth for a question; fitted by `benchmarks/train.py`, explained in `docs/recall.md`."""

_WORDS = ("coverage", "coverage around", "window", "session")
_IN_TALK = ("meaning", "meaning around", "session meaning", "about", "date", "near date", "same words")
TALK_WEIGHTS: Mapping[str, float] = {
    **{name: WEIGHTS[name] for name in _IN_TALK},
    **{name: WEIGHTS[name] / 2 for name in _WORDS},
}
"""The same where a conversation is the query: it asks for no kind of answer, and most of its words are
said for their own sake."""

_SOFT = 3.0  # measured on LoCoMo: of the mixes that weigh recency most, 3 loses less than 6
_FUSED = 60  # the paper's constant: how little the first places are told apart
_CLEAR = 4.0  # standard deviations of meaning above the mean that leave no doubt
_WHOLE = 0.999  # of a question's idf, summed in float32


@dataclass(slots=True)
class Ranking:
    """Records in order: their slots, the value that ordered them, cosines, and what made the value."""

    slots: Slots
    values: Floats
    cosines: Floats
    parts: dict[str, Floats]

    @property
    def relevance(self) -> Floats:
        """The values in [0, 1], for a mix: 1 for the best, less for the others.

        The weights are fitted so that exp(value) is how likely a record is the answer; this is that
        likelihood against the best one's, softened, since a mix weighs it against a share of age.
        """
        relevance: Floats = np.exp((self.values - self.values.max(initial=-np.inf)) / np.float32(_SOFT))
        return relevance


def rank(
    index: ScopeIndex,
    question: Question,
    mask: Mask | None,
    count: int,
    further: Sequence[Question] = (),
    further_weight: float = 0.5,
) -> Ranking:
    """The best `count` slots for a question, among those that `mask` allows (None: all).

    What `further` questions find is merged in (`fused`); cosines and parts are those of the question itself.
    """
    if not len(index) or (mask is not None and not mask.any()):
        nothing = np.empty(0, np.float32)
        return Ranking(np.empty(0, np.int64), nothing, nothing, {})
    parts = features(index, question, mask, count)
    values = _weighed(index, question, parts)
    allowed = np.arange(index.size) if mask is None else np.flatnonzero(mask)
    if further:
        lists = [values, *(_weighed(index, other, features(index, other, mask, count)) for other in further)]
        depth = max(count, index.settings.candidates)  # so that asking for a few more does not change the first
        orders = [_first(index, allowed, each, depth) for each in lists]
        merged = fused(orders, [1.0, *(further_weight for _ in further)], index.size)
        parts["merged"] = merged
        slots = _first(index, np.unique(np.concatenate(orders)), merged, count)
        # A place is worth what the question itself has at that place: the values of merging mean nothing else.
        worth = values[_first(index, allowed, values, len(slots))]
    else:
        slots = _first(index, allowed, values, count)
        worth = values[slots]
    likeness = cosines(index, question.lead, slots)
    return Ranking(slots, worth, likeness, {name: part[slots] for name, part in parts.items()})


def _weighed(index: ScopeIndex, question: Question, parts: Mapping[str, Floats]) -> Floats:
    values = np.zeros(index.size, np.float32)
    for name, weight in (TALK_WEIGHTS if question.is_talk else WEIGHTS).items():
        if name in parts:
            values += np.float32(weight) * parts[name]
    return values


def _first(index: ScopeIndex, allowed: Slots, values: Floats, count: int) -> Slots:
    slots, _ = best(allowed, values[allowed], count)
    if 0 < len(slots) < len(allowed):
        # Ids decide over the last place too: else the pages of a list of equals would overlap.
        equals = allowed[values[allowed] == values[slots[-1]]]
        slots = np.concatenate((slots, np.setdiff1d(equals, slots, assume_unique=True)))
    return _ties_by_id(index, slots, values)[:count]


def fused(orders: Sequence[Slots], weights: Sequence[float], size: int) -> Floats:
    """Several orders as one: the sum of weight / (60 + place) of each slot (Cormack et al., SIGIR 2009); 0 for the rest.

    Places, not values, since the values of two questions do not mean the same.

    >>> fused([np.array([2, 0]), np.array([0])], [1.0, 0.5], 3).argsort()[::-1].tolist()
    [0, 2, 1]
    """
    values = np.zeros(size, np.float32)
    for order, weight in zip(orders, weights, strict=True):
        values[order] += np.float32(weight) / np.arange(_FUSED + 1, _FUSED + 1 + len(order), dtype=np.float32)
    return values


def _ties_by_id(index: ScopeIndex, slots: Slots, values: Floats) -> Slots:
    """Equal values in the order of ids, so that an order is the same each run and in each copy of the data."""
    kept = values[slots]
    if len(slots) < 2 or not (kept[1:] == kept[:-1]).any():
        return slots
    return np.array(sorted(slots.tolist(), key=lambda slot: (-float(values[slot]), index.ids[slot])), np.int64)


def features(index: ScopeIndex, question: Question, mask: Mask | None, count: int) -> dict[str, Floats]:
    """The numbers of every slot, by name; each a float32 array of `index.size`."""
    layout = index.layout()
    words = _Words(index, layout, question)
    likeness = _likeness(index, layout, question, words.own, mask, count)
    shape = index["shape"]
    turn = (~layout.alone).astype(np.float32)
    meaning = _meaning(layout, likeness, _spread(index, question))
    # What a text is like counts only as far as it is about the question at all.
    fitting = np.clip(words.coverage_around + np.maximum(meaning["meaning"], 0) / _CLEAR, 0, 1).astype(np.float32)
    found: dict[str, Floats] = {
        **meaning,
        "coverage": words.coverage,
        "coverage around": words.coverage_around,
        "window": _standard(words.window, layout),
        "session": words.session(),
        "asks": _flag(shape, ASKS) * turn,
        "length": layout.log_length,
        "answers": words.answers(),
        "temporal": _flag(shape, TEMPORAL) * fitting,
        "names": (shape // NAMES & 3).astype(np.float32) / np.float32(3) * fitting,
        "numbers": _flag(shape, NUMBERS) * fitting,
    }
    found |= _asked_for(index, layout, question, words, found)
    return found


def _asked_for(
    index: ScopeIndex, layout: Layout, question: Question, words: _Words, found: Mapping[str, Floats]
) -> dict[str, Floats]:
    """The numbers that only some questions ask for."""
    parts: dict[str, Floats] = {}
    speaker = _named(index, question)
    if speaker is not None:
        parts["speaker"] = speaker
    if question.speakers and layout.alone.any():
        parts["about"] = words.names_asked * layout.alone
    same = (words.coverage > _WHOLE) & (index["length"] == question.length)
    if same.any():
        parts["same words"] = same.astype(np.float32)
    if question.dates:
        parts["date"], parts["near date"] = nearness(question.dates, index["time"])
    for name, wanted, part in (
        ("when", question.asks_when, found["temporal"]),
        ("which", question.asks_which, found["names"]),
        ("how many", question.asks_how_many, found["numbers"]),
    ):
        if wanted:
            parts[name] = part
    return parts


def _flag(shape: NDArray[np.int32], bit: int) -> Floats:
    return ((shape & bit) > 0).astype(np.float32)


def _standard(values: Floats, layout: Layout, least: float = 0.0) -> Floats:
    """Standard deviations above the mean of the live records; `least` is how far these lie apart at least."""
    live = values if layout.live is None else values[layout.live]
    deviation = max(float(live.std()), least) if len(live) else 0.0
    if deviation < 1e-6:
        return np.zeros_like(values)
    return (values - np.float32(live.mean())) / np.float32(deviation)


# ---------------------------------------------------------------------- meaning


def _likeness(
    index: ScopeIndex, layout: Layout, question: Question, words: Floats, mask: Mask | None, count: int
) -> Floats:
    """The cosine of each record with the question, put to turns and to facts in its own way.

    Without a vector, and (past the size of exact search) for records that neither meaning nor
    words propose, it is the usual cosine of the scope.
    """
    if index.dense is None or question.for_turns is None or question.for_facts is None or not len(index.sample()):
        return np.zeros(index.size, np.float32)
    if not layout.turns:
        return _cosine_of_all(index, question.for_facts, words, mask, count)
    values = _cosine_of_all(index, question.for_turns, words, mask, count)
    if question.for_facts is not question.for_turns and layout.alone.any():
        values = np.where(layout.alone, _cosine_of_all(index, question.for_facts, words, mask, count), values)
    return values


def _cosine_of_all(index: ScopeIndex, vector: Floats, words: Floats, mask: Mask | None, count: int) -> Floats:
    assert index.dense is not None
    usual = np.float32((index.sample() @ vector).mean())
    if index.dense.exact:
        return index.by_slot(index.dense.scores(vector), missing=usual)
    wanted = max(index.settings.candidates, count)
    rows, _ = index.dense.search(vector, wanted, None if mask is None else mask[index.owner])
    spoken, _ = best(np.flatnonzero(words > 0), words[words > 0], wanted)
    rows = np.unique(np.concatenate((rows, index.rows_of(spoken))))
    return index.by_slot(index.dense.similarities(vector, rows), rows, missing=usual)


def _spread(index: ScopeIndex, question: Question) -> float:
    """How far cosines lie apart in the scope where only some of them are known; 0 where all are.

    What is not proposed counts as usual, so these values alone would say that hardly any two records differ.
    """
    if index.dense is None or index.dense.exact or question.for_turns is None or not len(index.sample()):
        return 0.0
    return float((index.sample() @ question.for_turns).std())


def _meaning(layout: Layout, likeness: Floats, spread: float) -> dict[str, Floats]:
    """The likeness of each record together with the talk around it, and the best of its session.

    The vector of a turn with its neighbours' added need not be stored: its product with the
    question is the sum of theirs, over its length, which the layout knows.
    """
    if not layout.turns:
        alone = _standard(likeness, layout, spread)
        return {"meaning": alone, "meaning around": alone, "session meaning": alone}
    padded: Floats = np.append(likeness, np.float32(0)).astype(np.float32, copy=False)  # the last entry answers for -1
    before: Floats = padded[layout.rings[0]]
    after: Floats = padded[layout.rings[1]]
    with_before = ((likeness + 0.5 * before) / layout.with_before).astype(np.float32, copy=False)
    with_both = ((likeness + 0.4 * before + 0.2 * after) / layout.with_both).astype(np.float32, copy=False)
    return {
        "meaning": _standard(with_before, layout, spread),
        "meaning around": _standard(with_both, layout, spread),
        "session meaning": _best_of_group(layout, _standard(likeness, layout, spread)),
    }


def cosines(index: ScopeIndex, vector: Floats | None, slots: Slots) -> Floats:
    """The cosine of a vector with each record's best piece; 0 without one."""
    if index.dense is None or vector is None or not len(slots):
        return np.zeros(len(slots), np.float32)
    rows = index.rows_of(slots)
    return index.by_slot(index.dense.similarities(vector, rows), rows)[slots]


def matched(index: ScopeIndex, question: Question, slots: Slots) -> NDArray[np.float64]:
    """The share of the question's words that each record holds."""
    held = np.zeros(index.size, np.float64)
    words = [term_id(word) for word in dict.fromkeys(question.asked)]
    for word in words:
        held[index.lexical.postings(word)[0]] += 1.0
    share: NDArray[np.float64] = held[slots] / max(1, len(words))
    return share


def _best_of_group(layout: Layout, values: Floats) -> Floats:
    """The highest value in each record's session, among what counts there."""
    highest = np.full(layout.groups, -np.inf, np.float32)
    if layout.read is not None:
        values = np.where(layout.read, np.float32(-np.inf), values)
    np.maximum.at(highest, layout.group, values)
    best_value: Floats = highest[layout.group]
    return best_value


# ---------------------------------------------------------------------- words


class _Words:
    """BM25 and coverage of a question's terms: of each record, of the talk around it, of its session."""

    def __init__(self, index: ScopeIndex, layout: Layout, question: Question) -> None:
        self._layout = layout
        size = index.size
        self.own = np.zeros(size, np.float32)
        self.window = np.zeros(size, np.float32)
        self.coverage = np.zeros(size, np.float32)
        self.coverage_around = np.zeros(size, np.float32)
        self._session = np.zeros(layout.groups, np.float32)
        self.names_asked = np.zeros(size, np.float32)
        for term in question.speakers:
            self.names_asked[index.lexical.postings(term)[0]] = 1.0
        total = 0.0
        for term, weight in question.terms.items():
            slots, counts = index.lexical.postings(term)
            spoken = slice(None) if layout.read is None else ~layout.read[slots]
            holding = len(slots[spoken])
            idf = np.float32(weight * index.lexical.idf(holding, layout.documents))
            total += float(idf)
            if not len(slots):
                continue
            if not holding:  # in nothing but what was read from turns
                idf = np.float32(weight * index.lexical.idf(len(slots), max(layout.documents, len(slots))))
            self.own[slots] += idf * index.lexical.gain(slots, counts, layout.average)
            self.coverage[slots] += idf
            self._around(slots, counts, idf)
            if holding:
                self._in_sessions(slots[spoken], counts[spoken], weight)
        if total:
            self.coverage /= np.float32(total)
            self.coverage_around /= np.float32(total)

    def _around(self, slots: Slots, counts: Floats, idf: np.float32) -> None:
        layout = self._layout
        if not layout.rings:
            self.coverage_around[slots] += idf
            self.window[slots] += idf * _gain(counts, layout.around[slots] / layout.average_around)
            return
        # Each posting is in the windows of the records up to two places from it.
        reached = [slots, *(ring[slots] for ring in layout.rings)]
        targets = np.concatenate(reached)
        inside = targets >= 0
        where, place = np.unique(targets[inside], return_inverse=True)
        frequency = np.bincount(place, np.tile(counts, len(reached))[inside]).astype(np.float32)
        self.coverage_around[where] += idf
        self.window[where] += idf * _gain(frequency, layout.around[where] / layout.average_around)

    def _in_sessions(self, slots: Slots, counts: Floats, weight: float) -> None:
        layout = self._layout
        groups, place = np.unique(layout.group[slots], return_inverse=True)
        frequency = np.bincount(place, counts).astype(np.float32)
        idf = np.float32(weight * np.log1p((layout.groups - len(groups) + 0.5) / (len(groups) + 0.5)))
        self._session[groups] += idf * _gain(frequency, layout.group_length[groups] / layout.average_group)

    def session(self) -> Floats:
        """BM25 with whole sessions as documents, standardised over the sessions."""
        deviation = float(self._session.std())
        if deviation < 1e-6:
            return np.zeros(len(self.own), np.float32)
        standard = (self._session - self._session.mean()) / np.float32(deviation)
        found: Floats = standard[self._layout.group]
        return found

    def answers(self) -> Floats:
        """For what follows another's question: how well that question matches."""
        values = np.zeros(len(self.own), np.float32)
        live = self._layout.live
        deviation = float((self.own if live is None else self.own[live]).std())
        follows = self._layout.follows_question
        if deviation > 1e-6 and len(follows):
            values[follows] = self.own[self._layout.before[follows]] / np.float32(deviation)
        return values


def _gain(frequency: Floats, relative_length: Floats) -> Floats:
    return (frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * relative_length))).astype(np.float32)


def _named(index: ScopeIndex, question: Question) -> Floats | None:
    """1 where the question names who said it; None if it names nobody, or everybody."""
    asked = frozenset(question.asked)
    named = np.array([bool(terms & asked) for terms in index.speaker_terms], np.bool_)
    if not named.any() or named.all():
        return None
    said: Floats = named[index["speaker"]].astype(np.float32)
    return said
