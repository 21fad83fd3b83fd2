"""Long texts in pieces: none too long, nothing lost, order kept."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.embedding.pieces import pieces

TEXT = st.lists(
    st.sampled_from(
        ["word ", "Sentence end. ", "长句子没有空格", "。", "\n", "x" * 50, "  ", "why? ", "\u3000", "a", "\t"]
    ),
    max_size=80,
).map("".join)


@given(TEXT, st.integers(1, 12), st.integers(1, 60))
def test_r39_no_piece_is_longer_than_allowed_and_no_letter_is_lost(text: str, words: int, chars: int) -> None:
    found = pieces(text, words=words, chars=chars, most=10**6)
    assert found
    if text.strip():
        assert "".join("".join(found).split()) == "".join(text.split())
    for piece in found:
        assert len(piece) <= chars
        assert len(piece.split()) <= words


@given(TEXT, st.integers(1, 9))
def test_a_text_of_very_many_pieces_gives_its_beginning_and_its_end(text: str, most: int) -> None:
    everything = pieces(text, words=3, chars=9, most=10**6)
    found = pieces(text, words=3, chars=9, most=most)
    if len(everything) <= most:
        assert found == everything
    else:
        assert len(found) == most
        assert found == everything[: most // 2] + everything[len(everything) - (most - most // 2) :]


@pytest.mark.parametrize("text", ["", " ", "short", "短"])
def test_a_short_text_is_one_piece_as_it_is(text: str) -> None:
    assert pieces(text) == [text]


def test_pieces_end_with_sentences_where_they_can() -> None:
    text = "One two three. Four five six! 七八九十。Eleven twelve?"
    assert pieces(text, words=3) == ["One two three.", "Four five six!", "七八九十。 Eleven twelve?"]


@pytest.mark.timing
def test_a_megabyte_is_cut_in_linear_time() -> None:
    begin = time.perf_counter()
    for text in (
        "x" * 1_000_000,
        "word " * 200_000,
        "字" * 1_000_000,
        ". " * 500_000,
        "\n" * 1_000_000,
        "a. " * 300_000,
    ):
        assert len(pieces(text)) <= 256
    assert time.perf_counter() - begin < 15
