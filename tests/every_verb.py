"""Every verb of a scope and its parts, with arguments, for tests of what has to hold of all of them.

`filled` gives a scope with something in every part; `VERBS` calls each verb with the ids of one such scope, on that
scope or on anybody else's. A verb that is missing here fails `tests/core/test_isolation.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared_core import Scope, Session
from shared_core.long_term.archive import Archive
from shared_core.long_term.episodes import Episodes
from shared_core.long_term.graph.graph import Graph
from shared_core.long_term.procedures import Procedures
from shared_core.long_term.profile import Profile
from shared_core.short_term.working import Working
from shared_core.verbs.changing import Changing

OWNERS: dict[str, type] = {
    "scope": Scope, "session": Session, "working": Working, "graph": Graph, "episodes": Episodes,
    "procedures": Procedures, "archive": Archive, "profile": Profile,
}  # fmt: skip


@dataclass
class Filled:
    """What is in a filled scope, by the names its verbs take."""

    word: str  # stands in the names of this scope, which others may guess
    secret: str  # stands in its texts, which nobody else may see
    record: str
    event: str
    procedure: str
    archive: str
    question: str
    session: str = "monday"
    archived_session: str = "sunday"
    message: str = "m1"
    reply: str = "m2"
    task: str = "trip"

    @property
    def person(self) -> str:
        """An entity of the graph."""
        return f"Ann {self.word}"

    @property
    def place(self) -> str:
        """Another, related to the first."""
        return f"Lab {self.word}"


def filled(scope: Scope, word: str, secret: str) -> Filled:
    """Put something into every part of a scope."""
    person = f"Ann {word}"
    record = scope.add(f"{word} keeps the key under {secret}", metadata={"m": word, "s": secret}, entities=[person]).id
    scope.add(f"always say {secret} to {word} first", kind="rule")
    scope.add(f"item of {secret}", kind="item", id=f"item-{word}")
    for town in ("Lyon", "Oslo"):  # with the strategy "ask" a question
        scope.add(f"{person} lives in {town} {secret}", triple=(person, "lives in", f"{town} {secret}"))
    scope.graph.add(person, "works at", f"Lab {word}", source=record, attributes={"desk": secret})
    scope.graph.add(person, "owns", f"boat {secret}")
    scope.graph.alias(person, f"A. {secret}")
    scope.graph.rule("works at(A, B) => knows(B, A)", name=f"r-{word}")
    event = scope.episodes.add(f"{word} shipped {secret}", type="decision", session="monday").id
    procedure = scope.procedures.add(f"shipping {word}", [f"pack {secret}", "send it"]).id
    scope.profile.set("style", f"short and {secret}")
    old = scope.session("sunday")
    old.add_messages([{"role": "user", "content": f"On Sunday I saw {secret} with {word}", "id": "s1"}])
    archive = scope.archive.session("sunday").id
    chat = scope.session("monday")
    chat.add_messages([{"role": "user", "content": f"I have put {secret}.pdf beside {word}", "id": "m1"}])
    context = chat.context(word)
    chat.add_messages([{"role": "assistant", "content": f"I have seen {secret}.pdf", "id": "m2"}], trace=context)
    working = chat.working
    working.start("trip", f"book {secret}", plan=["look", "buy"], instruction="m1")
    working.step(f"looked for {secret}", secret)
    working.set("where", secret)
    working.set("all", secret, shared=True)
    working.observe(f"{secret} is open")
    asked = scope.questions()
    return Filled(word, secret, record, event, procedure, archive, asked[0].id if asked else "none")


Call = Callable[[Filled, Path], tuple[tuple[Any, ...], dict[str, Any]]]


def _of(*names: str, **keywords: Any) -> Call:
    """Arguments that are fields of `Filled`, or said as they are behind "="."""

    def arguments(given: Filled, folder: Path) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(name[1:] if name.startswith("=") else getattr(given, name) for name in names), dict(keywords)

    return arguments


def _raw(*values: Any, **keywords: Any) -> Call:
    return lambda given, folder: (values, keywords)


def _file(name: str, *values: Any) -> Call:
    return lambda given, folder: ((folder / name, *values), {})


_MESSAGES = [{"role": "user", "content": "something else", "id": "m9"}]

VERBS: dict[tuple[str, str], list[Call]] = {
    # reading
    ("scope", "search"): [
        _of("word"), _of("word", explain=True), _of("word", where={"$or": [{"kind": "fact"}, {"kind": "turn"}]}),
        lambda g, f: ((g.word,), {"session": g.session}), lambda g, f: ((g.word,), {"where": {"m": g.word}}),
        lambda g, f: ((g.word,), {"where": {"id": g.record}}), lambda g, f: ((g.word,), {"exclude": [g.record], "k": 50}),
        *(_of("word", as_of=moment, k=50) for moment in (datetime.now(UTC), datetime(2100, 1, 1, tzinfo=UTC))),
    ],
    ("scope", "get"): [_of("record"), _of("event"), _of("procedure"), _of("archive")],
    ("scope", "list"): [_raw(), _raw(where={"status": {"$exists": True}}), lambda g, f: ((), {"where": {"m": g.word}})],
    ("scope", "count"): [_raw(), _raw(kinds=["turn"]), lambda g, f: ((), {"where": {"id": g.record}})],
    ("scope", "history"): [_of("record")],
    ("scope", "sources"): [_of("record")],
    ("scope", "sessions"): [_raw()],
    ("scope", "questions"): [_raw()],
    ("scope", "stats"): [_raw()],
    ("scope", "reveal"): [_of("word"), _raw("[PHONE_00000000]")],
    ("scope", "private"): [_raw()],
    ("scope", "export"): [_file("scope.jsonl")],
    ("session", "messages"): [_raw()],
    ("session", "window"): [_raw()],
    ("session", "context"): [_of("word"), _raw(), _of("person", max_tokens=300)],
    ("session", "resolve"): [_raw("the document I just mentioned")],
    ("session", "tools"): [_raw()],
    ("session", "trace"): [_of("reply")],
    ("session", "export"): [_file("session.jsonl")],
    ("working", "get"): [_raw("where")],
    ("working", "task"): [_of("task")],
    ("working", "tasks"): [_raw()],
    ("working", "instruction"): [_of("task")],
    ("working", "text"): [_raw()],
    ("graph", "entity"): [_of("person")],
    ("graph", "entities"): [_raw()],
    ("graph", "relations"): [_raw(), _of("person")],
    ("graph", "neighbours"): [_of("person")],
    ("graph", "paths"): [_of("person", "place")],
    ("graph", "subgraph"): [_of("person")],
    ("graph", "text"): [_of("person")],
    ("graph", "around"): [lambda g, f: (([g.person],), {})],
    ("graph", "named"): [_of("person")],
    ("graph", "about"): [_of("person")],
    ("graph", "similar"): [_of("person")],
    ("graph", "stats"): [_raw()],
    ("graph", "proposals"): [_raw()],
    ("graph", "rules"): [_raw()],
    ("graph", "ask"): [lambda g, f: ((f"Where does {g.person} work?",), {})],
    ("graph", "to_networkx"): [_raw()],
    ("graph", "save"): [_file("graph.json")],
    ("graph", "draw"): [_file("graph.html")],
    ("episodes", "timeline"): [_raw(None), _of("=1")],
    ("episodes", "similar"): [_of("word")],
    ("episodes", "summary"): [_of("session")],
    ("procedures", "get"): [_of("procedure")],
    ("procedures", "list"): [_raw()],
    ("procedures", "match"): [_of("word")],
    ("archive", "list"): [_raw()],
    ("archive", "get"): [_of("archive"), _of("archived_session")],
    ("archive", "read"): [_of("archive"), _of("archived_session")],
    ("profile", "entries"): [_raw()],
    ("profile", "get"): [_raw("style")],
    ("profile", "text"): [_raw()],
    # writing
    ("scope", "add"): [_raw("something else"), lambda g, f: (("something else",), {"id": g.record})],
    ("scope", "add_many"): [lambda g, f: (([{"text": "something else", "id": g.record}, "and more"],), {})],
    ("scope", "update"): [_of("record", "=something else"), _of("event", importance=0.1)],
    ("scope", "confirm"): [_of("record")],
    ("scope", "answer"): [_of("question", "=new")],
    ("scope", "separate"): [_of("record")],
    ("scope", "resume"): [_raw()],
    ("scope", "redact"): [_raw()],
    ("scope", "consolidate"): [_raw(fold=True)],
    ("scope", "cleanup"): [_raw(dry_run=True), _raw(dry_run=False)],
    ("scope", "import_"): [_file("theirs.jsonl"), _file("talk.jsonl", "auto")],
    ("session", "add_messages"): [_raw(_MESSAGES), lambda g, f: (([{**_MESSAGES[0], "id": g.message}],), {})],
    ("session", "replace_messages"): [_raw(_MESSAGES)],
    ("session", "delete_messages"): [lambda g, f: (([g.message, g.reply],), {})],
    ("session", "reply"): [_raw("Hello?")],
    ("session", "summarise"): [_raw(1)],
    ("session", "take_snapshot"): [_raw()],
    ("session", "end"): [_raw()],
    ("working", "start"): [_of("task", "=something else")],
    ("working", "push"): [_raw("below", "something else")],
    ("working", "queue"): [_raw("later", "something else")],
    ("working", "step"): [_raw("did it", "done")],
    ("working", "set"): [_raw("where", "elsewhere"), _raw("where", "elsewhere", shared=True)],
    ("working", "unset"): [_raw("where")],
    ("working", "add_result"): [_raw("done")],
    ("working", "plan"): [_raw(["a", "b"])],
    ("working", "advance"): [_raw()],
    ("working", "amend"): [_raw(goal="another")],
    ("working", "observe"): [_raw("it rains")],
    ("working", "pause"): [_raw()],
    ("working", "resume"): [_of("task")],
    ("working", "complete"): [_raw("done")],
    ("working", "fail"): [_raw("failed")],
    ("working", "pop"): [_raw("done")],
    ("working", "remove"): [_of("task")],
    ("working", "clear"): [_raw()],
    ("graph", "add"): [_of("person", "=left", "place"), lambda g, f: ((g.person, "saw", g.place), {"source": g.record})],
    ("graph", "add_many"): [lambda g, f: (([(g.person, "left", g.place)],), {})],
    ("graph", "alias"): [_of("person", "=The boss")],
    ("graph", "describe"): [_of("person", attributes={"age": 3})],
    ("graph", "describe_many"): [lambda g, f: (([{"name": g.person, "attributes": {"age": 4}}],), {})],
    ("graph", "merge"): [_of("person", "place")],
    ("graph", "split"): [_of("person")],
    ("graph", "remove"): [_of("person", "=works at", "place")],
    ("graph", "delete"): [_of("person")],
    ("graph", "rule"): [_raw("uses(A, B) => knows(A, B)", name="another")],
    ("graph", "drop_rule"): [lambda g, f: ((f"r-{g.word}",), {})],
    ("graph", "load"): [_file("graph.json")],
    ("episodes", "add"): [lambda g, f: (("something else",), {"type": "error", "session": g.session})],
    ("procedures", "add"): [
        _raw("something else", ["a", "b"]),
        lambda g, f: (("something else", ["a"]), {"id": g.procedure, "sources": [g.event]}),
    ],
    ("procedures", "mine"): [_raw()],
    ("procedures", "outcome"): [_of("procedure", success=True)],
    ("archive", "records"): [lambda g, f: (([g.record, g.event],), {})],
    ("archive", "session"): [_of("session")],
    ("archive", "restore"): [_of("archive"), _of("archived_session")],
    ("archive", "delete"): [_of("archive"), _of("archived_session")],
    ("profile", "set"): [_raw("style", "wordy")],
    ("profile", "remove"): [_raw("style")],
    ("profile", "reset"): [_raw("style")],
    # erasing, what takes most last
    ("scope", "delete"): [_of("record"), _of("event"), _of("procedure")],
    ("session", "clear"): [_raw()],
    ("session", "delete"): [_raw()],
    ("scope", "delete_all"): [_raw()],
}  # fmt: skip

PROPERTIES = [
    ("session", "summary"), ("session", "snapshot"), ("working", "current"), ("working", "stack"),
    ("working", "shared"), ("working", "observations"), ("archive", "address"),
]  # fmt: skip
_HANDS_OUT = {
    ("scope", "session"), ("scope", "archive"), ("scope", "graph"), ("scope", "episodes"), ("scope", "procedures"),
    ("scope", "profile"), ("session", "scope"), ("session", "working"),
    ("profile", "fitting"),  # of an open transaction, for `Session.context`
}  # fmt: skip


def missing() -> set[tuple[str, str]]:
    """Public verbs and properties that are not in the tables above."""
    found = {
        (owner, name)
        for owner, kind in OWNERS.items()
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_")
        and (isinstance(member, property) or (inspect.isfunction(member) and not inspect.iscoroutinefunction(member)))
    }
    assert Changing in Scope.__mro__
    return found - set(VERBS) - set(PROPERTIES) - _HANDS_OUT


def part(scope: Scope, owner: str, session: str = "monday") -> Any:
    """The part of a scope that has the verbs of `owner`."""
    if owner == "scope":
        return scope
    if owner in ("session", "working"):
        chat = scope.session(session)
        return chat if owner == "session" else chat.working
    return getattr(scope, owner)


def calls(given: Filled, folder: Path) -> Iterator[tuple[str, Callable[[Scope], Any]]]:
    """Each verb as a function of the scope it is called on, with the ids of what is filled."""
    for owner, name in PROPERTIES:
        yield f"{owner}.{name}", lambda scope, owner=owner, name=name: getattr(part(scope, owner), name)
    for (owner, name), ways in VERBS.items():
        for way in ways:
            arguments, keywords = way(given, folder)

            def call(scope: Scope, owner: str = owner, name: str = name, a: Any = arguments, k: Any = keywords) -> Any:
                return getattr(part(scope, owner), name)(*a, **k)

            yield f"{owner}.{name}", call
