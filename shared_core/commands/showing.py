"""`twinmem show`: the records of a user, one record with all about it, or a conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from shared_core.commands.database import Place, opened, scope_of, session_of
from shared_core.commands.searching import filter_of, place_of
from shared_core.commands.terminal import columns, joined, note, number, say, styled, text_of, when, write_json
from shared_core.errors import NotFound
from shared_core.scope import Scope
from shared_core.values import Change, Message, Record

_PAGE = 20  # records shown if no limit is given
_PLAIN = {"id", "kind", "text", "created_at", "updated_at", "role", "name", "session", "message_id", "source"}


def show(
    db: Place, id: str | None, *, user: str | None, agent: str | None, session: str | None, kinds: Sequence[str],
    where: str | None, limit: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Print a record, a conversation, or the newest records."""
    wanted = filter_of(where)
    with opened(db) as memory:
        scope = scope_of(memory, db, user, agent)
        if id is not None:
            _record(scope, id, as_json)
        elif session is not None:
            _conversation(scope, session, limit, as_json)
        else:
            records = scope.list(kinds=kinds or None, where=wanted, order="-created_at")
            _records(scope, records, _PAGE if limit is None else limit, as_json)


# ---------------------------------------------------------------------- records


def _records(scope: Scope, records: list[Record], limit: int, as_json: bool) -> None:
    page = records[:limit] if limit else records
    if as_json:
        for record in page:
            write_json({"user": scope.user, "agent": scope.agent, **record.model_dump(mode="json")})
    elif page:
        say(*(_row(record) for record in page))
    else:
        say("Nothing is remembered that fits.")
    if len(page) < len(records):
        note(f"the newest {len(page):,} of {number(len(records), 'record')}; --limit 0 shows all")


def _row(record: Record) -> Any:
    who = record.name or record.role or record.kind.value
    place = f"{when(record.event_time or record.created_at)} · {place_of(record)}"
    return joined((f"{who}: ", "bold"), text_of(record.text), (f"\n{place}", "dim cyan"))


def _record(scope: Scope, id: str, as_json: bool) -> None:
    record = scope.get(id)
    if record is None:
        raise NotFound(f"no record {id!r} of user {scope.user!r}; 'twinmem show' and 'twinmem search' print ids")
    history, sources = scope.history(id), scope.sources(id)
    if as_json:
        changes = [change.model_dump(mode="json") for change in history]
        value = record.model_dump(mode="json")
        write_json({"user": scope.user, "agent": scope.agent, "record": value, "history": changes, "sources": sources})
        return
    say(styled(record.text, "bold"), "", columns(_fields(record)), "", styled("History", "bold"))
    say(columns([styled(when(change.at), "dim"), styled(_change(change))] for change in history))
    if sources:
        say("", styled("Sources", "bold"), columns(_source(source) for source in sources))


def _fields(record: Record) -> list[list[Any]]:
    said = record.session is not None
    who = record.name or record.role or record.source
    shown: dict[str, Any] = {"id": record.id, "kind": record.kind.value, "from": who}
    shown |= {"session": record.session, "message": record.message_id} if said else {}
    shown |= {"said" if said else "stored": when(record.created_at) + " UTC", "changed": when(record.updated_at)}
    default = Record.model_fields
    for name, value in record.model_dump(mode="json").items():
        if name not in _PLAIN and value not in (None, [], {}) and value != default[name].default:
            shown[name.replace("_", " ")] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [[styled(name, "dim"), styled(str(value))] for name, value in shown.items()]


def _change(change: Change) -> str:
    return f"{change.action} {json.dumps(change.detail, ensure_ascii=False)}" if change.detail else change.action


def _source(source: dict[str, str | None]) -> list[Any]:
    place = " · ".join(str(source[key]) for key in ("session", "message_id") if source[key])
    through = f" (through {source['extractor']})" if source["extractor"] else ""
    return [styled(source["record"] or ""), styled(place + through, "dim")]


# ---------------------------------------------------------------------- a conversation


def _conversation(scope: Scope, session: str, limit: int | None, as_json: bool) -> None:
    messages = session_of(scope, session).messages(last=limit or None)
    if as_json:
        for message in messages:
            value = message.model_dump(mode="json")
            write_json({"user": scope.user, "agent": scope.agent, "session": session, "text": message.text, **value})
        return
    for day, said in groupby(messages, key=lambda message: message.created_at and message.created_at.date()):
        say(styled(str(day or ""), "dim"), columns(_spoken(message) for message in said))


def _spoken(message: Message) -> list[Any]:
    who = message.name or message.role
    calls = [f"[calls {call['name']} {json.dumps(call['args'], ensure_ascii=False)}]" for call in message.tool_calls]
    said = " ".join([*([message.text] if message.text else []), *calls])
    return [styled(when(message.created_at)[-5:], "dim"), joined((f"{who}: ", "bold"), text_of(said))]
