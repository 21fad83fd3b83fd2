"""Readers that turn exports of other systems into conversations and memories, one at a time."""

from shared_core.formats.conversation import Conversation
from shared_core.formats.reading import FORMATS, SYSTEMS, detect, read, read_all
from shared_core.formats.told import Told

__all__ = ["FORMATS", "SYSTEMS", "Conversation", "Told", "detect", "read", "read_all"]
