"""The values of the knowledge graph: frozen, safe to print and to share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from shared_core.values import Triple


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Entity(_Value):
    """A person, a thing or a notion: the name it is shown by, its other names, what it is."""

    name: str
    aliases: tuple[str, ...] = ()
    type: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


class Relation(_Value):
    """Subject, predicate and object, under the names they are shown by.

    `confidence` in [0, 1] is the highest of all tellings, `source` the id of the first record it
    came from (None: told directly), `sources` all of them, `attributes` those of all tellings, the
    later winning. What was inferred names its `rule` and the `premises` it rests on; its confidence
    is their product, and it has no source of its own.
    """

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    source: str | None = None
    sources: tuple[str, ...] = ()
    attributes: dict[str, Any] = Field(default_factory=dict)
    inferred: bool = False
    rule: str | None = None
    premises: tuple[Triple, ...] = ()
    created_at: datetime | None = None

    @property
    def triple(self) -> Triple:
        """Subject, predicate and object alone."""
        return Triple(self.subject, self.predicate, self.object)

    def __str__(self) -> str:
        return sentence(self.subject, self.predicate, self.object)


class Neighbour(_Value):
    """What a relation leads to: the other entity's name, and the relation itself."""

    name: str
    relation: Relation
    outgoing: bool

    @property
    def predicate(self) -> str:
        """The relation's predicate."""
        return self.relation.predicate


class Path(_Value):
    """A way from one entity to another: the names along it, and the relation of each step."""

    names: tuple[str, ...]
    relations: tuple[Relation, ...]

    def __len__(self) -> int:
        return len(self.relations)


class Subgraph(_Value):
    """The surroundings of an entity. `complete` is False where the limit cut it off."""

    center: str
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    complete: bool = True


class Answer(_Value):
    """An answer, with the relations that prove it: first the one that says it, then what it rests on.

    `confidence` is that of the proof. `assumed` names what the question supposes and the graph
    neither knows nor denies ("Alpha is a project"); empty where everything is proved.
    """

    text: str
    relations: tuple[Relation, ...]
    confidence: float = 1.0
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


class Proposal(_Value):
    """Two names that may mean one thing, and why; nothing is merged until `alias` or `merge` says so."""

    name: str
    other: str
    reason: str
    score: float


class Rule(_Value):
    """A rule of inference: `text` is "uses(A, B) & is_a(B, C) => uses(A, C)"."""

    name: str
    text: str
    confidence: float = 1.0
    builtin: bool = False


class GraphStats(_Value):
    """How much a graph holds."""

    entities: int
    relations: int
    inferred: int


def sentence(subject: str, predicate: str, object: str) -> str:
    """A relation as people write it.

    >>> sentence("Ann", "works_at", "ACME"), sentence("张伟", "就职于", "ACME")
    ('Ann works at ACME', '张伟 就职于 ACME')
    """
    return f"{subject} {predicate.replace('_', ' ').strip() or predicate} {object}"
