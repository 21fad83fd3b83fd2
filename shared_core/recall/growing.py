"""Columns that grow at their end without being copied at every append."""

from __future__ import annotations

from typing import Any

import numpy as np

from shared_core.recall.arrays import NDArray


class Column:
    """One value a slot, in one array that grows by an eighth when it is full."""

    __slots__ = ("_array", "size")

    def __init__(self, dtype: Any) -> None:
        self._array: NDArray[Any] = np.empty(0, dtype)
        self.size = 0

    def extend(self, values: Any) -> None:
        """Append values."""
        values = np.asarray(values, self._array.dtype)
        end = self.size + len(values)
        if end > len(self._array):
            grown = np.empty(max(end, len(self._array) + len(self._array) // 8 + 64), self._array.dtype)
            grown[: self.size] = self._array[: self.size]
            self._array = grown
        self._array[self.size : end] = values
        self.size = end

    @property
    def values(self) -> NDArray[Any]:
        """The values so far, as a view."""
        return self._array[: self.size]

    def keep(self, slots: NDArray[np.int64]) -> None:
        """Keep only these slots, in this order."""
        self._array = self.values[slots].copy()
        self.size = len(self._array)

    @property
    def nbytes(self) -> int:
        return int(self._array.nbytes)
