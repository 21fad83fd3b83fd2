"""What a request asks for: its parameters, read once, and refused where they make no sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.values import Kind, Status

Many = Mapping[str, list[str]]

ORDERS = ("-created_at", "created_at", "-updated_at", "-event_time", "-importance", "-confidence", "-seen")
"""The orders a list is offered in; "best" besides them, where something is searched for."""

FIELDS = ("type", "source", "session", "status", "importance", "pinned", "created_at")
"""What a filter may look at besides kinds."""

BEST = "best"
ANY = "any"


@dataclass(frozen=True)
class Given:
    """Parameters by name, as a URL or a form gives them."""

    values: Many = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """One parameter; the last one where it is given twice."""
        found = self.values.get(name)
        return found[-1] if found else default

    def many(self, name: str) -> list[str]:
        """All values of one parameter that are not empty."""
        return [value for value in self.values.get(name, []) if value]

    def has(self, name: str) -> bool:
        """Whether it was given at all."""
        return name in self.values

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number, kept within its limits."""
        text = self.text(name).strip()
        try:
            value = int(text) if text else default
        except ValueError as error:
            raise InvalidInput(f"{name} is a whole number, not {text!r}") from error
        return max(low, min(high, value))

    def share(self, name: str) -> float | None:
        """A number in [0, 1], or None where there is none."""
        text = self.text(name).strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError as error:
            raise InvalidInput(f"{name} is a number from 0 to 1, not {text!r}") from error
        if not 0 <= value <= 1:
            raise InvalidInput(f"{name} is a number from 0 to 1, not {text!r}")
        return value

    def time(self, name: str) -> datetime | None:
        """A day or a time in UTC, or None where there is none."""
        text = self.text(name).strip()
        if not text:
            return None
        try:
            value = datetime.fromisoformat(text)
        except ValueError as error:
            raise InvalidInput(f"{name} is a date such as 2026-05-01, not {text!r}") from error
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@dataclass(frozen=True)
class Filter:
    """Which memories a list shows, and in which order."""

    query: str = ""
    kinds: tuple[str, ...] = ()
    type: str = ""
    source: str = ""
    session: str = ""
    status: str = Status.ACTIVE.value
    since: datetime | None = None
    until: datetime | None = None
    importance: float = 0.0
    pinned: bool = False
    order: str = ORDERS[0]

    @classmethod
    def of(cls, given: Given) -> Filter:
        """The filter that parameters ask for; raises `InvalidInput` for what can't be read."""
        query = given.text("q").strip()
        order = given.text("order") or (BEST if query else ORDERS[0])
        if order != BEST and order not in ORDERS:
            raise InvalidInput(f"unknown order {order!r}; known: {', '.join((BEST, *ORDERS))}")
        status = given.text("status") or Status.ACTIVE.value
        if status not in (ANY, *Status):
            raise InvalidInput(f"unknown status {status!r}; known: {', '.join((ANY, *Status))}")
        kinds = tuple(dict.fromkeys(given.many("kind")))
        unknown = [kind for kind in kinds if kind not in list(Kind)]
        if unknown:
            raise InvalidInput(f"unknown kind {unknown[0]!r}; known: {', '.join(Kind)}")
        return cls(
            query, kinds, given.text("type"), given.text("source"), given.text("session"), status, given.time("since"),
            given.time("until"), given.share("importance") or 0.0, given.text("pinned") == "1",
            ORDERS[0] if order == BEST and not query else order,
        )  # fmt: skip

    @property
    def where(self) -> dict[str, Any] | None:
        """The conditions besides kinds and words; None where there are none."""
        found: dict[str, Any] = {
            name: value for name, value in (("type", self.type), ("source", self.source), ("session", self.session)) if value
        }  # fmt: skip
        if self.status == ANY:
            found["status"] = {"$exists": True}
        elif self.status != Status.ACTIVE:
            found["status"] = self.status
        if self.importance:
            found["importance"] = {"$gte": self.importance}
        if self.pinned:
            found["pinned"] = True
        if self.since is not None or self.until is not None:
            found["created_at"] = {}
        if self.since is not None:
            found["created_at"]["$gte"] = self.since
        if self.until is not None:  # a day is meant with all its hours
            end = self.until if (self.until.hour, self.until.minute) != (0, 0) else self.until + timedelta(days=1)
            found["created_at"]["$lt"] = end
        return found or None

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out, apart from words."""
        return bool(self.kinds or self.where)

    @property
    def parameters(self) -> dict[str, Any]:
        """What a link to this list carries."""
        return {
            "q": self.query, "kind": list(self.kinds), "type": self.type, "source": self.source, "session": self.session,
            "status": "" if self.status == Status.ACTIVE else self.status,
            "since": "" if self.since is None else f"{self.since:%Y-%m-%d}",
            "until": "" if self.until is None else f"{self.until:%Y-%m-%d}",
            "importance": f"{self.importance:g}" if self.importance else "", "pinned": "1" if self.pinned else "",
            "order": "" if self.order == (BEST if self.query else ORDERS[0]) else self.order,
        }  # fmt: skip


def language(cookie: str, accepted: str) -> str:
    """Chinese or English: what was chosen, else what the browser would rather have.

    >>> language("", "zh-CN,zh;q=0.9,en;q=0.8"), language("en", "zh"), language("", "de")
    ('zh', 'en', 'en')
    """
    if cookie in ("en", "zh"):
        return cookie
    best, found = 0.0, "en"
    for part in accepted.lower().split(",")[:20]:
        tag, _, rest = part.strip().partition(";")
        try:
            weight = float(rest.strip().removeprefix("q=")) if rest.strip() else 1.0
        except ValueError:
            weight = 0.0
        tongue = tag.strip().partition("-")[0]
        if tongue in ("en", "zh") and weight > best:
            best, found = weight, tongue
    return found
