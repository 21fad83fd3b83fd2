"""The tokenizer: what a user can find again, in any script and any Unicode form."""

from __future__ import annotations

import re
import unicodedata
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.recall.text import clean, has_words, is_blank, normal, pack, query_terms, term_id, terms

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates included
MIXED = st.lists(
    st.sampled_from(["tea", "Café", "don't", "C++", "co-op", "3.11", "1,000,000", "茶", "乌龙茶", "カタカナ", "한국어", "ไทย",
                     "QX-7741", "svc_alpha", "a@b.org", "the", "了", "\u00a0", ",", "？", "\U0001f389", "\ud83d", "ｗｉｄｅ",
                     "O'Brien's", "don’t", "#tag", "C#", "x" * 80]),
    max_size=12,
).flatmap(lambda words: st.sampled_from([" ", "", "，", "\n"]).map(lambda glue: glue.join(words)))  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("the co-op opens", "co-op"), ("the co-op opens", "coop op"), ("I don't know", "don't"), ("I don’t know", "don't"),
        ("written in C++", "c++"), ("a C# job", "C#"), ("a/b testing", "a/b"), ("Python 3.11", "3.11"),
        ("order QX-7741", "qx-7741"), ("order QX-7741", "7741"), ("it costs 1,000,000", "1000000"),
        ("mail ann@example.org", "ann@example.org"), ("caroline's cats", "Caroline cat"), ("resumes", "résumé"),
        ("乌龙茶很好喝", "乌龙茶"), ("乌龙茶很好喝", "茶"), ("版本v1.2发布", "v1.2"), ("ＡＢＣ", "abc"), ("カタカナ語", "カナ"),
        ("한국어를 배운다", "한국어"), ("ภาษาไทย", "ไทย"), ("🎉 party", "party"), ("ﬁle", "file"),
    ],
)  # fmt: skip
def test_r68_r69_a_word_is_found_by_the_ways_people_write_it(stored: str, asked: str) -> None:
    assert set(query_terms(asked)) & set(terms(stored))


@pytest.mark.parametrize("asked", ["co-op", "don't", "C++", "a/b", "3.11", "乌龙茶", "v1.2", "2024-01-15", "QX-7741"])
def test_every_term_of_a_question_is_among_those_of_a_text_that_holds_it(asked: str) -> None:
    assert set(query_terms(asked)) <= set(terms(f"before {asked} after"))


def test_different_words_stay_different() -> None:
    for a, b in (
        ("C++", "C#"),
        ("v1", "v2"),
        ("7741", "7742"),
        ("Monday", "Tuesday"),
        ("3.11", "3.12"),
        ("茶", "咖啡"),
    ):
        assert set(query_terms(a)) - set(terms(b))
        assert set(query_terms(b)) - set(terms(a))


@given(st.one_of(ANY_TEXT, MIXED))
def test_packed_ids_are_the_terms_of_the_text(text: str) -> None:
    expected = array("Q", [term_id(term) for term in terms(text)])
    assert pack(text) == expected.tobytes()


@given(st.one_of(ANY_TEXT, MIXED))
def test_questions_have_distinct_terms_and_the_same_for_every_form(text: str) -> None:
    asked = query_terms(text)
    assert len(asked) == len(set(asked))
    assert all(asked)
    cleaned = clean(text)
    assert query_terms(unicodedata.normalize("NFD", cleaned)) == query_terms(unicodedata.normalize("NFC", cleaned))
    assert terms(text.upper().lower()) == terms(text.lower().upper().lower())


@given(ANY_TEXT)
def test_a_cleaned_text_is_the_same_but_for_its_lone_surrogates(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned
    paired = re.sub(
        "([\ud800-\udbff])([\udc00-\udfff])",
        lambda m: chr(0x10000 + ((ord(m[1]) - 0xD800) << 10) + ord(m[2]) - 0xDC00),
        text,
    )
    assert cleaned == re.sub("[\ud800-\udfff]", "\ufffd", paired)


@given(ANY_TEXT)
def test_normal_is_idempotent_and_blind_to_form(text: str) -> None:
    text = clean(text)
    once = normal(text)
    assert normal(once) == once
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert normal(unicodedata.normalize(form, text)) == once


@pytest.mark.parametrize("text", ["\U0001fae9", "\U0002ebe1", "\ue000", "\U0003fffd"])
def test_a_character_newer_than_this_python_is_not_blank_and_is_found(text: str) -> None:
    """Otherwise the newest emoji and rare Chinese names would be refused as empty."""
    assert not is_blank(text)
    assert has_words(text)


@given(ANY_TEXT)
def test_blank_means_nothing_to_see_and_wordless_texts_have_no_terms(text: str) -> None:
    assert is_blank(text) == all(unicodedata.category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp") for c in text)
    if query_terms(text):
        assert has_words(text)
    if is_blank(text):
        assert not has_words(text)


@pytest.mark.timing
def test_a_long_text_is_cut_in_linear_time() -> None:
    import time

    begin = time.perf_counter()
    for text in ("x" * 1_000_000, "茶" * 500_000, "a-" * 500_000, "1," * 500_000, "' " * 500_000, "word " * 200_000):
        terms(text)
        query_terms(text)
    assert time.perf_counter() - begin < 20
