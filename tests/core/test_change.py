"""Facts that change: superseded, dated, linked, asked about, confirmed (D3 to D5, B2, R49, R50, R54, R56)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, NotFound
from shared_core.testing import ManualClock
from shared_core.values import Record, Status

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START, tick=timedelta(minutes=1))


@pytest.fixture
def open_scope(clock: ManualClock) -> Iterator[Any]:
    opened: list[AgentMemory] = []

    def _open(**settings: Any) -> Scope:
        opened.append(AgentMemory.open(embedder="hashing", clock=clock, settings=settings))
        return opened[-1].scope(user="alice")

    yield _open
    for memory in opened:
        assert memory.check().ok
        memory.close()


@pytest.fixture
def scope(open_scope: Any) -> Scope:
    return open_scope()


def say(scope: Scope, text: str, **more: Any) -> list[Record]:
    return scope.session("talk").add_messages([{"role": "user", "content": text, **more}])


def now(scope: Scope, **where: Any) -> list[str]:
    return [record.text for record in scope.list(kinds=["fact"], where=where or None)]


def past(scope: Scope) -> list[Record]:
    return scope.list(kinds=["fact"], where={"status": "superseded"})


HOMES = [
    ("en", [("I live in Lyon", ("alice", "lives in", "Lyon")), ("I moved to Rome", ("alice", "lives in", "Rome"))]),
    ("zh", [("我住在杭州", ("alice", "住在", "杭州")), ("我搬到上海了", ("alice", "居住在", "上海"))]),
]
WAYS = ["talk", "triples"]


def tell(scope: Scope, way: str, said: tuple[str, tuple[str, str, str]], **more: Any) -> None:
    if way == "talk":
        say(scope, said[0])
    else:
        scope.add(said[0], triple=said[1], **more)


# ---------------------------------------------------------------------- versions (D4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("language", "homes"), HOMES)
def test_d4_a_replaced_fact_is_kept_linked_dated_and_told_in_both_histories(
    scope: Scope, clock: ManualClock, way: str, language: str, homes: Any
) -> None:
    tell(scope, way, homes[0])
    clock.advance(days=30)
    tell(scope, way, homes[1])
    [old], [new] = past(scope), scope.list(kinds=["fact"])
    assert (old.text, new.text) == (homes[0][0], homes[1][0])
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)
    assert old.valid_until == new.valid_from == new.updated_on is not None
    assert old.updated_on is None
    [told] = [change for change in scope.history(old.id) if change.action == "superseded"]
    assert told.detail["by"] == new.id
    assert told.detail["why"]
    assert told.detail["until"]
    [told] = [change for change in scope.history(new.id) if change.action == "replaced others"]
    assert told.detail["records"] == [old.id]
    assert scope.get(old.id).status is Status.SUPERSEDED


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("language", "homes"), HOMES)
def test_d4_recall_gives_the_active_one_and_as_of_what_was_true_then(
    scope: Scope, clock: ManualClock, way: str, language: str, homes: Any
) -> None:
    before = clock.now
    tell(scope, way, homes[0])
    then = clock.now
    clock.advance(days=30)
    tell(scope, way, homes[1])
    asked = {"en": "Where do I live? Lyon or Rome", "zh": "我住在哪里？杭州还是上海"}[language]
    assert [hit.record.text for hit in scope.search(asked, kinds=["fact"])] == [homes[1][0]]
    assert [hit.record.text for hit in scope.search(asked, kinds=["fact"], as_of=then)] == [homes[0][0]]
    assert [hit.record.text for hit in scope.search(asked, kinds=["fact"], as_of=clock.now)] == [homes[1][0]]
    assert scope.search(asked, kinds=["fact"], as_of=before - timedelta(days=1)) == []
    [hit] = scope.search(asked, kinds=["fact"], explain=True)
    assert f"updated on {hit.record.updated_on:%Y-%m-%d}" in hit.reason


def test_d4_what_is_asked_of_the_present_is_never_answered_by_an_outdated_message_first(scope: Scope) -> None:
    say(scope, "I live in Lyon")
    for text in ("I like tea", "I use Vim", "I moved to Rome"):
        say(scope, text)
    found = [hit.record.text for hit in scope.search("Where do I live, in Lyon?")]
    assert found.index("I moved to Rome") < found.index("I live in Lyon")


def test_r56_event_times_say_when_it_was_true(scope: Scope, clock: ManualClock) -> None:
    """Told in July that she moved in May: in June she lived in Rome, whatever was known then."""
    at = lambda month: datetime(2025, month, 1, tzinfo=UTC)  # noqa: E731
    scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"), event_time=at(2))
    scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"), event_time=at(5))

    def home(when: datetime) -> list[str]:
        return [hit.record.text for hit in scope.search("Ann lives", as_of=when)]

    assert (home(at(1)), home(at(3)), home(at(6))) == ([], ["Ann lives in Lyon"], ["Ann lives in Rome"])
    [old], [new] = past(scope), scope.list(kinds=["fact"])
    assert (old.valid_from, old.valid_until, new.valid_from, new.valid_until) == (at(2), at(5), at(5), None)
    assert new.event_time == at(5)
    assert new.created_at.year == 2026


def test_r56_what_happened_earlier_is_history_even_if_it_is_told_later(scope: Scope) -> None:
    at = lambda year: datetime(year, 1, 1, tzinfo=UTC)  # noqa: E731
    for place, year in (("Lyon", 2010), ("Oslo", 2024), ("Rome", 2018), ("Bari", 2014)):
        scope.add(f"Ann lives in {place}", triple=("Ann", "lives in", place), event_time=at(year))
    assert now(scope) == ["Ann lives in Oslo"]
    chain = sorted(past(scope), key=lambda record: record.valid_from) + scope.list(kinds=["fact"])
    assert [record.triple.object for record in chain] == ["Lyon", "Bari", "Rome", "Oslo"]
    for one, other in itertools.pairwise(chain):
        assert (one.superseded_by, other.supersedes, one.valid_until) == (other.id, one.id, other.valid_from)
    for year, place in ((2012, "Lyon"), (2015, "Bari"), (2020, "Rome"), (2025, "Oslo")):
        assert [h.record.triple.object for h in scope.search("Ann lives", as_of=at(year))] == [place]


def test_r56_what_is_yet_to_be_replaces_nothing_now(scope: Scope, clock: ManualClock) -> None:
    scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    ahead = clock.now + timedelta(days=30)
    scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"), event_time=ahead)
    assert set(now(scope)) == {"Ann lives in Lyon", "Ann lives in Rome"}
    scope.add("Ann lives in Oslo", triple=("Ann", "lives in", "Oslo"))
    assert set(now(scope)) == {"Ann lives in Oslo", "Ann lives in Rome"}
    clock.advance(days=31)
    scope.add("Ann lives in Bari", triple=("Ann", "lives in", "Bari"))
    assert now(scope) == ["Ann lives in Bari"]


def test_r54_a_naive_as_of_or_event_time_is_refused(scope: Scope) -> None:
    with pytest.raises(InvalidInput):
        scope.add("x", triple=("a", "lives in", "b"), event_time=datetime(2025, 1, 1))
    assert scope.count() == 0


def test_d4_erasing_the_newest_version_does_not_make_the_older_one_true_again(scope: Scope) -> None:
    for place in ("Lyon", "Rome"):
        scope.add(f"Ann lives in {place}", triple=("Ann", "lives in", place))
    [new] = scope.list(kinds=["fact"])
    scope.delete(new.id)
    assert now(scope) == []
    [old] = past(scope)
    assert old.superseded_by is None
    assert old.valid_until is not None
    scope.add("Ann lives in Oslo", triple=("Ann", "lives in", "Oslo"))
    assert now(scope) == ["Ann lives in Oslo"]


def test_d4_a_message_said_anew_takes_back_what_the_first_version_changed(scope: Scope) -> None:
    chat = scope.session("talk")
    chat.add_messages([{"role": "user", "content": "I live in Lyon", "id": "1"}])
    chat.add_messages([{"role": "user", "content": "I moved to Rome", "id": "2"}])
    chat.add_messages([{"role": "user", "content": "I like tea", "id": "2"}])
    assert sorted(now(scope)) == ["I like tea", "I live in Lyon"]
    assert past(scope) == []
    chat.replace_messages([{"role": "user", "content": "I use Vim", "id": "3"}])
    assert now(scope) == ["I use Vim"]


def test_d4_a_history_sent_again_leaves_the_facts_alone(scope: Scope) -> None:
    chat = scope.session("talk")
    history = [{"role": "user", "content": text} for text in ("I live in Lyon", "I moved to Rome", "I live in Oslo")]
    for length in (1, 2, 3, 3):
        chat.replace_messages(history[:length])
    assert now(scope) == ["I live in Oslo"]
    assert [record.text for record in past(scope)] == ["I live in Lyon", "I moved to Rome"]
    moved = [{"role": "user", "content": "hello"}, *history]
    chat.replace_messages(moved)
    assert now(scope) == ["I live in Oslo"]
    assert len(past(scope)) == 2


def test_d4_back_and_forth_each_time_is_a_version(scope: Scope) -> None:
    for place in ("Lyon", "Rome", "Lyon", "Rome"):
        say(scope, f"I moved to {place}")
    assert now(scope) == ["I moved to Rome"]
    assert len(past(scope)) == 3


def test_d4_told_again_word_for_word_stays_superseded(scope: Scope) -> None:
    """DESIGN: `add` with the same text is the same record, and a superseded record is not revived."""
    old = scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    new = scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
    again = scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    assert (again.id, again.seen, again.status) == (old.id, 2, Status.SUPERSEDED)
    assert scope.get(new.id).status is Status.ACTIVE


# ---------------------------------------------------------------------- conflicts (D3)


@pytest.mark.parametrize("way", WAYS)
def test_r49_of_five_near_facts_none_conflicts_and_the_sixth_with_one(scope: Scope, way: str) -> None:
    told = [
        ("Wei works at Orbit Ltd", ("Wei", "works at", "Orbit Ltd")),
        ("Wei coaches Orbit's football team", ("Wei", "coaches", "Orbit's football team")),
        ("Wei's sister lives in Oslo", ("Wei's sister", "lives in", "Oslo")),
        ("the bridge opened in 1932", ("the bridge", "opened in", "1932")),
        ("the index uses 64 dimensions", ("the index", "uses", "64 dimensions")),
    ]
    for said in told:
        tell(scope, way, said)
    assert past(scope) == []
    before = set(now(scope))
    tell(scope, way, ("Wei now works at Delta Ltd", ("Wei", "works at", "Delta Ltd")))
    [old] = past(scope)
    assert old.text == told[0][0]
    assert old.valid_until is not None
    assert set(now(scope)) == before - {told[0][0]} | {"Wei now works at Delta Ltd"}
    scope.add("Wei likes trains", triple=("Wei", "likes", "trains"))
    assert len([c for c in scope.history(old.id) if c.action == "superseded"]) == 1


TEA = [
    ("likes oolong tea", "no longer likes oolong tea", ("user", "likes", "oolong tea"), ("user", "no longer likes", "oolong tea")),
    ("喜欢喝乌龙茶", "现在不喝乌龙茶了", ("user", "喜欢", "喝乌龙茶"), ("user", "不再喝", "乌龙茶")),
]  # fmt: skip


@pytest.mark.parametrize("strategy", ["newest", "importance", "accesses", "confidence", "merge", "ask"])
@pytest.mark.parametrize("with_triple", [True, False])
@pytest.mark.parametrize(("likes", "stopped", "one", "other"), TEA)
def test_r50_a_contradiction_never_forgets_both(
    open_scope: Any, strategy: str, with_triple: bool, likes: str, stopped: str, one: Any, other: Any
) -> None:
    scope = open_scope(facts={"strategy": strategy})
    old = scope.add(likes, triple=one if with_triple else None)
    new = scope.add(stopped, triple=other if with_triple else None)
    assert scope.count(where={"status": {"$exists": True}}) == 2
    [held] = now(scope)
    keeps_old = strategy in ("importance", "ask")
    assert held == (likes if keeps_old else stopped)
    if strategy != "ask":
        loser = scope.get(new.id if keeps_old else old.id)
        assert loser.status is Status.SUPERSEDED
        assert loser.valid_until is not None
        assert loser.superseded_by == (old.id if keeps_old else new.id)
        assert "superseded" in {c.action for c in scope.history(old.id)} or keeps_old
    assert "茶" in held or "tea" in held


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [("I like oolong tea", "I no longer like oolong tea", "I like oolong tea again"),
     ("我喜欢乌龙茶", "我不再喜欢乌龙茶了", "我喜欢乌龙茶"), ("我喜欢喝乌龙茶", "我现在不喝乌龙茶了", "我喜欢喝乌龙茶")],
)  # fmt: skip
def test_r50_in_talk_the_newest_is_what_is_known(scope: Scope, first: str, second: str, third: str) -> None:
    say(scope, first)
    say(scope, second)
    [held] = scope.list(kinds=["fact"])
    assert held.polarity is False
    assert held.triple.object in first
    say(scope, third)
    held = scope.list(kinds=["fact"])[-1]
    assert held.polarity is True
    assert scope.count(kinds=["fact"]) == 1


def test_d3_importance_confidence_and_recall_can_hold_against_the_new(open_scope: Any) -> None:
    first = {"text": "Ann lives in Lyon", "triple": ("Ann", "lives in", "Lyon")}
    second = {"text": "Ann lives in Rome", "triple": ("Ann", "lives in", "Rome")}
    for strategy, old, new, keeps in (
        ("importance", {"importance": 0.9}, {"importance": 0.5}, "old"),
        ("importance", {"importance": 0.5}, {"importance": 0.5}, "old"),
        ("importance", {"importance": 0.5}, {"importance": 0.6}, "new"),
        ("confidence", {"confidence": 0.9}, {"confidence": 0.5}, "old"),
        ("confidence", {"confidence": 0.9}, {"confidence": 0.9}, "new"),
    ):
        scope = open_scope(facts={"strategy": strategy})
        scope.add(**first, **old)
        told = scope.add(**second, **new)
        assert now(scope) == [first["text"] if keeps == "old" else second["text"]]
        assert told.status is (Status.SUPERSEDED if keeps == "old" else Status.ACTIVE)
        assert scope.search("Ann lives in", as_of=told.created_at)[0].record.status is Status.ACTIVE
    scope = open_scope(facts={"strategy": "accesses"})
    scope.add(**first)
    scope.search("Where does Ann live?")  # counted, though not written yet
    scope.add(**second)
    assert now(scope) == ["Ann lives in Lyon"]


@pytest.mark.parametrize(
    ("one", "other", "joint"),
    [(("Ann lives in Lyon", "Lyon"), ("Ann lives in Rome", "Rome"), "; "), (("小李住在杭州", "杭州"), ("小李住在上海", "上海"), "；")],
)  # fmt: skip
def test_d3_merge_keeps_both_in_one_record_that_both_find(open_scope: Any, one: Any, other: Any, joint: str) -> None:
    scope = open_scope(facts={"strategy": "merge"})
    subject = one[0][:3] if joint == "; " else one[0][:2]
    old = scope.add(one[0], triple=(subject, "lives in", one[1]), importance=0.9, metadata={"a": 1})
    scope.add("Bob likes chess", triple=("Bob", "likes", "chess"))
    new = scope.add(other[0], triple=(subject, "lives in", other[1]), metadata={"b": 2})
    assert new.text == f"{one[0]}{joint}{other[0]}"
    assert (new.importance, new.metadata, new.supersedes) == (0.9, {"a": 1, "b": 2}, old.id)
    assert new.triple.object == f"{one[1]}; {other[1]}"
    for text in (one[0], other[0]):
        assert scope.search(text, k=1)[0].record.id == new.id
    scope.add(f"{other[0]}!", triple=(subject, "lives in", other[1]))
    assert scope.get(new.id).status is Status.ACTIVE


def test_d3_users_declare_which_predicates_have_one_value(open_scope: Any) -> None:
    scope = open_scope(facts={"single_valued": ("theme", "最爱的编辑器"), "many_valued": ("lives in",)})
    for text, triple in (
        ("dark", ("app", "Theme", "dark")), ("light", ("app", "theme", "light")),
        ("Lyon", ("Ann", "lives_in", "Lyon")), ("Rome", ("Ann", "住在", "Rome")),
    ):  # fmt: skip
        scope.add(text, triple=triple)
    assert now(scope) == ["light", "Lyon", "Rome"]


def test_d3_a_compound_correction_replaces_each_part(scope: Scope) -> None:
    for text in ("I live in Lyon", "I own a red car", "I own a boat", "I like tea"):
        say(scope, text)
    say(scope, "I moved to Rome and sold the car")
    assert sorted(record.text for record in past(scope)) == ["I live in Lyon", "I own a red car"]
    assert {"I moved to Rome", "I own a boat", "I like tea"} <= set(now(scope))


def test_d3_an_alias_told_once_joins_what_is_said_under_both_names(scope: Scope) -> None:
    scope.add("张伟住在杭州", triple=("张伟", "住在", "杭州"))
    scope.graph.alias("张伟", "老板")
    scope.add("老板住在上海", triple=("老板", "住在", "上海"))
    assert now(scope) == ["老板住在上海"]
    scope.graph.split("老板")
    scope.add("老板住在北京", triple=("老板", "住在", "北京"))
    scope.add("张伟住在成都", triple=("张伟", "住在", "成都"))
    assert set(now(scope)) == {"老板住在北京", "张伟住在成都"}


def test_d3_many_at_once_meet_each_other_too(scope: Scope) -> None:
    places = [f"place {n}" for n in range(20)]
    many = [{"text": f"Ann lives in {place}", "triple": ("Ann", "lives in", place)} for place in places]
    plain = [f"note {n}" for n in range(30)]
    found = scope.add_many([*plain, *many, "likes tea", "doesn't like tea", "likes tea!"])
    assert [record.status for record in found[30:50]] == [Status.SUPERSEDED] * 19 + [Status.ACTIVE]
    assert {"Ann lives in place 19", "likes tea!"} <= set(now(scope))
    assert "doesn't like tea" not in now(scope)
    assert len(now(scope)) == 32
    assert len({record.id for record in found}) == len(found)


def test_d3_an_nli_model_may_see_what_rules_do_not(open_scope: Any) -> None:
    asked: list[tuple[str, str]] = []

    def contradicts(old: str, new: str) -> bool:
        asked.append((old, new))
        return {old, new} == {"Ann sold her violin", "Ann still plays her violin daily"}

    scope = open_scope(facts={"contradicts": contradicts})
    scope.add("Ann sold her violin")
    scope.add("Ann's violin teacher moved away")
    scope.add("Ann still plays her violin daily")
    assert set(now(scope)) == {"Ann's violin teacher moved away", "Ann still plays her violin daily"}
    assert ("Ann's violin teacher moved away", "Ann still plays her violin daily") in asked


# ---------------------------------------------------------------------- asking (D3)

ASKED = [
    ("Ann lives in Lyon", "Ann lives in Rome", ("Ann", "lives in"), ("Lyon", "Rome"), "Which is right?", "both"),
    ("小李住在杭州", "小李住在上海", ("小李", "住在"), ("杭州", "上海"), "哪一个是对的", "两者都对"),
]


@pytest.mark.parametrize(("first", "second", "about", "places", "words", "both"), ASKED)
@pytest.mark.parametrize("choice", ["new", "old", "both"])
def test_d3_asking_changes_nothing_until_it_is_answered(
    open_scope: Any, first: str, second: str, about: Any, places: Any, words: str, both: str, choice: str
) -> None:
    scope = open_scope(facts={"strategy": "ask"})
    old = scope.add(first, triple=(*about, places[0]))
    new = scope.add(second, triple=(*about, places[1]))
    assert new.status is Status.WAITING
    assert now(scope) == [first]
    assert [hit.record.id for hit in scope.search(second)] == [old.id]
    [question] = scope.questions()
    assert words in question.text
    assert first in question.text
    assert second in question.text
    assert (question.choices, question.new, question.old) == ((second, first, both), new.id, old.id)
    scope.add(second, triple=(*about, places[1]))  # told again: one question all the same
    assert len(scope.questions()) == 1
    with pytest.raises(InvalidInput):
        scope.answer(question, "perhaps")
    with pytest.raises(NotFound):
        scope.answer("nothing", "new")
    kept = scope.answer(question, question.choices[["new", "old", "both"].index(choice)])
    assert kept.id == (old.id if choice == "old" else new.id)
    assert now(scope) == {"new": [second], "old": [first], "both": [first, second]}[choice]
    assert scope.questions() == []
    with pytest.raises(NotFound):
        scope.answer(question, 0)
    if choice == "new":
        assert scope.get(old.id).superseded_by == new.id


def test_d3_in_talk_the_same_contradiction_is_asked_about_once(open_scope: Any) -> None:
    scope = open_scope(facts={"strategy": "ask"})
    for text in ("I live in Lyon", "I moved to Rome", "I am living in Rome", "I like tea"):
        say(scope, text)
    [question] = scope.questions()
    scope.answer(question.id, "new")
    assert set(now(scope)) == {"I moved to Rome", "I like tea"}


def test_d3_a_question_about_an_erased_fact_is_gone_and_what_waited_holds(open_scope: Any) -> None:
    scope = open_scope(facts={"strategy": "ask"})
    old = scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
    scope.delete(old.id)
    assert scope.questions() == []
    assert now(scope) == ["Ann lives in Rome"]
    scope.add("Ann lives in Oslo", triple=("Ann", "lives in", "Oslo"))
    scope.delete(scope.questions()[0].new)
    assert scope.questions() == []
    assert now(scope) == ["Ann lives in Rome"]


# ---------------------------------------------------------------------- freshness (D5)


@pytest.mark.parametrize(("text", "other"), [("Ann is on holiday", "Ann is on duty"), ("小李在休假", "小李在值班")])
def test_d5_past_its_time_to_live_a_memory_ranks_last_and_asks_to_be_confirmed(
    open_scope: Any, clock: ManualClock, text: str, other: str
) -> None:
    scope = open_scope(facts={"time_to_live": {"status": timedelta(days=7)}})
    old = scope.add(text, type="status")
    scope.add(other, type="note")
    assert not old.stale
    assert scope.search(text)[0].record.id == old.id
    clock.advance(days=8)
    assert scope.get(old.id).stale
    hits = scope.search(text, explain=True)
    assert [hit.record.id == old.id for hit in hits] == [False, True]
    assert "to be confirmed" in hits[-1].reason
    assert not hits[0].record.stale
    confirmed = scope.confirm(old.id)
    assert not confirmed.stale
    assert confirmed.confirmed_at is not None
    assert scope.search(text)[0].record.id == old.id
    assert "confirmed" in {change.action for change in scope.history(old.id)}
    clock.advance(days=8)
    assert scope.get(old.id).stale
    assert [record.id for record in scope.list() if record.stale] == [old.id]


def test_d5_or_it_is_gone_as_configured(open_scope: Any, clock: ManualClock) -> None:
    scope = open_scope(facts={"time_to_live": {"status": timedelta(days=7)}, "past_it": "gone"})
    one, other = scope.add("Ann is away", type="status"), scope.add("Bob is away", type="status")
    clock.advance(days=5)
    scope.confirm(one.id)
    clock.advance(days=5)
    assert now(scope) == ["Ann is away"]
    assert scope.get(other.id) is None
    assert [hit.record.text for hit in scope.search("is away")] == ["Ann is away"]


def test_d5_only_what_is_remembered_now_can_be_confirmed(scope: Scope) -> None:
    old = scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
    with pytest.raises(InvalidInput, match="superseded"):
        scope.confirm(old.id)
    with pytest.raises(NotFound):
        scope.confirm("nothing")


# ---------------------------------------------------------------------- structured facts (B2)


def test_b2_a_fact_out_of_talk_has_all_its_parts(scope: Scope, clock: ManualClock) -> None:
    said = datetime(2025, 7, 10, 12, tzinfo=UTC)
    [turn] = say(scope, "I moved to Lyon yesterday", created_at=said, id="m1")
    [fact] = scope.list(kinds=["fact"])
    assert fact.triple == ("user", "lives_in", "Lyon")
    assert (fact.type, fact.source, fact.role, fact.polarity) == ("user_fact", "user", "user", True)
    assert 0 < fact.confidence <= 1
    assert "Lyon" in fact.entities
    assert fact.event_time is not None
    assert fact.event_time.date() == datetime(2025, 7, 9).date()
    assert fact.created_at == said
    assert scope.sources(fact.id) == [{"record": turn.id, "message_id": "m1", "session": "talk", "extractor": "rules"}]
    for where in ({"type": "user_fact"}, {"subject": "user"}, {"predicate": "lives_in"}, {"object": "Lyon"},
                  {"entities": {"$contains": "Lyon"}}, {"session": "talk", "kind": "fact"}):  # fmt: skip
        assert [record.id for record in scope.list(where=where, kinds=["fact"])] == [fact.id]
        assert [hit.record.id for hit in scope.search("Lyon", where=where, kinds=["fact"])] == [fact.id]


def test_b2_types_of_ones_own_are_as_good(scope: Scope) -> None:
    for type in ("user_fact", "conversation_summary", "project_context", "learned_rule", "门诊记录"):
        scope.add(f"about {type}", type=type)
    assert [record.type for record in scope.list(where={"type": "门诊记录"})] == ["门诊记录"]
    assert len(scope.list()) == 5


def test_b2_a_fact_is_a_relation_of_the_graph_as_long_as_it_holds(scope: Scope) -> None:
    lyon = scope.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"))
    assert [n.name for n in scope.graph.neighbours("Ann")] == ["Lyon"]
    rome = scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
    assert [n.name for n in scope.graph.neighbours("Ann")] == ["Rome"]
    scope.add("Ann dislikes tea", triple=("Ann", "dislikes", "tea"))
    scope.update(rome.id, triple=("Ann", "lives in", "Oslo"))
    assert [n.name for n in scope.graph.neighbours("Ann")] == ["Oslo"]
    scope.delete(rome.id)
    assert scope.graph.neighbours("Ann") == []
    assert scope.get(lyon.id) is not None
