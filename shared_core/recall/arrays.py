"""Names for the arrays that pass between rooms; numpy's own typing costs 60 ms at import, so only checkers load it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Slots = NDArray[np.int64]
    Mask = NDArray[np.bool_]
else:
    NDArray = Floats = Slots = Mask = Any

__all__ = ["Floats", "Mask", "NDArray", "Slots"]
