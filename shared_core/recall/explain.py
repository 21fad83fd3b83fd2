"""Why a memory was recalled, and where it comes from, in words a person reads (C6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared_core.ports import Transaction
from shared_core.recall.text import terms
from shared_core.values import Record, Source

_SHORT = 80  # characters of a replaced text


@dataclass(frozen=True, slots=True)
class Origins:
    """By record number: what each was read from, and the text of what it replaced."""

    sources: Mapping[int, tuple[Source, ...]]
    replaced: Mapping[int, str]


def origins(tx: Transaction, seqs: Sequence[int]) -> Origins:
    """Where records came from."""
    given = {"seqs": json.dumps(list(seqs))}
    sources: dict[int, tuple[Source, ...]] = {}
    for seq, *source in tx.rows("sources_of_all", given) if seqs else ():
        sources[seq] = (*sources.get(seq, ()), Source(*source))
    replaced = {row[0]: row[1] for row in tx.rows("replaced_texts", given)} if seqs else {}
    return Origins(sources, replaced)


def reason(
    record: Record,
    asked: list[str],
    parts: Mapping[str, float],
    sources: Sequence[Source] = (),
    replaced: str | None = None,
) -> str:
    """One line: which words matched, how near in meaning, where it comes from, what it replaced."""
    held = set(terms(record.text)) if asked else set()
    words = [term for term in asked if term in held]
    found = [f"words {', '.join(words)}"] if words else []
    if parts.get("cosine", 0.0) > 0:
        found.append(f"meaning {parts['cosine']:.2f}")
    if parts.get("rank.coverage around", 0.0) > parts.get("rank.coverage", 0.0):
        found.append("words in the talk around it")
    if parts.get("rank.speaker", 0.0) > 0:
        found.append("the speaker asked about")
    if record.session is not None:
        who = record.name or record.role or record.source
        said = "told" if record.message_id is None else "said"
        found.append(f"{said} by {who} in {record.session}, {record.created_at:%Y-%m-%d}")
    else:
        found.append(f"{record.kind} from {record.source}, {record.event_time or record.created_at:%Y-%m-%d}")
    for source in sources:
        where = f"message {source.message_id} in {source.session}" if source.message_id else source.record
        found.append(f"from {where} by {source.extractor}")
    if record.supersedes is not None:
        what = f"{record.supersedes} ({_shortened(replaced)})" if replaced else record.supersedes
        found.append(f"replaces {what}, updated on {record.updated_on:%Y-%m-%d}")
    if record.stale:
        found.append(f"to be confirmed: told {record.confirmed_at or record.created_at:%Y-%m-%d}")
    return "; ".join(found)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[:_SHORT] + "…"
