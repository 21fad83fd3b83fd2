"""A text as detectors read it: every digit and sign in its ASCII form, each character where it stood."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_ENDS: Final = "，；！？"  # full-width too, and they end what stands before them: a password, a number
_LAST: Final = 0x20000  # no decimal digit stands behind the first two planes


@lru_cache(maxsize=1)
def _forms() -> dict[int, str]:
    forms = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in _ENDS}
    for code in range(0x80, _LAST):
        digit = unicodedata.decimal(chr(code), None)
        if digit is not None:
            forms[code] = str(int(digit))
    forms |= dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-")
    forms |= dict.fromkeys(map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " ")  # fmt: skip
    forms |= dict.fromkeys(map(ord, "“”„«»「」『』＂"), '"')
    forms |= dict.fromkeys(map(ord, "‘’`"), "'")
    return forms


def ascii_forms(text: str) -> str:
    """The text with full-width and foreign digits, signs and spaces as ASCII; as long as it was.

    >>> ascii_forms("手机１３８－００１３ ８０００，")
    '手机138-0013 8000，'
    """
    return text if text.isascii() else text.translate(_forms())
