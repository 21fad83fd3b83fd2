"""Phone numbers: Chinese ones as they are written there, all others by the numbering plans of the world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from shared_core.errors import MissingExtra
from shared_core.writing.redaction.numbers import is_id, named_otherwise
from shared_core.writing.redaction.spans import Span

_BEFORE: Final = r"(?:(?<![0-9A-Za-z_])|(?<=[Tt][Ee][Ll])|(?<=[Pp][Hh][Oo][Nn][Ee])|(?<=mobile)|(?<=Mobile))(?<![0-9][.-])(?<![$€£¥￥#])"
_AFTER: Final = r"(?![0-9A-Za-z_]|\.[0-9]|,[0-9]{3}(?![0-9])|-[0-9A-Za-z])"
_MOBILE: Final = re.compile(
    _BEFORE + r"(?:(?:\+ ?|00)?86[ -]?|\((?:\+|00)?86\) ?)?(?:1[3-9][0-9]{9}|1[3-9][0-9][ .-][0-9]{4}[ .-][0-9]{4}|1[3-9][0-9]{2}[ -][0-9]{3}[ -][0-9]{4})"
    + _AFTER, re.ASCII,
)  # fmt: skip
# Area codes of mainland China: 010, 02x, and four digits from 0310 to 0998.
_LANDLINE: Final = re.compile(
    _BEFORE + r"(?:(?:\+ ?|00)86[ -]?\(?0?(?:10|2[0-57-9]|[3-9][1-9][0-9])\)?[ -]?"
    r"|\(0(?:10|2[0-57-9]|[3-9][1-9][0-9])\) ?-?|0(?:10|2[0-57-9]|[3-9][1-9][0-9])[ -]?)"
    r"[2-8][0-9]{2,3}[ -]?[0-9]{4}(?:(?: ?(?:转|ext\.? ?|x)|-)[0-9]{1,6})?" + _AFTER, re.ASCII,
)  # fmt: skip
_HOTLINE: Final = re.compile(_BEFORE + r"[48]00-(?:[0-9]{3}-[0-9]{4}|[0-9]{4}-[0-9]{3}|[0-9]{7})" + _AFTER, re.ASCII)
_COUNTRY: Final = re.compile(
    r"(?<![0-9A-Za-z_+])(?:\+|00(?=[1-9]))[ ]?\(?[1-9](?:[ ()./-]{0,2}[0-9]){6,14}(?![0-9A-Za-z_])", re.ASCII
)
_NATIONAL: Final = re.compile(
    _BEFORE + r"(?:\(0?[1-9][0-9]{1,4}\) ?|(?:[01][ -])?[0-9]{2,5}[ .-])[0-9](?:[ .-]?[0-9]){4,10}" + _AFTER, re.ASCII
)
_AMERICAN: Final = re.compile(
    r"(?<![0-9A-Za-z_+(-])(?<![0-9][./])(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}([ .-]))[2-9][0-9]{2}[ .-][0-9]{4}" + _AFTER,
    re.ASCII,
)  # fmt: skip
_PLAIN: Final = re.compile(_BEFORE + r"[0-9]{8,13}" + _AFTER, re.ASCII)
_CALLED: Final = re.compile(
    r"(?:\b(?:phone|telephone|mobile|cell|tel|fax|call|text|ring|dial|whatsapp|landline|reach (?:me|him|her|us|them))\b|手机|电话|座机|热线|传真|拨打|致电|来电|打给)"
    r"[^\n0-9.!?。！？]{0,24}$",
    re.I,
)
_COUNTED: Final = re.compile(
    r" ?(?:元|美元|块|万|亿|人|次|个|件|条|步|斤|克|吨|字|行|页|张|本|字节|毫秒|微秒|纳秒|秒|米|公里|吨|ms\b|bytes\b|rows\b|users\b|views\b|dollars\b|yuan\b|times\b|km\b)"
)
_REGIONS: Final = ("US", "GB", "HK", "TW", "SG", "JP", "DE", "FR", "AU", "IN")
"""Whose ways of writing a number without its country code are known, where the text says it is a phone's."""


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        import phonenumbers
    except ImportError as error:
        raise MissingExtra("phonenumbers", "redaction") from error
    return phonenumbers


def ready() -> None:
    """Raise `MissingExtra` now rather than at the first number."""
    _library()


def phones(text: str) -> Iterator[Span]:
    """Phone numbers: mainland mobiles and landlines, international ones, and national ones that are told as such."""
    for pattern in (_MOBILE, _LANDLINE, _HOTLINE):
        for found in pattern.finditer(text):
            if not _something_else(text, found.start(), found.end()):
                yield Span(found.start(), found.end(), "phone")
    for found in _COUNTRY.finditer(text):
        end = _international(text, found.start(), found.end())
        if end is not None:
            yield Span(found.start(), end, "phone")
    for found in _AMERICAN.finditer(text):
        if _is_valid(found[0], "US") and not _something_else(text, found.start(), found.end()):
            yield Span(found.start(), found.end(), "phone")
    for pattern in (_NATIONAL, _PLAIN):
        for found in pattern.finditer(text):
            if not _CALLED.search(text, max(0, found.start() - 40), found.start()):
                continue
            if any(_is_valid(found[0], region) for region in _REGIONS) and not _counted(text, found.end()):
                yield Span(found.start(), found.end(), "phone")


def _something_else(text: str, start: int, end: int) -> bool:
    """Whether a number is an amount, an order's, a part of a link's path or of a name."""
    if _MONEY.search(text, max(0, start - 8), start):
        return True
    if _counted(text, end) or named_otherwise(text, start) or is_id(text, start):
        return True
    if text[start - 1 : start] == "/" and start > 1:
        head = text[max(0, start - 200) : start]
        return "://" in re.split(r"\s", head)[-1]
    return False


_MONEY: Final = re.compile(r"(?:人民币|美元|金额|总额|合计|共计|RMB|CNY|USD|EUR|HKD)[ ：:]*$", re.I)


def _counted(text: str, end: int) -> bool:
    return _COUNTED.match(text, end) is not None


def _international(text: str, start: int, end: int) -> int | None:
    """Where an international number ends: the longest valid one that ends with a group of digits."""
    groups = [found.end() for found in re.finditer("[0-9]+", text[start:end])]
    for length in reversed(groups):
        number = text[start : start + length]
        if sum(map(str.isdigit, number)) < 8:
            return None
        if _is_valid("+" + number[2:] if number.startswith("00") else number, None):
            return start + length
    return None


@lru_cache(maxsize=4096)
def _is_valid(number: str, region: str | None) -> bool:
    library = _library()
    try:
        return bool(library.is_valid_number(library.parse(number, region)))
    except library.NumberParseException:
        return False
