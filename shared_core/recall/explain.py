"""Why a memory was recalled, in words a person reads."""

from __future__ import annotations

from collections.abc import Mapping

from shared_core.recall.text import terms
from shared_core.values import Record


def reason(record: Record, asked: list[str], parts: Mapping[str, float]) -> str:
    """One line: which words matched, how near in meaning, where it comes from, what it replaced."""
    held = set(terms(record.text))
    words = [term for term in asked if term in held]
    found = [f"words {', '.join(words)}"] if words else []
    if parts.get("cosine", 0.0) > 0:
        found.append(f"meaning {parts['cosine']:.2f}")
    if parts.get("rank.near", 0.0) > 1:
        found.append("the talk around it")
    if parts.get("rank.speaker", 0.0) > 0:
        found.append("the speaker asked about")
    if record.session is not None:
        who = record.name or record.role or record.source
        found.append(f"said by {who} in {record.session}, {record.created_at:%Y-%m-%d}")
    else:
        found.append(f"{record.kind} from {record.source}, {record.event_time or record.created_at:%Y-%m-%d}")
    if record.supersedes is not None:
        found.append(f"replaces {record.supersedes}, updated on {record.updated_on:%Y-%m-%d}")
    if record.stale:
        found.append(f"to be confirmed: told {record.confirmed_at or record.created_at:%Y-%m-%d}")
    return "; ".join(found)
