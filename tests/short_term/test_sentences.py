"""What a summary would lose if a sentence were cut in the wrong place, or its point were missed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.short_term.sentences import Cue, cues, names, split, tight

KEPT = [
    ("My name is Anna Berg.", Cue.SELF | Cue.NAME), ("我叫王小明。", Cue.SELF | Cue.NAME),
    ("The budget is 4,200 euros.", Cue.NUMBER | Cue.CONSTRAINT), ("预算是4200元。", Cue.NUMBER | Cue.CONSTRAINT),
    ("The review is on 14 March.", Cue.DATE), ("评审在3月14日。", Cue.DATE),
    ("See you on Friday at 10:30.", Cue.DATE), ("周五上午十点见。", Cue.DATE),
    ("We decided to use PostgreSQL.", Cue.DECISION | Cue.NAME), ("我们决定用PostgreSQL。", Cue.DECISION | Cue.NAME),
    ("Let's go with the blue one.", Cue.DECISION), ("那就选蓝色的。", Cue.DECISION),
    ("I prefer short answers.", Cue.PREFERENCE), ("我喜欢简短的回答。", Cue.PREFERENCE),
    ("I am allergic to nuts.", Cue.PREFERENCE), ("我对坚果过敏。", Cue.PREFERENCE),
    ("Never delete the old table.", Cue.CONSTRAINT), ("不要删除旧表。", Cue.CONSTRAINT),
    ("I'll send the draft.", Cue.PROMISE), ("我会把草稿发给你。", Cue.PROMISE),
    ("The tests still need to run.", Cue.PENDING), ("测试还没跑。", Cue.PENDING),
    ("The upload failed.", Cue.RESULT), ("上传失败。", Cue.RESULT),
    ("What time is it?", Cue.QUESTION), ("现在几点了？", Cue.QUESTION), ("你喜欢茶吗", Cue.QUESTION),
    ("Please translate this.", Cue.REQUEST), ("请翻译这段话。", Cue.REQUEST),
    ("Remember that the code is red.", Cue.REMEMBER), ("记住密码是红色。", Cue.REMEMBER),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "wanted"), KEPT)
def test_a4_what_a_sentence_holds_is_seen_in_both_languages(sentence: str, wanted: Cue) -> None:
    assert wanted in cues(sentence)


@pytest.mark.parametrize(
    ("sentence", "absent"),
    [
        ("The sea was calm.", Cue.NUMBER | Cue.DATE | Cue.DECISION), ("海面很平静。", Cue.NUMBER | Cue.DATE | Cue.DECISION),
        ("I don't like it", Cue.CONSTRAINT), ("The weather is unlikely to change", Cue.PREFERENCE),
        ("I may go", Cue.DATE), ("Must I go?", Cue.DECISION), ("他只是路过。", Cue.CONSTRAINT),
    ],
)  # fmt: skip
def test_a4_a_word_inside_another_is_no_sign(sentence: str, absent: Cue) -> None:
    assert not cues(sentence) & absent


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Dr. Wu pays 3.50 euros. She leaves.", ["Dr. Wu pays 3.50 euros.", "She leaves."]),
        ("Version 3.11.2 works. e.g. this one", ["Version 3.11.2 works. e.g. this one"]),
        ("我住在杭州。你呢？好！", ["我住在杭州。", "你呢？", "好！"]),
        ("“我来了。”他说。", ["“我来了。”", "他说。"]),
        ("- one\n- two\n\n3. three", ["one", "two", "three"]),
        ("Yes! 是的。OK", ["Yes!", "是的。", "OK"]),
        ("  \n\u200b", ["\u200b"]), ("", []),
    ],
)  # fmt: skip
def test_a4_texts_are_cut_where_sentences_end(text: str, wanted: list[str]) -> None:
    assert split(text) == wanted


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("Anna Berg from Acme Labs lives in Oslo", ["Anna Berg", "Acme Labs", "Oslo"]),
        ("Bob leads the team", ["Bob"]), ("Plan the trip", []), ("OK Thanks", []),
        ("Anna's report is in docs/report.pdf, see https://example.com/a?b=1",
         ["Anna", "docs/report.pdf", "https://example.com/a?b=1"]),
        ("张伟负责后端，李娜和王小明负责前端", ["张伟", "李娜", "王小明"]), ("高兴就好，方便的话明天来", []),
        ("用Redis做缓存，看《设计模式》", ["Redis", "《设计模式》"]), ("联系陈经理", ["陈经理"]),
    ],
)  # fmt: skip
def test_a4_names_are_seen_and_ordinary_words_are_not(sentence: str, wanted: list[str]) -> None:
    assert names(sentence) == wanted


@given(st.text(alphabet="ab ,.!?。，！？\n我你1-", max_size=300))
def test_a4_no_character_that_says_anything_is_lost_in_cutting(text: str) -> None:
    left = [c for c in text if c.isalpha()]
    assert [c for sentence in split(text) for c in sentence if c.isalpha()] == left


@given(st.text(max_size=400), st.integers(10, 200))
def test_a4_a_cut_sentence_fits(text: str, most: int) -> None:
    short = tight(text, most)
    assert len(short) <= most or short == text
    assert len(short) <= max(most, 10)


def test_a4_a_long_sentence_keeps_the_clauses_that_matter() -> None:
    long = "Well, as I was saying to my friends the other day while walking, the limit is 4200 euros, which is fine"
    assert "4200" in tight(long, 40)
    assert len(tight(long, 40)) <= 40
    assert "4200元" in tight("嗯，前几天我和朋友散步的时候随便聊了聊很多事情，总之预算是4200元，其实也还可以吧", 20)
