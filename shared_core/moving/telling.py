"""Rows as lines: everything that belongs to records and sessions, with ids in the place of row numbers.

Columns that are computed from others (words, digests, topics) stay behind; whoever reads a line
computes them again. `tests/moving/test_export.py` holds every column of the schema against this.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shared_core.ports import Transaction
from shared_core.store.rows import Draft, draft, load, moment

Value = dict[str, Any]
Told = tuple[str, Value]
"""What a line holds, and its value."""

Accesses = Callable[[int], tuple[int, int] | None]
"""Accesses of a record that are counted, and not yet written."""


def time(value: int | None) -> str | None:
    """Microseconds since 1970 as ISO 8601 in UTC.

    >>> time(0)
    '1970-01-01T00:00:00+00:00'
    """
    found = moment(value)
    return None if found is None else found.isoformat()


def _full(**fields: Any) -> Value:
    """A value without what is not there."""
    return {key: value for key, value in fields.items() if value is not None}


# ---------------------------------------------------------------------- sessions and records


def session(row: tuple[Any, ...]) -> Told:
    """A row of `moved_sessions`."""
    name, created_at, ended_at, summary, summarised, snapshot, state, consolidated = row
    return "session", _full(
        id=name, created_at=time(created_at), ended_at=time(ended_at), summary=summary, summarised=summarised,
        snapshot=snapshot, state=_json(state), consolidated=consolidated,
    )  # fmt: skip


def _json(text: str | None) -> Any:
    """JSON out of a column, as it is; what no other JSON reader takes (NaN in a framework's dict) stays a text."""
    if text is None:
        return None
    value = load(text)
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return {"json": text}
    return value if not (isinstance(value, dict) and value.keys() == {"json"}) else {"json": text}


class Records:
    """The records of one scope as lines."""

    def __init__(self, tx: Transaction, scope: int, *, vectors: bool, accesses: Accesses, audit: bool = False) -> None:
        self._tx, self._scope, self._vectors, self._accesses, self._audit = tx, scope, vectors, accesses, audit
        self._names: dict[int, str] = {}

    def line(self, seq: int) -> Told | None:
        """One record; None if it is gone."""
        rows = self._tx.rows("raw_record", {"seq": seq})
        if not rows:
            return None
        item = draft(rows[0])
        value = _record(item, None if item.session is None else self._name(item.session))
        count, last = self._counted(seq)
        if count:
            value |= {"accesses": count, "accessed_at": time(last)}
        value |= {name: told for name, told in self._beside(seq, str(item.id)) if told}
        if self._vectors:
            vectors = [
                {"embedder": name, "dimensions": size, "pieces": base64.b64encode(pieces).decode("ascii")}
                for name, size, pieces in self._tx.rows("vectors_of", (seq << 8, seq << 8 | 255))
            ]
            if vectors:
                value["vectors"] = vectors
        return "record", value

    def _name(self, number: int) -> str:
        if number not in self._names:
            self._names[number] = self._tx.rows("session_name", (number,))[0][0]
        return self._names[number]

    def _beside(self, seq: int, id: str) -> Iterator[tuple[str, list[Value]]]:
        """What is about this record alone. It stands in the record's line, so that both are taken or neither."""
        tx = self._tx
        yield (
            "outcomes",
            [
                _full(success=bool(success), created_at=time(at), detail=detail)
                for success, at, detail in tx.rows("record_outcomes", (seq,))
            ],
        )
        yield (
            "pending",
            [
                _full(work=work, detail=detail, attempts=attempts, created_at=time(at))
                for work, detail, attempts, at in tx.rows("moved_pending", (seq,))
            ],
        )
        if self._audit:
            rows = tx.rows("audit_of", {"scope": self._scope, "id": id})
            yield (
                "audit",
                [_full(action=action, detail=load(detail), created_at=time(at)) for action, at, detail in rows],
            )

    def _counted(self, seq: int) -> tuple[int, int | None]:
        rows = self._tx.rows("access_of", (seq,))
        count, last = rows[0] if rows else (0, None)
        more = self._accesses(seq)
        return (count, last) if more is None else (count + more[0], more[1])


def _record(item: Draft, session: str | None) -> Value:
    return _full(
        id=item.id, kind=item.kind, type=item.type, text=item.text,
        triple=None if item.triple is None else list(item.triple), polarity=None if item.polarity else False,
        entities=load(item.entities), source=item.source, importance=item.importance, confidence=item.confidence,
        metadata=load(item.metadata), event_time=time(item.event_time), valid_from=time(item.valid_from),
        valid_until=time(item.valid_until), expires_at=time(item.expires_at), confirmed_at=time(item.confirmed_at),
        pinned=item.pinned or None, status=item.status, seen=item.seen, supersedes=item.supersedes,
        superseded_by=item.superseded_by, session=session, position=item.position, message_id=item.message_id,
        role=item.role, name=item.name, body=_json(item.body), deduplicated=item.digest is not None or None,
        created_at=time(item.created_at), updated_at=time(item.updated_at),
    )  # fmt: skip


# ---------------------------------------------------------------------- what hangs on records


def belongings(tx: Transaction, seqs: Sequence[int], inside: Callable[[str], bool] = lambda id: True) -> Iterator[Told]:
    """What lies between these records and others, or hangs on them; `inside` says which ends may be named."""
    given = {"seqs": json.dumps(list(seqs))}
    for record, source, extractor, at in tx.rows("moved_links", given):
        if inside(record) and inside(source):
            yield link(record, source, extractor, at)
    for reply, record, rank, score, section in tx.rows("moved_traces", given):
        if inside(reply) and inside(record):
            yield "trace", {"reply": reply, "record": record, "rank": rank, "score": score, "section": section}
    for id, text, choices, detail, new, old, at, answered in tx.rows("moved_questions", given):
        if inside(new) and inside(old):
            yield "question", _full(
                id=id, text=text, choices=load(choices), detail=load(detail), new=new, old=old, created_at=time(at),
                answered_at=time(answered),
            )  # fmt: skip


def link(record: str, source: str, extractor: str, at: int) -> Told:
    """One link of provenance: which record came from which, through what."""
    return "link", {"record": record, "source": source, "extractor": extractor, "created_at": time(at)}


# ---------------------------------------------------------------------- the graph


def graph(tx: Transaction, scope: int, inside: Callable[[str], bool] = lambda id: True) -> Iterator[Told]:
    """The whole graph of a scope; what a record told that is not `inside` reads as told directly."""
    for key, name, at in tx.rows("moved_entities", {"scope": scope}):
        yield "entity", {"key": key, "name": name, "created_at": time(at)}
    yield from told_by(tx, scope, None, inside)
    for one, other in tx.rows("moved_apart", {"scope": scope}):
        yield "apart", {"one": one, "other": other}
    for name, body, confidence, at in tx.rows("moved_rules", {"scope": scope}):
        yield "rule", {"name": name, "body": body, "confidence": confidence, "created_at": time(at)}


def told_by(
    tx: Transaction, scope: int, seqs: Iterable[int] | None, inside: Callable[[str], bool] = lambda id: True
) -> Iterator[Told]:
    """Relations, aliases and traits that were told by these records, or by anything (None)."""
    given = {"scope": scope, "seqs": None if seqs is None else json.dumps(list(seqs))}

    def known(record: str | None) -> str | None:
        return record if record is not None and inside(record) else None

    for row in tx.rows("moved_relations", given):
        yield "relation", _full(
            subject=row[0], predicate=row[1], object=row[2], record=known(row[3]), subject_name=row[4], verb=row[5],
            object_name=row[6], confidence=row[7], attributes=load(row[8]), created_at=time(row[9]),
            subject_shown=row[10], object_shown=row[11],
        )  # fmt: skip
    for entity, target, record, at, name, other in tx.rows("moved_aliases", given):
        yield (
            "alias",
            _full(entity=entity, target=target, record=known(record), created_at=time(at), name=name, other=other),
        )
    for entity, record, name, kind, attributes, at in tx.rows("moved_traits", given):
        yield (
            "trait",
            _full(
                entity=entity,
                record=known(record),
                name=name,
                type=kind,
                attributes=load(attributes),
                created_at=time(at),
            ),
        )


TOLD: Mapping[str, tuple[str, ...]] = {
    "relation": ("subject", "predicate", "object", "subject_name", "object_name"),
    "alias": ("entity", "target"),
    "trait": ("entity",),
}
"""What can be told by a record, and the fields that say what it is about."""


def place(kind: str, value: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells one relation, alias or trait from another, whoever told it."""
    return (kind, *(value[name] for name in TOLD[kind]))
