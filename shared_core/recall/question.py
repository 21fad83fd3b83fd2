"""What is asked, made ready for the index: terms with weights, texts to embed, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared_core.errors import InvalidType, LimitExceeded
from shared_core.recall.text import clean, has_words, query_terms, term_id
from shared_core.settings import Settings
from shared_core.values import Message, as_message

Query = str | Sequence[Message | Mapping[str, Any]]

_WINDOWS = (2, 4)  # messages in the wider views of a conversation, beside the newest and the whole
_EARLIER = 0.5  # weight of a word that only an earlier message says


@dataclass(slots=True)
class Question:
    """A question or a conversation so far. `vectors` is filled in by whoever may call the embedder."""

    text: str
    terms: dict[int, float]
    asked: list[str]
    views: list[str]
    vectors: list[NDArray[np.float32]] = field(default_factory=list)


def question(query: Query, settings: Settings) -> Question | None:
    """The question in a query; None where it asks nothing (blank, or punctuation only).

    In a list of messages the newest user message leads, and the earlier ones give context.
    Raises `LimitExceeded` beyond `limits.query_chars`.
    """
    if isinstance(query, str):
        return _from_text(_bounded(query, settings))
    if not isinstance(query, Sequence):
        raise InvalidType(f"a query is text or a list of messages, not {type(query).__name__}")
    if any(isinstance(message, str) for message in query):
        raise InvalidType("a query is one text or a list of messages, not a list of texts")
    messages = [as_message(message) for message in query if not isinstance(message, str)]
    spoken = [m for m in messages if m.role in ("user", "assistant") and has_words(m.text)]
    newest = next((i for i in range(len(spoken) - 1, -1, -1) if spoken[i].role == "user"), len(spoken) - 1)
    spoken = spoken[: newest + 1]
    if not spoken:
        return None
    texts = [_bounded(m.text, settings) for m in spoken]
    lead = _from_text(texts[-1])
    if lead is None or len(texts) == 1:
        return lead
    for text in texts[:-1]:
        for term in query_terms(text):
            lead.terms.setdefault(term_id(term), _EARLIER)
    views = [" ".join(texts[-size:]) for size in _WINDOWS if size < len(texts)]
    lead.views += [*views, " ".join(texts)]
    return lead


def _bounded(text: str, settings: Settings) -> str:
    if len(text) > settings.limits.query_chars:
        raise LimitExceeded(f"a query of {len(text)} characters; limits.query_chars is {settings.limits.query_chars}")
    return clean(text)


def _from_text(text: str) -> Question | None:
    if not has_words(text):
        return None
    asked = query_terms(text)
    return Question(text=text, terms={term_id(term): 1.0 for term in asked}, asked=asked, views=[text])
