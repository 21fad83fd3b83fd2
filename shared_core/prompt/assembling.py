"""A context put together out of its parts, within a budget of tokens (C4, C5).

A pure function of values: `gathering` reads them, `context` has the words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shared_core.ports import TokenCounter
from shared_core.prompt.words import FENCE, HEADINGS, ORDER, spoken
from shared_core.recall.budget import Candidate, choose, worth
from shared_core.settings import Context as Limits
from shared_core.short_term.tokens import shorten
from shared_core.values import Context, Hit, Message, Omitted, Section

_BETWEEN = "\n\n"  # sections
_ENDS = " .。!！?？"
_TELLING = 8  # tokens or characters that say something


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a section: what it says, and which records say it.

    `same` are the ids of records whose presence elsewhere makes this line a repetition: those it
    was read from. `place` is its place in the ranking, from 0, which decides what it is worth. A
    `spare` line goes in where there is room left after all others.
    """

    text: str
    records: tuple[str, ...] = ()
    same: frozenset[str] = frozenset()
    hit: Hit | None = None
    place: int = 0
    spare: bool = False


@dataclass(slots=True)
class Part:
    """A section before it is cut: lines in the order of their worth, and how it is filled.

    The first `least` lines that fit go in before anything is weighed; `most` is the largest number of
    tokens the section may take. With `by_time` its lines are shown by the time of their records. Lines
    that are one text at several lengths, the longest first, are `either`: one of them goes in.
    """

    name: str
    lines: list[Line] = field(default_factory=list)
    least: int = 0
    most: int | None = None
    by_time: bool = False
    either: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """The conversation: what of it is `recent`, the newest within so many tokens and turns, the records of its messages."""

    recent: list[Message]
    within: Callable[[int, int | None], list[Message]]
    records: Mapping[str, str]
    turns: int  # the newest ones that hold the messages which are always in, if they fit
    whole: int  # messages in all

    def shown(self, messages: Iterable[Message]) -> set[str]:
        """The records of these messages."""
        return {
            self.records[message.id] for message in messages if message.id is not None and message.id in self.records
        }


def assemble(
    parts: Sequence[Part], talk: Talk | None, max_tokens: int, tongue: str, count: TokenCounter, limits: Limits,
    omitted: Iterable[Omitted] = (), seen: Collection[str] = (),
) -> Context:  # fmt: skip
    """Put the parts together within `max_tokens`, as `count` counts them.

    First the newest talk, within its share, and the first lines of each part; then what is worth most
    for its tokens out of all parts; at last more of the talk, if there is room. `omitted` is what was
    left out before; what is left out here is added.
    """
    plan = _Plan({part.name: part for part in parts}, max_tokens, tongue, count, limits, list(omitted), frozenset(seen))
    if talk is not None:
        plan.say(talk.recent, talk)
    for part in parts:
        plan.begin(part)
    if talk is not None and len(plan.messages) < min(limits.recent_messages, talk.whole):
        plan.extend(talk, talk.turns)
    plan.fill()
    if talk is not None and len(plan.messages) < talk.whole:
        plan.extend(talk, None)
    plan.spare()
    return plan.result()


@dataclass(slots=True)
class _Plan:
    """A context while it is being put together: which lines are in, and how many tokens are left."""

    parts: dict[str, Part]
    max_tokens: int
    tongue: str
    count: TokenCounter
    limits: Limits
    omitted: list[Omitted]
    seen: frozenset[str]
    messages: list[Message] = field(default_factory=list)
    spoken: str = ""
    bare: bool = False  # the talk stands without its heading
    talked: set[str] = field(default_factory=set)
    left: int = 0
    chosen: dict[str, list[Line]] = field(default_factory=dict)
    costs: dict[int, int] = field(default_factory=dict)  # by identity of the line
    dropped: dict[int, str] = field(default_factory=dict)  # why, by identity of the line
    used: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = self.max_tokens + self.count(_BETWEEN)  # nothing stands before the first section

    def cost(self, line: Line) -> int:
        """The tokens of a line with the line break after it."""
        found = self.costs.get(id(line))
        if found is None:
            found = self.costs[id(line)] = self.count(line.text) + 1
        return found

    def frame(self, name: str) -> int:
        """The tokens of a section without its lines."""
        fence = "\n" if name == "recent" else f"\n{FENCE[0]}\n{FENCE[1]}"
        return self.count(f"{_BETWEEN}## {HEADINGS[self.tongue][name]}{fence}")

    # ------------------------------------------------------------------ the talk

    def say(self, messages: list[Message], talk: Talk) -> None:
        """Take the talk in, shortened to what is left where not even the newest turn fits."""
        if not messages:
            return
        text = "\n".join(spoken(message, self.tongue) for message in messages)
        frame = self.frame("recent")
        if self.count(text) > self.left - frame:
            if self.left - frame < _TELLING:  # hardly a word under a heading: the end of what was said, without one
                text, frame, self.bare = spoken(messages[-1], self.tongue), 0, True
            text = shorten(text, self.left - frame, self.count)
        self.messages, self.spoken, self.talked = messages, text, talk.shown(messages)
        self.left -= self.count(text) + frame

    def extend(self, talk: Talk, turns: int | None) -> None:
        """More of the talk, as far as there is room; what was recalled of it is then no memory any more."""
        given = self.count(self.spoken) + self.frame("recent") if self.messages else 0
        messages = talk.within(self.left + given - self.frame("recent"), turns)
        if len(messages) <= len(self.messages):
            return
        text = "\n".join(spoken(message, self.tongue) for message in messages)
        if self.count(text) + self.frame("recent") > self.left + given:
            return
        self.left += given
        self.say(messages, talk)
        for part in self.parts.values():
            for line in [line for line in self.chosen.get(part.name, ()) if self._told(line, self.talked)]:
                self.remove(part.name, line, "window")

    # ------------------------------------------------------------------ the parts

    def begin(self, part: Part) -> None:
        """The first lines of a part that fit, before anything is weighed."""
        known = self.known()
        likely = self._likely() if part.name == "knowledge" and part.least else frozenset()
        taken = 0
        for line in part.lines:
            if taken == part.least:
                break
            if self._told(line, known) or self._in_profile(line):
                self._repeated(line)
            elif not line.spare and not self._told(line, likely) and self.takes(part, line):
                self.add(part, line)
                taken += 1

    def takes(self, part: Part, line: Line) -> bool:
        """Whether a line fits into what is left, and into the part's own share."""
        cost = self.cost(line) + (0 if self.chosen.get(part.name) else self.frame(part.name))
        return cost <= self.left and (part.most is None or self.used.get(part.name, 0) + cost <= part.most)

    def add(self, part: Part, line: Line) -> None:
        """Put a line in."""
        cost = self.cost(line) + (0 if self.chosen.get(part.name) else self.frame(part.name))
        self.chosen.setdefault(part.name, []).append(line)
        self.used[part.name] = self.used.get(part.name, 0) + cost
        self.left -= cost

    def remove(self, name: str, line: Line, why: str) -> None:
        """Take a line out again."""
        lines = [each for each in self.chosen[name] if each is not line]
        cost = self.cost(line) + (0 if lines else self.frame(name))
        self.left += cost
        self.used[name] -= cost
        self.dropped[id(line)] = why
        if lines:
            self.chosen[name] = lines
        else:
            del self.chosen[name]

    def fill(self) -> None:
        """What is worth most for its tokens, out of all parts that have been begun; nothing twice."""
        for _ in range(2):
            self._weigh()
            repeated = list(self._repetitions())
            for name, line in repeated:
                self.remove(name, line, "duplicate")
            if not repeated:
                break

    def _weigh(self) -> None:
        known = self.known()
        offered: list[tuple[Part, Line]] = []
        for part in self.parts.values():
            if part.either:
                continue
            inside = {id(line) for line in self.chosen.get(part.name, ())}
            for line in part.lines:
                if id(line) in inside or id(line) in self.dropped or line.spare:
                    continue
                if self._told(line, known) or self._in_profile(line):
                    self._repeated(line)
                else:
                    offered.append((part, line))
        begun = set(self.chosen)
        values = []
        for part, line in offered:
            cost = self.cost(line)
            value = worth(line.place, cost, decay=self.limits.rank_decay, length=self.limits.length_worth)
            frame = 0 if part.name in begun else self.frame(part.name)  # paid by the first line
            begun.add(part.name)
            values.append(Candidate(cost + frame, value))
        for place in choose(values, max(self.left, 0), exact_cells=self.limits.exact_cells):
            part, line = offered[place]
            if self.takes(part, line):
                self.add(part, line)

    def spare(self) -> None:
        """What still fits: lines of parts that were not begun, and those that are only for spare room."""
        for part in self.parts.values():
            inside = {id(line) for line in self.chosen.get(part.name, ())}
            for line in () if part.either and inside else part.lines:
                if id(line) not in inside and id(line) not in self.dropped and self.takes(part, line):
                    self.add(part, line)
        for name, line in list(self._repetitions()):
            self.remove(name, line, "duplicate")

    # ------------------------------------------------------------------ nothing twice

    def _likely(self) -> frozenset[str]:
        """The memories that will be in: the first ones, as far as the room goes in their order."""
        found: list[str] = []
        left = self.left
        for line in (line for name in ("memories", "events") if name in self.parts for line in self.parts[name].lines):
            left -= self.cost(line)
            if left < 0:
                break
            found += line.records
        return frozenset(found)

    def known(self) -> set[str]:
        """The records that the prompt and the profile tell of already."""
        return self.talked | self.seen | {id for line in self.chosen.get("profile", ()) for id in line.records}

    @staticmethod
    def _told(line: Line, known: Collection[str]) -> bool:
        return any(id in known for id in line.records) or not line.same.isdisjoint(known)

    def _in_profile(self, line: Line) -> bool:
        """Whether the profile says it: out of this very record, or in the same words."""
        if line.hit is None or "profile" not in self.chosen:
            return False
        words = line.hit.record.text.strip(_ENDS)
        return any(
            line.hit.record.id in each.records or (len(words) > _TELLING and words in each.text)
            for each in self.chosen["profile"]
        )

    def _repeated(self, line: Line) -> None:
        self.dropped[id(line)] = "window" if self._told(line, self.talked | self.seen) else "duplicate"

    def _repetitions(self) -> Iterator[tuple[str, Line]]:
        """Lines that say what another one says: the words of the memory itself stay."""
        texts: set[str] = set()
        recalled = {line.hit.record.id for lines in self.chosen.values() for line in lines if line.hit is not None}
        for name in ("memories", "events", "rules", "summary", "knowledge"):
            for line in self.chosen.get(name, ()):
                own = set(line.records) if line.hit is not None else set()
                others = recalled - own
                again = not line.same.isdisjoint(others) or (line.hit is None and self._told(line, others))
                if again or line.text in texts:
                    yield name, line
                texts.add(line.text)

    # ------------------------------------------------------------------ the result

    def result(self) -> Context:
        """The context, with the last word of the counter: a whole may cost more than its parts."""
        text = self._text()
        tokens = self.count(text)
        while tokens > self.max_tokens and self.chosen:
            over = tokens - self.max_tokens
            while over > 0 and self.chosen:
                name, line = self._least()
                over -= self.cost(line)
                self.remove(name, line, "budget")
            text = self._text()
            tokens = self.count(text)
        if tokens > self.max_tokens:
            # Not even the newest turn under its heading: then as much of its words as fit.
            self.bare = bool(self.spoken)
            text = self.spoken = shorten(self.spoken or text, self.max_tokens, self.count)
            tokens = self.count(text)
            if tokens > self.max_tokens:
                text, tokens = "", self.count("")
        hits = sorted(self._hits(), key=lambda pair: pair[0])
        return Context.model_construct(
            text=text, messages=tuple(self.messages), hits=tuple(hit for _, hit in hits), sections=self._sections(),
            tokens=tokens, omitted=tuple(self._left_out()),
        )  # fmt: skip

    def _least(self) -> tuple[str, Line]:
        """The line in the context that is worth least for its tokens; lines of no rank last."""
        return min(
            ((name, line) for name, lines in self.chosen.items() for line in lines),
            key=lambda pair: (pair[1].hit is None, -pair[1].place, -self.cost(pair[1])),
        )

    def _hits(self) -> Iterator[tuple[int, Hit]]:
        """What was recalled and is in the text: as a line of its own, or in a line of the profile."""
        inside = {id(line) for lines in self.chosen.values() for line in lines}
        for part in self.parts.values():
            for line in part.lines:
                if line.hit is not None and (id(line) in inside or self._in_profile(line)):
                    yield line.place, line.hit

    def _left_out(self) -> Iterator[Omitted]:
        shown = {id for lines in self.chosen.values() for line in lines for id in line.records} | self.talked
        yield from (each for each in self.omitted if each.reason == "window" or each.id not in shown)
        inside = {id(line) for lines in self.chosen.values() for line in lines}
        for part in self.parts.values():
            lines = part.lines
            if part.either:
                lines = [] if part.name in self.chosen else lines[:1]
            for line in lines:
                if id(line) not in inside:
                    why = self.dropped.get(id(line), "budget")
                    for record in line.records or ("",):
                        if record not in shown or why == "window":
                            yield Omitted(record, part.name, why)

    def _sections(self) -> tuple[Section, ...]:
        found = []
        for name in ORDER:
            lines = self._shown(name)
            if lines:
                records = tuple(dict.fromkeys(id for line in self.chosen.get(name, ()) for id in line.records))
                tokens = sum(self.cost(line) for line in self.chosen.get(name, ())) + self.frame(name)
                if name == "recent":
                    tokens, records = self.count(self.spoken) + self.frame(name), tuple(sorted(self.talked))
                heading = HEADINGS[self.tongue][name]
                found.append(
                    Section.model_construct(
                        name=name, heading=heading, text="\n".join(lines), tokens=tokens, records=records
                    )
                )
        return tuple(found)

    def _shown(self, name: str) -> list[str]:
        """A section as it stands in the text, without its heading."""
        if name == "recent":
            return [self.spoken] if self.spoken else []
        lines = self.chosen.get(name, [])
        part = self.parts.get(name)
        if part is not None and part.by_time:
            lines = sorted(lines, key=_when)
        elif part is not None:
            places = {id(line): place for place, line in enumerate(part.lines)}
            lines = sorted(lines, key=lambda line: places[id(line)])
        return [FENCE[0], *(line.text for line in lines), FENCE[1]] if lines else []

    def _text(self) -> str:
        parts = ((name, self._shown(name)) for name in ORDER)
        return _BETWEEN.join(
            ("" if self.bare and name == "recent" else f"## {HEADINGS[self.tongue][name]}\n") + "\n".join(lines)
            for name, lines in parts
            if lines
        )


def _when(line: Line) -> tuple[float, str]:
    if line.hit is None:
        return (0.0, line.text)
    record = line.hit.record
    return ((record.event_time or record.created_at).timestamp(), record.id)
