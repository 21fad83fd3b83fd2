"""Long numbers that are private: bank cards, identity cards, IBAN. What only looks like one is left alone.

A check digit alone takes one number in ten for a card, so prefix, length, grouping and what stands
around a number have their say: times, hashes, UUIDs, ISBN, amounts and order numbers are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from shared_core.writing.redaction.checksums import iban_length, is_card, is_iban, is_identity
from shared_core.writing.redaction.spans import Span

# Runs of digit groups with one space or hyphen between them; at most as long as anything we know, and then some.
_RUN: Final = re.compile(r"(?<![0-9A-Za-z_])[0-9]{1,20}(?:[ -][0-9]{1,20}){0,11}", re.ASCII)
_GROUPS: Final = frozenset(
    {(4, 4, 4, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 2), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (4, 4, 5), (6, 13), (6, 10), (4, 4, 4, 1), (4, 12), (4, 4, 8)}
)  # fmt: skip
_BORN: Final = frozenset({(6, 8, 4), (6, 8, 3), (6, 4, 4, 4), (6, 6, 3), (6, 6, 6), (3, 3, 8, 4), (10, 8)})

_IDENTITY: Final = re.compile(r"(?<![0-9A-Za-z_])[1-9][0-9]{16}[0-9Xx](?![0-9A-Za-z_])", re.ASCII)
_SPACED_X: Final = re.compile(
    r"(?<![0-9A-Za-z_])[1-9][0-9]{5}[ -](?:[0-9]{8}|[0-9]{4}[ -][0-9]{4})[ -]?[0-9]{3}[0-9Xx](?![0-9A-Za-z_])", re.ASCII
)

_NO_CARD_AFTER: Final = re.compile(
    r"\.[0-9]|,[0-9]{3}(?![0-9])|-[0-9A-Za-z]|[%℃°]|(?: ?(?:元|美元|块|人|次|个|件|条|字节|毫秒|微秒|ms\b|bytes\b))"
)
_MENTIONED: Final = re.compile(
    r"(?:订单|单号|运单|快递|物流|流水|交易|编号|编码|条码|序列|工单|发票|批次|版本|时间戳|哈希|物料|书号|合同|案号|学号|工号|群号"
    r"|order|invoice|tracking|ticket|transaction|shipment|parcel|waybill|serial|isbn|issn|imei|ean|upc|sku|barcode"
    r"|timestamp|epoch|unix time|hash|commit|build|version|batch|trace|request|session|uuid|guid|article|document|case|part)"
    r"[ _-]?(?:号码|号|码|编号|numbers?|num|nos?\.?|ids?|code|#)?[ ]*(?:is|was|are|=|:|是|为|#)?[ \"'#(]*$",
    re.I,
)
_LOOK: Final = 48  # characters before a number that may say what it is


def named_otherwise(text: str, start: int) -> bool:
    """Whether the words right before a number say that it is an order number, a time, a serial number or the like."""
    return _MENTIONED.search(text, max(0, start - _LOOK), start) is not None


_ID: Final = re.compile(r"(?:(?:\b|_)u?id|用户 ?id)[\"']?[ ]*[=:#]?[ ]*[\"']?$", re.I)


def is_id(text: str, start: int) -> bool:
    """Whether a number is what the text calls an id: "user_id: 139...", "id=139..."."""
    return _ID.search(text, max(0, start - 12), start) is not None


def _part_of_more(text: str, start: int, end: int) -> bool:
    """Whether digits stand in a decimal, an amount, a UUID or an id with letters."""
    before = text[max(0, start - 2) : start]
    if before and (
        before[-1] in "$€£¥￥#"
        or (before[-1] in ".,-+/" and len(before) == 2 and before[0].isalnum() and before[0].isascii())
    ):
        return not (before[-1] == "/" or (before[-1] in ".,-" and not before[0].isdigit() and before[-1] != "-"))
    return False


def cards(text: str) -> Iterator[Span]:
    """Bank card numbers: an issuer's prefix and length, the check digit, and a grouping that people write."""
    for run in _RUN.finditer(text):
        if run.end() - run.start() < 13:
            continue
        after = run.end()
        if after < len(text) and (text[after] == "_" or (text[after].isalnum() and text[after].isascii())):
            continue
        yield from _cards_of(text, run)


def _cards_of(text: str, run: re.Match[str]) -> Iterator[Span]:
    groups = [(found.start() + run.start(), found.end() + run.start()) for found in re.finditer("[0-9]+", run[0])]
    place = 0
    while place < len(groups):
        last = _card_at(text, groups, place)
        if last is None:
            place += 1
            continue
        yield Span(groups[place][0], groups[last][1], "bank_card")
        place = last + 1


def _card_at(text: str, groups: list[tuple[int, int]], place: int) -> int | None:
    """The last group of the card that begins here, the longest; None if none does."""
    found = None
    sizes: tuple[int, ...] = ()
    digits = ""
    for last in range(place, min(place + 5, len(groups))):
        start, end = groups[last]
        digits += text[start:end]
        sizes = (*sizes, end - start)
        if len(digits) > 19:
            break
        whole = len(sizes) == 1
        if not (whole or (sizes in _GROUPS and _one_sign(text, groups[place : last + 1]))) or not is_card(digits):
            continue
        first = groups[place][0]
        if _part_of_more(text, first, end) or _NO_CARD_AFTER.match(text, end):
            continue
        if whole and (named_otherwise(text, first) or is_id(text, first)):
            continue
        found = last
    return found


def _one_sign(text: str, groups: list[tuple[int, int]]) -> bool:
    return len({text[end] for _, end in groups[:-1]}) == 1


def identities(text: str) -> Iterator[Span]:
    """Chinese identity numbers, in one piece or in the pieces people write them in."""
    for pattern in (_IDENTITY, _SPACED_X):
        for found in pattern.finditer(text):
            number = re.sub("[ -]", "", found[0])
            if len(number) == 18 and is_identity(number) and not _part_of_more(text, found.start(), found.end()):
                yield Span(found.start(), found.end(), "id_card")
    for run in _RUN.finditer(text):
        sizes = tuple(map(len, re.split("[ -]", run[0])))
        number = re.sub("[ -]", "", run[0])
        after = text[run.end() : run.end() + 1]
        if len(number) != 15 or not (sizes == (15,) or sizes in _BORN) or (after.isalnum() and after.isascii()):
            continue
        if not is_identity(number) or _part_of_more(text, run.start(), run.end()):
            continue
        if not named_otherwise(text, run.start()) and not _NO_CARD_AFTER.match(text, run.end()):
            yield Span(run.start(), run.end(), "id_card")


_COUNTRY: Final = re.compile(r"(?<![0-9A-Za-z])(?:[A-Z]{2}|[a-z]{2})[0-9]{2}(?=[ -]?[0-9A-Za-z]{2})", re.ASCII)


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers, in one piece or in groups."""
    for found in _COUNTRY.finditer(text):
        length = iban_length(found[0][:2].upper())
        if length is None:
            continue
        whole = _of_length(length).match(text, found.start())
        if whole is not None and is_iban(whole[0].replace(" ", "").replace("-", "")):
            yield Span(whole.start(), whole.end(), "iban")


@lru_cache
def _of_length(length: int) -> re.Pattern[str]:
    return re.compile(rf"[0-9A-Za-z](?:[ -]?[0-9A-Za-z]){{{length - 1}}}(?![0-9A-Za-z])", re.ASCII)
