"""What follows from relations by rules: parsed, computed, kept current. Pure: no rows, no names.

A fact is (subject, predicate, object). New facts spread by the rules until nothing new follows, so
cycles end. A removed fact takes along what rested on it; what still follows in another way comes
back (delete and rederive: Gupta, Mumick and Subrahmanian, "Maintaining Views Incrementally",
SIGMOD 1993, section 7). Counting derivations instead would keep circles alive that prove each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from shared_core.errors import InvalidInput
from shared_core.long_term.graph.names import predicate_key

Fact = tuple[int, str, int]
Binding = dict[str, int]


@dataclass(frozen=True, slots=True)
class Atom:
    """One relation of a rule, between two variables."""

    predicate: str
    subject: str
    object: str

    def __str__(self) -> str:
        return f"{self.predicate}({self.subject}, {self.object})"


@dataclass(frozen=True, slots=True)
class Clause:
    """If all of the body, then the head."""

    name: str
    body: tuple[Atom, ...]
    head: Atom
    confidence: float = 1.0

    def __str__(self) -> str:
        return f"{' & '.join(map(str, self.body))} => {self.head}"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a fact was inferred: by which clause, from which facts."""

    clause: Clause
    premises: tuple[Fact, ...]


_ARROW = re.compile(r"\s*(?:=>|->|→|⇒|:|：则|那么)\s*")
_ATOM = re.compile(r"\s*([^\s(（,，&;；、][^(（]*?)\s*[(（]\s*(\w+)\s*[,，]\s*(\w+)\s*[)）]\s*")
_AND = re.compile(r"\s*(?:&&?|∧|;|；|,|，|、|and\b|且|并且|而且|和)\s*", re.I)
_MOST_ATOMS = 4


@lru_cache(maxsize=1_000)
def parse(text: str) -> tuple[tuple[Atom, ...], Atom]:
    """Body and head of a rule's text.

    Raises `InvalidInput` for anything else than "p(A, B) & q(B, C) => r(A, C)": one to four
    relations that hang together by their variables, and a conclusion that has no others.

    >>> body, head = parse("uses(A, B) & is a(B, C) => uses(A, C)")
    >>> str(body[1]), str(head)
    ('is_a(B, C)', 'uses(A, C)')
    >>> parse("使用（甲，乙）且 是（乙，丙）→ 使用（甲，丙）")[1].subject
    '甲'
    """
    parts = _ARROW.split(text.strip())
    if len(parts) != 2:
        raise InvalidInput(f"a rule is 'uses(A, B) & is_a(B, C) => uses(A, C)'; this has no single arrow: {text!r}")
    body, head = _atoms(parts[0], text), _atoms(parts[1], text)
    if len(head) != 1 or not 1 <= len(body) <= _MOST_ATOMS:
        raise InvalidInput(f"a rule has one to {_MOST_ATOMS} premises and one conclusion: {text!r}")
    known = {body[0].subject, body[0].object}
    waiting = list(body[1:])
    while waiting:
        joined = next((atom for atom in waiting if atom.subject in known or atom.object in known), None)
        if joined is None:
            raise InvalidInput(f"the premises of a rule share variables; {waiting[0]} stands alone: {text!r}")
        waiting.remove(joined)
        known |= {joined.subject, joined.object}
    if not {head[0].subject, head[0].object} <= known:
        raise InvalidInput(f"the conclusion of a rule uses variables of its premises only: {text!r}")
    if head[0].subject == head[0].object:
        raise InvalidInput(f"the conclusion of a rule is about two things: {text!r}")
    return tuple(body), head[0]


def _atoms(text: str, whole: str) -> list[Atom]:
    found, at = [], 0
    while True:
        match = _ATOM.match(text, at)
        if match is None:
            raise InvalidInput(f"a relation of a rule is 'uses(A, B)'; this is none: {text[at:] or whole!r}")
        found.append(Atom(predicate_key(match[1]), match[2], match[3]))
        at = match.end()
        if at == len(text):
            return found
        between = _AND.match(text, at)
        if between is None:
            raise InvalidInput(f"the premises of a rule are joined by '&': {whole!r}")
        at = between.end()


class Closure:
    """All that follows from the facts it was told, kept current as they come and go.

    At most `limit` facts are inferred, those of the fewest steps first; `full` tells that more follow.
    """

    def __init__(self, clauses: Iterable[Clause], limit: int = 100_000) -> None:
        self.clauses = tuple(clauses)
        self.limit = limit
        self.full = False
        self.told: set[Fact] = set()
        self.derived: dict[Fact, Derivation] = {}
        self._resting: dict[Fact, set[Fact]] = {}  # what was derived from a fact
        self._objects: dict[tuple[str, int], dict[int, None]] = {}
        self._subjects: dict[tuple[str, int], dict[int, None]] = {}
        self._by_premise: dict[str, list[tuple[Clause, int]]] = {}
        self._by_head: dict[str, list[Clause]] = {}
        for clause in self.clauses:
            self._by_head.setdefault(clause.head.predicate, []).append(clause)
            for place, atom in enumerate(clause.body):
                self._by_premise.setdefault(atom.predicate, []).append((clause, place))

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.told or fact in self.derived

    def objects(self, predicate: str, subject: int) -> list[int]:
        """What a subject has under a predicate, in the order it was learnt."""
        return list(self._objects.get((predicate, subject), ()))

    def subjects(self, predicate: str, object: int) -> list[int]:
        """What has an object under a predicate, in the order it was learnt."""
        return list(self._subjects.get((predicate, object), ()))

    # ------------------------------------------------------------------ coming

    def add(self, facts: Iterable[Fact]) -> list[Fact]:
        """Take in told facts; the facts that are inferred now and were not before."""
        fresh = []
        for fact in facts:
            if fact in self.told:
                continue
            self.told.add(fact)
            if fact in self.derived:
                self._unrest(fact)  # told now: it needs no proof any more
            else:
                self._index(fact)
                fresh.append(fact)
        return self._spread(fresh)

    def _spread(self, facts: Iterable[Fact]) -> list[Fact]:
        """Round by round, so that what takes fewer steps is found first: what a round finds, the next one uses."""
        inferred: list[Fact] = []
        ring = list(facts)
        while ring:
            ahead: list[Fact] = []
            for fact in ring:
                for clause, place in self._by_premise.get(fact[1], ()):
                    for binding in self._matches(clause, place, fact):
                        head = _instance(clause.head, binding)
                        if head[0] == head[2] or head in self:
                            continue
                        if len(self.derived) >= self.limit:
                            self.full = True
                        else:
                            self._derive(head, clause, binding)
                            ahead.append(head)
            for fact in ahead:
                self._index(fact)
            inferred += ahead
            ring = [] if self.full else ahead
        return inferred

    def _derive(self, head: Fact, clause: Clause, binding: Binding) -> None:
        premises = tuple(_instance(atom, binding) for atom in clause.body)
        self.derived[head] = Derivation(clause, premises)
        for premise in premises:
            self._resting.setdefault(premise, set()).add(head)

    # ------------------------------------------------------------------ going

    def remove(self, facts: Iterable[Fact]) -> set[Fact]:
        """Take told facts out; the inferred facts that no longer follow."""
        doubtful: dict[Fact, None] = {}
        untold = [fact for fact in facts if fact in self.told]
        self.told.difference_update(untold)
        edge = untold
        while edge:
            doubtful.update(dict.fromkeys(edge))
            edge = [rest for fact in edge for rest in self._resting.get(fact, ()) if rest not in doubtful]
            edge = list(dict.fromkeys(edge))
        gone = [fact for fact in doubtful if fact not in self.told]
        inferred = {fact for fact in gone if fact in self.derived}
        for fact in gone:
            if fact in self.derived:
                self._unrest(fact)
            self._unindex(fact)
        for fact in gone:
            if fact not in self and self._prove(fact):
                self._spread([fact])
        return {fact for fact in inferred if fact not in self}

    def _prove(self, fact: Fact) -> bool:
        """Find a derivation of a fact out of what is there."""
        if fact[0] == fact[2] or len(self.derived) >= self.limit:
            return False
        for clause in self._by_head.get(fact[1], ()):
            start = {clause.head.subject: fact[0], clause.head.object: fact[2]}
            for binding in self._extend(clause.body, start):
                self._derive(fact, clause, binding)
                self._index(fact)
                return True
        return False

    def _unrest(self, fact: Fact) -> None:
        for premise in self.derived.pop(fact).premises:
            resting = self._resting.get(premise)
            if resting is not None:
                resting.discard(fact)
                if not resting:
                    del self._resting[premise]

    # ------------------------------------------------------------------ joining

    def _index(self, fact: Fact) -> None:
        subject, predicate, object_ = fact
        self._objects.setdefault((predicate, subject), {})[object_] = None
        self._subjects.setdefault((predicate, object_), {})[subject] = None

    def _unindex(self, fact: Fact) -> None:
        subject, predicate, object_ = fact
        for index, key, value in (
            (self._objects, (predicate, subject), object_), (self._subjects, (predicate, object_), subject),
        ):  # fmt: skip
            found = index.get(key)
            if found is not None:
                found.pop(value, None)
                if not found:
                    del index[key]

    def _matches(self, clause: Clause, place: int, fact: Fact) -> Iterator[Binding]:
        atom = clause.body[place]
        if atom.subject == atom.object and fact[0] != fact[2]:
            return
        start = {atom.subject: fact[0], atom.object: fact[2]}
        yield from self._extend(clause.body[:place] + clause.body[place + 1 :], start)

    def _extend(self, atoms: tuple[Atom, ...], binding: Binding) -> Iterator[Binding]:
        """Every way to fulfil the atoms with what is known, the most bound first."""
        if not atoms:
            yield binding
            return
        atom, rest = atoms[0], atoms[1:]
        if rest:
            place = max(range(len(atoms)), key=lambda i: (atoms[i].subject in binding) + (atoms[i].object in binding))
            atom, rest = atoms[place], atoms[:place] + atoms[place + 1 :]
        subject, object_ = binding.get(atom.subject), binding.get(atom.object)
        if subject is not None and object_ is not None:
            if object_ in self._objects.get((atom.predicate, subject), ()):
                yield from self._extend(rest, binding)
        else:
            if subject is not None:
                name, values = atom.object, self._objects.get((atom.predicate, subject))
            else:
                name, values = atom.subject, self._subjects.get((atom.predicate, binding[atom.object]))
            for found in values or ():
                if rest:
                    yield from self._extend(rest, {**binding, name: found})
                else:
                    yield {**binding, name: found}


def _instance(atom: Atom, binding: Binding) -> Fact:
    return (binding[atom.subject], atom.predicate, binding[atom.object])
