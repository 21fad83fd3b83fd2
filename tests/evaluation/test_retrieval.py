"""If scoring is wrong, every published figure is: all values here are worked out by hand."""

import pytest

from shared_core.evaluation.retrieval import (
    aggregate,
    figures,
    firsts,
    group,
    losses,
    mrr,
    parse_evidence,
    recall_at,
    spread,
    turn_order,
)

KNOWN = {"D1:3", "D8:6", "D9:17", "D30:5", "D11:26", "D10:19"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (["D1:3"], ["D1:3"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:17 D8:6"], ["D9:17", "D8:6"]),
        (["D8:6,D9:17", "D1:3"], ["D8:6", "D9:17", "D1:3"]),
        (["D30:05"], ["D30:5"]),
        (["D030:005"], ["D30:5"]),
        (["D1:3", "D1:3", "D1:03"], ["D1:3"]),
        (["D1:4"], []),
        (["D99:1", "D1:3"], ["D1:3"]),
        (["D1:33"], []),
        (["D"], []),
        (["D:11:26"], []),
        ([""], []),
        ([], []),
        (None, []),
        ("D8:6", ["D8:6"]),
    ],
)
def test_evidence_is_every_turn_named_that_exists(raw, expected):
    assert parse_evidence(raw, KNOWN) == expected


SESSION = [f"D12:{n}" for n in range(1, 12)] + ["D13:1", "D13:2"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (["D12:3-D12:5"], ["D12:3", "D12:4", "D12:5"]),
        ("D12:3 - 5", ["D12:3", "D12:4", "D12:5"]),
        (["D12:9–D12:11, D12:1"], ["D12:9", "D12:10", "D12:11", "D12:1"]),
        (["D12:10-D13:1"], ["D12:10", "D12:11", "D13:1"]),
        (["D12:5-D12:3"], []),
        ([["D12:1"], "D12:2"], ["D12:1", "D12:2"]),
        (["D12:2", "D12:1-D12:3"], ["D12:2", "D12:1", "D12:3"]),
    ],
)
def test_a_range_is_every_turn_from_its_first_to_its_last(raw, expected):
    assert parse_evidence(raw, SESSION) == expected


def test_a_session_stands_where_its_best_turn_stands():
    sessions = {"a1": "monday", "a2": "monday", "b1": "tuesday"}
    assert firsts(["b1", "a2", "gone", "a1"], sessions) == ["tuesday", "monday"]


def test_turns_sort_by_number_not_by_letter():
    assert sorted(["D10:1", "D2:10", "D2:9", "D1:1"], key=turn_order) == ["D1:1", "D2:9", "D2:10", "D10:1"]


@pytest.mark.parametrize("bad", ["", "D1", "1:2", "D1:2 ", "D1:2;D3:4"])
def test_what_is_no_turn_has_no_place(bad):
    with pytest.raises(ValueError, match="D<session>:<turn>"):
        turn_order(bad)


RANKING = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [
        ({"a"}, 1, 1.0),
        ({"b"}, 1, 0.0),
        ({"a", "c"}, 1, 0.5),
        ({"a", "c"}, 3, 1.0),
        ({"b", "d", "x"}, 4, 2 / 3),
        ({"b", "d", "x"}, 3, 1 / 3),
        (["e", "e"], 5, 1.0),
        ({"e"}, 4, 0.0),
        ({"x"}, 50, 0.0),
        ({"a", "b"}, 50, 1.0),
    ],
)
def test_recall_is_the_share_found(relevant, k, expected):
    assert recall_at(RANKING, relevant, k) == pytest.approx(expected, abs=0)


def test_an_id_ranked_twice_counts_once():
    assert recall_at(["a", "a", "b"], {"a", "b"}, 2) == 0.5


def test_nothing_ranked_is_nothing_found():
    assert recall_at([], {"a"}, 5) == 0.0
    assert mrr([], {"a"}) == 0.0


@pytest.mark.parametrize(
    ("relevant", "expected"), [({"a"}, 1.0), ({"b"}, 0.5), ({"e", "d"}, 0.25), ({"x"}, 0.0), ({"x", "c"}, 1 / 3)]
)
def test_mrr_is_that_of_the_first_found(relevant, expected):
    assert mrr(RANKING, relevant) == expected


def test_a_question_without_evidence_is_refused_rather_than_scored():
    with pytest.raises(ValueError, match="skip"):
        recall_at(RANKING, set(), 5)
    with pytest.raises(ValueError, match="skip"):
        mrr(RANKING, [])


def test_k_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        recall_at(RANKING, {"a"}, 0)


def test_figures_of_one_question():
    assert figures(RANKING, {"b", "e"}, (1, 2, 5)) == {"R@1": 0.0, "R@2": 0.5, "R@5": 1.0, "hit@5": 1.0, "MRR": 0.5}


def test_aggregate_is_the_mean_over_questions():
    rows = [{"R@1": 1.0, "MRR": 1.0}, {"R@1": 0.0, "MRR": 0.5}, {"R@1": 0.5, "MRR": 0.0}]
    assert aggregate(rows) == {"n": 3, "R@1": 0.5, "MRR": 0.5}
    assert aggregate([]) == {"n": 0}


def test_groups_keep_their_own_questions():
    rows = [(1, {"R@1": 1.0}), (2, {"R@1": 0.0}), (1, {"R@1": 0.0})]
    assert group(rows) == {1: {"n": 2, "R@1": 0.5}, 2: {"n": 1, "R@1": 0.0}}
    assert list(group([(2, {"x": 0.0}), (1, {"x": 0.0})])) == [2, 1]


def test_spread_weighs_conversations_alike_however_many_questions_they_have():
    groups = [{"n": 100, "R@1": 0.2}, {"n": 1, "R@1": 0.4}, {"n": 10, "R@1": 0.6}]
    # sd: squares of -0.2, 0, 0.2 sum to 0.08; over n - 1 = 2 that is 0.04, whose root is 0.2
    assert spread(groups, ["R@1"]) == {"R@1": pytest.approx({"mean": 0.4, "min": 0.2, "max": 0.6, "sd": 0.2})}
    assert spread(groups[:1], ["R@1"])["R@1"]["sd"] == 0.0
    assert spread([], ["R@1"]) == {}


def test_losses_name_every_column_where_another_is_better():
    ours = {"R@1": 0.5, "R@5": 0.7, "ms": 2.0}
    others = {"fast": {"R@1": 0.4, "R@5": 0.7, "ms": 1.0}, "good": {"R@1": 0.6, "R@5": 0.6, "ms": 3.0}, "absent": {}}
    assert losses(ours, others, ["R@1", "R@5", "ms"], lower_is_better=["ms"]) == [
        ("R@1", "good", 0.5, 0.6),
        ("ms", "fast", 2.0, 1.0),
    ]
    assert losses(ours, {}, ["R@1"]) == []
