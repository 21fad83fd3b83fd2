"""Freed memory back to the system: what building a large index took for a moment.

glibc keeps freed blocks of up to 32 MB for later. After a load of 100,000 records that is half of the
vectors' own size, in a process that may not load another large scope for hours.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    """glibc's `malloc_trim`; None on other systems, whose allocators give memory back by themselves."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


def give_back() -> None:
    """Return freed memory, where the system has to be told to; some milliseconds."""
    trim = _trim()
    if trim is not None:
        trim(0)
