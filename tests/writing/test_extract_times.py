"""Times in talk: what each expression names, and that nothing else is taken for a time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared_core.writing.extraction.times import chinese, english, number

AT = datetime(2023, 5, 25, 13, 14, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("last Saturday", "2023-05-20"), ("last Fri", "2023-05-19"), ("yesterday", "2023-05-24"), ("last night", "2023-05-24"),
        ("the day before yesterday", "2023-05-23"), ("two weekends ago", "2023-05-13"), ("last weekend", "2023-05-20"),
        ("two days ago", "2023-05-23"), ("a few months ago", "2023-02-25"), ("ten years ago", "2013-05-25"),
        ("last week", "2023-05-15"), ("last month", "2023-04-01"), ("next month", "2023-06-01"), ("last summer", "2022-06-01"),
        ("in March", "2023-03-01"), ("in June", "2022-06-01"), ("in 2019", "2019-01-01"), ("in the summer of 2019", "2019-06-01"),
        ("on May 3rd", "2023-05-03"), ("on 12 June 1991", "1991-06-12"), ("May 7, 2023", "2023-05-07"), ("2023-05-01", "2023-05-01"),
        ("on Monday", "2023-05-22"), ("next Friday", "2023-05-26"), ("in two weeks", "2023-06-08"), ("tomorrow", "2023-05-26"),
        ("since 2016", "2016-01-01"), ("for five years", "2018-05-25"),
    ],
)  # fmt: skip
def test_english(text: str, day: str) -> None:
    (found,) = english(text, AT)
    assert found.when is not None
    assert found.when.date().isoformat() == day
    assert (found.start, found.end) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("上周五", "2023-05-19"), ("昨天", "2023-05-24"), ("前天", "2023-05-23"), ("大前天", "2023-05-22"), ("上个月", "2023-04-01"),
        ("下个月", "2023-06-01"), ("三天前", "2023-05-22"), ("两年前", "2021-05-25"), ("半年前", "2022-11-25"), ("去年夏天", "2022-06-01"),
        ("去年", "2022-01-01"), ("2020年", "2020-01-01"), ("2020年3月5日", "2020-03-05"), ("5月3日", "2023-05-03"), ("五月六号", "2023-05-06"),
        ("明年三月", "2024-03-01"), ("下周三", "2023-05-31"), ("上周末", "2023-05-20"), ("周一", "2023-05-22"), ("三个星期前", "2023-05-04"),
        ("上个月5号", "2023-04-05"), ("十二天前", "2023-05-13"),
    ],
)  # fmt: skip
def test_chinese(text: str, day: str) -> None:
    (found,) = chinese(text, AT)
    assert found.when is not None
    assert found.when.date().isoformat() == day
    assert (found.start, found.end) == (0, len(text))


@pytest.mark.parametrize("text", ["every Thursday", "on Sundays", "twice a week", "at 5 pm"])
def test_a_habit_has_no_time(text: str) -> None:
    assert [found.when for found in english(text, AT)] == [None]


@pytest.mark.parametrize(
    "text", ["I may go", "we march on", "the fall of Rome", "a second chance", "on 31 February 2023", "2023-13-45"]
)
def test_no_time(text: str) -> None:
    assert [found.when for found in english(text, AT) if found.when] == []


def test_a_bare_date_of_a_plan_lies_ahead() -> None:
    assert str(english("on July 9th", AT, ahead=True)[0].when)[:10] == "2023-07-09"
    assert str(english("on July 9th", AT)[0].when)[:10] == "2022-07-09"
    assert str(chinese("3月1日", AT, ahead=True)[0].when)[:10] == "2024-03-01"


def test_the_edges_of_the_calendar() -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert english("a hundred years ago, 30 years ago, last year, yesterday", first) is not None
    assert chinese("三十年前，去年，昨天", first) is not None


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("十", 10), ("十二", 12), ("二十", 20), ("二十三", 23), ("两", 2)]
)
def test_number(text: str, value: int) -> None:
    assert number(text) == value
