"""mem0: what `get_all` gives, as JSON: `{"results": [...], "relations": [...]}`, a list, or one memory a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import as_name, at, moment
from shared_core.formats.json_stream import Item, Layout, Source
from shared_core.formats.told import Told, identity, needed, spoken, without_nothing

_WHAT = "a mem0 memory"


def matches(sample: Any) -> bool:
    """Whether a file's first item is a mem0 memory or holds some.

    >>> matches({"results": [{"id": "1", "memory": "likes tea"}]}), matches({"role": "user"})
    (True, False)
    """
    if isinstance(sample, list):
        return bool(sample) and matches(sample[0])
    if not isinstance(sample, dict):
        return False
    if isinstance(sample.get("results"), list):
        return not sample["results"] or matches(sample["results"][0])
    return isinstance(sample.get("memory"), str) and "id" in sample


def read(source: Source) -> Iterator[Told]:
    """The memories of an export, then the relations of its graph."""
    if source.layout is Layout.OBJECT:
        for key, item in source.entries():
            if key in ("results", "relations"):
                yield from _listed(item, _memory if key == "results" else _relation)
        return
    for item in source.items():
        yield from _listed(item, _memory)


def _listed(item: Item, made: Any) -> Iterator[Told]:
    values = item.value if isinstance(item.value, list) else [item.value]
    for number, value in enumerate(values, 1):
        with at(f"{item.where}, memory {number}" if isinstance(item.value, list) else item.where):
            if not isinstance(value, dict):
                raise InvalidInput(f"expected {_WHAT}: an object with 'id' and 'memory'")
            found = made(value)
        yield found


def _memory(value: Mapping[str, Any]) -> Told:
    metadata = value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InvalidInput("metadata is an object")
    about = without_nothing(**{key: value.get(key) for key in ("hash", "categories", "agent_id", "run_id", "actor_id")})
    return Told(
        id=f"mem0:{identity(value, 'id', what=_WHAT)}",
        text=needed(value, "memory", _WHAT),
        user=as_name(value.get("user_id")),
        metadata={**metadata, **({"mem0": about} if about else {})},
        created_at=moment(value.get("created_at")),
        updated_at=moment(value.get("updated_at")),
    )


def _relation(value: Mapping[str, Any]) -> Told:
    subject = needed(value, "source", "a mem0 relation")
    predicate = spoken(needed(value, "relationship", "a mem0 relation"))
    key = "target" if "target" in value else "destination"
    object_ = needed(value, key, "a mem0 relation")
    subject, object_ = subject.replace("_", " "), object_.replace("_", " ")
    digest = hashlib.sha256("\x1f".join((subject, predicate, object_)).encode()).hexdigest()[:24]
    return Told(
        id=f"mem0:relation-{digest}", text=f"{subject} {predicate} {object_}", triple=(subject, predicate, object_)
    )
