"""What a new fact does to the old ones: the rules alone (D3, R49, R50)."""

from __future__ import annotations

from itertools import count

import pytest

from shared_core.values import Triple
from shared_core.writing.conflict import Action, Decision, Fact, Policy, Strategy, claim_of, clarifying, decide, lookups

_ids = count()


def fact(subject: str, predicate: str, object: str, told: int, text: str = "", **more: object) -> Fact:
    claim = claim_of(text, Triple(subject, predicate, object))
    assert claim is not None
    return Fact(str(next(_ids)), text, claim, told, **more)  # type: ignore[arg-type]


def meet(old: Fact, new: Fact, **policy: object) -> Decision:
    """The decision about two facts, if one can see the other at all."""
    rules = Policy(**policy)  # type: ignore[arg-type]
    places = {topic for topic, _ in lookups(new.claim, rules.single)}
    shared = places & {lookups(old.claim, rules.single)[0][0]}
    return decide([old] if shared else [], new, rules)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("Ann", "lives in", "Lyon"), ("ann", "LIVES_IN", "Rome")),
        (("Ann", "lives in", "Lyon"), ("Ann", "住在", "Rome")),
        (("小李", "住在", "杭州"), ("小李", "居住在", "上海")),
        (("ＡＮＮ", "works at", "Acme"), ("ann", "worksAt", "Globex")),
        (("user", "age", "29 years old"), ("我", "年龄", "30岁")),
        (("user", "favourite color", "green"), ("user", "favorite_color", "blue")),
        (("Ann", "married to", "Bob"), ("Ann", "marital_status", "divorced")),
        (("Ann", "marital_status", "single"), ("Ann", "married to", "Bob")),
        (("project", "deadline", "May 1"), ("project", "due date", "May 8")),
        (("Ann", "likes", "tea"), ("Ann", "dislikes", "tea")),
        (("Ann", "likes", "tea"), ("Ann", "no longer likes", "the tea")),
        (("小李", "喜欢", "茶"), ("小李", "不喜欢", "茶")),
        (("小李", "讨厌", "茶"), ("小李", "喜欢", "茶")),
        (("Ann", "owns", "a car"), ("Ann", "sold", "the car")),
        (("Ann", "owns", "red car"), ("Ann", "sold", "car")),
        (("小李", "拥有", "红色汽车"), ("小李", "卖了", "汽车")),
        (("Ann", "works at", "Acme"), ("Ann", "no longer works at", "job")),
        (("user", "likes", "喝乌龙茶"), ("user", "不再喝", "乌龙茶")),
    ],
)
def test_d3_the_new_fact_replaces_the_old_one(old: tuple[str, str, str], new: tuple[str, str, str]) -> None:
    assert meet(fact(*old, told=1), fact(*new, told=2)).action is Action.REPLACE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("Ann", "lives in", "Lyon"), ("Bob", "lives in", "Rome")),
        (("Ann", "lives in", "Lyon"), ("Ann", "works at", "Lyon Ltd")),
        (("Ann", "likes", "tea"), ("Ann", "likes", "coffee")),
        (("Ann", "likes", "tea"), ("Ann", "dislikes", "coffee")),
        (("Ann", "likes", "tea"), ("Ann", "drinks", "tea")),
        (("Ann", "speaks", "French"), ("Ann", "speaks", "Dutch")),
        (("Ann", "visited", "Rome"), ("Ann", "visited", "Oslo")),
        (("Ann", "free on", "Monday"), ("Ann", "free on", "Tuesday")),
        (("Ann", "allergic to", "nuts"), ("Bob", "not allergic to", "nuts")),
        (("index", "uses", "64 dimensions"), ("index", "does not use", "65 dimensions")),
        (("Ann", "no longer lives in", "Lyon"), ("Ann", "lives in", "Rome")),
        (("Ann", "lives in", "Rome"), ("Ann", "no longer lives in", "Lyon")),
        (("Ann", "owns", "car"), ("Ann", "sold", "carpet")),
        (("小李", "喜欢", "茶"), ("小王", "不喜欢", "茶")),
        (("小李", "不锈钢", "锅"), ("小李", "锈钢", "锅")),
        (("Ann", "is alike to", "Bob"), ("Ann", "is alike to", "Carla")),
    ],
)
def test_r49_unrelated_facts_never_conflict(old: tuple[str, str, str], new: tuple[str, str, str]) -> None:
    assert meet(fact(*old, told=1), fact(*new, told=2)).action is Action.ADD


def test_d3_of_two_things_that_could_be_meant_neither_is_ended() -> None:
    cars = [fact("Ann", "owns", "red car", 1), fact("Ann", "owns", "blue car", 2)]
    assert decide(cars, fact("Ann", "sold", "car", 3), Policy()).action is Action.ADD
    assert decide(cars, fact("Ann", "sold", "blue car", 3), Policy()).olds == (cars[1],)


def test_d3_the_text_can_deny_what_the_triple_affirms() -> None:
    old = fact("Ann", "likes", "tea", 1)
    assert meet(old, fact("Ann", "likes", "tea", 2, text="Ann no longer likes tea")).action is Action.REPLACE
    assert meet(old, fact("Ann", "likes", "tea", 2, text="Ann still likes tea")).action is Action.ADD
    # The denial is of something else: the triple counts.
    home = fact("Ann", "lives in", "Rome", 2, text="Ann lives in Rome, not in Paris")
    assert home.claim.polarity


def test_d3_users_say_which_predicates_have_one_value() -> None:
    old, new = fact("app", "theme", "dark", 1), fact("app", "theme", "light", 2)
    assert meet(old, new).action is Action.ADD
    assert meet(old, new, single=lambda key: key == "theme").action is Action.REPLACE
    homes = fact("Ann", "lives in", "Lyon", 1), fact("Ann", "lives in", "Rome", 2)
    assert meet(*homes, single=lambda key: False).action is Action.ADD


def test_d3_importance_wins_and_a_tie_keeps_the_old_one() -> None:
    def met(old: float, new: float) -> Action:
        facts = (
            fact("Ann", "lives in", "Lyon", 1, importance=old),
            fact("Ann", "lives in", "Rome", 2, importance=new),
        )
        return meet(*facts, strategy=Strategy.IMPORTANCE).action

    assert (met(0.9, 0.5), met(0.5, 0.9), met(0.5, 0.5)) == (Action.YIELD, Action.REPLACE, Action.YIELD)


def test_d3_confidence_and_accesses_win_and_a_tie_goes_to_the_newer() -> None:
    def met(strategy: Strategy, **more: tuple[float, float]) -> Action:
        olds, news = ({name: values[i] for name, values in more.items()} for i in (0, 1))
        facts = fact("Ann", "lives in", "Lyon", 1, **olds), fact("Ann", "lives in", "Rome", 2, **news)
        return meet(*facts, strategy=strategy).action

    assert met(Strategy.CONFIDENCE, confidence=(0.9, 0.5)) is Action.YIELD
    assert met(Strategy.CONFIDENCE, confidence=(0.5, 0.9)) is Action.REPLACE
    assert met(Strategy.CONFIDENCE, confidence=(1.0, 1.0)) is Action.REPLACE
    assert met(Strategy.ACCESSES, accesses=(3, 0)) is Action.YIELD
    assert met(Strategy.ACCESSES, accesses=(0, 0)) is Action.REPLACE


def test_d3_values_merge_a_denial_does_not() -> None:
    old = fact("Ann", "lives in", "Lyon", 1)
    assert meet(old, fact("Ann", "lives in", "Rome", 2), strategy=Strategy.MERGE).action is Action.MERGE
    assert meet(old, fact("Ann", "no longer lives in", "Lyon", 2), strategy=Strategy.MERGE).action is Action.REPLACE
    merged = fact("Ann", "lives in", "Lyon; Rome", 3)
    assert meet(merged, fact("Ann", "lives in", "Rome", 4), strategy=Strategy.MERGE).action is Action.ADD


def test_d4_the_later_date_is_the_present_whatever_was_told_first() -> None:
    early = fact("Ann", "lives in", "Lyon", 100, since=10)
    late = fact("Ann", "lives in", "Rome", 90, since=20)
    assert meet(early, late).action is Action.REPLACE
    decision = meet(late, early)
    assert (decision.action, decision.at) == (Action.YIELD, 20)
    # Of one without a date only the telling is known.
    assert (
        meet(fact("Ann", "lives in", "Lyon", 50), fact("Ann", "lives in", "Rome", 60, since=5)).action is Action.REPLACE
    )


def test_d3_the_question_holds_texts_with_braces_and_signs_as_they_are() -> None:
    text, choices = clarifying("{old} %s {0}", "{new} ${x}", "en")
    assert "{old} %s {0}" in text
    assert "{new} ${x}" in text
    assert choices == ("{new} ${x}", "{old} %s {0}", "both")
    assert "两者都对" in clarifying("甲", "乙", "zh")[1]


def test_d3_other_names_of_a_subject_are_looked_for_too() -> None:
    old, new = fact("张伟", "住在", "杭州", 1), fact("老板", "住在", "上海", 2)
    single = Policy().single
    assert lookups(old.claim, single)[0] not in lookups(new.claim, single)
    assert lookups(old.claim, single)[0] in lookups(new.claim, single, ["张伟"])
