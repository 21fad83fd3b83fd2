"""What a notebook shows of values: short, escaped, and readable on a light page and on a dark one.

Colours are the page's own (`inherit`) or half-transparent greys and blues, so nothing has to know
which theme is on. Every text is data: it is escaped, its control characters are taken out, and it is
cut where it is long.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from shared_core.values import Change, Context, Hit, Message, Receipt, Record

if TYPE_CHECKING:
    from shared_core.long_term.graph.graph import Graph

T = TypeVar("T")
_MOST = 50  # rows of a list
_LONG = 300  # characters of a text
_EDGE = "border:1px solid rgba(128,128,128,.35)"
_CELL = f"{_EDGE};padding:.25em .6em;text-align:left;vertical-align:top;color:inherit;background:transparent"
_TABLE = "border-collapse:collapse;margin:.4em 0;font-size:.92em;color:inherit"
_QUIET = "opacity:.7"
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn"}  # control, format (RTL overrides), surrogates, unassigned


class Shown(list[T]):
    """A list that a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return listed(self)


def shown(value: Any) -> str:
    """One value as HTML.

    >>> from shared_core import AgentMemory
    >>> record = AgentMemory.open(embedder="hashing").scope(user="alice").add("<b>tea</b>")
    >>> "<b>tea" in shown(record), "&lt;b&gt;tea" in shown(record)
    (False, True)
    """
    if isinstance(value, Context):
        return _context(value)
    if isinstance(value, Hit):
        return listed([value])
    if isinstance(value, Record):
        return _pairs(_record(value))
    if isinstance(value, Receipt):
        return _pairs([("erased", f"{value.count:,} records"), *((k, f"{n:,}") for k, n in value.erased.items())])
    fields = type(value).model_fields
    return _pairs([(name, getattr(value, name)) for name in fields if getattr(value, name) not in (None, (), {}, "")])


def listed(values: Sequence[Any]) -> str:
    """Hits, records, messages or changes as a table; more than fifty are counted, not shown."""
    if not values:
        return f'<div style="{_QUIET}">nothing</div>'
    head, rows = _rows(values[:_MOST])
    more = f'<div style="{_QUIET}">… and {len(values) - _MOST:,} more</div>' if len(values) > _MOST else ""
    return _table(head, rows) + more


def _rows(values: Sequence[Any]) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    first = values[0]
    if isinstance(first, Hit):
        return ("score", "memory", "kind", "when", "from", "why"), map(_hit, values)
    if isinstance(first, Record):
        return ("memory", "kind", "when", "from", "importance"), map(_line, values)
    if isinstance(first, Message):
        return ("role", "said"), ((_text(m.name or m.role), _text(m.text)) for m in values)
    if isinstance(first, Change):
        return ("when", "what", "detail"), ((_when(c.at), _text(c.action), _text(c.detail or "")) for c in values)
    return (), ((_text(value),) for value in values)


def graph(value: Graph) -> str:
    """A graph in a few lines: how much it holds, and its surest relations."""
    held = value.stats()
    relations = sorted(value.relations(), key=lambda relation: -relation.confidence)[:_MOST]
    rows = [
        (_text(r.subject), _text(r.predicate), _text(r.object), _text("inferred" if r.inferred else "told"))
        for r in relations
    ]
    counts = f'<div style="{_QUIET}">{held.entities:,} entities, {held.relations:,} relations</div>'
    return counts + (_table(("subject", "predicate", "object", ""), rows) if rows else "")


# ---------------------------------------------------------------------- the parts


def _hit(hit: Hit) -> tuple[str, ...]:
    width = round(100 * hit.score)
    bar = (
        f'<div style="background:linear-gradient(90deg,rgba(66,133,244,.35) {width}%,transparent {width}%);'
        f'padding:0 .4em;min-width:4em">{hit.score:.3f}</div>'
    )
    record = hit.record
    return (bar, _text(record.text), _text(record.kind), _when(record.event_time or record.created_at), _from(record),
            _text(hit.reason or ""))  # fmt: skip


def _line(record: Record) -> tuple[str, ...]:
    text = _text(record.text)
    if record.status != "active":
        text = f'<span style="text-decoration:line-through;{_QUIET}">{text}</span>'
    return (text, _text(record.type or record.kind), _when(record.event_time or record.created_at), _from(record),
            f"{record.importance:.2f}")  # fmt: skip


def _record(record: Record) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = [("memory", record.text), ("kind", record.type or record.kind)]
    if record.triple is not None:
        rows.append(("says", " · ".join(record.triple)))
    if record.event_time is not None:
        rows.append(("happened", record.event_time))
    rows += [("told", record.created_at), ("from", record.role or record.source), ("status", record.status)]
    rows += [("session", record.session)] if record.session else []
    rows += [("metadata", record.metadata)] if record.metadata else []
    return [*rows, ("id", record.id)]


def _context(context: Context) -> str:
    parts = [
        f'<details open style="{_EDGE};border-radius:.3em;padding:.3em .6em;margin:.3em 0">'
        f'<summary><b>{_text(section.heading)}</b> <span style="{_QUIET}">{section.tokens:,} tokens</span></summary>'
        f'<div style="white-space:pre-wrap">{_text(section.text, 2_000)}</div></details>'
        for section in context.sections
    ]
    out = f", {len(context.omitted):,} left out" if context.omitted else ""
    return f'<div><div style="{_QUIET}">{context.tokens:,} tokens{out}</div>{"".join(parts)}</div>'


def _from(record: Record) -> str:
    return _text(record.name or record.role or record.source)


def _when(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d&nbsp;%H:%M}"


def _pairs(rows: Iterable[tuple[str, Any]]) -> str:
    return _table((), ((f"<b>{_text(name)}</b>", _any(value)) for name, value in rows))


def _any(value: Any) -> str:
    return _when(value) if isinstance(value, datetime) else _text(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in head)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return f'<table style="{_TABLE}">{f"<thead><tr>{top}</tr></thead>" if top else ""}<tbody>{body}</tbody></table>'


def _text(value: Any, most: int = _LONG) -> str:
    text = str(value)
    if len(text) > most:
        text = text[:most] + "…"
    plain = "".join(c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN else "�" for c in text)
    return html.escape(plain)
