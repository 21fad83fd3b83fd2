"""`twinmem search`: what is remembered, how well it fits, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shared_core.commands.database import Place, UsageFault, opened, scope_of, session_of
from shared_core.commands.terminal import columns, joined, say, styled, text_of, write_json
from shared_core.values import Hit, Record

_TELLING = 20  # characters up to which a message id was given by a person, like "D10:8"


def search(
    db: Place, query: str, *, user: str | None, agent: str | None, k: int, kinds: Sequence[str], where: str | None,
    session: str | None, min_score: float, embedder: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Search and print the hits, best first."""
    wanted = filter_of(where)
    with opened(db, embedder) as memory:
        scope = scope_of(memory, db, user, agent)
        if session is not None:
            session_of(scope, session)
        hits = scope.search(
            query, k=k, kinds=kinds or None, where=wanted, session=session, min_score=min_score, explain=True
        )
    if as_json:
        for hit in hits:
            write_json({"user": scope.user, "agent": scope.agent, **hit_json(hit)})
    elif hits:
        say(columns([_row(place, hit) for place, hit in enumerate(hits, 1)], fixed=2, right=[0]))
    else:
        say("Nothing remembered fits.")


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: score and reason first, then the record."""
    value = hit.model_dump(mode="json")
    return {"score": value["score"], "reason": value["reason"], "parts": value["parts"], "record": value["record"]}


def filter_of(where: str | None) -> Mapping[str, Any] | None:
    """The filter that `--where` gives as JSON."""
    if where is None:
        return None
    try:
        found = json.loads(where)
    except ValueError as error:
        raise UsageFault(f'--where is not JSON ({error}); write it like \'{{"role": "user"}}\'') from error
    if not isinstance(found, dict):
        raise UsageFault('--where is a JSON object, like \'{"role": "user"}\'')
    return found


def place_of(record: Record) -> str:
    """Session, message and record id on one line; a message id as long as a hash tells nobody anything."""
    message = record.message_id if record.message_id and len(record.message_id) <= _TELLING else None
    return " · ".join(part for part in (record.session, message, record.id) if part)


def _row(place: int, hit: Hit) -> list[Any]:
    said = joined(text_of(hit.record.text), ("\n" + hit.reason, "dim"), ("\n" + place_of(hit.record), "dim cyan"))
    return [styled(str(place), "dim"), styled(f"{hit.score:.2f}", "bold green"), said]
