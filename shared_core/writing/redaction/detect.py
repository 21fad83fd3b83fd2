"""All private data in a text, each kind by its own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from shared_core.errors import InvalidType
from shared_core.writing.redaction.network import addresses, emails
from shared_core.writing.redaction.normal import ascii_forms
from shared_core.writing.redaction.numbers import cards, ibans, identities
from shared_core.writing.redaction.phones import phones
from shared_core.writing.redaction.secrets import keys, passwords
from shared_core.writing.redaction.spans import HIDDEN, KINDS, PLACEHOLDER, Span, hidden, resolved

Hook = Callable[[str], Iterable[Any]]
"""Names and addresses in a text: a model for named entities, behind a callable."""

_DETECTORS: Final[Mapping[str, Callable[[str], Iterator[Span]]]] = {
    "email": emails, "phone": phones, "id_card": identities, "bank_card": cards, "iban": ibans, "ip": addresses,
    "api_key": keys, "password": passwords,
}  # fmt: skip
_DIGITS: Final = frozenset({"phone", "id_card", "bank_card", "iban", "ip"})
_LABELS: Final = {
    **dict.fromkeys(("name", "person", "per", "pers", "nr", "persname", "人名", "姓名"), "name"),
    **dict.fromkeys(("address", "addr", "loc", "location", "gpe", "fac", "street_address", "ns", "地址", "地名"), "address"),
}  # fmt: skip
_ROUNDS: Final = 32


def find(text: str, kinds: Iterable[str] = KINDS, hook: Hook | None = None) -> list[Span]:
    """The private data in a text, in order, no two spans overlapping; placeholders are none.

    What was found is blotted out and the rest looked at once more, until nothing is left: so a text
    that was redacted has nothing to redact.

    >>> [(span.kind, span.start, span.end) for span in find("写信到a@example.com，手机13800138000")]
    [('email', 3, 16), ('phone', 19, 30)]
    """
    wanted = tuple(kind for kind in kinds if kind in _DETECTORS)
    known = [found.span() for found in PLACEHOLDER.finditer(text)] if "[" in text else []
    read = hidden(ascii_forms(text).replace(HIDDEN, " "), known)
    found: list[Span] = []
    if hook is not None:
        named = [span for span in _named(text, hook) if span.kind in kinds]
        found = resolved(_outside(named, known))
    for _ in range(_ROUNDS):
        more = resolved([*found, *_once(read, wanted)])
        if len(more) == len(found) and more == found:
            break
        found, read = more, hidden(read, [span[:2] for span in more])
    return found


def _once(text: str, kinds: Iterable[str]) -> Iterator[Span]:
    digits = any(char in text for char in "0123456789")
    for kind in kinds:
        if digits or kind not in _DIGITS:
            yield from _DETECTORS[kind](text)


def _named(text: str, hook: Hook) -> Iterator[Span]:
    for given in hook(text):
        if isinstance(given, Mapping):
            start, end = given.get("start"), given.get("end")
            called = given.get("label", given.get("entity_group", given.get("entity")))
        elif isinstance(given, tuple | list) and len(given) == 3:
            start, end, called = given
        else:
            start, end = (getattr(given, name, None) for name in ("start", "end"))
            called = getattr(given, "label", getattr(given, "entity_type", None))
        if not isinstance(start, int) or not isinstance(end, int) or not isinstance(called, str):
            raise InvalidType("redaction.hook gives (start, end, label) for each name, or something with these fields")
        kind = _LABELS.get(called.lower().removeprefix("b-").removeprefix("i-"))
        if kind is not None and 0 <= start < end <= len(text):
            yield Span(start, end, kind)


def _outside(spans: Iterable[Span], known: list[tuple[int, int]]) -> Iterator[Span]:
    """Spans without what of them is a placeholder already."""
    for span in spans:
        start = span.start
        for first, last in known:
            if last <= start or first >= span.end:
                continue
            if first > start:
                yield Span(start, first, span.kind)
            start = last
        if start < span.end:
            yield Span(start, span.end, span.kind)
