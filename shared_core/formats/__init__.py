"""Readers that turn chat exports into conversations, one at a time, for `twinmem import`."""

from shared_core.formats.conversation import Conversation
from shared_core.formats.reading import FORMATS, detect, read

__all__ = ["FORMATS", "Conversation", "detect", "read"]
