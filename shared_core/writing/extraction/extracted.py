"""What an extractor gives: one clause as subject, predicate, object, and the predicates there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

USER_FACT = "user_fact"
PROJECT_CONTEXT = "project_context"
LEARNED_RULE = "learned_rule"
EVENT = "event"

ASSISTANT = "assistant"
"""Subject of a rule about how to answer."""

USER = "user"
"""Subject of what an unnamed speaker says of themselves."""

RELATIONS = frozenset(
    "sister brother sibling twin mother father parent wife husband partner girlfriend boyfriend fiance son daughter"
    " child grandmother grandfather grandson granddaughter aunt uncle cousin niece nephew friend colleague boss"
    " manager roommate neighbour teacher mentor coach student doctor stepmother stepfather".split()
)
"""Predicates between a person and somebody they name: (user, sister, Anna)."""

_STATES = frozenset(
    "name also_called age birthday from born_in lives_in address email phone works_at works_in works_as studies"
    " studies_at studies_in graduated_from works_on member_of belongs_to likes prefers allergic_to diet eats drinks"
    " owns pet uses has_family marital_status married_to engaged_to is_a has_condition speaks plays practises learns"
    " coaches teaches runs volunteers_at collects prepares_for fears works_with".split()
)
_EVENTS = frozenset(
    "visited attended started finished completed won passed quit made read watched received lost met founded did"
    " tried donated organised performed published injured decided applied_to discovered".split()
)
ATTRIBUTES = frozenset({"blood type", "height", "weight", "shoe size", "star sign", "nationality", "time zone"})
"""Predicates of "my blood type is O": one value each, named as they are said."""

PREDICATES = _STATES | _EVENTS | RELATIONS | ATTRIBUTES | {"plans", "should", "noted"}
"""Every predicate the rules use. Besides these there is one open slot, "favourite X" ("favourite colour").

Predicates name states. What changes a state is written as the state it leaves, so that a conflict
is seen by subject and predicate alone: "moved to Rome" is `lives_in` Rome, "bought a car" is
`owns` car, "sold the car" is `owns` car with polarity False and `ended`. What leaves no state is
an event in the past tense (`visited`, `won`). A dislike is `likes` with polarity False.
"""

SINGLE_VALUED = (
    frozenset(
        "name age birthday from born_in lives_in address email phone works_at works_in works_as diet marital_status"
        " married_to engaged_to wife husband mother father boss studies_at".split()
    )
    | ATTRIBUTES
)
"""Predicates of which one value holds at a time; a favourite of each category is single-valued too."""


def is_single(predicate: str) -> bool:
    """Whether a new value of this predicate replaces the old one, unless a user declares otherwise.

    >>> is_single("lives_in"), is_single("likes"), is_single("favourite colour")
    (True, False, True)
    """
    return predicate in SINGLE_VALUED or predicate.startswith("favourite ")


@dataclass(frozen=True, slots=True)
class Extracted:
    """One fact out of a message.

    `text` is the clause it came from, readable on its own: with a named speaker's name in the
    place of "I". `when` is the time of the event, or since when the state holds, as aware UTC: the
    middle of the day it names, or the first day of a longer span ("last month"); None where the
    message does not tell. `ended` marks a release: true once, and no longer (its polarity is
    False). `explicit` marks what somebody asked to have remembered. `planned` marks something with
    a date that has not happened yet. `confidence` and `importance` lie in [0, 1].
    """

    subject: str
    predicate: str
    object: str
    polarity: bool
    text: str
    type: str = USER_FACT
    confidence: float = 0.9
    when: datetime | None = None
    ended: bool = False
    explicit: bool = False
    entities: tuple[str, ...] = ()
    planned: bool = False
    importance: float = 0.5

    def with_text(self, text: str) -> Extracted:
        """The same fact, told by another clause."""
        return replace(self, text=text)


_IMPORTANCE = {
    **dict.fromkeys(("allergic_to", "has_condition", "name", "noted", "should"), 0.9),
    **dict.fromkeys(("lives_in", "works_at", "works_as", "birthday", "married_to", "phone", "email", "address"), 0.8),
    **dict.fromkeys(RELATIONS | {"diet", "marital_status", "has_family", "age", "from", "plans"}, 0.7),
    **dict.fromkeys(("eats", "drinks", "pet", "owns", "works_on", "studies", "studies_at", "speaks", "uses"), 0.65),
}


def importance(predicate: str) -> float:
    """How much a fact with this predicate matters: who somebody is before what they did once."""
    return _IMPORTANCE.get(predicate, 0.5)
