"""Records by meaning alone: what a store with an embedder of its own is searched by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared_core.recall.index import Mask, ScopeIndex, Slots

Floats = NDArray[np.float32]


def nearest(index: ScopeIndex, vector: Floats, mask: Mask | None, count: int) -> tuple[Slots, Floats]:
    """The `count` slots nearest to a vector and their cosines, best first; a record counts by its best piece."""
    if index.dense is None or count <= 0:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    allowed = None if mask is None else mask[index.owner]
    wanted = count
    while True:
        rows, cosines = index.dense.search(vector, wanted, allowed)
        slots, first = np.unique(index.owner[rows], return_index=True)  # rows come best first
        if len(slots) >= count or len(rows) < wanted:
            break
        wanted *= 4  # the pieces of few records took the places: look further
    order = np.argsort(first)[:count]
    return slots[order], cosines[first[order]]
