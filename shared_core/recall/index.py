"""One scope in memory: its vectors, words and columns, built from rows and kept current by them.

A record has a slot. A changed record gets a new slot and its old one dies; dead slots are
skipped, and dropped together when they are a quarter of all. So an update or a deletion costs
the same at any size, and nothing of the old text can be found.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared_core.recall.dense import DenseIndex, FaissIndex
from shared_core.recall.fields import Fields
from shared_core.recall.growing import Column
from shared_core.recall.lexical import LexicalIndex
from shared_core.recall.text import query_terms
from shared_core.settings import Recall
from shared_core.values import Kind, Status

Slots = NDArray[np.int64]
Mask = NDArray[np.bool_]

KINDS = tuple(Kind)
STATUSES = tuple(Status)
_KIND = {kind.value: number for number, kind in enumerate(KINDS)}
_STATUS = {status.value: number for number, status in enumerate(STATUSES)}
NEVER = np.iinfo(np.int64).max
ALWAYS = np.iinfo(np.int64).min
_CHUNK = 8_192  # rows taken in at a time, so that loading never holds two copies of the vectors
_FEW_DEAD = 1_000

_COLUMNS: tuple[tuple[str, Any], ...] = (
    ("seq", np.int64), ("kind", np.int8), ("status", np.int8), ("session", np.int64), ("position", np.int64),
    ("speaker", np.int32), ("time", np.int64), ("created", np.int64), ("valid_from", np.int64),
    ("valid_until", np.int64), ("expires", np.int64), ("shape", np.int32), ("length", np.int32),
    ("before", np.int64), ("after", np.int64), ("row", np.int64), ("rows", np.int32), ("live", np.bool_),
)  # fmt: skip


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
        vectors = self.dense.size * (self._dimensions or 0) * 4 if self.dense is not None else 0
        columns = sum(column.nbytes for column in self._columns.values())
        return vectors + columns + self.lexical.nbytes + 200 * self.size

    def speaker(self, code: int) -> str:
        """The name of a speaker, or the role of one without a name."""
        return list(self._speakers)[code]

    # ------------------------------------------------------------------ keeping current

    def apply(self, rows: Iterable[tuple[Any, ...]], erased: Iterable[int], revision: int) -> None:
        """Take in what changed: rows of the statement `changed`, and the seqs of erased records."""
        for seq in erased:
            self._kill(seq)
        iterator = iter(rows)
        words: list[bytes] = []
        while chunk := list(islice(iterator, _CHUNK)):
            for row in chunk:
                self._kill(row[0])
            self._take(chunk)
            words += [row[14] or b"" for row in chunk]
        if words:
            self.lexical.add(words)
        self.revision = revision
        if self._dead > _FEW_DEAD and 4 * self._dead > self.size:
            self._compact()

    def _take(self, rows: list[tuple[Any, ...]]) -> None:
        first, count = self.size, len(rows)
        by_column = list(zip(*rows, strict=True))
        sessions = np.array([self._session_code(v) for v in by_column[3]], np.int64)
        positions = np.array([-1 if v is None else v for v in by_column[4]], np.int64)
        pieces = self._add_vectors(first, by_column[16])
        created = np.array(by_column[17], np.int64)
        columns = {
            "seq": by_column[0],
            "kind": [_KIND[v] for v in by_column[2]],
            "status": [_STATUS[v] for v in by_column[10]],
            "session": sessions,
            "position": positions,
            "speaker": [self._speaker_code(row[6] or row[5] or "") for row in rows],
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
        }
        for name, values in columns.items():
            self._columns[name].extend(values)
        self.ids += by_column[1]
        self.slot_of.update(zip(by_column[0], range(first, first + count), strict=True))
        self._link(first, sessions, positions)

    def _add_vectors(self, first: int, blobs: tuple[bytes | None, ...]) -> tuple[Slots, Slots]:
        """Add the pieces of each record; where its rows begin (-1 for none), and how many."""
        size = 2 * (self._dimensions or 1)
        counts = np.fromiter((0 if b is None else len(b) // size for b in blobs), np.int64, len(blobs))
        total = int(counts.sum())
        base = self._owner.size
        starts = base + np.cumsum(counts) - counts
        if total and self._dimensions:
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

    def _speaker_code(self, name: str) -> int:
        code = self._speakers.get(name)
        if code is None:
            code = self._speakers[name] = len(self._speakers)
            self.speaker_terms.append(frozenset(query_terms(name)))
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
        for name in ("before", "after"):
            self[name][:] = moved[self[name]]
        counts = self["rows"].astype(np.int64)
        self["row"][:] = np.where(counts > 0, np.cumsum(counts) - counts, -1)
        self.ids = [self.ids[slot] for slot in slots]
        self.slot_of = {int(seq): slot for slot, seq in enumerate(self["seq"])}
        self._tails = {session: int(moved[slot]) for session, slot in self._tails.items()}
        self._dead = 0
