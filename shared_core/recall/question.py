"""What is asked, made ready for the index: terms with weights, forms to embed, what kind of answer is wanted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from shared_core.errors import InvalidType, LimitExceeded
from shared_core.recall.arrays import Floats
from shared_core.recall.dates import Asked, asked_dates
from shared_core.recall.forms import first_person, statements
from shared_core.recall.relatives import Names
from shared_core.recall.relatives import named as with_names
from shared_core.recall.text import clean, has_words, pack, query_terms, term_id
from shared_core.settings import Settings
from shared_core.values import Message, as_message

Query = str | Sequence[Message | Mapping[str, Any]]

_FADING = 0.8  # what a word loses in weight with each message said since
_ANSWERED = 0.5  # weight of the assistant's words against the user's

_WHEN = re.compile(
    r"\bwhen\b|what (?:date|day|year|month|time)|how long|什么时候|什么时间|何时|哪天|哪一天|哪年|几号|几点|多久", re.I
)
_HOW_MANY = re.compile(r"how (?:many|much|often|old|long)|多少|几[个次岁只本张位]|多大", re.I)
_WHICH = re.compile(
    r"\bwho\b|\bwhere\b|\bname|\btitle|called|which|what (?:book|movie|game|song|band|city|country|state|place)"
    r"|谁|哪里|哪儿|哪个|哪家|哪座|叫什么|名字",
    re.I,
)


@dataclass(frozen=True, slots=True)
class View:
    """A text to embed for a question, and its share in what turns and what facts are compared with.

    Turns speak in the first person, facts about people by name: a question that names somebody is
    put to each in its own way.
    """

    text: str
    turns: float
    facts: float


@dataclass(slots=True)
class Question:
    """A question, or a conversation so far. The vectors are filled in by whoever may call the embedder."""

    text: str
    terms: dict[int, float]
    asked: list[str]
    speakers: list[int]  # term ids of the speakers' names it holds
    views: list[View]
    whole: str = ""  # with the names of the relatives it speaks of
    length: int = 0  # terms, repeats included, as a record of this text would have
    is_talk: bool = False
    dates: list[Asked] = field(default_factory=list)
    asks_when: bool = False
    asks_how_many: bool = False
    asks_which: bool = False
    names_speakers: bool = False
    lead: Floats | None = None
    for_turns: Floats | None = None
    for_facts: Floats | None = None

    def embedded(self, vectors: Sequence[Floats]) -> None:
        """Take in the vectors of `views`, in their order."""
        self.lead = vectors[0]
        self.for_turns = _together(vectors, [view.turns for view in self.views])
        self.for_facts = (
            _together(vectors, [view.facts for view in self.views]) if self.names_speakers else self.for_turns
        )


def question(
    query: Query, settings: Settings, now: datetime, names: Collection[str] = (), relatives: Names | None = None
) -> Question | None:
    """The question in a query; None where it asks nothing (blank, or punctuation only).

    In a list of messages the newest user message leads, and the earlier ones give context. `names`
    are the speakers the scope knows, `relatives` the names behind "my sister", `now` is when it is
    asked. Raises `LimitExceeded` beyond `limits.query_chars`.
    """
    if isinstance(query, str):
        return _from_text(_bounded(query, settings), now, names, relatives)
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
    lead = _from_text(_bounded(spoken[-1].text, settings), now, names, relatives)
    if lead is None or len(spoken) == 1:
        return lead
    return _in_context(lead, spoken, settings)


def _in_context(lead: Question, spoken: list[Message], settings: Settings) -> Question:
    """The leading question together with the talk before it: wider views, and the words said on the way."""
    texts = [_bounded(message.text, settings) for message in spoken]
    mine = [text for message, text in zip(spoken, texts, strict=True) if message.role == "user"]
    lead.is_talk = True
    lead.speakers = [term_id(term) for term in query_terms(spoken[-1].name or "")]
    joined = [lead.text, " ".join(texts[-2:]), " ".join(mine), " ".join(texts)]
    lead.views = [View(text, 1.0, 1.0) for text in joined]
    lead.names_speakers = False
    said: dict[int, float] = {}
    for age, (message, text) in enumerate(zip(reversed(spoken), reversed(texts), strict=True)):
        weight = _FADING**age * (1.0 if message.role == "user" else _ANSWERED)
        for term in query_terms(text):
            said[term_id(term)] = said.get(term_id(term), 0.0) + weight
    # Said again and again counts for more, but never for more than two.
    lead.terms = {term: 2 * weight / (weight + 1) for term, weight in said.items()}
    return lead


def _bounded(text: str, settings: Settings) -> str:
    if len(text) > settings.limits.query_chars:
        raise LimitExceeded(f"a query of {len(text)} characters; limits.query_chars is {settings.limits.query_chars}")
    return clean(text)


def _from_text(text: str, now: datetime, names: Collection[str], relatives: Names | None) -> Question | None:
    if not has_words(text):
        return None
    asked = query_terms(text)
    whole = text if relatives is None else with_names(text, relatives)
    mine, named = first_person(whole, names)
    told = statements(mine)
    views = [View(text, 0.0 if named else 1.0, 1.0)]
    if whole != text:
        views.append(View(whole, 0.0 if named else 1.0, 1.0))
    if named:
        views.append(View(mine, 1.0, 0.0))
        asked_of_facts = statements(whole)
        if asked_of_facts is not None:
            views.append(View(asked_of_facts[0], 0.0, 1.0))
    if told is not None:
        views += [View(told[0], 2.0, 0.0 if named else 2.0), View(told[1], 1.0, 0.0 if named else 1.0)]
    spoken = {term for name in names for term in query_terms(name)}
    meant = asked if whole == text else [*dict.fromkeys([*asked, *query_terms(whole)])]
    content = [term for term in meant if term not in spoken] or meant
    return Question(
        text=text,
        terms={term_id(term): 1.0 for term in content},
        asked=asked,
        speakers=[term_id(term) for term in asked if term in spoken],
        whole=whole,
        length=len(pack(text)) // 8,
        views=_merged(views),
        names_speakers=named > 0,
        dates=asked_dates(text, now),
        asks_when=bool(_WHEN.search(text)),
        asks_how_many=bool(_HOW_MANY.search(text)),
        asks_which=bool(_WHICH.search(text)),
    )


def _merged(views: list[View]) -> list[View]:
    """Views of the same text as one, so that each text is embedded once."""
    merged: dict[str, View] = {}
    for view in views:
        old = merged.get(view.text)
        merged[view.text] = view if old is None else View(view.text, old.turns + view.turns, old.facts + view.facts)
    return list(merged.values())


def _together(vectors: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """The direction of a weighted sum of unit vectors."""
    total = np.asarray(shares, np.float32) @ np.stack(vectors)
    length = float(np.sqrt(total @ total))
    unit: Floats = total / np.float32(length) if length > 1e-9 else total
    return unit
