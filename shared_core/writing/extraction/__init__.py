"""Facts out of talk: what a message states of its author and of others, as subject, predicate and object."""

from shared_core.writing.extraction.extracted import (
    PREDICATES,
    SINGLE_VALUED,
    Extracted,
    is_single,
)
from shared_core.writing.extraction.rules import extract

__all__ = ["PREDICATES", "SINGLE_VALUED", "Extracted", "extract", "is_single"]
