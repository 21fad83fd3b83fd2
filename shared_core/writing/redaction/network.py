"""Addresses of machines and people on the net: e-mail and IP. Versions, times and file names are none."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from shared_core.writing.redaction.spans import Span

_LOCAL: Final = re.compile(r"[A-Za-z0-9À-ɏ.!#$%&'*+/=?^_{|}~-]{1,64}$")
_LEAD: Final = ".!#$%&'*/=?^{|}~-"  # allowed inside a local part; at its beginning the text's own
_DOMAIN: Final = re.compile(
    r"(?:[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ-]{0,61}[A-Za-z0-9À-ɏ])?\.){1,8}"
    r"(?:xn--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24}|中国|公司|网络|香港|台湾)"
    r"|(?:[\u4e00-\u9fff]{1,20}\.){1,2}(?:中国|公司|网络|香港|com|cn|net)(?![A-Za-z])"
    r"|\[[0-9]{1,3}(?:\.[0-9]{1,3}){3}\]"
)
_FILES: Final = frozenset(
    "png jpg jpeg gif svg webp bmp ico css js ts tsx jsx json yaml yml html htm xml txt md pdf exe dll whl toml".split()
)  # "logo@2x.png" is a picture
_URL: Final = 200  # characters a login in an address may take
_OBFUSCATED: Final = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9._+-]{0,63} ?[\[(] ?(?:at|AT) ?[\])] ?"
    r"[A-Za-z0-9-]{1,63}(?:(?: ?[\[(] ?(?:dot|DOT) ?[\])] ?|\.)[A-Za-z0-9-]{2,24}){1,3}", re.ASCII
)  # fmt: skip


def emails(text: str) -> Iterator[Span]:
    """E-mail addresses, next to text of any script."""
    at = text.find("@")
    while at > 0:
        span = _email(text, at)
        if span is not None:
            yield span
        at = text.find("@", at + 1 if span is None else span.end)
    if "[at]" in text.lower() or "(at)" in text.lower():
        for found in _OBFUSCATED.finditer(text):
            yield Span(found.start(), found.end(), "email")


def _email(text: str, at: int) -> Span | None:
    domain = _DOMAIN.match(text, at + 1)
    if domain is None:
        return None
    local = _LOCAL.search(text[max(0, at - 64) : at])
    if local is None:
        return None
    # In a link the part after the sign is it: "tel=1&mail=a@b.cn", "mailto:a@b.cn".
    name = re.split(r"[/=?&]", local[0])[-1].lstrip(_LEAD)
    if not name or name.endswith("."):
        return None
    if domain[0].rsplit(".", 1)[-1].lower() in _FILES:
        return None
    start = at - len(name)
    if text[start - 1 : start] == ":" and _is_login(text, start):
        return None  # the password of "https://user:password@host"
    if name == "git" and text[domain.end() : domain.end() + 1] == ":":
        return None  # "git@github.com:owner/project.git"
    return Span(start, domain.end(), "email")


def _is_login(text: str, start: int) -> bool:
    head = text[max(0, start - _URL) : start]
    scheme = head.rfind("://")
    return scheme >= 0 and not re.search(r"[\s/@]", head[scheme + 3 :])


_V4: Final = re.compile(
    r"(?:(?<![0-9A-Za-z_.])|(?<=[iI][pP]))[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9A-Za-z_]|\.[0-9])", re.ASCII
)
_V6: Final = re.compile(
    r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f:]{2,39}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3})?(?![0-9A-Za-z_:]|\.[0-9])", re.ASCII
)
_NO_ADDRESS: Final = re.compile(
    r"(?:version|release|build|firmware|upgraded? to|updated? to|chrome|safari|firefox|edge|\bver\.?|\bv|\brev\.?|版本号?|升级到|固件"
    r"|section|chapter|clause|paragraph|§|figure|table|章节?|第|条款|小节|oid)[ ]*(?:is|was|=|:|是|为|/)?[ \"'(]*$",
    re.I,
)
_NO_ADDRESS_AFTER: Final = re.compile(r" ?(?:版|节|章|条|release\b|version\b|build\b)", re.I)


def addresses(text: str) -> Iterator[Span]:
    """IPv4 and IPv6 addresses that may be somebody's: not those of this machine, and no versions."""
    for found in _V4.finditer(text):
        octets = found[0].split(".")
        if any(int(part) > 255 or (len(part) > 1 and part[0] == "0") for part in octets):
            continue
        if octets[0] in ("0", "127") or found[0] == "255.255.255.255" or _is_version(text, found.start(), found.end()):
            continue
        yield Span(found.start(), found.end(), "ip")
    if "::" in text or text.count(":") > 6:
        for found in _V6.finditer(text):
            # A sentence's colon, or a port's, belongs to no address.
            value = found[0] if found[0].endswith("::") else found[0].rstrip(":")
            if value.count(":") > 1 and _is_v6(value):
                yield Span(found.start(), found.start() + len(value), "ip")


def _is_version(text: str, start: int, end: int) -> bool:
    return bool(_NO_ADDRESS.search(text, max(0, start - 24), start) or _NO_ADDRESS_AFTER.match(text, end))


def _is_v6(value: str) -> bool:
    """Whether this is an address of the net: "a::b" is a name in C++, and "10:22:33" a time."""
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    if address.ipv4_mapped is not None:
        return True
    first = value.split(":")[0]
    return (
        len(first) in (3, 4) and not address.is_unspecified and not address.is_loopback and any(map(str.isdigit, value))
    )
