"""Query expansion and reranking (C3): they help where they can, and a broken one never costs an answer."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput
from shared_core.recall.hooks import HookFailed, order_of, queries_of
from shared_core.recall.rank import fused
from shared_core.testing import ScriptedLLM

TEXTS = {
    "en": ["My bike is red", "Green tea keeps me awake", "I drink tea with milk", "The tea house is closed"],
    "zh": ["我的自行车是红色的", "绿茶让我睡不着", "我喝茶加牛奶", "茶馆关门了"],
}
ASKED = {"en": "tea", "zh": "茶"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
Search = Callable[..., list[str]]


def scope_with(language: str = "en", **recall: Any) -> Scope:
    llm = recall.pop("llm", None)
    scope = AgentMemory.open(embedder="hashing", llm=llm, settings={"recall": recall}).scope(user="alice")
    scope.add_many([{"text": text, "id": str(n)} for n, text in enumerate(TEXTS[language])])
    return scope


def ids(hits: list[Any]) -> list[str]:
    return [hit.record.id for hit in hits]


@pytest.fixture(params=["sync", "async"])
def search(request: pytest.FixtureRequest) -> Search:
    """`search` in both forms: they are one logic."""

    def _search(scope: Scope, query: Any, **more: Any) -> list[str]:
        if request.param == "sync":
            return ids(scope.search(query, **more))
        return ids(asyncio.run(scope.asearch(query, **more)))

    return _search


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    with caplog.at_level(logging.DEBUG, logger="twinmem.recall"):
        yield lambda: [r.getMessage() for r in caplog.records if r.name == "twinmem.recall"]


# ---------------------------------------------------------------------- reranking


@LANGUAGES
def test_c3_a_reranker_orders_the_first_hits_and_the_rest_keep_theirs(search: Search, language: str) -> None:
    seen: list[tuple[str, list[str]]] = []

    def shortest(query: str, texts: list[str]) -> list[float]:
        seen.append((query, texts))
        return [-float(len(text)) for text in texts]

    plain = search(scope_with(language), ASKED[language], k=4)
    scope = scope_with(language, rerank=shortest, rerank_top=3)
    found = search(scope, ASKED[language], k=4)
    lengths = {str(n): len(text) for n, text in enumerate(TEXTS[language])}
    assert found[:3] == sorted(plain[:3], key=lambda id: lengths[id])
    assert found[3:] == plain[3:]
    assert seen == [(ASKED[language], [TEXTS[language][int(id)] for id in plain[:3]])]


def test_c3_a_reranker_sees_more_than_is_asked_for_so_that_it_can_lift_a_hit() -> None:
    last = scope_with()
    plain = ids(last.search("tea", k=4))
    scope = scope_with(rerank=lambda query, texts: list(range(len(texts)))[::-1])
    assert ids(scope.search("tea", k=1)) == plain[-1:]
    assert ids(scope.search("tea", k=4)) == plain[::-1]


def test_c3_the_score_stays_the_record_s_own_whatever_a_reranker_says() -> None:
    parts = {hit.record.id: hit.parts["score"] for hit in scope_with().search("tea with milk", k=4, explain=True)}
    scope = scope_with(rerank=lambda query, texts: [1e6 * n for n in range(len(texts))])
    found = scope.search("tea with milk", k=4, explain=True)
    assert {hit.record.id: hit.parts["score"] for hit in found} == parts
    assert found[-1].record.id == "2", "the best match comes last, as the reranker says"
    assert all(a.score >= b.score for a, b in pairwise(found))
    assert found[0].parts["rerank"] == 3e6
    assert "reranked from 4" in found[0].reason
    strict = scope.search("tea with milk", k=4, min_score=parts["2"])
    assert ids(strict) == ["2"], "a threshold means the same with and without a reranker"


def test_c3_what_a_reranker_reads_says_who_speaks() -> None:
    seen: list[list[str]] = []
    rerank = lambda query, texts: seen.append(texts) or [0.0] * len(texts)  # noqa: E731
    scope = AgentMemory.open(embedder="hashing", settings={"recall": {"rerank": rerank}}).scope(user="alice")
    told = [{"role": "user", "content": "I grow tea", "name": "Ann"}, {"role": "user", "content": "I sell tea"}]
    scope.session("s").add_messages(told)
    plain = ids(scope.search("tea", kinds=["turn"]))
    assert sorted(seen[0]) == ["Ann: I grow tea", "I sell tea"]
    assert len(plain) == 2, "equal scores keep the plain order"


NONSENSE: dict[str, Any] = {
    "too few": lambda query, texts: [1.0],
    "too many": lambda query, texts: [1.0] * (len(texts) + 1),
    "none": lambda query, texts: None,
    "NaN": lambda query, texts: [float("nan")] * len(texts),
    "infinite": lambda query, texts: [float("inf"), *([0.0] * (len(texts) - 1))],
    "texts": lambda query, texts: ["0.5"] * len(texts),
    "the texts themselves": lambda query, texts: texts[::-1],
    "pairs": lambda query, texts: [[1.0, 2.0]] * len(texts),
    "ragged": lambda query, texts: [[1.0], [1.0, 2.0]],
    "objects": lambda query, texts: [object()] * len(texts),
    "some missing": lambda query, texts: [None, *([0.0] * (len(texts) - 1))],
    "wrong arguments": lambda query: [],
}


def failing(*_: Any) -> Any:
    raise RuntimeError("the model is down")


async def failing_later(*_: Any) -> Any:
    await asyncio.sleep(0)
    raise RuntimeError("the model is down")


@pytest.mark.parametrize(
    "hook", [*NONSENSE.values(), failing, failing_later], ids=[*NONSENSE, "raises", "raises async"]
)
def test_c3_a_reranker_that_fails_leaves_the_plain_order_and_one_warning(
    hook: Any, search: Search, warnings: Callable[[], list[str]]
) -> None:
    plain = search(scope_with(), "tea", k=4)
    assert warnings() == []
    assert search(scope_with(rerank=hook), "tea", k=4) == plain
    assert len(warnings()) == 1
    assert warnings()[0].startswith("the reranker failed, the plain order stands: ")


@pytest.mark.parametrize("kind", ["blocking", "async", "object"])
def test_c3_a_hook_that_hangs_is_waited_for_no_longer_than_set(
    kind: str, search: Search, warnings: Callable[[], list[str]]
) -> None:
    stop = threading.Event()

    def blocking(*_: Any) -> list[float]:
        stop.wait(30)
        return []

    async def later(*_: Any) -> list[float]:
        await asyncio.sleep(30)
        return []

    class Both:
        def __call__(self, *_: Any) -> list[float]:
            return blocking()

        async def acall(self, *_: Any) -> list[float]:
            return await later()

    hook = {"blocking": blocking, "async": later, "object": Both()}[kind]
    plain = search(scope_with(), "tea", k=4)
    began = time.monotonic()
    for which in ("rerank", "expand"):
        scope = scope_with(**{which: hook}, hook_seconds=0.05)
        assert search(scope, "tea", k=4) == plain
    stop.set()
    assert time.monotonic() - began < 10
    assert ["no answer within 0.05 s" in line for line in warnings()] == [True, True]


def test_c3_the_async_form_is_awaited_where_there_is_one() -> None:
    calls: list[str] = []

    class Both:
        def __call__(self, query: str, texts: list[str]) -> list[float]:
            calls.append("sync")
            return [float(n) for n in range(len(texts))]

        async def acall(self, query: str, texts: list[str]) -> list[float]:
            calls.append("async")
            return [float(n) for n in range(len(texts))]

    scope = scope_with(rerank=Both())
    assert ids(scope.search("tea", k=4)) == ids(asyncio.run(scope.asearch("tea", k=4)))
    assert calls == ["sync", "async"]


def test_c3_context_variables_reach_a_hook() -> None:
    """What a framework's tracing hangs on."""
    import contextvars

    run = contextvars.ContextVar("run", default="none")
    seen: list[str] = []
    scope = scope_with(rerank=lambda query, texts: seen.append(run.get()) or [0.0] * len(texts))
    run.set("traced")
    scope.search("tea")
    assert seen == ["traced"]


def test_c3_nothing_is_asked_where_there_is_nothing_to_decide(warnings: Callable[[], list[str]]) -> None:
    scope = scope_with(rerank=failing)
    assert ids(scope.search("bike", k=1, where={"id": "0"})) == ["0"]
    assert scope.search("", k=3) == scope.search("tea", k=0) == []
    empty = AgentMemory.open(embedder="hashing", settings={"recall": {"rerank": failing, "expand": failing}})
    assert empty.scope(user="bob").search("tea") == []
    assert warnings() == []


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_c3_an_order_is_a_permutation_whatever_the_scores(scores: list[float]) -> None:
    order = order_of([score + 0.5 for score in scores], len(scores))
    assert sorted(order.places) == list(range(len(scores)))
    ranked = [order.scores[place] for place in order.places]
    assert ranked == sorted(ranked, reverse=True)


def test_c3_scores_may_come_in_any_numeric_form() -> None:
    expected = [2, 0, 1]
    for scores in ([0.2, 0.1, 0.9], (0.2, 0.1, 0.9), np.array([0.2, 0.1, 0.9]), np.array([[0.2], [0.1], [0.9]]),
                   [5, 3, 8], [0, -1, 1]):  # fmt: skip
        assert order_of(scores, 3).places == expected
    assert order_of([2, 0, 1], 3).places == [2, 0, 1], "places"
    assert order_of([True, False, True], 3).places == [0, 2, 1]
    with pytest.raises(HookFailed):
        order_of([0, 0, 5, 1], 3)


# ---------------------------------------------------------------------- expansion


@LANGUAGES
def test_c3_an_expansion_finds_what_the_words_of_the_question_do_not(search: Search, language: str) -> None:
    question, further, wanted = {
        "en": ("How do I get to work?", "red bike", "0"),
        "zh": ("我怎么上班？", "红色的自行车", "0"),
    }[language]
    scope = scope_with(language, expand=lambda query: [further], expansion_weight=1.0)
    assert wanted in search(scope, question, k=2)


def test_c3_expansions_are_merged_and_nothing_comes_twice(search: Search) -> None:
    asked: list[str] = []

    def expand(query: str) -> list[str]:
        asked.append(query)
        return ["tea", "TEA ", "tea with milk", "", "bike", "house", "closed house"]

    scope = scope_with(expand=expand, expansions=3)
    found = search(scope, "tea", k=10)
    assert len(found) == len(set(found)) == 4
    assert asked == ["tea"]
    assert queries_of(expand(""), "tea", 3) == ["tea with milk", "bike", "house"]


def test_c3_the_question_asked_outweighs_its_expansions() -> None:
    plain = ids(scope_with().search("tea", k=4))
    assert ids(scope_with(expand=lambda query: ["bike"]).search("tea", k=1)) == plain[:1]
    assert ids(scope_with(expand=lambda query: ["bike"], expansion_weight=0).search("tea", k=4)) == plain
    assert ids(scope_with(expand=lambda query: []).search("tea", k=4)) == plain


def test_c3_a_hit_of_an_expansion_has_the_score_for_the_question_that_was_asked() -> None:
    own = {hit.record.id: hit.parts["score"] for hit in scope_with().search("tea", k=4, explain=True)}
    found = scope_with(expand=lambda query: ["My bike is red"]).search("tea", k=4, explain=True)
    assert {hit.record.id: hit.parts["score"] for hit in found} == own
    assert next(hit for hit in found if hit.record.id == "0").score < 0.5


@pytest.mark.parametrize(
    "hook",
    [failing, failing_later, lambda q: None, lambda q: [1, 2], lambda q: {"a": "b"}, lambda q: [None], lambda: []],
    ids=["raises", "raises async", "none", "numbers", "dict", "list of none", "wrong arguments"],
)
def test_c3_an_expansion_that_fails_costs_one_warning(
    hook: Any, search: Search, warnings: Callable[[], list[str]]
) -> None:
    assert search(scope_with(expand=hook), "tea", k=4) == search(scope_with(), "tea", k=4)
    assert len(warnings()) == 1
    assert warnings()[0].startswith("query expansion failed, searching without it: ")


def test_c3_an_expansion_longer_than_a_query_may_be_is_left_out(warnings: Callable[[], list[str]]) -> None:
    settings = {"recall": {"expand": lambda query: ["tea " * 100, "bike"]}, "limits": {"query_chars": 50}}
    scope = AgentMemory.open(embedder="hashing", settings=settings).scope(user="alice")
    scope.add_many(TEXTS["en"])
    assert len(scope.search("tea", k=4)) == 4
    assert len(warnings()) == 1


def test_c3_filters_hold_for_expansions_too() -> None:
    scope = scope_with(expand=lambda query: ["bike"])
    assert "0" not in ids(scope.search("tea", k=4, exclude=["0"]))
    assert ids(scope.search("tea", k=4, where={"id": "1"})) == ["1"]
    assert scope.search("tea", k=4, kinds=["event"]) == []


def test_c3_of_a_conversation_the_newest_message_is_expanded() -> None:
    asked: list[str] = []
    scope = scope_with(expand=lambda query: asked.append(query) or [])
    scope.search([{"role": "user", "content": "Hello"}, {"role": "user", "content": "Which tea?"}])
    assert asked == ["Which tea?"]


def test_c3_what_the_memory_asks_itself_is_not_paid_for(warnings: Callable[[], list[str]]) -> None:
    """Facts that may contradict are looked for at every write; no reranker or LLM is asked for that."""
    compared: list[str] = []
    settings = {
        "recall": {"rerank": failing, "expand": failing},
        "facts": {"contradicts": lambda old, new: compared.append(old) or False},
    }
    scope = AgentMemory.open(embedder="hashing", settings=settings).scope(user="alice")
    scope.add_many(["Tea is served at five", "Milk is in the fridge"])
    scope.add("Tea is not served on Sundays")
    assert compared
    assert warnings() == []
    scope.search("tea")
    assert len(warnings()) == 2


# ---------------------------------------------------------------------- by an LLM


@LANGUAGES
def test_c3_an_llm_expands_in_the_language_of_the_question(search: Search, language: str) -> None:
    question, answer = {
        "en": ("How do I get to work?", '```json\n{"queries": ["red bike", "how do i get to work"]}\n```'),
        "zh": ("我怎么上班？", '好的：{"queries": ["红色的自行车"'),
    }[language]
    llm = ScriptedLLM([answer], repeat=True)
    scope = scope_with(language, llm=llm, expand="llm", expansion_weight=1.0)
    assert "0" in search(scope, question, k=2)
    [prompt] = llm.prompts
    assert question in prompt
    assert ("搜索语句" in prompt) is (language == "zh")


@pytest.mark.parametrize("answer", ["I can't help with that.", "", RuntimeError("down"), "{}", '{"queries": [1]}'])
def test_c3_an_llm_that_answers_with_nonsense_costs_one_warning(
    answer: Any, search: Search, warnings: Callable[[], list[str]]
) -> None:
    scope = scope_with(llm=ScriptedLLM([answer], repeat=True), expand="llm")
    assert search(scope, "tea", k=4) == search(scope_with(), "tea", k=4)
    assert len(warnings()) == 1


def test_c3_an_llm_reads_the_conversation_before_the_question() -> None:
    llm = ScriptedLLM(['{"queries": []}'], repeat=True)
    scope = scope_with(llm=llm, expand="llm")
    scope.search([{"role": "user", "content": "About my bike"}, {"role": "user", "content": "What colour is it?"}])
    assert "About my bike" in llm.prompts[0]
    assert "What colour is it?" in llm.prompts[0]


def test_c3_expansion_by_an_llm_without_an_llm_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="needs an llm"):
        AgentMemory.open(embedder="hashing", settings={"recall": {"expand": "llm"}})
    for wrong in ({"expand": "gpt"}, {"rerank": "cohere"}, {"hook_seconds": 0}, {"rerank_top": 0}):
        with pytest.raises(InvalidInput):
            AgentMemory.open(embedder="hashing", settings={"recall": wrong})


# ---------------------------------------------------------------------- merging


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=4))
def test_c3_orders_that_agree_are_kept_by_merging_them(orders: list[list[int]]) -> None:
    same = [np.array(orders[0])] * len(orders)
    merged = fused(same, [1.0] * len(same), 6)
    assert np.argsort(-merged, kind="stable").tolist() == orders[0]
    mixed = fused([np.array(order) for order in orders], [1.0] * len(orders), 8)
    assert (mixed[:6] > 0).all()
    assert mixed[6:].tolist() == [0.0, 0.0], "what no question finds has no value"
