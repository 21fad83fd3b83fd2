"""Recalled records as LangChain documents."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document

from shared_core.values import Hit, Record

_NAMED = ("type", "session", "message_id", "role", "name", "source", "importance", "confidence", "seen", "pinned")


_PER_QUESTION = frozenset({"score", "reason"})


class RecalledDocument(Document):
    """A document that another question may recall too, with another score: it is the same one all the same.

    Retrievers that ask several questions (`MultiQueryRetriever`) tell documents apart by equality.
    """

    def __eq__(self, other: object) -> bool:
        return _told(self) == _told(other) if isinstance(other, Document) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def lc_id(cls) -> list[str]:
        """LangChain's own document, so that `loads(dumps(document))` gives one."""
        return Document.lc_id()

    def __repr_name__(self) -> str:
        return "Document"


def _told(document: Document) -> tuple[Any, ...]:
    known = {key: value for key, value in document.metadata.items() if key not in _PER_QUESTION}
    return document.page_content, document.id, known


def document(hit: Hit) -> Document:
    """A hit as a document: the record's text and id, what is known of it, and the score as a float."""
    described = {"score": float(hit.score)} | ({"reason": hit.reason} if hit.reason else {})
    return RecalledDocument(page_content=hit.record.text, id=hit.record.id, metadata=described | metadata(hit.record))


def metadata(record: Record) -> dict[str, Any]:
    """Of a record: its fields that are set, and its own metadata; JSON throughout, times in ISO 8601.

    A key of its own metadata that is also a field's name stands as `metadata.<key>`, as in a filter.
    """
    found: dict[str, Any] = {"kind": record.kind.value, "created_at": record.created_at.isoformat()}
    found["updated_at"] = record.updated_at.isoformat()
    if record.event_time is not None:
        found["event_time"] = record.event_time.isoformat()
    if record.entities:
        found["entities"] = list(record.entities)
    found |= {name: value for name in _NAMED if (value := getattr(record, name)) is not None}
    fields = Record.model_fields.keys() | {"score", "reason"}
    return found | {f"metadata.{k}" if k in fields else k: v for k, v in record.metadata.items()}
