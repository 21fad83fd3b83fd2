"""The vector index against exact numpy: ids and scores, filtered, thinned, renumbered; IVF by its recall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.errors import InvalidVector
from shared_core.recall.dense import FaissIndex, NumpyIndex, best, normalised


def unit(rows: int, dimensions: int, seed: int = 0) -> np.ndarray[Any, Any]:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def both(dimensions: int, **options: Any) -> tuple[FaissIndex, NumpyIndex]:
    return FaissIndex(dimensions, **options), NumpyIndex(dimensions)


def agree(faiss: FaissIndex, numpy: NumpyIndex, query: Any, count: int, allowed: Any = None) -> None:
    rows, scores = faiss.search(query, count, allowed)
    expected_rows, expected_scores = numpy.search(query, count, allowed)
    more = numpy.search(query, count + 1, allowed)[1]
    assert len(rows) == len(expected_rows)
    np.testing.assert_allclose(scores, expected_scores, atol=2e-6)
    # Where two scores are the same to the last bits, either order is right, and either may be cut off.
    settled = np.abs(np.diff(more, prepend=9, append=-9)) > 4e-6
    certain = (settled[:-1] & settled[1:])[: len(rows)]
    np.testing.assert_array_equal(np.asarray(rows)[certain], expected_rows[certain])


@given(
    st.integers(0, 60), st.integers(1, 12), st.lists(st.integers(0, 59), max_size=40), st.integers(0, 70),
    st.one_of(st.none(), st.integers(0, 100)), st.booleans(),
)  # fmt: skip
def test_r34_any_history_gives_the_ids_and_scores_of_exact_search(
    rows: int, dimensions: int, removed: list[int], count: int, share: int | None, keep: bool
) -> None:
    faiss, numpy = both(dimensions)
    vectors = unit(rows, dimensions, rows)
    for part in (vectors[: rows // 3], vectors[rows // 3 :]):
        faiss.add(part)
        numpy.add(part)
    for row in removed:
        if row < rows:
            faiss.remove(row)
            numpy.remove(row)
    if keep:
        stay = np.array([r for r in range(rows) if r % 3 or r not in removed], np.int64)
        faiss.keep(stay)
        numpy.keep(stay)
    assert faiss.size == numpy.size
    allowed = None
    if share is not None:
        allowed = np.random.default_rng(share).integers(0, 100, faiss.size) < share
    query = unit(1, dimensions, 999)[0]
    agree(faiss, numpy, query, count, allowed)
    everything = np.arange(faiss.size)
    np.testing.assert_allclose(faiss.similarities(query, everything), numpy.similarities(query, everything), atol=2e-6)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.05, 0.5, 1.0])
def test_a_filter_cuts_before_the_count_never_after_it(share: float) -> None:
    faiss, numpy = both(32)
    vectors = unit(2_000, 32)
    faiss.add(vectors)
    numpy.add(vectors)
    allowed = np.random.default_rng(1).random(2_000) < share
    for row in range(0, 2_000, 7):
        faiss.remove(row)
        numpy.remove(row)
    live = int((allowed & (np.arange(2_000) % 7 > 0)).sum())
    for query in unit(5, 32, 3):
        agree(faiss, numpy, query, 10, allowed)
        assert len(faiss.search(query, 10, allowed)[0]) == min(10, live)


def test_r35_no_search_ever_gives_row_minus_one() -> None:
    index = FaissIndex(4)
    query = unit(1, 4)[0]
    for count in (0, 1, 5):
        assert len(index.search(query, count, None)[0]) == 0
    index.add(unit(3, 4))
    index.remove(1)
    for count in (0, 1, 2, 3, 100):
        rows, scores = index.search(query, count, None)
        assert len(rows) == len(scores) == min(count, 2)
        assert set(rows.tolist()) <= {0, 2}
    assert len(index.search(query, 5, np.zeros(3, np.bool_))[0]) == 0


def test_past_the_limit_lists_find_nearly_what_exact_search_finds() -> None:
    centres = unit(40, 24, 1)
    chance = np.random.default_rng(2)
    vectors = (
        centres[chance.integers(0, 40, 4_000)] + 0.35 * chance.standard_normal((4_000, 24)).astype(np.float32) / 24**0.5
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    faiss, numpy = both(24, exact_limit=1_000, probes=32)
    for start in range(0, 4_000, 300):  # crosses the limit, and is trained anew as it doubles
        faiss.add(vectors[start : start + 300])
        numpy.add(vectors[start : start + 300])
    gone = chance.choice(4_000, 500, replace=False)
    for row in gone.tolist():
        faiss.remove(row)
        numpy.remove(row)
    half = chance.random(4_000) < 0.5
    few = chance.random(4_000) < 0.02
    for allowed, least in ((None, 0.9), (half, 0.9), (few, 1.0)):
        found = wanted = 0
        for query in vectors[chance.integers(0, 4_000, 40)]:
            rows, scores = faiss.search(query, 10, allowed)
            exact, _ = numpy.search(query, 10, allowed)
            assert not set(rows.tolist()) & set(gone.tolist())
            assert allowed is None or allowed[rows].all()
            np.testing.assert_allclose(scores, numpy.similarities(query, rows), atol=2e-6)
            found += len(set(rows.tolist()) & set(exact.tolist()))
            wanted += len(exact)
        assert found / wanted >= least, f"recall {found / wanted:.3f}"
    stay = np.flatnonzero(~np.isin(np.arange(4_000), gone))
    faiss.keep(stay[:900])  # below the limit again: exact again
    numpy.keep(stay[:900])
    for query in vectors[:5]:
        agree(faiss, numpy, query, 10)


def test_best_is_a_full_sort_cut_short_with_ties_by_row() -> None:
    chance = np.random.default_rng(4)
    rows = chance.permutation(500).astype(np.int64)
    scores = chance.integers(0, 1_000, 500).astype(np.float32)
    for count in (0, 1, 10, 500, 900):
        found, values = best(rows, scores, count)
        expected = np.lexsort((rows, -scores))[:count]
        np.testing.assert_array_equal(values, scores[expected])
        if count >= 500:
            np.testing.assert_array_equal(found, rows[expected])


# ---------------------------------------------------------------------- what an embedder may give (R38)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_r38_vectors_of_any_size_become_unit_vectors(scale: float) -> None:
    raw = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]]) * scale
    np.testing.assert_allclose(normalised(raw.tolist(), 2, 3), [[0.6, 0.8], [0, 0], [-1, 0]], atol=1e-6)
    assert normalised(raw, 2, 3).dtype == np.float32


@pytest.mark.parametrize(
    "raw",
    [
        [[float("nan"), 1]], [[float("inf"), 1]], [[-float("inf"), 1]], [[1, 2, 3]], [[1]], [], [[1, 2], [3, 4]], [1, 2],
        [[[1, 2]]], None, [["a", "b"]], [[1, 2], [1]], "text", [[None, 1]], [[1 + 2j, 1]],
    ],
)  # fmt: skip
def test_r38_anything_else_is_a_typed_error(raw: Any) -> None:
    with pytest.raises(InvalidVector):
        normalised(raw, 2, 1)


def test_normalising_leaves_the_embedders_own_array_alone() -> None:
    for dtype in (np.float32, np.float64, np.float16, np.int64):
        raw = np.array([[3, 4]], dtype)
        raw.flags.writeable = False
        np.testing.assert_allclose(normalised(raw, 2, 1), [[0.6, 0.8]], atol=1e-6)
    assert normalised([], None, 0).shape == (0, 0)
