"""What a new fact does to the old ones (D3, D4): pure functions over facts, a policy, and their times.

A conflict needs the same subject and predicate, and either the same object with the other polarity
or another object of a predicate that has one value at a time. Free text needs the same words around
an affirmation and a denial. Likeness decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from shared_core.memo import of_texts
from shared_core.values import Triple
from shared_core.writing import statement
from shared_core.writing.polarity import Reading, opposed, read
from shared_core.writing.statement import object_key, subject_key


class Strategy(StrEnum):
    """Which of two facts that can't both be true is kept."""

    NEWEST = "newest"
    IMPORTANCE = "importance"  # a tie keeps the old one
    ACCESSES = "accesses"  # the most recalled; a tie goes to the newer
    CONFIDENCE = "confidence"  # the surer; a tie goes to the newer
    MERGE = "merge"  # both values in one record
    ASK = "ask"  # nothing changes until the user answers


class Action(StrEnum):
    """What becomes of a new fact."""

    ADD = "add"  # nothing is against it
    AGAIN = "again"  # known: the old record is told once more
    REPLACE = "replace"  # the old facts are superseded by it
    YIELD = "yield"  # kept as superseded by an old fact that is stronger, or true of a later time
    MERGE = "merge"  # it takes the old facts into itself, then supersedes them
    ASK = "ask"  # it waits for the user


@dataclass(frozen=True, slots=True)
class Claim:
    """What a fact says in its normal form; `subject` is empty for free text, whose reading says it all."""

    subject: str = ""
    predicate: str = ""
    object: str = ""
    polarity: bool = True
    over: bool = False  # it was so, and is no longer
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as the rules see it. Times are in microseconds: `told` when it was said, `since` when it began."""

    id: str
    text: str
    claim: Claim
    told: int
    since: int | None = None
    importance: float = 0.5
    confidence: float = 1.0
    accesses: int = 0

    @property
    def start(self) -> int:
        """From when on it is true, as far as is known."""
        return self.told if self.since is None else self.since


@dataclass(frozen=True, slots=True)
class Policy:
    """How conflicts are decided.

    `single` tells whether a predicate has one value at a time. `denied` holds ids of facts that an
    NLI model says the new one contradicts. `same` joins a fact that says the same in other words.
    """

    strategy: Strategy = Strategy.NEWEST
    single: Callable[[str], bool] = statement.single_valued
    denied: frozenset[str] = frozenset()
    same: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done with a new fact: with which old ones, why, and from when to when it is true."""

    action: Action
    olds: tuple[Fact, ...] = ()
    why: str = ""
    at: int | None = None  # of `REPLACE` and `MERGE`: when the old ones ended; of `YIELD`: when the new one did
    also: tuple[Fact, ...] = field(default=())  # of `YIELD`: older facts that end with it


@of_texts(4_096)
def claim_of(text: str, triple: Triple | None, *, polarity: bool = True, over: bool = False) -> Claim | None:
    """The normal form of a fact; None for a free text of which none can be made.

    >>> claim_of("", Triple("Ann", "lives in", "Rome")) == claim_of("", Triple("ann", "住在", "Rome"))
    True
    >>> claim_of("Ann no longer likes tea", Triple("Ann", "likes", "tea")).over
    True
    """
    if triple is None:
        reading = read(text)
        return None if reading is None else Claim(polarity=reading.polarity, over=reading.over, reading=reading)
    words = statement.predicate(triple.predicate)
    positive, ended = words.polarity is polarity, words.over or over
    if text and not ended:
        denies, is_over = statement.denied(text, triple)
        positive, ended = positive and not denies, is_over
    return Claim(subject_key(triple.subject), words.key, object_key(triple.object), positive and not ended, ended)


def address(kind: str, text: str, triple: Triple | None, *, polarity: bool = True) -> tuple[int | None, int | None]:
    """The numbers a fact is found by when another one about the same thing comes in: topic and thing.

    (None, None) for other kinds, and for a free text that says more than one thing.
    """
    claim = claim_of(text, triple, polarity=polarity) if kind == "fact" else None
    if claim is None:
        return None, None
    if claim.reading is not None:
        return statement.free_topic(claim.reading.bare), None
    return statement.topic(claim.subject, claim.predicate), statement.thing(claim.object)


# ---------------------------------------------------------------------- what may be in conflict

_UNMARRIED: Final = frozenset("divorced single widowed separated unmarried 离异 离婚 单身 未婚 丧偶 分居".split())
_BONDS: Final = ("married_to", "engaged_to", "husband", "wife")
_CONSUMED: Final = {"drinks": ("喝", "drinking ", "drink ", "to drink "), "eats": ("吃", "eating ", "eat ", "to eat "),
                    "plays": ("打", "玩", "弹", "踢", "playing ", "play "), "practises": ("doing ", "practising ")}  # fmt: skip
_ANY: Final = frozenset("job work position company employer there it place home city 工作 公司 那里 那边 职位".split())


Lookup = tuple[int, tuple[int, ...] | None]
"""A topic, and the things on it that matter; None for all of them."""


def lookups(claim: Claim, single: Callable[[str], bool], subjects: Iterable[str] = ()) -> list[Lookup]:
    """Where facts stand that could be in conflict with a claim: its own topic first.

    Of a predicate with many values only the same one matters, so that what is known of others costs
    nothing. `subjects` are other names of its subject.
    """
    if claim.reading is not None:
        return [(statement.free_topic(claim.reading.bare), None)]
    places: list[tuple[str, tuple[int, ...] | None]] = [
        (claim.predicate, None if single(claim.predicate) else (statement.thing(claim.object),)),
        *_beside(claim),
    ]
    names = dict.fromkeys([claim.subject, *map(subject_key, subjects)])
    return [(statement.topic(name, predicate), things) for name in names for predicate, things in places]


def _beside(claim: Claim) -> Iterator[tuple[str, tuple[int, ...] | None]]:
    """Predicates besides its own of which a claim can end a value, or be ended by one."""
    if claim.predicate == "marital_status":
        yield from ((bond, None) for bond in _BONDS)
    elif claim.predicate in _BONDS:
        yield "marital_status", None
    elif claim.predicate in _CONSUMED and claim.over:
        yield "likes", tuple(statement.thing(lead + claim.object) for lead in _CONSUMED[claim.predicate])
    elif claim.predicate == "likes":
        for predicate, leads in _CONSUMED.items():
            rests = [claim.object.removeprefix(lead) for lead in leads if claim.object.startswith(lead)]
            if rests:
                yield predicate, tuple(map(statement.thing, rests))


def conflicting(old: Claim, new: Claim, policy: Policy) -> bool:
    """Whether two claims about the same thing can't both be true now. The subjects are one by the look-up."""
    if old.reading is not None or new.reading is not None:
        return old.reading is not None and new.reading is not None and opposed(old.reading, new.reading)
    if old.predicate != new.predicate:
        return _across(old, new) or _across(new, old)
    if _holds(old, new):
        return old.polarity is not new.polarity
    return old.polarity and new.polarity and policy.single(new.predicate)


def _holds(old: Claim, new: Claim) -> bool:
    """Whether the new object is the old one, or one of those that were merged in it."""
    return old.object == new.object or new.object in map(str.strip, old.object.split(";"))


def _across(old: Claim, new: Claim) -> bool:
    """Whether a claim with another predicate ends an old one."""
    if new.predicate == "marital_status" and old.predicate in _BONDS:
        return new.polarity and old.polarity and new.object in _UNMARRIED
    if new.predicate in _CONSUMED and old.predicate == "likes" and new.over and old.polarity:
        return old.object in {lead + new.object for lead in _CONSUMED[new.predicate]}
    return False


def _ended(olds: Sequence[Fact], new: Claim) -> list[Fact]:
    """The one fact that a release means without naming it fully: "sold the car", "quit the job".

    Its object is the end of one known object ("red car") or none in particular; of two, neither.
    """
    known = [old for old in olds if old.claim.polarity and old.claim.predicate == new.predicate]
    if new.object in _ANY:
        meant = known
    else:
        tail = new.object if not new.object.isascii() else " " + new.object
        meant = [old for old in known if old.claim.object.endswith(tail) and old.claim.object != new.object]
    return meant if len(meant) == 1 else []


def opponents(olds: Sequence[Fact], new: Fact, policy: Policy) -> list[Fact]:
    """The old facts that can't be true beside the new one, oldest first."""
    found = [old for old in olds if old.id in policy.denied or conflicting(old.claim, new.claim, policy)]
    known = any(old.claim.object == new.claim.object and not old.claim.polarity for old in olds)
    if not found and not known and new.claim.over and new.claim.reading is None:
        found = _ended(olds, new.claim)
    return sorted(found, key=lambda old: (old.start, old.told, old.id))


# ---------------------------------------------------------------------- deciding


def decide(olds: Sequence[Fact], new: Fact, policy: Policy) -> Decision:
    """What to do with a new fact, given the facts on its topics that hold now.

    By `newest`, of two facts with a date of their own the later date is the present, else the one
    told later. A fact that is older than what is known becomes history.

    >>> def fact(id, place, told): return Fact(id, "", claim_of("", Triple("Ann", "lives in", place)), told)
    >>> lyon, rome = fact("1", "Lyon", 10), fact("2", "Rome", 20)
    >>> decide([lyon], rome, Policy()).action, decide([rome], lyon, Policy()).action
    (<Action.REPLACE: 'replace'>, <Action.YIELD: 'yield'>)
    """
    against = opponents(olds, new, policy)
    if not against:
        same = next((old for old in olds if policy.same and _equal(old.claim, new.claim)), None)
        return Decision(Action.ADD) if same is None else Decision(Action.AGAIN, (same,), "told again")
    later = [old for old in against if _later(old, new)]
    if later:
        earlier = tuple(old for old in against if old not in later)
        return Decision(Action.YIELD, (later[0],), "true of an earlier time", later[0].start, earlier)
    if policy.strategy is Strategy.ASK:
        return Decision(Action.ASK, tuple(against), "waits for an answer")
    if policy.strategy is Strategy.MERGE and _can_merge(against, new):
        return Decision(Action.MERGE, tuple(against), "merged", new.start)
    winner, why = _stronger(against, new, policy.strategy)
    if winner is not None:
        return Decision(Action.YIELD, (winner,), why, new.told)
    return Decision(Action.REPLACE, tuple(against), why, new.start)


def _equal(old: Claim, new: Claim) -> bool:
    if old.reading is not None or new.reading is not None:
        return False
    return old.predicate == new.predicate and old.polarity is new.polarity and _holds(old, new)


def _later(old: Fact, new: Fact) -> bool:
    if old.since is not None and new.since is not None and old.since != new.since:
        return old.since > new.since
    return old.told > new.told


def _can_merge(against: Sequence[Fact], new: Fact) -> bool:
    """Two values can stand in one record; a statement and its denial can't."""
    return new.claim.polarity and all(
        old.claim.polarity and old.claim.predicate == new.claim.predicate and old.claim.reading is None
        for old in against
    )


def _stronger(against: Sequence[Fact], new: Fact, strategy: Strategy) -> tuple[Fact | None, str]:
    """The old fact that holds against the new one, or None; and why."""
    if strategy is Strategy.IMPORTANCE:
        best = max(against, key=lambda old: old.importance)
        return (best if best.importance >= new.importance else None), "the more important one"
    if strategy is Strategy.CONFIDENCE:
        best = max(against, key=lambda old: old.confidence)
        return (best if best.confidence > new.confidence else None), "the surer one"
    if strategy is Strategy.ACCESSES:
        best = max(against, key=lambda old: old.accesses)
        return (best if best.accesses > new.accesses else None), "the one recalled most"
    return None, "the newest one" if not new.claim.over else "it has ended"


# ---------------------------------------------------------------------- asking

_QUESTIONS: Final = {
    "en": ("You told me “{old}”, and now “{new}”. Which is right?", "both"),
    "zh": ("你之前告诉我“{old}”，现在又说“{new}”。哪一个是对的？", "两者都对"),
}


def clarifying(old: str, new: str, tongue: str) -> tuple[str, tuple[str, str, str]]:
    """A question about two facts, and its answers: the new one, the old one, both.

    The texts are put in by position, so that braces in them are only braces.
    """
    frame, both = _QUESTIONS[tongue]
    before, middle, after = frame.replace("{new}", "{old}").split("{old}")
    return f"{before}{old}{middle}{new}{after}", (new, old, both)
