"""Conversations: what was said, what stands for it, what is being done; the archive; the context of a question."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from shared_core.errors import NotFound
from shared_core.store import ledger
from shared_core.ui.answers import Answer, Ask, Page, Redirect
from shared_core.ui.desk import ARCHIVE, SESSION
from shared_core.ui.showing import day

if TYPE_CHECKING:
    from shared_core.scope import Scope
    from shared_core.session import Session

_MESSAGES = 100
_EVENTS = 200
_TOKENS = 2_000
_ASIDE = "\u2009twinmem page\u2009"  # a conversation that nobody has: a question from outside of all


def sessions(ask: Ask) -> Answer:
    """The conversations, the newest first, and those in the archive."""
    scope = ask.scope
    with scope._live().store.look() as tx:
        number = scope._find(tx)
        counts = {} if number is None else {row[0]: row[1:] for row in tx.rows("session_sizes", {"scope": number})}
    found = [(name, *counts.get(name, (0, None, None))) for name in reversed(scope.sessions())]
    held = ask.desk.held(scope)
    return Page("sessions.html", {"sessions": found, "archives": scope.archive.list(), "held": held})


def _session(ask: Ask, scope: Scope) -> Session:
    name = ask.form.text("session") or ask.query.text("session")
    if name not in scope.sessions():
        raise NotFound("there is no such conversation here; it may have been deleted or archived")
    return scope.session(name)


def session(ask: Ask) -> Answer:
    """One conversation: its messages, summary, snapshot and tasks."""
    scope = ask.scope
    chat = _session(ask, scope)
    most = ask.query.whole("last", _MESSAGES, 1, 100_000)
    messages = chat.messages(last=most + 1)
    earlier = len(messages) > most
    values: dict[str, Any] = {
        "session": chat.id, "messages": [(each, ledger.turn_id(chat.id, each.id) if each.id else None) for each in messages[-most:]],
        "earlier": ask.link("/session", session=chat.id, last=min(most * 4, 100_000)) if earlier else "",
        "summary": chat.summary, "snapshot": chat.snapshot, "tasks": chat.working.tasks(),
        "shared": chat.working.shared, "held": ask.desk.held(scope),
    }  # fmt: skip
    return Page("session.html", values)


def delete_session(ask: Ask) -> Answer:
    """Note that a conversation is to be deleted, with what came only from it."""
    scope = ask.scope
    chat = _session(ask, scope)
    ask.desk.hold(scope, SESSION, chat.id, chat.id)
    return Redirect(ask.link("/sessions"))


def delete_archive(ask: Ask) -> Answer:
    """Note that a file of the archive is to be deleted."""
    scope = ask.scope
    found = scope.archive.get(ask.form.text("id"))
    if found is None:
        raise NotFound("there is no such archive here")
    ask.desk.hold(scope, ARCHIVE, found.id, found.session or found.id)
    return Redirect(ask.link("/sessions"))


def restore(ask: Ask) -> Answer:
    """Bring what lies in a file of the archive back."""
    ask.scope.archive.restore(ask.form.text("id"))
    return Redirect(ask.link("/sessions"))


def timeline(ask: Ask) -> Answer:
    """What happened, the newest first, by days."""
    most = ask.query.whole("limit", _EVENTS, 1, 100_000)
    since, until = ask.query.time("since"), ask.query.time("until")
    type_ = ask.query.text("type")
    with ask.looking() as scope:
        found = scope.episodes.timeline(
            None, [type_] if type_ else None, since=since, until=until, session=ask.query.text("session") or None,
            limit=most + 1,
        )  # fmt: skip
        types = sorted({record.type or "conversation" for record in found} | ({type_} if type_ else set()))
        stored = {record.id for record in found if scope.get(record.id) is not None}
    more = len(found) > most
    shown = list(reversed(found[-most:]))
    days = [
        (label, list(group)) for label, group in groupby(shown, lambda each: day(each.event_time or each.created_at))
    ]
    later = ask.link(
        "/timeline", type=type_, session=ask.query.text("session"), since=ask.query.text("since"),
        until=ask.query.text("until"), limit=min(most * 4, 100_000),
    )  # fmt: skip
    return Page(
        "timeline.html",
        {"days": days, "types": types, "given": ask.query, "more": later if more else "", "stored": stored},
    )  # fmt: skip


def context(ask: Ask) -> Answer:
    """What a question would put into the prompt: each part with its tokens, and what was left out."""
    question = ask.query.text("q").strip()
    tokens = ask.query.whole("tokens", _TOKENS, 50, 100_000)
    with ask.looking() as scope:
        name = ask.query.text("session")
        values: dict[str, Any] = {
            "question": question, "tokens": tokens, "sessions": scope.sessions(), "session": name, "context": None,
        }  # fmt: skip
        if question:
            made = scope.session(name or _ASIDE).context(question, max_tokens=tokens)
            records = {id: scope.get(id) for id in {left.id for left in made.omitted if left.id}}
            values |= {"context": made, "scores": {hit.record.id: hit.score for hit in made.hits}, "left_out": records}
    return Page("_context.html" if ask.part else "context.html", values)
