"""One scope in memory: its vectors, words and columns, built from rows and kept current by them.

A record has a slot. A changed record gets a new slot and its old one dies; dead slots are
skipped, and dropped together when they are a quarter of all. So an update or a deletion costs
the same at any size, and nothing of the old text can be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from shared_core.ports import VectorIndex
from shared_core.recall.arrays import Floats, Mask, NDArray, Slots
from shared_core.recall.dense import DenseIndex, FaissIndex
from shared_core.recall.fields import Fields
from shared_core.recall.growing import Column
from shared_core.recall.lexical import LexicalIndex
from shared_core.recall.outer import Outer
from shared_core.recall.text import ENDS_ASKING, query_terms
from shared_core.recall.trimming import give_back
from shared_core.settings import Recall
from shared_core.values import Kind, Status

KINDS = tuple(Kind)
STATUSES = tuple(Status)
_KIND = {kind.value: number for number, kind in enumerate(KINDS)}
_STATUS = {status.value: number for number, status in enumerate(STATUSES)}
NEVER = np.iinfo(np.int64).max
ALWAYS = np.iinfo(np.int64).min
_CHUNK = 8_192  # rows taken in at a time, so that loading never holds two copies of the vectors
_FEW_DEAD = 1_000
_MANY = 20_000  # rows taken in at once, after which memory is given back
_LONG = 12  # terms; a longer text has no more to say about itself than that
_SAMPLE = 512  # vectors in the sample a question is measured against

_COLUMNS: tuple[tuple[str, Any], ...] = (
    ("seq", np.int64), ("kind", np.int8), ("status", np.int8), ("session", np.int64), ("position", np.int64),
    ("speaker", np.int32), ("time", np.int64), ("created", np.int64), ("valid_from", np.int64),
    ("valid_until", np.int64), ("expires", np.int64), ("shape", np.int32), ("length", np.int32),
    ("before", np.int64), ("after", np.int64), ("row", np.int64), ("rows", np.int32), ("live", np.bool_),
    ("likeness", np.float32), ("likened", np.int64),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """What hangs together in a scope, by slot: who is next to whom, who belongs to one session.

    A record without a session is a group of its own. `rings` are the neighbours at -1, +1, -2 and
    +2, -1 where there is none; empty where nothing has neighbours.
    """

    live: Slots | None  # what counts: alive, and not read from a turn that is alive too; None: all of them
    read: Mask | None  # what was read from turns that are alive; None: nothing
    documents: int  # how many count
    average: float  # terms of one that counts
    alone: Mask  # records that are no turns
    turns: bool  # whether there are any
    before: Slots
    rings: tuple[Slots, ...]
    around: Floats  # terms in the record and its rings
    average_around: np.float32
    group: Slots
    groups: int
    group_length: Floats
    average_group: np.float32
    log_length: Floats
    follows_question: Slots  # records right after another speaker's question
    with_before: Floats  # length of a turn's vector with half of the one before added
    with_both: Floats  # the same with 0.4 of the one before and 0.2 of the one after


class ScopeIndex:
    """The index of one scope under one embedder."""

    def __init__(self, dimensions: int | None, settings: Recall) -> None:
        self.settings = settings
        self._dimensions = dimensions
        self.dense: DenseIndex | None = None
        self.lexical = LexicalIndex()
        self.fields = Fields()
        self.revision = -1
        self._columns = {name: Column(dtype) for name, dtype in _COLUMNS}
        self._owner = Column(np.int64)  # the slot of each row of `dense`
        self.ids: list[str] = []
        self.slot_of: dict[int, int] = {}
        self._tails: dict[int, int] = {}  # the newest slot of each session
        self._sessions: dict[int, int] = {}  # numbers of the database to small codes
        self._speakers: dict[str, int] = {}
        self.speaker_terms: list[frozenset[str]] = []
        self._dead = 0
        self._layout: Layout | None = None
        self._sampled: Floats | None = None
        self._sampled_at = 0
        self._one_piece = True
        self._all_can_be_found = True
        self.outer: Outer | None = None  # the dense index, where the vectors are not held here

    def search_outside(self, vectors: VectorIndex, collection: str, embedder: int) -> None:
        """Leave the vectors where they are; said of an index that is empty yet."""
        assert not self.size
        assert self._dimensions is not None
        self.dense = self.outer = Outer(self, vectors, collection, embedder, self._dimensions)

    # ------------------------------------------------------------------ what it holds

    def __len__(self) -> int:
        return self.size - self._dead

    @property
    def size(self) -> int:
        """Slots, dead ones included."""
        return self._columns["seq"].size

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A column by slot, as a view."""
        return self._columns[column].values

    @property
    def owner(self) -> Slots:
        """The slot of each row of the dense index."""
        return self._owner.values

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        vectors = self.dense.nbytes if self.dense is not None else 0
        columns = sum(column.nbytes for column in self._columns.values())
        return vectors + columns + self.lexical.nbytes + 200 * self.size

    @property
    def all_can_be_found(self) -> bool:
        """False where some record has neither a vector nor words, such as a message that only calls a tool."""
        return self._all_can_be_found

    @property
    def names(self) -> list[str]:
        """The names of those who speak here; nobody is called by a role."""
        return [name for name in self._speakers if not name.startswith("\0")]

    def sample(self) -> Floats:
        """Up to a few hundred live vectors, evenly spread: what a question's likeness is measured against."""
        assert self.dense is not None
        if self._sampled is None:
            rows = np.flatnonzero(self["live"][self.owner])
            rows = rows[np.linspace(0, len(rows) - 1, min(_SAMPLE, len(rows))).astype(np.int64)] if len(rows) else rows
            self._sampled, self._sampled_at = self.dense.vectors(rows), self.size
        return self._sampled

    def rows_of(self, slots: Slots) -> Slots:
        """The rows of the dense index that hold these records' pieces."""
        counts = self["rows"][slots].astype(np.int64)
        held = counts > 0
        first, counts = self["row"][slots][held], counts[held]
        starts = np.cumsum(counts) - counts
        rows: Slots = np.arange(int(counts.sum())) - np.repeat(starts - first, counts)
        return rows

    def by_slot(self, values: Floats, rows: Slots | None = None, missing: np.float32 | float = 0.0) -> Floats:
        """Values of rows (all of them, or these in ascending order of slots) as values of slots.

        The best piece of each; `missing` for a record none of whose pieces is among them.
        """
        owner = self.owner if rows is None else self.owner[rows]
        found = np.full(self.size, missing, np.float32)
        if not len(owner):
            return found
        if rows is None and len(owner) == self.size and self._one_piece:
            return values
        heads = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        if len(heads) == len(owner):
            found[owner] = values
        elif rows is None or bool((owner[1:] >= owner[:-1]).all()):
            found[owner[heads]] = np.maximum.reduceat(values, heads)
        else:
            found[owner] = -np.inf
            np.maximum.at(found, owner, values)
        return found

    def layout(self) -> Layout:
        """The layout of the slots as they are now, kept until something changes."""
        if self._layout is None:
            self._layout = self._lay_out()
        return self._layout

    def _lay_out(self) -> Layout:
        before, after, session = self["before"], self["after"], self["session"]
        lengths = np.append(self["length"], 0).astype(np.float32)  # the last entry answers for -1
        placed = self["position"] >= 0
        rings: tuple[Slots, ...] = ()
        around = lengths[:-1]
        if placed.any():
            second = np.where(before >= 0, before[before], -1), np.where(after >= 0, after[after], -1)
            rings = (before, after, *second)
            around = around + sum(lengths[ring] for ring in rings)
        # What was read from a turn says what the turn says: counted once, it moves no mean and no spread,
        # and makes no word more common. A conversation whose turns are gone has only what was read from them.
        inside = session >= 0
        talks = np.zeros(int(session.max(initial=-1)) + 1, np.bool_)
        talks[session[placed & inside & self["live"]]] = True
        read = ~placed & inside
        read[inside] &= talks[session[inside]]
        counts = self["live"] & ~read
        live = np.flatnonzero(counts) if self._dead or read.any() else None
        alone = np.flatnonzero(~placed & (session < 0))
        group = session.copy()
        first = int(session.max(initial=-1)) + 1
        group[alone] = first + np.arange(len(alone))
        groups = first + len(alone)
        weights = lengths[:-1] * counts
        group_length = np.bincount(group, weights, groups).astype(np.float32)
        asks = np.append(self["shape"] & ENDS_ASKING, 0)[before] > 0
        other = self["speaker"] != np.append(self["speaker"], -1)[before]
        alive = slice(None) if live is None else live
        with_before, with_both = self._mixed_lengths(rings)
        return Layout(
            live=live,
            read=read if read.any() else None,
            documents=int(np.count_nonzero(counts)),
            average=float(lengths[:-1][counts].mean()) if counts.any() else 1.0,
            alone=~placed,
            turns=bool(rings),
            with_before=with_before,
            with_both=with_both,
            before=before,
            rings=rings,
            around=around,
            average_around=np.float32(float(around[alive].sum()) / max(around[alive].size, 1) or 1.0),
            group=group,
            groups=groups,
            group_length=group_length,
            average_group=np.float32(group_length[group_length > 0].mean())
            if (group_length > 0).any()
            else np.float32(1),
            log_length=_log_length(lengths[:-1], placed, placed & self["live"]),
            follows_question=np.flatnonzero(asks & other),
        )

    # ------------------------------------------------------------------ keeping current

    def apply(self, rows: Iterable[tuple[Any, ...]], erased: Iterable[int], revision: int) -> None:
        """Take in what changed: rows of the statement `changed`, and the seqs of erased records."""
        for seq in erased:
            self._kill(seq)
        fresh, first = not self.size, self.size
        iterator = iter(rows)
        words: list[bytes] = []
        while chunk := list(islice(iterator, _CHUNK)):
            if not fresh:
                for row in chunk:
                    self._kill(row[0])
            self._take(chunk)
            words += [row[14] or b"" for row in chunk]
        if words:
            self.lexical.add(words)
        self.revision = revision
        self._layout = None
        if self.size - first > _MANY:
            give_back()
        if self._sampled is not None and (self.size > 2 * self._sampled_at or not self.size):
            self._sampled = None
        if self._dead > _FEW_DEAD and 4 * self._dead > self.size:
            self._compact()

    def _mixed_lengths(self, rings: tuple[Slots, ...]) -> tuple[Floats, Floats]:
        """How long a turn's vector becomes with its neighbours' added, so that one pass can stand for three."""
        one = np.ones(self.size, np.float32)
        if not rings or self.dense is None:
            return one, one
        before, after = rings[0], rings[1]
        self._liken(before)
        back = np.where(before >= 0, self["likeness"], 0)
        ahead = np.where(after >= 0, self["likeness"][after], 0)
        has_before, has_after = (before >= 0).astype(np.float32), (after >= 0).astype(np.float32)
        # |v + .5 p|² = 1 + .25 + v·p; p·n is taken for the mean of v·p and v·n, which is all that is known of it.
        with_before = 1 + 0.25 * has_before + back
        across = 0.16 * has_before * has_after * (back + ahead) / 2
        with_both = 1 + 0.16 * has_before + 0.04 * has_after + 0.8 * back + 0.4 * ahead + across
        return np.sqrt(np.maximum(with_before, 0.05)), np.sqrt(np.maximum(with_both, 0.05))

    def _liken(self, before: Slots) -> None:
        """Bring the column `likeness`, each turn's cosine with the one before it, up to date."""
        assert self.dense is not None
        stale = np.flatnonzero((before >= 0) & (self["likened"] != before) & self["live"])
        for start in range(0, len(stale), _CHUNK):
            slots = stale[start : start + _CHUNK]
            held = (self["row"][slots] >= 0) & (self["row"][before[slots]] >= 0)
            mine = self.dense.vectors(self["row"][slots[held]])
            theirs = self.dense.vectors(self["row"][before[slots[held]]])
            likeness = np.zeros(len(slots), np.float32)
            likeness[held] = np.einsum("ij,ij->i", mine, theirs)
            self["likeness"][slots] = likeness
            self["likened"][slots] = before[slots]

    def _take(self, rows: list[tuple[Any, ...]]) -> None:
        first, count = self.size, len(rows)
        by_column = list(zip(*rows, strict=True))
        sessions = np.array([self._session_code(v) for v in by_column[3]], np.int64)
        positions = np.array([-1 if v is None else v for v in by_column[4]], np.int64)
        pieces = self._add_vectors(first, by_column[16])
        created = np.array(by_column[17], np.int64)
        self._all_can_be_found &= all(
            words or pieces for words, pieces in zip(by_column[14], by_column[16], strict=True)
        )
        columns = {
            "seq": by_column[0],
            "kind": list(map(_KIND.__getitem__, by_column[2])),
            "status": list(map(_STATUS.__getitem__, by_column[10])),
            "session": sessions,
            "position": positions,
            "speaker": self._speaker_codes(by_column[6], by_column[5]),
            "time": by_column[9],
            "created": created,
            "valid_from": [ALWAYS if v is None else v for v in by_column[11]],
            "valid_until": [NEVER if v is None else v for v in by_column[12]],
            "expires": [NEVER if v is None else v for v in by_column[13]],
            "shape": by_column[15],
            "length": [len(v or b"") // 8 for v in by_column[14]],
            "before": np.full(count, -1),
            "after": np.full(count, -1),
            "row": pieces[0],
            "rows": pieces[1],
            "live": np.ones(count, np.bool_),
            "likeness": np.zeros(count),
            "likened": np.full(count, -1),
        }
        for name, values in columns.items():
            self._columns[name].extend(values)
        self.ids += by_column[1]
        self.slot_of.update(zip(by_column[0], range(first, first + count), strict=True))
        self._link(first, sessions, positions)

    def _add_vectors(self, first: int, blobs: tuple[Any, ...]) -> tuple[Slots, Slots]:
        """Add the pieces of each record, or how many bytes they are; where its rows begin (-1 for none), how many."""
        size = 2 * (self._dimensions or 1)
        lengths = blobs if self.outer is not None else map(len, (b or b"" for b in blobs))
        counts = np.fromiter(((length or 0) // size for length in lengths), np.int64, len(blobs))
        total = int(counts.sum())
        self._one_piece = self._one_piece and total == len(blobs) == int((counts == 1).sum())
        base = self._owner.size
        starts = base + np.cumsum(counts) - counts
        if self.outer is not None:
            self.outer.grow(total)
            self._owner.extend(np.repeat(np.arange(first, first + len(blobs)), counts))
        elif total and self._dimensions:
            halves = np.frombuffer(b"".join(b for b in blobs if b is not None), np.float16)
            vectors = halves.reshape(total, self._dimensions).astype(np.float32)
            norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
            np.divide(vectors, norms, out=vectors, where=norms > 0)
            if self.dense is None:
                settings = self.settings
                self.dense = FaissIndex(self._dimensions, exact_limit=settings.exact_limit, probes=settings.probes)
            self.dense.add(vectors)
            self._owner.extend(np.repeat(np.arange(first, first + len(blobs)), counts))
        return np.where(counts > 0, starts, -1), counts

    def session_code(self, session: int) -> int:
        """The code of a session in the column `session`; -1 where it holds nothing."""
        return self._sessions.get(session, -1)

    def _session_code(self, session: int | None) -> int:
        return -1 if session is None else self._sessions.setdefault(session, len(self._sessions))

    def _speaker_codes(self, names: Sequence[str | None], roles: Sequence[str | None]) -> list[int]:
        pairs = list(zip(names, roles, strict=True))
        codes = {pair: self._speaker_code(*pair) for pair in dict.fromkeys(pairs)}
        return [codes[pair] for pair in pairs]

    def _speaker_code(self, name: str | None, role: str | None) -> int:
        # A speaker without a name is told from others by the role, but is not called by it.
        key = name or f"\0{role}"
        code = self._speakers.get(key)
        if code is None:
            code = self._speakers[key] = len(self._speakers)
            self.speaker_terms.append(frozenset(query_terms(name or "")))
        return code

    # ------------------------------------------------------------------ neighbours

    def _link(self, first: int, sessions: NDArray[np.int64], positions: NDArray[np.int64]) -> None:
        """Chain new turns to their neighbours, in the order of positions inside each session."""
        before, after = self["before"], self["after"]
        order = np.lexsort((positions, sessions))
        order = order[(sessions[order] >= 0) & (positions[order] >= 0)]  # a fact of a session has no place in it
        for at in order.tolist():
            session, slot = int(sessions[at]), first + at
            left, right = self._tails.get(session, -1), -1
            while left >= 0 and self["position"][left] > positions[at]:
                left, right = int(before[left]), left
            before[slot], after[slot] = left, right
            if left >= 0:
                after[left] = slot
            if right >= 0:
                before[right] = slot
            else:
                self._tails[session] = slot

    def _kill(self, seq: int) -> None:
        slot = self.slot_of.pop(seq, None)
        if slot is None:
            return
        self._dead += 1
        self["live"][slot] = False
        self.lexical.remove(slot)
        if self.dense is not None:
            row = int(self["row"][slot])
            for piece in range(row, row + int(self["rows"][slot])):
                self.dense.remove(piece)
        if self["session"][slot] >= 0 and self["position"][slot] >= 0:
            left, right = int(self["before"][slot]), int(self["after"][slot])
            if left >= 0:
                self["after"][left] = right
            if right >= 0:
                self["before"][right] = left
            elif left >= 0:
                self._tails[int(self["session"][slot])] = left
            else:
                self._tails.pop(int(self["session"][slot]), None)

    def _compact(self) -> None:
        slots = np.flatnonzero(self["live"])
        moved = np.full(self.size + 1, -1, np.int64)  # the last entry answers for -1
        moved[slots] = np.arange(len(slots))
        if self.dense is not None:
            rows = np.flatnonzero(self["live"][self.owner])
            self.dense.keep(rows)
            owner = moved[self.owner[rows]]
            self._owner.keep(rows)
            self._owner.values[:] = owner
        self.lexical.keep(slots)
        self.fields.keep(slots)
        for column in self._columns.values():
            column.keep(slots)
        for name in ("before", "after", "likened"):
            self[name][:] = moved[self[name]]
        counts = self["rows"].astype(np.int64)
        self["row"][:] = np.where(counts > 0, np.cumsum(counts) - counts, -1)
        self.ids = [self.ids[slot] for slot in slots]
        self.slot_of = {int(seq): slot for slot, seq in enumerate(self["seq"])}
        self._tails = {session: int(moved[slot]) for session, slot in self._tails.items()}
        self._dead = 0
        self._layout, self._sampled = None, None


def _log_length(lengths: Floats, placed: Mask, spoken: Mask) -> Floats:
    """log(1 + terms) of turns; of what is no turn the turns' mean, which is neither for it nor against it."""
    found: Floats = np.log1p(np.minimum(lengths, _LONG)).astype(np.float32)
    found[~placed] = found[spoken].mean() if spoken.any() else np.float32(np.log1p(_LONG / 2))
    return found
