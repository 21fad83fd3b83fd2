"""Where private data stands in a text: spans, which of them count, and what stands in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

KINDS: Final = (
    "email", "phone", "id_card", "bank_card", "iban", "ip", "api_key", "password", "name", "address",
)  # fmt: skip
"""What can be found; names and addresses by a hook only."""

LETTERS: Final = "bcdfghjkmnpqrstvwxz"  # of tokens: no digit that a detector could take for one, and no words
TOKEN_LENGTH: Final = 14
_KIND = "|".join(KINDS)
PLACEHOLDER: Final = re.compile(rf"\[(?:{_KIND})(?::[{LETTERS}]{{{TOKEN_LENGTH}}})?\]")
"""What stands in the place of private data: "[email]", or with a token of the vault "[email:...]"."""
TOKEN: Final = re.compile(rf"\[(?:{_KIND}):[{LETTERS}]{{{TOKEN_LENGTH}}}\]")

HIDDEN: Final = "\0"
"""Stands for every character that was found, or is a placeholder, while the rest is looked at; no detector takes it."""


class Span(NamedTuple):
    """Private data in a text: from `start` up to `end`, in characters, of one of `KINDS`."""

    start: int
    end: int
    kind: str


_RANK: Final = {kind: rank for rank, kind in enumerate(
    ("api_key", "id_card", "iban", "bank_card", "email", "ip", "phone", "password", "address", "name")
)}  # fmt: skip


def resolved(spans: Iterable[Span]) -> list[Span]:
    """Those that count of spans that overlap: the longest, of equals the surest kind; in order.

    >>> resolved([Span(2, 13, "phone"), Span(2, 20, "email"), Span(25, 30, "ip"), Span(2, 13, "phone")])
    [Span(start=2, end=20, kind='email'), Span(start=25, end=30, kind='ip')]
    """
    kept: list[Span] = []
    for span in _by_groups(sorted(set(spans))):
        kept += span
    return kept


def _by_groups(spans: list[Span]) -> Iterable[list[Span]]:
    """Each run of spans that hang together, cut down to those that don't overlap."""
    group: list[Span] = []
    end = -1
    for span in spans:
        if group and span.start >= end:
            yield _chosen(group)
            group = []
        group.append(span)
        end = max(end, span.end) if len(group) > 1 else span.end
    if group:
        yield _chosen(group)


def _chosen(group: list[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(group, key=lambda one: (one.start - one.end, _RANK[one.kind], one.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)


def hidden(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with these places blotted out, as long as it was."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], HIDDEN * (end - start)]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def replaced(text: str, spans: Iterable[Span], put: Callable[[Span, str], str]) -> str:
    """A text with something else in the place of each span; `put` gets the span and its text.

    >>> replaced("call 555 now", [Span(5, 8, "phone")], lambda span, value: label(span.kind))
    'call [phone] now'
    """
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], put(span, text[span.start : span.end])]
        at = span.end
    return "".join([*parts, text[at:]])


def label(kind: str) -> str:
    """The placeholder of a kind, the same in every language."""
    return f"[{kind}]"
