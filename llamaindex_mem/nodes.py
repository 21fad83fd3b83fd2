"""Recalled records as LlamaIndex nodes."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.schema import NodeWithScore, TextNode

from shared_core import Hit, Record

_NAMED = ("type", "session", "message_id", "role", "name", "source", "importance", "confidence", "seen", "pinned")
_TOLD = frozenset({"role", "event_time", "created_at"})  # what a model may want to read beside the text


def node(hit: Hit) -> NodeWithScore:
    """A hit as a node: the record's text and id, what is known of it, and the score as a float.

    The metadata is flat (text and numbers), as the narrowest vector stores want it. Of the
    record's own fields a model is shown when and by whom; its metadata is shown whole.
    """
    described = metadata(hit.record)
    if hit.reason:
        described["reason"] = hit.reason
    hidden = [name for name in described if name not in hit.record.metadata and name not in _TOLD]
    return NodeWithScore(
        node=TextNode(
            id_=hit.record.id,
            text=hit.record.text,
            metadata=described,
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=list(described),
        ),
        score=float(hit.score),
    )


def metadata(record: Record) -> dict[str, Any]:
    """The fields of a record that are set, and its own metadata; times in ISO 8601, nested values as JSON.

    A key of its own metadata that is also a field's name stands as `metadata.<key>`, as in a filter.
    """
    found: dict[str, Any] = {"kind": record.kind.value, "created_at": record.created_at.isoformat()}
    found["updated_at"] = record.updated_at.isoformat()
    if record.event_time is not None:
        found["event_time"] = record.event_time.isoformat()
    if record.entities:
        found["entities"] = ", ".join(record.entities)
    found |= {name: value for name in _NAMED if (value := getattr(record, name)) is not None}
    fields = Record.model_fields.keys() | {"reason"}
    own = {f"metadata.{key}" if key in fields else key: value for key, value in record.metadata.items()}
    return found | {key: _flat(value) for key, value in own.items() if value is not None}


def _flat(value: Any) -> str | int | float:
    return value if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)
