"""Metadata and message parts as JSON; what is kept, what it becomes, what is refused (R72), what is redacted."""

from __future__ import annotations

import json
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.writing.plain import plain
from shared_core.writing.redact import redacted

JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(JSON)
def test_r72_json_stays_what_it_is_as_a_copy(value: Any) -> None:
    found = plain(value)
    assert found == value
    assert json.loads(json.dumps(found, allow_nan=False)) == value
    if isinstance(value, list | dict) and value:
        assert found is not value


def test_r72_subclasses_become_the_plain_types() -> None:
    class Text(str):
        pass

    class Number(int):
        pass

    found = plain({Text("k"): [Text("v"), Number(3), np.str_("s"), np.float64(0.5), Fraction(1, 4)]})
    assert found == {"k": ["v", 3, "s", 0.5, 0.25]}
    assert [type(x) for x in found["k"]] == [str, int, str, float, float]
    assert all(type(key) is str for key in found)
    assert plain({3, 1, "b"}) == plain({"b", 1, 3})
    assert plain(np.array([[1, 2]])) == [[1, 2]]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"x", InvalidType), ({1: 2}, InvalidType), (object(), InvalidType), (1j, InvalidType), ({None: 1}, InvalidType),
        (float("nan"), InvalidInput), (np.float32("inf"), InvalidInput), (np.array([1, float("nan")]), InvalidInput),
        (datetime(2025, 1, 1), InvalidInput), (np.array([object()]), InvalidType),
    ],
)  # fmt: skip
def test_r72_what_json_can_not_hold_is_refused_and_located(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"metadata\.a\[1\]"):
        plain({"a": [0, value]})


def test_nesting_has_an_end() -> None:
    deep: Any = 1
    for _ in range(32):
        deep = [deep]
    assert plain(deep) == deep
    with pytest.raises(LimitExceeded):
        plain([deep])
    assert plain({"a": [1]}, depth=2) == {"a": [1]}
    with pytest.raises(LimitExceeded):
        plain({"a": [1]}, depth=1)


@given(JSON)
def test_without_a_redactor_nothing_changes(value: Any) -> None:
    assert redacted(value, None) is value
    assert redacted(value, lambda text: text) == value


def test_a_redactor_reaches_every_text_but_ids_and_types() -> None:
    given = {"id": "s1", "type": "s2", "deep": [{"text": "s3", "n": 5, "tool_call_id": "s4"}], "pair": ("s5", None)}
    found = redacted(given, lambda text: text.replace("s", "*"))
    assert found == {
        "id": "s1",
        "type": "s2",
        "deep": [{"text": "*3", "n": 5, "tool_call_id": "s4"}],
        "pair": ("*5", None),
    }
    assert given["deep"][0]["text"] == "s3"
    # An id that is no plain string hides nothing: what lies inside it is redacted.
    assert redacted({"id": {"text": "s"}}, lambda text: "*") == {"id": {"text": "*"}}
