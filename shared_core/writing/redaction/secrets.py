"""What opens doors: keys and tokens by their well-known forms or by what they are called, and passwords."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from shared_core.writing.redaction.spans import Span

_EDGE: Final = r"(?<![A-Za-z0-9_-])"
_PREFIXED: Final = re.compile(
    _EDGE + r"(?:"
    r"sk-(?:proj-|ant-|or-|svcacct-|admin-|lf-)?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter, DeepSeek ...
    r"|gh[opusr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{16,36}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[A-Za-z0-9_-]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[a-f0-9]{32}|dop_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|(?:gsk|xai|tvly|pplx|lin_api|nvapi|fw|r8|sntrys|sntryu|glsa|hvs|figd|ntn|secret)[_-][A-Za-z0-9_-]{24,}"
    r"|(?:EAACEdEose0cBA|EAA)[A-Za-z0-9]{60,}|AC[a-f0-9]{32}(?![A-Za-z0-9])|SK[a-f0-9]{32}(?![A-Za-z0-9])"
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"  # Telegram's bots
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{6,}"  # JSON web tokens
    r")",
    re.ASCII,
)
_HOOKS: Final = re.compile(
    r"https://hooks\.slack\.com/services/([A-Za-z0-9/]{20,})|(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,})"
)
_BEARER: Final = re.compile(r"\b(?:Bearer|Basic|Token)[ ]+([A-Za-z0-9._~+/=-]{16,512})", re.ASCII)
_NAMED: Final = re.compile(
    r"(?:\b(?:[A-Za-z0-9]{1,20}[ _-]){0,3}?(?:api|access|secret|auth|private|client|bearer|refresh|session|service|app|signing|encryption|license)[ _-]?(?:secret|access)?[ _-]?(?:key|token|secret)(?:[ _-]?id)?"
    r"|\b(?:token|secret|apikey|credential)s?|密钥|秘钥|私钥|令牌|口令牌|api ?key|授权码|激活码|token)"
    r"[\"']?[ ]{0,3}(?:is|was|are|=>|->|:=|=|:|是|为|给你|叫)?[ ]{0,3}[:=]?[ ]?(?:\"([^\"\n\0]{12,512})\"|'([^'\n\0]{12,512})'|<?([A-Za-z0-9_./+=~-]{12,512}))",
    re.I | re.ASCII,
)
_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY: Final = re.compile(r"(?:(?:[ \t\r\n]|\\n)+[A-Za-z0-9+/=]{16,128})+")
_LEAST_BITS: Final = 3.0  # Shannon entropy a character; words have less variety for their length, or no digit
_SECRET_SIZE: Final = 12


def keys(text: str) -> Iterator[Span]:
    """API keys, tokens and private keys."""
    yield from _blocks(text)
    for found in _PREFIXED.finditer(text):
        if _is_random(found[0], bits=2.5):
            yield Span(found.start(), found.end(), "api_key")
    for pattern in (_HOOKS, _BEARER, _NAMED):
        for found in pattern.finditer(text):
            group = found.lastindex or 0
            value = found[group].rstrip(".-/") if pattern is not _HOOKS else found[group]
            if pattern is _HOOKS or (len(value) >= _SECRET_SIZE and _is_random(value)):
                yield Span(found.start(group), found.start(group) + len(value), "api_key")


def _blocks(text: str) -> Iterator[Span]:
    at, ends = 0, "-----END" in text
    while (begin := _BEGIN.search(text, at)) is not None:
        end = text.find("-----END", begin.end()) if ends else -1
        close = text.find("-----", end + 8) if end >= 0 else -1
        if close >= 0:
            at = close + 5
        else:  # cut off: what follows is the key as far as it looks like one
            ends = ends and end >= 0
            body = _BODY.match(text, begin.end())
            at = begin.end() if body is None else body.end()
        if close >= 0 or at > begin.end():
            yield Span(begin.start(), at, "api_key")


def entropy(text: str) -> float:
    """Bits a character, as often as each stands in the text.

    >>> round(entropy("aaaa"), 1), round(entropy("abcd"), 1)
    (0.0, 2.0)
    """
    size = len(text)
    return sum(count / size * math.log2(size / count) for count in Counter(text).values())


def _is_random(value: str, bits: float = _LEAST_BITS) -> bool:
    """Whether a text was drawn rather than written: digits among its letters, and no character that recurs all the time."""
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    mixed = bool(letters and digits) or (letters > 20 and value != value.lower() and value != value.upper())
    return mixed and entropy(value) >= bits


# ---------------------------------------------------------------------- passwords

_WORD_EN: Final = r"(?:pass(?=[\"']? ?[:=])|pass ?words?|pass ?phrase|pass ?code|passwd|pass-?wd|pwd|psw|pin(?: code| number)?|wi-?fi key|wpa2? key)"
_ABOUT: Final = r"(?: (?:for|of|to|on|at|here|there|now|again)\b[^\n.,;:!?=\"']{0,40}?)?"
_SAID: Final = re.compile(
    r"(?<![A-Za-z])" + _WORD_EN + r"[\"']?" + _ABOUT
    + r"(?: ?(=>|->|→|:=|=|:| - ) ?|(?: |')(is|was|s|will be|are|to|became|remains)(?: ?: ?| )(?:now |currently |still |just |set to |changed to )?| ()(?=[^\s]{0,32}[0-9]))"
    + r"(?:\"([^\"\n]{1,128})\"|'([^'\n]{1,128})'|([^\s\"'\0，。；！？、（）]{3,128}))",
    re.I | re.ASCII,
)  # fmt: skip
_SAID_ZH: Final = re.compile(
    r"(?:密码|口令|暗码|开机码|通行码|pin ?码|密碼|口令码|passcode)(?:目前|现在|就|已经|已|我|也|都|还|仍然|依然|统一|被|暂时|全|先){0,2}"
    r"((?:应该|应当|可能|会|多半)?是|为|:|=|改成了?|改为了?|设成了?|设为了?|换成了?|换为|重置为|重置成|变成了?|用的是|叫|填|输入?)?[了的]? ?[:=]? ?"
    r"(?:[\"'「『【]([^\"'」』】\n\0]{1,64})[\"'」』】]|([!-~]{3,64}))",
    re.I,
)  # fmt: skip
_LOGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>\0]{0,64}:([^\s/@\"'<>\0]{1,128})@")
_FLAG: Final = re.compile(r"(?:--password[= ]|-p(?=[^ ]*[0-9])|\bsshpass -p ?)[\"']?([^\s\"'\0]{3,128})")
_PLAIN_WORDS: Final = frozenset(
    "the a an my your his her our their its it this that these those what which who when where why how not no nothing none null nil "
    "too very so really quite just only always never still already also both same different similar like "
    "wrong incorrect invalid right correct valid weak strong secure insecure safe unsafe long short simple complex easy hard difficult "
    "required optional necessary needed mandatory missing empty blank expired expiring changed reset set stored saved hashed encrypted "
    "salted hidden visible masked protected compromised leaked stolen lost forgotten known unknown unchanged unavailable available "
    "accepted rejected disabled enabled sensitive case-sensitive private secret confidential important good bad better best old new "
    "used use using made kept given sent shared written due ready here there for of to in on at by from with without and or but if "
    "must should shall can cannot can't could would will won't may might has have had does doesn't don't did didn't be being been is was "
    "isn't wasn't at-least minimum maximum between under over about around see ask contact check read enter type change update please "
    "login sign something someone anything everything stupid silly funny ridiculous long-winded complicated unique random generated "
    "crypto manager field policy reset-link resets hint prompt string str text input user admins you me us them him we they i "
    "all any each every one two three four five six seven eight nine ten characters letters digits auto automatically correctly "
    "true false yes undefined todo tbd n/a redacted omitted fine ok okay unreadable impossible annoying".split()
)
_ENDINGS: Final = ("ed", "ing", "able", "ible", "ly", "less", "ful")
_MASK: Final = re.compile(r"[*•xX.#_?\-·]+|<[^>]*>|\{[^}]*\}|\$\{?[A-Za-z_]+\}?|%[A-Za-z_]+%|\[[^\]]*\]")
_COUNTED: Final = frozenset("位个种天次年月日点分遍")
_BARE: Final = 6  # the group of a password without quotes
_REST: Final = 8  # characters behind it that say whether it ends a sentence
_TAIL: Final = ".,;:)]}>\"'?"


def passwords(text: str) -> Iterator[Span]:
    """Passwords that are told: "my password is hunter2", "密码：abc123", "https://me:hunter2@host"."""
    lower = text.lower()
    if "://" in text:
        for found in _LOGIN.finditer(text):
            yield Span(found.start(1), found.end(1), "password")
    if "pass" in lower or "pwd" in lower or "pin" in lower or "psw" in lower or "key" in lower or "-p" in lower:
        for found in _SAID.finditer(text):
            yield from _told(text, found)
        for found in _FLAG.finditer(text):
            if not _MASK.fullmatch(found[1]):
                yield Span(found.start(1), found.end(1), "password")
    if "码" in text or "令" in text or "碼" in text:
        for found in _SAID_ZH.finditer(text):
            yield from _told_zh(text, found)


def _told(text: str, found: re.Match[str]) -> Iterator[Span]:
    group = next(each for each in (4, 5, 6) if found[each] is not None)
    value = found[group]
    if group == _BARE:
        value = value.rstrip(_TAIL)
        rest = text[found.start(group) + len(value) : found.end() + _REST].split("\n", 1)[0]
        if not _is_password(value, bool(found[1]), rest) or (found[3] is not None and not _is_mixed(value)):
            return
    if value.strip() and not _MASK.fullmatch(value):
        yield Span(found.start(group), found.start(group) + len(value), "password")


def _is_mixed(value: str) -> bool:
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def _is_password(value: str, sign: bool, rest: str) -> bool:
    """Whether a word after "password is" is one, rather than what somebody thinks of it."""
    word = value.lower().strip("!")
    if len(value) < 3 or word in _PLAIN_WORDS or not value.isascii():
        return False
    if not word.isalpha() and not re.fullmatch(r"[a-z]+(?:'[a-z]+|-[a-z]+)", word):
        return True
    if value != value.lower() and value[1:] != value[1:].lower():
        return True
    if word.endswith(_ENDINGS):
        return False
    # A plain word: only where nothing follows that it would belong to.
    return sign or rest[:1] in ("", ".", ",", ";", "!", "\n", '"', ")", "?") or not rest.strip()


def _told_zh(text: str, found: re.Match[str]) -> Iterator[Span]:
    if found[2] is not None:
        if found[1] and not _MASK.fullmatch(found[2]):
            yield Span(found.start(2), found.end(2), "password")
        return
    value = found[3].rstrip(_TAIL)
    if len(value) < 3 or _MASK.fullmatch(value):
        return
    if found[1] is None and not any(map(str.isdigit, value)):
        return  # "密码manager": only what stands right behind it, and is no word
    if value.isdigit() and text[found.start(3) + len(value) : found.start(3) + len(value) + 1] in _COUNTED:
        return
    if value.lower() in _PLAIN_WORDS or re.match(r"https?://", value):
        return
    yield Span(found.start(3), found.start(3) + len(value), "password")
