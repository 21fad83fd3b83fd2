"""Free text against free text: what denies what, and what only looks as if it did (D3)."""

from __future__ import annotations

import pytest

from shared_core.writing.polarity import opposed, read

PAIRS = [
    ("喜欢乌龙茶", "不喜欢乌龙茶"), ("是学生", "不是学生"), ("能来", "不能来"), ("我会游泳", "我不会游泳"),
    ("要香菜", "不要香菜"), ("使用Vim", "不使用Vim"), ("我喜欢咖啡", "我讨厌咖啡"), ("我用Vim", "我不再使用Vim了"),
    ("喜欢喝乌龙茶", "现在不喝乌龙茶了"), ("他抽烟", "他已经不抽烟了"),
    ("likes tea", "dislikes tea"), ("likes tea", "doesn't like tea"), ("The server is up", "The server isn't up"),
    ("can swim", "can't swim"), ("can swim", "cannot swim"), ("uses Vim", "doesn't use Vim"), ("uses Vim", "no longer uses Vim"),
    ("likes oolong tea", "no longer likes oolong tea"), ("I eat meat", "I don't eat meat anymore"),
    ("has a car", "has no car"), ("likes drinking coffee", "no longer drinks coffee"), ("Ann likes tea", "Ann hates tea"),
]  # fmt: skip

APART = [
    ("喜欢乌龙茶", "不喜欢绿茶"), ("我会游泳", "我不喜欢游泳"), ("喜欢游泳", "不会游泳"), ("这家店不错", "这家店好"),
    ("他特别喜欢茶", "她不喜欢茶"), ("非常好", "好"), ("不锈钢很好用", "锈钢很好用"), ("小李喜欢茶", "小王不喜欢茶"),
    ("住在无锡", "住在锡"), ("对不起", "对起"), ("likes tea", "doesn't like coffee"), ("can swim", "doesn't like to swim"),
    ("likes swimming", "can't swim"), ("a notable book", "a table book"), ("knows nothing", "knows thing"),
    ("Monday is free", "Tuesday isn't free"), ("Ann likes tea", "Bob doesn't like tea"), ("uses Vim 8", "doesn't use Vim 9"),
    ("likes tea", "likes tea"), ("不喜欢茶", "讨厌茶"), ("likes the universe", "doesn't like the university"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_d3_an_affirmation_and_its_denial_are_opposed(one: str, other: str) -> None:
    first, second = read(one), read(other)
    assert first is not None
    assert second is not None
    assert opposed(first, second)
    assert opposed(second, first)


@pytest.mark.parametrize(("one", "other"), APART)
def test_d3_what_is_alike_and_no_denial_is_not_opposed(one: str, other: str) -> None:
    first, second = read(one), read(other)
    assert first is not None
    assert second is not None
    assert not opposed(first, second)


@pytest.mark.parametrize(
    "text",
    [
        "Do I like tea?",
        "I like tea, but not coffee",
        "我喜欢茶，不喜欢咖啡",
        "",
        "。",
        "x" * 200,
        "I like tea. Not coffee.",
    ],
)
def test_d3_what_says_more_than_one_thing_or_nothing_is_not_read(text: str) -> None:
    assert read(text) is None


def test_d3_what_has_ended_is_told_from_what_never_was() -> None:
    for text in ("no longer likes tea", "doesn't drink tea anymore", "不再喜欢茶", "现在不喝茶了"):
        found = read(text)
        assert found is not None
        assert found.over
        assert not found.polarity
    for text in ("doesn't like tea", "不喜欢茶", "likes tea now", "现在喝茶了"):
        found = read(text)
        assert found is not None
        assert not found.over
