"""Letting go of what has faded: never unasked, never the pinned, and a dry run says beforehand what would go (D6)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput
from shared_core.testing import ManualClock


@pytest.fixture
def deleting(clock: ManualClock, path: Path):  # type: ignore[no-untyped-def]
    settings = {"decay": {"to": "delete"}, "facts": {"extract": False}}
    with AgentMemory.open(path, embedder="hashing", clock=clock, settings=settings) as memory:
        yield memory


def fill(scope: Scope, clock: ManualClock) -> dict[str, str]:
    """Ten memories, and what is to become of each when 15 days have passed."""
    ids = {
        "old tea": scope.add("Ann likes tea", importance=0.4).id,
        "旧茶": scope.add("王芳喜欢绿茶", importance=0.4).id,
        "important": scope.add("Ann is allergic to nuts", importance=1.0).id,
        "pinned": scope.add("Ann likes rye", importance=0.1, pinned=True).id,
        "doubtful": scope.add("It may rain", confidence=0.1, importance=1.0).id,
        "doubtful, pinned": scope.add("It may snow", confidence=0.1, pinned=True).id,
        "expired": scope.add("The code is 5", expires_in=timedelta(days=1), importance=1.0).id,
        "rule": scope.add("If it rains, take a coat", kind="rule", importance=0.1).id,
        "long ago": scope.add("Ann moved in 2020", event_time=clock() - timedelta(days=2_000), importance=0.9).id,
    }
    scope.session("s").add_messages([{"role": "user", "content": "hello"}])
    clock.advance(days=15)
    ids["new"] = scope.add("Ann bought a boat", importance=0.4).id
    return ids


def test_d6_a_dry_run_says_what_would_go_and_why_and_touches_nothing(deleting: AgentMemory, clock: ManualClock) -> None:
    scope = deleting.scope(user="alice")
    ids = fill(scope, clock)
    names = {id: name for name, id in ids.items()}
    before = [record.id for record in scope.list()]
    report = scope.cleanup()
    assert report.dry_run
    assert {names[each.id]: each.reason for each in report.gone} == {
        "old tea": "faded", "旧茶": "faded", "doubtful": "low confidence", "expired": "expired", "long ago": "faded",
    }  # fmt: skip
    assert {each.to for each in report.gone} == {"delete"}
    assert (report.examined, report.pinned, report.deleted, report.archived) == (11, 2, 5, 0)
    tea = next(each for each in report.gone if names[each.id] == "old tea")
    assert tea.worth == pytest.approx(0.4 - 15 / 60 - 0.1 * (1 - 0.5**0.5))
    assert (tea.age, tea.idle, tea.text, tea.kind) == (15, 15, "Ann likes tea", "fact")
    assert [record.id for record in scope.list()] == before
    assert all(scope.history(id)[-1].action == "added" for id in ids.values())


def test_d6_cleaning_up_takes_exactly_what_the_dry_run_named(deleting: AgentMemory, clock: ManualClock) -> None:
    scope = deleting.scope(user="alice")
    ids = fill(scope, clock)
    named = {each.id for each in scope.cleanup().gone}
    told: list[tuple[int, int]] = []
    report = scope.cleanup(dry_run=False, progress=lambda done, total: told.append((done, total)))
    assert {each.id for each in report.gone} == named
    assert told == [(5, 5)]
    assert {id for id in ids.values() if scope.get(id) is None} == named
    assert scope.cleanup().gone == ()
    assert len(scope.session("s").messages()) == 1
    assert deleting.check().ok
    assert "Ann likes tea" not in [hit.record.text for hit in scope.search("tea", k=10)]
    assert scope.history(ids["old tea"])[-1].action == "deleted"


def test_d6_nothing_goes_by_itself(deleting: AgentMemory, clock: ManualClock) -> None:
    scope = deleting.scope(user="alice")
    faded = scope.add("Ann likes tea", importance=0.01)
    clock.advance(days=1_000)
    scope.add("something new")
    scope.search("tea")
    scope.consolidate()
    scope.session("s").end()
    deleting.flush()
    assert scope.get(faded.id) is not None


def test_d6_what_is_recalled_or_confirmed_stays_longer(deleting: AgentMemory, clock: ManualClock) -> None:
    scope = deleting.scope(user="alice")
    used, idle = scope.add("Ann likes green tea", importance=0.54), scope.add("Ann likes black rye", importance=0.54)
    confirmed = scope.add("Ann owns a blue boat", importance=0.54)
    clock.advance(days=19)
    scope.search("green tea", k=1)
    scope.confirm(confirmed.id)
    assert [each.id for each in scope.cleanup().gone] == [idle.id]
    assert used.id not in {each.id for each in scope.cleanup(dry_run=False).gone}


def test_r56_d6_what_happened_long_ago_goes_first_though_it_was_told_today(
    deleting: AgentMemory, clock: ManualClock
) -> None:
    from datetime import UTC, datetime

    clock.now = datetime(2025, 6, 20, tzinfo=UTC)
    scope = deleting.scope(user="alice")
    old = scope.add("Trip to Rome", kind="event", event_time=datetime(2024, 6, 1, tzinfo=UTC))
    new = scope.add("Trip to Oslo", kind="event", event_time=datetime(2025, 6, 19, tzinfo=UTC))
    week = {"event_time": {"$gte": datetime(2025, 6, 13, tzinfo=UTC), "$lt": datetime(2025, 6, 20, tzinfo=UTC)}}
    assert [record.id for record in scope.list(where=week)] == [new.id]
    assert [each.id for each in scope.cleanup().gone] == [old.id]
    assert [record.id for record in scope.list(order="event_time")] == [old.id, new.id]
    assert (old.event_time, old.created_at) == (datetime(2024, 6, 1, tzinfo=UTC), clock.now)


def test_r54_d6_zones_and_clocks_change_nothing(deleting: AgentMemory, clock: ManualClock) -> None:
    """The same instant in another zone is of the same age, and a naive time is refused."""
    from datetime import datetime, timezone

    scope = deleting.scope(user="alice")
    at = clock() - timedelta(days=10)
    for zone in (0, 8, -11):
        scope.add(f"Event of {zone}", kind="event", event_time=at.astimezone(timezone(timedelta(hours=zone))))
    clock.advance(days=20)
    ages = {each.age for each in scope.cleanup().gone}
    assert ages == {30.0}
    with pytest.raises(ValueError, match="timezone"):
        scope.add("naive", event_time=datetime(2025, 7, 25))


@pytest.mark.sqlite_only
def test_d6_by_default_faded_memories_are_archived_and_come_back_whole(path: Path, clock: ManualClock) -> None:
    with AgentMemory.open(path, embedder="hashing", clock=clock) as memory:
        scope = memory.scope(user="alice")
        before = scope.add("王芳喜欢绿茶", importance=0.3, metadata={"a": 1}, triple=("王芳", "喜欢", "绿茶"))
        expired = scope.add("The code is 5", expires_in=timedelta(days=1))
        clock.advance(days=30)
        assert {(each.id, each.to) for each in scope.cleanup().gone} == {(before.id, "archive"), (expired.id, "delete")}
        report = scope.cleanup(dry_run=False)
        assert (report.archived, report.deleted) == (1, 1)
        assert scope.get(before.id) is None
        [archive] = report.archives
        scope.archive.restore(archive)
        back = scope.get(before.id)
        assert back is not None
        assert (back.text, back.metadata, back.importance, back.triple) == (
            before.text, before.metadata, before.importance, before.triple)  # fmt: skip
        assert memory.check().ok


def test_d6_without_a_place_for_archives_it_says_so_and_takes_nothing(clock: ManualClock) -> None:
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        scope = memory.scope(user="alice")
        faded = scope.add("Ann likes tea", importance=0.1)
        with pytest.raises(InvalidInput, match="archive"):
            scope.cleanup(dry_run=False)
        assert scope.get(faded.id) is not None
        with pytest.raises(TypeError):
            scope.cleanup(dry_run="no")  # type: ignore[arg-type]


def test_d6_it_can_be_stopped_and_what_was_merged_goes_along(path: Path, clock: ManualClock) -> None:
    settings = {"decay": {"to": "delete", "batch": 10}}
    with AgentMemory.open(path, embedder="hashing", clock=clock, settings=settings) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([{"text": f"Person {n} owns hat {n}", "importance": 0.1} for n in range(30)])
        asked: list[int] = []
        report = scope.cleanup(dry_run=False, stop=lambda: asked.append(1) or len(asked) > 2)  # type: ignore[func-returns-value]
        assert (report.stopped, report.deleted, scope.count()) == (True, 20, 10)
        scope.delete_all()
        one = scope.add("Ann likes tea", importance=0.1)
        scope.add("ANN likes tea", importance=0.1)
        scope.consolidate()
        scope.cleanup(dry_run=False)
        assert scope.count() == 0
        assert scope.get(one.id) is None


def test_d6_turns_go_only_if_so_set_and_what_was_read_from_them_stays(path: Path, clock: ManualClock) -> None:
    settings = {"decay": {"to": "delete", "kinds": ["turn"]}}
    with AgentMemory.open(path, embedder="hashing", clock=clock, settings=settings) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([{"role": "user", "content": "I live in Lyon"}])
        clock.advance(days=100)
        assert scope.cleanup(dry_run=False).deleted == 1
        assert chat.messages() == []
        assert [record.text for record in scope.list(kinds=["fact"])] == ["I live in Lyon"]


async def test_d6_the_async_twin_says_the_same(deleting: AgentMemory, clock: ManualClock) -> None:
    scope = deleting.scope(user="alice")
    fill(scope, clock)
    assert await scope.acleanup() == scope.cleanup()
