"""Times in talk, in both languages, resolved against the moment of the message.

dateparser was measured and not taken: 0.4 to 16 ms a call where a whole message may cost 1 ms,
196 ms to import, "two weekends ago", 上周五, 三天前 and 去年夏天 not understood, 2020年 read as the
year 3. These expressions are few and closed, so they are one pattern a language.

A day becomes its noon (the same calendar day in nearly every zone), a longer span its first day.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12,
                   "春": 3, "夏": 6, "秋": 9, "冬": 12, "寒": 1, "暑": 7}  # fmt: skip
_NUMBERS: Final = {
    w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4, "fifteen": 15, "twenty": 20, "thirty": 30}
_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "几": 3}

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH = (r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
          r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)")  # fmt: skip
_SEASON = r"(?:spring|summer|fall|autumn|winter)"
_COUNT = (r"(?:\d{1,3}|(?:(?:a|an|the)[ ])?(?:couple(?:[ ]of)?|few|several)|a|an|one|two|three|four|five|six|seven|eight|nine"
          r"|ten|eleven|twelve|fifteen|twenty|thirty)")  # fmt: skip
_UNIT = r"(?:minute|hour|day|week|weekend|month|year|decade)s?"
_PART = r"(?:[ ](?:morning|afternoon|evening|night))?"

_ENGLISH = re.compile(
    rf"""\b(?:
    (?P<often>(?:every|each)\ (?:single\ |other\ )?(?:morning|evening|night|day|week|weekend|month|year|{_DAY}|{_SEASON})s?
        |(?:once|twice|{_COUNT}\ times)\ (?:a|per|every)\ (?:day|week|month|year)|(?:on\ )?{_DAY}s\b(?<=s)(?<!tues)|daily
        |the\ other\ day|some\ time\ ago|a\ while\ (?:ago|back)|on\ weekends|at\ weekends|(?:at|around|by)\ \d{{1,2}}(?::\d\d)?\ ?(?:[ap]\.?m\b\.?)?(?!\ ?[-\w]))
    |(?P<near>(?:the\ )?day\ (?:before\ yesterday|after\ tomorrow)|(?:yesterday|tomorrow){_PART}
        |last\ night|tonight|today|this\ (?:morning|afternoon|evening)|just\ now|earlier\ today)
    |(?:about\ |around\ |over\ |almost\ |nearly\ )?(?P<ago>{_COUNT})\ (?P<agounit>{_UNIT})\ (?:ago|back|earlier)\b
    |in\ (?:about\ )?(?P<ahead>{_COUNT})\ (?P<aheadunit>{_UNIT})(?:'\ time)?\b
    |(?:for|over)\ (?:about\ |around\ |over\ |almost\ |nearly\ |the\ (?:last|past)\ )?(?P<span>{_COUNT})\ (?P<spanunit>{_UNIT})
        (?:\ (?:now|already))?\b
    |(?P<vague>for\ (?:a\ (?:long\ )?while|ages|(?:many\ )?years|months|weeks|(?:quite\ )?some\ time|a\ long\ time|now|good|ever))
    |(?:(?:on|in|since|over|during|until|by)\ )?(?:the\ |this\ )?(?P<turn>last|past|previous|this|next|coming|upcoming)[ ]
        (?:(?P<turnunit>week(?:end)?|month|year)|(?P<turnseason>{_SEASON})|(?P<turnday>{_DAY})|(?P<turnmonth>{_MONTH}))\b{_PART}
    |(?:(?:on|in|since|from|by|until|at)\ )?(?:the\ )?(?:(?P<ymd>\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}})(?!\d)
        |(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?(?P<m1>{_MONTH})\b\.?(?:,?\ (?P<y1>\d{{4}}))?
        |(?P<m2>{_MONTH})\b\.?\ (?:the\ )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\ (?P<y2>\d{{4}}))?
        |(?P<m3>{_MONTH})\b,?\ (?:of\ )?(?P<y3>\d{{4}}))
    |(?:in|since|by|until|during|from)\ (?:early\ |late\ |mid-?|the\ )*(?:(?P<m4>{_MONTH})\b|(?P<y4>(?:19|20)\d\d)\b
        |(?P<s5>{_SEASON})\ (?:of\ )?(?P<y5>\d{{4}}))
    |on\ (?P<wd>{_DAY})\b{_PART}
    )""",
    re.IGNORECASE | re.VERBOSE,
)

HINT: Final = re.compile(
    r"\d|\b(?:ago|back|last|past|previous|next|this|coming|upcoming|yesterday|today|tonight|tomorrow|just now|earlier|every|each|daily"
    r"|once|twice|times|since|for|weekends?|years?|months?|weeks?|days?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:on|in|by|from|until"
    r"|during) (?:the |early |late |mid)?(?:[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Mm]ay|[Jj]u[nl]|[Aa]ug|[Ss]ep|[Oo]ct|[Nn]ov|[Dd]ec|one|two|three|a|"
    r"spring|summer|autumn|fall|winter|[A-Z]))",
    re.IGNORECASE,
)
"""Whether an English clause may name a time at all; ten times quicker than reading it."""
_N = r"(?:\d{1,3}|[一二两三四五六七八九十几]{1,3}|半)"
_CHINESE = re.compile(
    rf"""
    (?P<often>每(?:天|日|周|星期|个?月|年|晚|逢|次)(?:[一二三四五六日天])?(?:早上|晚上|下午|早晨|清晨|都)?|天天
        |周末(?=都)|(?:早上|上午|中午|下午|晚上|凌晨)?\d{{1,2}}点(?:半|\d{{1,2}}分?)?)
    |(?P<near>大前天|大后天|前天|昨天|昨晚|昨日|今天|今早|今晚|今日|刚刚|刚才|明天|明早|明晚|后天)(?:早上|上午|中午|下午|晚上|夜里)?
    |(?P<n>{_N})(?P<unit>分钟|个?小时|天|日|周|个?星期|个?礼拜|个月|年)(?:多)?(?P<way>之前|以前|前|之后|以后|后)
    |(?P<turn>上上|下下|上|这|本|下)个?(?P<week>周末|(?:周|星期|礼拜)(?P<wd>[一二三四五六日天末])?)
    |(?P<mturn>上上|下下|上|这|本|下)个?月(?:(?P<md>{_N})[号日])?
    |(?P<yturn>大前年|前年|去年|今年|明年|后年)(?:的?(?P<ym>{_N})月份?(?:(?P<yd>{_N})[号日])?|(?P<ys>[春夏秋冬寒暑])(?:天|季|假))?
    |(?P<y>\d{{4}})年(?:(?P<m>{_N})月份?(?:(?P<d>{_N})[号日])?)?(?:的?(?P<s>[春夏秋冬])(?:天|季))?
    |(?P<ymd>\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}})
    |(?P<m2>{_N})月(?:(?P<d2>{_N})[号日]|份)
    |(?:周|星期|礼拜)(?P<wd2>[一二三四五六日天])
    """,
    re.VERBOSE,
)
_HINT_ZH = re.compile(r"[年月周天日号昨今明前后刚点]|星期|礼拜|\d{4}-")


@dataclass(frozen=True, slots=True)
class Mention:
    """A time in a text: where it stands, and the moment it names (None for "every day")."""

    start: int
    end: int
    when: datetime | None
    future: bool = False
    duration: bool = False


def english(text: str, at: datetime, *, ahead: bool = False) -> list[Mention]:
    """The times in an English text; `ahead` reads a bare weekday or month as the coming one.

    >>> from datetime import datetime, UTC
    >>> english("I moved two weeks ago", datetime(2024, 5, 15, 9, tzinfo=UTC))[0].when.isoformat()
    '2024-05-01T12:00:00+00:00'
    """
    return [found for match in _ENGLISH.finditer(text) if (found := _english(match, at, ahead)) is not None]


def chinese(text: str, at: datetime, *, ahead: bool = False) -> list[Mention]:
    """The times in a Chinese text.

    >>> from datetime import datetime, UTC
    >>> chinese("我上周五搬家了", datetime(2024, 5, 15, 9, tzinfo=UTC))[0].when.isoformat()
    '2024-05-10T12:00:00+00:00'
    """
    if not _HINT_ZH.search(text):
        return []
    return [found for match in _CHINESE.finditer(text) if (found := _chinese(match, at, ahead)) is not None]


# ---------------------------------------------------------------------- calendar


def _noon(day: datetime) -> datetime | None:
    try:
        return day.replace(hour=12, minute=0, second=0, microsecond=0).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _date(at: datetime, year: int, month: int = 1, day: int = 1) -> datetime | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998) or not 1 <= day <= monthrange(year, month)[1]:
        return None
    return _noon(at.replace(year=year, month=month, day=day))


def _months(at: datetime, count: int, *, first: bool = False) -> datetime | None:
    index = at.year * 12 + at.month - 1 + count
    year, month = divmod(index, 12)
    if not 1 <= year <= 9998:
        return None
    day = 1 if first else min(at.day, monthrange(year, month + 1)[1])
    return _date(at, year, month + 1, day)


def _shift(at: datetime, unit: str, count: int) -> datetime | None:
    """`count` units on from `at`, back where it is negative."""
    try:
        if unit in ("minute", "hour"):
            return (at + timedelta(**{unit + "s": count})).astimezone(UTC)
        if unit == "day":
            return _noon(at + timedelta(days=count))
        if unit == "week":
            return _noon(at + timedelta(weeks=count))
        if unit == "weekend":
            return _noon(_saturday(at) + timedelta(weeks=count + (1 if count < 0 else 0)))
        if unit == "month":
            return _months(at, count)
        return _months(at, count * (120 if unit == "decade" else 12))
    except OverflowError:
        return None


def _saturday(at: datetime) -> datetime:
    """The Saturday of the weekend that is over: before today, and before a weekend that is still on."""
    return at - timedelta(days=at.weekday() + 2)


def _weekday(at: datetime, day: int, turn: str, ahead: bool) -> datetime | None:
    """The day of a weekday: the last one, the coming one, or that of another week."""
    back = (at.weekday() - day) % 7
    if turn in ("last", "past", "previous") or (not turn and not ahead):
        return _noon(at - timedelta(days=back or 7))
    if turn == "this" and not ahead:
        return _noon(at - timedelta(days=back))
    coming = (day - at.weekday()) % 7
    return _noon(at + timedelta(days=coming or (0 if turn == "this" else 7)))


def _bare_month(at: datetime, month: int, ahead: bool, day: int = 1, *, whole: bool = False) -> datetime | None:
    """A month or day of a month without a year: the latest one, or the coming one."""
    this = (at.month, 32 if whole and not ahead else at.day)
    year = at.year
    if ahead and (month, day if not whole else 32) < this:
        year += 1
    if not ahead and (month, day) > this:
        year -= 1
    return _date(at, year, month, day)


def _period(at: datetime, unit: str, step: int) -> datetime | None:
    """The first day of this, the last or the next week, weekend, month or year."""
    if unit == "week":
        return _noon(at - timedelta(days=at.weekday()) + timedelta(weeks=step))
    if unit == "weekend":
        return _noon(_saturday(at) + timedelta(weeks=step + 1))
    if unit == "month":
        return _months(at, step, first=True)
    return _date(at, at.year + step)


def _season(at: datetime, month: int, turn: str) -> datetime | None:
    year = at.year
    if turn == "last" and month + 2 >= at.month:  # a season that is not over can't be the last one
        year -= 1
    if turn == "next" and month <= at.month:
        year += 1
    return _date(at, year, month)


# ---------------------------------------------------------------------- English


def _count(words: str) -> int:
    words = words.lower().removesuffix(" of").split()[-1]
    return int(words) if words.isdigit() else _NUMBERS.get(words, 1)


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _english(match: re.Match[str], at: datetime, ahead: bool) -> Mention | None:
    kind, value = match.lastgroup, match.groupdict()
    start, end = match.span()
    if value["often"] or value["vague"]:
        return Mention(start, end, None)
    if near := value["near"]:
        return _english_near(near.lower(), at, start, end)
    for name, sign in (("ago", -1), ("ahead", 1), ("span", -1)):
        if value[name]:
            unit = value[name + "unit"].lower().removesuffix("s")
            when = _shift(at, unit, sign * _count(value[name]))
            return Mention(start, end, when, future=sign > 0, duration=name == "span")
    if turn := value["turn"]:
        return _english_turn(turn.lower(), value, at, ahead, start, end)
    if wd := value["wd"]:
        when = _weekday(at, _DAYS.index(wd[:3].lower()), "", ahead)
    elif value["ymd"]:
        year, month, day = map(int, re.split(r"[-/]", value["ymd"]))
        when = _date(at, year, month, day)
    elif value["m1"] or value["m2"]:
        n = "1" if value["m1"] else "2"
        month, day, year_ = _month(value["m" + n]), int(value["d" + n]), value["y" + n]
        when = _date(at, int(year_), month, day) if year_ else _bare_month(at, month, ahead, day)
    elif value["m3"]:
        when = _date(at, int(value["y3"]), _month(value["m3"]))
    elif value["m4"]:
        if value["m4"].islower() and value["m4"] in ("may", "march"):
            return None
        when = _bare_month(at, _month(value["m4"]), ahead, whole=True)
    elif value["y4"]:
        when = _date(at, int(value["y4"]))
    elif kind and value["s5"]:
        when = _date(at, int(value["y5"]), _SEASONS[value["s5"].lower()])
    else:
        return None
    return Mention(start, end, when, future=when is not None and when > at)


def _english_near(near: str, at: datetime, start: int, end: int) -> Mention:
    days = 0
    if "before yesterday" in near or "after tomorrow" in near:
        days = -2 if "before" in near else 2
    elif near.startswith(("yesterday", "last night")):
        days = -1
    elif near.startswith("tomorrow"):
        days = 1
    when = at.astimezone(UTC) if days == 0 else _shift(at, "day", days)
    return Mention(start, end, when, future=days > 0 or near == "tonight")


def _english_turn(turn: str, value: dict[str, str | None], at: datetime, ahead: bool, start: int, end: int) -> Mention:
    turn = {"past": "last", "previous": "last", "coming": "next", "upcoming": "next"}.get(turn, turn)
    step = {"last": -1, "this": 0, "next": 1}[turn]
    if unit := value["turnunit"]:
        when = _period(at, unit.lower(), step)
        if turn == "this" and unit.lower() == "weekend" and not ahead and at.weekday() < 5 and when:
            ahead = True  # a weekend still to come
    elif season := value["turnseason"]:
        when = _season(at, _SEASONS[season.lower()], turn)
    elif month := value["turnmonth"]:
        when = _bare_month(at, _month(month), turn == "next", whole=True)
    else:
        when = _weekday(at, _DAYS.index(str(value["turnday"])[:3].lower()), turn, ahead)
    return Mention(start, end, when, future=turn == "next" or (turn == "this" and ahead))


# ---------------------------------------------------------------------- Chinese


def number(text: str) -> int:
    """A number of up to 99 in digits or Chinese characters.

    >>> number("12"), number("十二"), number("二十"), number("三"), number("两")
    (12, 12, 20, 3, 2)
    """
    if text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_DIGITS.get(tens, 1) if tens else 1) * 10 + _DIGITS.get(ones, 0)
    return _DIGITS.get(text[-1:], 0)


_NEAR_ZH: Final = {"大前": -3, "前天": -2, "昨": -1, "今": 0, "刚": 0, "明": 1, "后天": 2, "大后": 3}
_YEAR_ZH: Final = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_TURN_ZH: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_UNIT_ZH: Final = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year",
                   "小时": "hour", "分钟": "minute"}  # fmt: skip
_WEEK_ZH: Final = "一二三四五六日"


def _chinese(match: re.Match[str], at: datetime, ahead: bool) -> Mention | None:
    value = match.groupdict()
    start, end = match.span()
    if value["often"]:
        return Mention(start, end, None)
    if near := value["near"]:
        days = next(n for key, n in _NEAR_ZH.items() if near.startswith(key))
        when = at.astimezone(UTC) if days == 0 else _shift(at, "day", days)
        return Mention(start, end, when, future=days > 0)
    if value["unit"]:
        return _chinese_count(value, at, start, end)
    if value["week"]:
        step = _TURN_ZH[value["turn"]]
        when = _chinese_week(at, step, value["wd"] or ("末" if "末" in value["week"] else ""))
    elif value["mturn"]:
        when = _months(at, _TURN_ZH[value["mturn"]], first=True)
        if when is not None and value["md"]:
            when = _date(at, when.astimezone(at.tzinfo).year, when.astimezone(at.tzinfo).month, number(value["md"]))
    elif value["yturn"]:
        when = _chinese_year(value, at, at.year + _YEAR_ZH[value["yturn"]], "ym", "yd", "ys")
    elif value["y"]:
        when = _chinese_year(value, at, int(value["y"]), "m", "d", "s")
    elif value["ymd"]:
        year, month, day = map(int, re.split(r"[-/]", value["ymd"]))
        when = _date(at, year, month, day)
    elif value["m2"]:
        month = number(value["m2"])
        if not 1 <= month <= 12:
            return None
        day = number(value["d2"]) if value["d2"] else 1
        when = _bare_month(at, month, ahead, day, whole=not value["d2"])
    else:
        when = _weekday(at, _WEEK_ZH.index(value["wd2"].replace("天", "日")), "", ahead)
    return Mention(start, end, when, future=when is not None and when > at)


def _chinese_count(value: dict[str, str], at: datetime, start: int, end: int) -> Mention | None:
    unit = _UNIT_ZH[value["unit"].removeprefix("个")]
    sign = -1 if "前" in value["way"] else 1
    if value["n"] == "半":
        if unit not in ("year", "month", "hour"):
            return None
        unit, count = {"year": ("month", 6), "month": ("day", 15), "hour": ("minute", 30)}[unit]
    else:
        count = number(value["n"])
    return Mention(start, end, _shift(at, unit, sign * count), future=sign > 0)


def _chinese_week(at: datetime, step: int, day: str) -> datetime | None:
    monday = at - timedelta(days=at.weekday()) + timedelta(weeks=step)
    if not day:
        return _noon(monday)
    return _noon(monday + timedelta(days=5 if day == "末" else _WEEK_ZH.index(day.replace("天", "日"))))


def _chinese_year(value: dict[str, str], at: datetime, year: int, month: str, day: str, season: str) -> datetime | None:
    if value[month]:
        return _date(at, year, number(value[month]), number(value[day]) if value[day] else 1)
    return _date(at, year, _SEASONS[value[season]] if value[season] else 1)
