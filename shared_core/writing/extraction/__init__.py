"""Facts out of talk: what a message states of its author and of others, as subject, predicate and object."""

from shared_core.writing.extraction.extracted import (
    ASSISTANT,
    PREDICATES,
    SINGLE_VALUED,
    USER,
    Extracted,
    is_single,
)
from shared_core.writing.extraction.llm import SCHEMA, UnreadableAnswer, parse, prompt
from shared_core.writing.extraction.rules import extract

__all__ = [
    "ASSISTANT",
    "PREDICATES",
    "SCHEMA",
    "SINGLE_VALUED",
    "USER",
    "Extracted",
    "UnreadableAnswer",
    "extract",
    "is_single",
    "parse",
    "prompt",
]
