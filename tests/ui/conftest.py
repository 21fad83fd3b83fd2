"""A memory worth looking at, the page on it without a network, and a browser where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock
from shared_core.ui.desk import Desk
from shared_core.ui.guard import Guard
from shared_core.ui.web import application

PORT = 8765


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[AgentMemory]:
    with AgentMemory.open(embedder="hashing", clock=clock) as opened:
        yield opened


@pytest.fixture
def alice(memory: AgentMemory, clock: ManualClock) -> Scope:
    """A user with memories of every sort."""
    return filled(memory, clock)


def filled(memory: AgentMemory, clock: ManualClock) -> Scope:
    scope = memory.scope(user="alice")
    chat = scope.session("monday")
    chat.add_messages(
        [
            {"role": "user", "content": "I live in Lyon and I work at ACME", "id": "m1"},
            {"role": "assistant", "content": "Noted.", "id": "m2"},
            {"role": "user", "content": "我喜欢乌龙茶", "id": "m3"},
        ]
    )
    chat.working.start("move", "Find a flat in Berlin", goal="Sign before June")
    chat.working.step("search", "three flats found")
    clock.advance(hours=1)
    scope.add("The spare key is under the blue pot", importance=0.8, source="notes", id="key")
    scope.add("Dentist on Friday", type="plan", id="dentist", event_time=datetime(2026, 6, 3, 10, tzinfo=UTC))
    scope.graph.add("Bob", "leads", "Project Alpha")
    scope.graph.add("Project Alpha", "uses", "Python")
    scope.procedures.add("A deployment fails", ["read the log", "roll back"], id="rollback")
    return scope


@pytest.fixture
def guard() -> Guard:
    return Guard(PORT)


@pytest.fixture
def desk(memory: AgentMemory) -> Desk:
    return Desk(memory, "agent.db")


@pytest.fixture
def outside(desk: Desk, guard: Guard) -> Iterator[TestClient]:
    """Somebody on this machine who does not have the token."""
    with TestClient(application(desk, guard), base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False) as client:
        yield client


@pytest.fixture
def page(outside: TestClient, guard: Guard) -> TestClient:
    """Whoever started the page, after the first look."""
    answer = outside.get("/", params={"token": guard.token})
    assert answer.status_code == 303
    outside.cookies.set(guard.cookie, guard.session)
    return outside
