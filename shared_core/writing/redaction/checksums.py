"""Numbers that check themselves: bank cards, Chinese identity cards, IBAN. Pure arithmetic over digits."""

from __future__ import annotations

from datetime import date
from typing import Final

# Issuer prefixes (ISO/IEC 7812) as ranges of their first digits, each with the lengths it issues.
_ISSUERS: Final = (
    ("4", "4", (13, 16, 19)),  # Visa, and Chinese debit cards of that range
    ("51", "55", (16,)), ("2221", "2720", (16,)),  # Mastercard
    ("34", "34", (15,)), ("37", "37", (15,)),  # American Express
    ("62", "62", (16, 17, 18, 19)), ("81", "81", (16, 17, 18, 19)),  # UnionPay
    ("6011", "6011", (16, 19)), ("644", "649", (16, 19)), ("65", "65", (16, 19)),  # Discover
    ("300", "305", (14, 16, 19)), ("3095", "3095", (14, 16, 19)), ("36", "36", (14, 16, 19)), ("38", "39", (14, 16, 19)),
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("5018", "5018", (16, 18, 19)), ("5020", "5020", (16, 18, 19)), ("5038", "5038", (16, 18, 19)),  # Maestro
    ("5893", "5893", (16, 18, 19)), ("6304", "6304", (16, 18, 19)), ("6759", "6763", (16, 18, 19)),
    ("60", "60", (16, 18, 19)), ("82", "82", (16,)), ("508", "508", (16,)),  # RuPay; Bank of China's old cards
    ("2200", "2204", (16, 19)), ("9792", "9792", (16,)),  # Mir, Troy
    ("9558", "9559", (16, 19)), ("103", "103", (19,)), ("56", "56", (16, 19)), ("58", "58", (16, 19)),  # Chinese debit
)  # fmt: skip
_BY_FIRST: Final = {
    first: [each for each in _ISSUERS if each[0][0] <= first <= each[1][0]] for first in "123456789"
}  # fmt: skip
_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS: Final = "10X98765432"
_PROVINCES: Final = frozenset(
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83 91".split()
)
_EARLIEST: Final = 1900

_IBAN: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
    "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
    "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
    "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28,
    "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20,
    "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
    "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27,
    "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
"""Lengths by country, as the IBAN registry has them."""


def luhn(digits: str) -> bool:
    """Whether the last digit is what the others make it (ISO/IEC 7812-1, annex B).

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = ord(digit) - 48
        total += _DOUBLED[value] if place & 1 else value
    return total % 10 == 0


def is_card(digits: str) -> bool:
    """Whether a bank issues cards of this prefix and length, and the check digit is right.

    >>> is_card("6222021234567890128"), is_card("1735689600005")  # the second is a time in milliseconds
    (True, False)
    """
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    for low, high, lengths in _BY_FIRST.get(digits[0], ()):
        if low <= digits[: len(low)] <= high and len(digits) in lengths:
            return luhn(digits)
    return False


def is_identity(number: str) -> bool:
    """Whether this is a Chinese identity number: of 18 places with its check (GB 11643-1999), or the old 15.

    The old form has no check: province and date of birth have to be possible.

    >>> is_identity("11010519491231002X"), is_identity("110105194912310021"), is_identity("110105491231002")
    (True, False, True)
    """
    if number[:2] not in _PROVINCES:
        return False
    if len(number) == 15:
        return _is_date(1900 + int(number[6:8]), number[8:12])
    total = sum(weight * (ord(digit) - 48) for weight, digit in zip(_WEIGHTS, number, strict=False))
    return _CHECKS[total % 11] == number[17].upper() and _is_date(int(number[6:10]), number[10:14])


def _is_date(year: int, day: str) -> bool:
    try:
        return date(year, int(day[:2]), int(day[2:])).year >= _EARLIEST and year < 2100
    except ValueError:
        return False


def iban_length(country: str) -> int | None:
    """How many characters an IBAN of a country has; None where there are none."""
    return _IBAN.get(country)


def is_iban(text: str) -> bool:
    """Whether the check digits of an IBAN without spaces are right (ISO 7064, mod 97).

    >>> is_iban("DE89370400440532013000"), is_iban("DE88370400440532013000")
    (True, False)
    """
    moved = text[4:] + text[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1
