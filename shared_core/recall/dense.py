"""Meaning of one scope in memory: unit vectors and the search among them.

`FaissIndex` is what runs: exact (FAISS flat) up to a measured size, an inverted file (IVF) past
it, which builds twenty times faster than HNSW, and takes a filter with it. `NumpyIndex` is the
oracle the tests compare it with. A row is one piece of one record; rows are numbered as they are
added, a removed one is skipped until `keep` drops it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from shared_core.errors import MissingExtra
from shared_core.recall.arrays import Floats, NDArray, Slots
from shared_core.recall.growing import Column

_TINY, _HUGE = 1e-30, 1e30
_SELECTIVE = 0.1  # a filter that keeps less than this share goes the exact way, row by row


class DenseIndex(Protocol):
    """What the recall asks of a vector index."""

    @property
    def exact(self) -> bool:
        """Whether `scores` over everything is still the quickest way."""
        ...

    @property
    def size(self) -> int:
        """Slots added so far, removed ones included."""
        ...

    def add(self, vectors: Floats) -> None:
        """Append unit vectors, shape (rows, dimensions)."""
        ...

    def remove(self, row: int) -> None:
        """Take one row out of every later search."""
        ...

    def keep(self, rows: Slots) -> None:
        """Renumber: only these rows stay, in this order."""
        ...

    def search(self, query: Floats, count: int, allowed: NDArray[np.bool_] | None) -> tuple[Slots, Floats]:
        """At most `count` live rows with the highest cosine, best first; `allowed` filters before the cut."""
        ...

    def similarities(self, query: Floats, rows: Slots) -> Floats:
        """The inner product of a query with each of these rows."""
        ...

    def scores(self, query: Floats) -> Floats:
        """The inner product of a query with every row, removed ones included."""
        ...

    def vectors(self, rows: Slots) -> Floats:
        """A copy of these rows."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held in this process."""
        ...


class NumpyIndex:
    """Exact search in plain numpy: the oracle, and what runs where FAISS is missing."""

    def __init__(self, dimensions: int) -> None:
        self._vectors: Floats = np.empty((0, dimensions), np.float32)
        self._live = Column(np.bool_)

    exact = True

    @property
    def size(self) -> int:
        return self._live.size

    @property
    def nbytes(self) -> int:
        return int(self._vectors.nbytes)

    def scores(self, query: Floats) -> Floats:
        found: Floats = self._vectors @ query
        return found

    def vectors(self, rows: Slots) -> Floats:
        return self._vectors[rows]

    def add(self, vectors: Floats) -> None:
        self._vectors = np.concatenate((self._vectors, vectors.astype(np.float32)))
        self._live.extend(np.ones(len(vectors), np.bool_))

    def remove(self, row: int) -> None:
        self._live.values[row] = False

    def keep(self, rows: Slots) -> None:
        self._vectors = self._vectors[rows]
        self._live.keep(rows)

    def search(self, query: Floats, count: int, allowed: NDArray[np.bool_] | None) -> tuple[Slots, Floats]:
        mask = self._live.values if allowed is None else self._live.values & allowed
        rows = np.flatnonzero(mask)
        return best(rows, self._vectors[rows] @ query, count)

    def similarities(self, query: Floats, rows: Slots) -> Floats:
        found: Floats = self._vectors[rows] @ query
        return found


class FaissIndex:
    """FAISS: flat while exact search is quick enough, IVF past `exact_limit` rows."""

    def __init__(self, dimensions: int, *, exact_limit: int = 200_000, probes: int = 32) -> None:
        self._faiss = _faiss()
        self._dimensions = dimensions
        self._exact_limit = exact_limit
        self._probes = probes
        self._flat: Any = self._faiss.IndexFlatIP(dimensions)
        self._lists: Any = None
        self._trained = 0
        self._live = Column(np.bool_)
        self._dead = 0

    @property
    def size(self) -> int:
        return self._live.size

    @property
    def exact(self) -> bool:
        return self._lists is None

    @property
    def nbytes(self) -> int:
        return self.size * self._dimensions * (4 if self._lists is None else 6)

    def vectors(self, rows: Slots) -> Floats:
        return self._matrix()[rows]

    def scores(self, query: Floats) -> Floats:
        # The kernel of FAISS's flat search without its heap: one thread, and no copy.
        found = np.empty(self.size, np.float32)
        query = np.ascontiguousarray(query, np.float32)
        pointer = self._faiss.swig_ptr
        self._faiss.fvec_inner_products_ny(
            pointer(found), pointer(query), self._flat.get_xb(), self._dimensions, self.size
        )
        return found

    def add(self, vectors: Floats) -> None:
        vectors = np.ascontiguousarray(vectors, np.float32)
        self._flat.add(vectors)
        self._live.extend(np.ones(len(vectors), np.bool_))
        if self.size > self._exact_limit:
            if self._lists is None or self.size > 2 * self._trained:
                self._build_lists()
            else:
                self._lists.add(vectors)

    def _build_lists(self) -> None:
        # Lists as FAISS advises (about 4 sqrt(n)); 64 points a list train them well enough.
        lists = int(4 * self.size**0.5)
        quantizer = self._faiss.IndexFlatIP(self._dimensions)
        # The lists only propose, in half the room: what they find is scored by the vectors themselves.
        half, product = self._faiss.ScalarQuantizer.QT_fp16, self._faiss.METRIC_INNER_PRODUCT
        index = self._faiss.IndexIVFScalarQuantizer(quantizer, self._dimensions, lists, half, product, False)
        index.cp.min_points_per_centroid = 1
        vectors = self._matrix()
        step = max(1, self.size // (64 * lists))
        index.train(np.ascontiguousarray(vectors[::step]))
        index.add(vectors)
        self._lists, self._trained = index, self.size

    def _matrix(self) -> Floats:
        """FAISS's own storage as an array, without a copy; valid until the next `add`."""
        if not self.size:
            return np.empty((0, self._dimensions), np.float32)
        flat = self._faiss.rev_swig_ptr(self._flat.get_xb(), self.size * self._dimensions)
        matrix: Floats = flat.reshape(self.size, self._dimensions)
        return matrix

    def remove(self, row: int) -> None:
        if self._live.values[row]:
            self._live.values[row] = False
            self._dead += 1

    def keep(self, rows: Slots) -> None:
        vectors = np.ascontiguousarray(self._matrix()[rows])
        self._flat = self._faiss.IndexFlatIP(self._dimensions)
        self._flat.add(vectors)
        self._lists, self._trained = None, 0
        self._live.keep(rows)
        self._dead = int(len(rows) - self._live.values.sum())
        if self.size > self._exact_limit:
            self._build_lists()

    def search(self, query: Floats, count: int, allowed: NDArray[np.bool_] | None) -> tuple[Slots, Floats]:
        mask = allowed
        if self._dead:
            mask = self._live.values if allowed is None else self._live.values & allowed
        parameters: Any = None
        if mask is not None:
            kept = int(np.count_nonzero(mask))
            if kept <= max(count, _SELECTIVE * self.size):
                rows = np.flatnonzero(mask)
                return best(rows, self._matrix()[rows] @ query, count)
            bits = np.packbits(mask, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(bits)
        count = min(count, self.size)
        if not count:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if self._lists is None:
            if mask is not None:
                parameters = self._faiss.SearchParameters(sel=selector)
            index = self._flat
        else:
            given = {"nprobe": self._probes} if mask is None else {"nprobe": self._probes, "sel": selector}
            parameters = self._faiss.SearchParametersIVF(**given)
            index = self._lists
        scores, rows = index.search(query[None, :], count, params=parameters)
        found = rows[0] >= 0
        if self._lists is not None:
            return best(rows[0][found], self._matrix()[rows[0][found]] @ query, count)
        return rows[0][found], scores[0][found]

    def similarities(self, query: Floats, rows: Slots) -> Floats:
        found: Floats = self._matrix()[rows] @ query
        return found


def best(rows: Slots, scores: Floats, count: int) -> tuple[Slots, Floats]:
    """The `count` rows with the highest scores, best first, ties in the order of rows."""
    if len(rows) > count:
        top = np.argpartition(-scores, count - 1)[:count] if count else np.empty(0, np.int64)
        rows, scores = rows[top], scores[top]
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss-cpu") from error
    # One thread a search: a scope is small, users are many, and OpenMP's threads do not survive a
    # fork (a child that meets the parent's pool hangs).
    faiss.omp_set_num_threads(1)
    return faiss


def normalised(vectors: Any, dimensions: int | None, texts: int) -> Floats:
    """Vectors as unit float32 rows; a zero vector stays zero and is like nothing.

    Raises `InvalidVector` for NaN, infinity, a wrong count or a wrong length.
    """
    from shared_core.errors import InvalidVector

    try:
        array = vectors if isinstance(vectors, np.ndarray) else np.asarray(vectors, np.float64)
        array = array if array.dtype == np.float32 else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidVector(
            "the embedder gave vectors of different lengths, or no numbers; nothing was stored"
        ) from error
    if array.size == 0 and texts == 0:
        return np.empty((0, dimensions or 0), np.float32)
    if array.ndim != 2 or len(array) != texts:
        raise InvalidVector(
            f"the embedder gave shape {array.shape} for {texts} texts, not one vector a text; nothing was stored"
        )
    if dimensions is not None and array.shape[1] != dimensions:
        raise InvalidVector(
            f"the embedder gave vectors of length {array.shape[1]}, expected {dimensions}; nothing was stored. "
            "If the model was changed, memory.reembed() moves everything to it"
        )
    squares = np.einsum("ij,ij->i", array, array)
    if not _TINY < squares.min(initial=1.0) <= squares.max(initial=1.0) < _HUGE:
        if not np.isfinite(array).all():
            raise InvalidVector("the embedder gave a vector with NaN or infinity; nothing was stored")
        # Zero, or squares that overflow or vanish: scale by the largest part first.
        largest = np.abs(array).max(axis=1, keepdims=True)
        array = np.divide(array, largest, out=np.zeros_like(array), where=largest > 0)
        squares = np.einsum("ij,ij->i", array, array)
        squares[squares == 0] = 1.0
    unit: Floats = (array / np.sqrt(squares)[:, None]).astype(np.float32, copy=False)
    return unit
