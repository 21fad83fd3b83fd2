"""The public names of DESIGN's table that exist so far: a name that changes breaks somebody's program."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from shared_core import AgentMemory, Scope, Session
from shared_core.long_term.episodes import Episodes
from shared_core.long_term.procedures import Procedures

NEEDED = inspect.Parameter.empty
ADD: dict[str, Any] = {
    "kind": "fact", "type": None, "triple": None, "entities": (), "source": "user", "importance": None, "confidence": 1.0,
    "metadata": None, "event_time": None, "expires_in": None, "pinned": False, "id": None,
}  # fmt: skip

SIGNATURES: dict[Any, dict[str, dict[str, Any]]] = {
    AgentMemory: {
        "open": {"address": None, "embedder": None, "llm": None, "settings": None, "clock": None, "key": None,
                 "durability": "process"},
        "register": {"address": NEEDED, "factory": NEEDED},
        "scope": {"user": NEEDED, "agent": "default"},
        "users": {}, "agents": {"user": NEEDED}, "forget": {"user": NEEDED}, "reembed": {"progress": None},
        "check": {"fix": False}, "flush": {}, "purge": {}, "close": {},
        "verify": {"receipt": NEEDED},
    },
    Scope: {
        "add": {"text": NEEDED, **ADD},
        "add_many": {"items": NEEDED}, "get": {"id": NEEDED},
        "list": {"kinds": None, "where": None, "order": "created_at", "limit": None, "after": None},
        "delete": {"id": NEEDED}, "delete_all": {}, "history": {"id": NEEDED},
        "search": {"query": NEEDED, "k": 5, "kinds": None, "where": None, "min_score": 0.0, "as_of": None, "session": None,
                   "exclude": (), "explain": False},
        "session": {"id": NEEDED}, "sessions": {}, "stats": {}, "count": {"kinds": None, "where": None},
        "export": {"path": NEEDED, "vectors": True, "audit": False, "archived": True, "progress": None},
        "import_": {"path": NEEDED, "format": "twinmem", "revive": False, "progress": None},
    },
    Session: {
        "add_messages": {"messages": NEEDED, "trace": None}, "messages": {"last": None}, "replace_messages": {"messages": NEEDED},
        "summarise": {"keep_turns": None}, "take_snapshot": {},
        "clear": {}, "delete": {}, "window": {"max_tokens": None, "max_turns": None}, "end": {},
        "resolve": {"phrase": NEEDED}, "tools": {"last": 10},
    },
    Episodes: {
        "add": {"summary": NEEDED, "type": NEEDED, "details": None, "importance": 0.5, "session": None, "at": None},
        "timeline": {"hours": 24, "types": None, "session": None, "since": None, "until": None, "on": None, "limit": None},
        "similar": {"text": NEEDED, "k": 5, "types": None}, "summary": {"session": NEEDED},
    },
    Procedures: {
        "add": {"situation": NEEDED, "steps": NEEDED, "form": None, "avoid": False, "importance": 0.5, "metadata": None,
                "sources": (), "id": None},
        "mine": {}, "match": {"situation": NEEDED, "k": 3, "min_likeness": None, "min_success": None},
        "outcome": {"id": NEEDED, "success": NEEDED, "detail": None},
    },
}  # fmt: skip

KEYWORD_ONLY = {
    ("open", "embedder"),
    ("scope", "user"),
    ("add", "kind"),
    ("list", "kinds"),
    ("search", "k"),
    ("count", "where"),
}


@pytest.mark.parametrize(("owner", "verb"), [(owner, verb) for owner, verbs in SIGNATURES.items() for verb in verbs])
def test_a_verb_takes_what_the_design_says(owner: Any, verb: str) -> None:
    signature = inspect.signature(getattr(owner, verb))
    found = {name: p.default for name, p in signature.parameters.items() if name != "self"}
    assert found == SIGNATURES[owner][verb]
    for name, parameter in signature.parameters.items():
        if (verb, name) in KEYWORD_ONLY:
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY


def test_update_takes_every_argument_of_add_and_context_its_budget() -> None:
    update = set(inspect.signature(Scope.update).parameters)
    assert update == (set(ADD) | {"self", "id", "text"})
    context = inspect.signature(Session.context).parameters
    assert (context["query"].default, context["max_tokens"].default) == (None, 2_000)
    assert context["max_tokens"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ("Record", "id kind text type triple entities source importance confidence metadata event_time pinned session "
                   "message_id role status seen created_at updated_at"),
        ("Hit", "record score parts reason"),
        ("Message", "role content id name created_at tool_calls tool_call_id"),
        ("Context", "text messages hits sections tokens omitted"),
        ("Receipt", "count"),
    ],
)  # fmt: skip
def test_the_values_have_the_fields_the_design_names_and_are_frozen(value: str, fields: str) -> None:
    import shared_core

    model = getattr(shared_core, value)
    assert set(fields.split()) <= set(model.model_fields)
    assert model.model_config["frozen"]


def verbs(owner: type) -> list[str]:
    """The public verbs of a class, but for its constructors, context managers and twins."""
    found = [
        n for n, f in inspect.getmembers(owner) if (not n.startswith("_") and inspect.isfunction(f)) or n == "open"
    ]
    twins = {f"a{name}" for name in [*found, *(n for n, f in inspect.getmembers(owner) if isinstance(f, property))]}
    return [name for name in found if name not in twins and name not in ("scope", "session")]


@pytest.mark.parametrize("owner", [AgentMemory, Scope, Session, Episodes, Procedures])
def test_r75_every_verb_has_an_async_twin_with_the_same_arguments(owner: type) -> None:
    names = verbs(owner)
    assert len(names) >= 4
    for name in names:
        if name == "open":
            continue
        sync, twin = getattr(owner, name), getattr(owner, "a" + name)
        assert inspect.iscoroutinefunction(twin), name
        assert list(inspect.signature(sync).parameters.values()) == list(inspect.signature(twin).parameters.values()), (
            name
        )
        assert twin.__doc__ == f"Async twin of `{name}`."
    assert owner is not AgentMemory or inspect.iscoroutinefunction(AgentMemory.aopen)


@pytest.mark.parametrize("name", ["summary", "snapshot"])
def test_r75_a_property_that_works_for_its_answer_has_an_async_twin(name: str) -> None:
    assert isinstance(getattr(Session, name), property)
    twin = getattr(Session, "a" + name)
    assert inspect.iscoroutinefunction(twin)
    assert twin.__doc__ == f"Async twin of `{name}`."


@pytest.mark.parametrize("owner", [AgentMemory, Scope, Session, Episodes, Procedures])
def test_everything_public_says_what_it_does(owner: type) -> None:
    assert owner.__doc__
    for name, member in inspect.getmembers(owner):
        if not name.startswith("_") and (callable(member) or isinstance(member, property)):
            assert (member.__doc__ or "").strip(), f"{owner.__name__}.{name}"
            assert len(member.__doc__.splitlines()[0]) <= 120


def test_every_setting_and_error_says_what_it_is_for() -> None:
    from shared_core import Settings, TwinmemError, errors
    from shared_core.settings import Limits, Recall

    for section in (Limits, Recall):
        for name, field in section.model_fields.items():
            assert field.description or name == "mix", f"{section.__name__}.{name}"
    assert set(Settings.model_fields) >= {
        "limits",
        "window",
        "importance",
        "recall",
        "context",
        "cache",
        "busy_timeout",
    }
    for name, error in inspect.getmembers(errors, inspect.isclass):
        if issubclass(error, TwinmemError):
            assert error.__doc__, name
            if name != "MissingExtra":
                assert str(error())


def test_the_default_token_counter_is_where_the_design_says() -> None:
    from shared_core.short_term.tokens import count

    assert count("") == 0
    assert count("hello world") > 0
