"""Records by meaning alone: what a store with an embedder of its own is searched by."""

from __future__ import annotations

import numpy as np

from shared_core.recall.arrays import Floats, Mask, Slots
from shared_core.recall.index import ScopeIndex

_SAME = 1e-6  # cosines nearer than this are equal: float32 gives no more


def nearest(index: ScopeIndex, vector: Floats, mask: Mask | None, count: int) -> tuple[Slots, Floats]:
    """The `count` slots nearest to a vector and their cosines, best first, equals by id.

    A record counts by its best piece.
    """
    if index.dense is None or count <= 0:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    allowed = None if mask is None else mask[index.owner]
    wanted = count + 1
    while True:
        rows, cosines = index.dense.search(vector, wanted, allowed)
        slots, first = np.unique(index.owner[rows], return_index=True)  # rows come best first
        best = cosines[first]
        # Enough once something stands below the last place, so that ids decide between all that share it.
        if len(rows) < wanted or (len(slots) > count and cosines[-1] < np.sort(best)[-count] - _SAME):
            break
        wanted *= 4
    order = sorted(range(len(slots)), key=lambda i: (-round(float(best[i]) / _SAME), index.ids[slots[i]]))[:count]
    return slots[order], best[order]
