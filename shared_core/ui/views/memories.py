"""The list of memories, and one memory with all about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, NotFound
from shared_core.ui.answers import Answer, Ask, Page, Redirect
from shared_core.ui.asking import ANY, BEST, ORDERS, Filter
from shared_core.ui.desk import MEMORY
from shared_core.ui.showing import brief, stamp
from shared_core.values import Hit, Kind, Record, Status

if TYPE_CHECKING:
    from shared_core.scope import Scope

PAGE = 50
_MOST_HITS = 1_000
_OFFERED = 300  # names a list of choices holds
_PLACES = 200  # hits among which a memory's place for a question is looked for
_FALSE = "0"


@dataclass(frozen=True)
class Found:
    """A memory in a list; `hit` where it was searched for."""

    record: Record
    hit: Hit | None = None


def memories(ask: Ask) -> Answer:
    """The memories that pass the filter, a page at a time."""
    wanted = Filter.of(ask.query)
    with ask.looking() as scope:
        ask.desk.warm(scope)
        found, more = _search(ask, scope, wanted) if wanted.query else _list(ask, scope, wanted)
        values: dict[str, Any] = {
            "filter": wanted, "found": found, "more": more, "held": ask.desk.held(scope), "best": BEST, "any": ANY,
        }  # fmt: skip
        if ask.part and ask.query.has("after"):
            return Page("_rows.html", values)
        values["total"] = len(found) if wanted.query else scope.count(kinds=wanted.kinds or None, where=wanted.where)
        if ask.part:
            return Page("_results.html", values)
        types, sources = _told(scope)
        values |= {
            "kinds": [kind.value for kind in Kind], "statuses": [status.value for status in Status], "orders": ORDERS,
            "types": _offered(types, wanted.type), "sources": _offered(sources, wanted.source), "sessions": _offered(scope.sessions()[::-1], wanted.session), "open_questions": len(scope.questions()),
        }  # fmt: skip
    return Page("memories.html", values)


def _list(ask: Ask, scope: Scope, wanted: Filter) -> tuple[list[Found], str]:
    after = ask.query.text("after") or None
    records = scope.list(
        kinds=wanted.kinds or None, where=wanted.where, order=wanted.order, limit=PAGE + 1, after=after
    )
    more = ""
    if len(records) > PAGE:
        records.pop()
        more = ask.link("/memories", **wanted.parameters, after=records[-1].id)
    return [Found(record) for record in records], more


def _search(ask: Ask, scope: Scope, wanted: Filter) -> tuple[list[Found], str]:
    start = ask.query.whole("after", 0, 0, _MOST_HITS)
    most = min(start + PAGE + 1, _MOST_HITS)
    hits = scope.search(wanted.query, k=most, kinds=wanted.kinds or None, where=wanted.where, explain=True)
    more = ask.link("/memories", **wanted.parameters, after=start + PAGE) if len(hits) > start + PAGE else ""
    page = hits[start : start + PAGE]
    if wanted.order != BEST:
        page = _ordered(page, wanted.order)
    return [Found(hit.record, hit) for hit in page], more


def _ordered(hits: Sequence[Hit], order: str) -> list[Hit]:
    name, reverse = order.removeprefix("-"), order.startswith("-")
    known = [hit for hit in hits if getattr(hit.record, name) is not None]
    return sorted(known, key=lambda hit: getattr(hit.record, name), reverse=reverse) + [
        hit for hit in hits if getattr(hit.record, name) is None
    ]


def _offered(names: Sequence[str], chosen: str) -> list[str]:
    """Names to choose from: the first ones, and the one that is chosen."""
    offered = list(names[:_OFFERED])
    return offered if chosen in (*offered, "") else [chosen, *offered]


def _told(scope: Scope) -> tuple[list[str], list[str]]:
    """The types and the sources there are."""
    with scope._live().store.look() as tx:
        number = scope._find(tx)
        rows = [] if number is None else tx.rows("types_and_sources", {"scope": number})
    return sorted({row[0] for row in rows if row[0]}), sorted({row[1] for row in rows})


# ---------------------------------------------------------------------- one memory


def _record(ask: Ask, scope: Scope) -> Record:
    record = scope.get(ask.form.text("id") or ask.query.text("id"))
    if record is None:
        raise NotFound("there is no such memory here; it may have been deleted, or have expired")
    return record


def memory(ask: Ask) -> Answer:
    """One memory: what it says, where it came from, what became of it, what hangs together with it."""
    with ask.looking() as scope:
        record = _record(ask, scope)
        sources = scope.sources(record.id)
        values = {
            "record": record, "whole": ask.query.text("whole") == "1", "held": ask.desk.held(scope),
            "sources": [(source, scope.get(source["record"] or "")) for source in sources],
            "derived": _derived(scope, record), "history": scope.history(record.id),
            "versions": _versions(scope, record), "relations": _relations(scope, record),
            "question": ask.query.text("q"), "scored": _scored(scope, record, ask.query.text("q")),
        }  # fmt: skip
    return Page("memory.html", values)


def _derived(scope: Scope, record: Record) -> list[Record]:
    """What was read from it, and goes with it if nothing else says the same."""
    with scope._live().store.read() as tx:
        ids = [row[0] for row in tx.rows("read_from", (scope._find(tx), record.id))]
    return [found for id in sorted(ids) if (found := scope.get(id)) is not None]


def _versions(scope: Scope, record: Record) -> list[Record]:
    """Earlier versions, itself and later ones, the oldest first."""
    found, seen = [record], {record.id}
    for name in ("supersedes", "superseded_by"):
        at: Record | None = record
        while at is not None and (next_ := getattr(at, name)) and next_ not in seen:
            seen.add(next_)
            at = scope.get(next_)
            if at is not None:
                found = [at, *found] if name == "supersedes" else [*found, at]
    return found if len(found) > 1 else []


def _relations(scope: Scope, record: Record) -> list[Any]:
    """The relations of the graph that were read from it."""
    names = list(dict.fromkeys([*record.entities, *(record.triple[::2] if record.triple else ())]))
    around = scope.graph.around(names, depth=1) if names else []
    return [relation for relation in around if record.id in relation.sources]


def _scored(scope: Scope, record: Record, question: str) -> dict[str, Any] | None:
    """What a search for `question` would make of a memory: its score, why, and its place among all."""
    if not question.strip():
        return None
    alone = scope.search(question, k=1, where={"id": record.id, "status": {"$exists": True}}, explain=True)
    among = scope.search(question, k=_PLACES, explain=True)
    place = next((place for place, hit in enumerate(among, 1) if hit.record.id == record.id), None)
    hit = among[place - 1] if place else alone[0] if alone else None
    turns = {source["record"] for source in scope.sources(record.id)}  # a turn stands for what was read from it
    behind = next((place for place, each in enumerate(among, 1) if each.record.id in turns), None)
    return {
        "hit": hit, "place": place, "behind": behind, "looked": _PLACES, "own": alone[0].score if alone else None
    }  # fmt: skip


def score(ask: Ask) -> Answer:
    """The same as a piece of the page."""
    with ask.looking() as scope:
        record = _record(ask, scope)
        question = ask.query.text("q")
        return Page("_score.html", {"scored": _scored(scope, record, question), "question": question, "record": record})


# ---------------------------------------------------------------------- changes


def edit(ask: Ask) -> Answer:
    """Change a memory; what the form left as it was is not written."""
    scope = ask.scope
    record = _record(ask, scope)
    form, given = ask.form, dict[str, Any]()
    text = form.text("text").replace("\r\n", "\n")
    if form.has("text") and text != record.text.replace("\r\n", "\n").replace("\x00", "\ufffd"):
        given["text"] = text
    if form.has("type") and form.text("type").strip() != (record.type or ""):
        given["type"] = form.text("type").strip() or None
    for name in ("importance", "confidence"):
        value = form.share(name)
        if value is not None and abs(value - getattr(record, name)) > 0.005:  # shown with two places
            given[name] = value
    if form.has("event_time") and form.text("event_time") != stamp(record.event_time):
        given["event_time"] = form.time("event_time")
    if given:
        scope.update(record.id, **given)
    return Redirect(ask.link("/memory", id=record.id))


def pin(ask: Ask) -> Answer:
    """Pin a memory, or take the pin out: a pinned one is never cleaned up."""
    scope = ask.scope
    record = scope.update(_record(ask, scope).id, pinned=ask.form.text("pinned") != _FALSE)
    return _after(ask, scope, record)


def confirm(ask: Ask) -> Answer:
    """Say that a memory still holds."""
    scope = ask.scope
    return _after(ask, scope, scope.confirm(_record(ask, scope).id))


def delete(ask: Ask) -> Answer:
    """Note that a memory is to be deleted."""
    scope = ask.scope
    record = _record(ask, scope)
    ask.desk.hold(scope, MEMORY, record.id, brief(record.text, 100))
    return _after(ask, scope, record)


def undo(ask: Ask) -> Answer:
    """Take the deletion of one memory back."""
    scope = ask.scope
    record = _record(ask, scope)
    ask.desk.undo(scope, MEMORY, record.id)
    return _after(ask, scope, record)


def _after(ask: Ask, scope: Scope, record: Record) -> Answer:
    """The memory's line in the list it was changed in, or its page."""
    if ask.part:
        return Page("_changed.html", {"each": Found(record), "held": ask.desk.held(scope)})
    return Redirect(ask.link("/memory", id=record.id))


def add(ask: Ask) -> Answer:
    """Remember something that the user writes down."""
    scope = ask.scope
    record = scope.add(ask.form.text("text").replace("\r\n", "\n"), source="user")
    return Redirect(ask.link("/memory", id=record.id))


# ---------------------------------------------------------------------- questions


def questions(ask: Ask) -> Answer:
    """What can't both be true, and waits for the user's answer."""
    scope = ask.scope
    found = [(each, scope.get(each.new), scope.get(each.old)) for each in scope.questions()]
    return Page("questions.html", {"questions": found})


def answer(ask: Ask) -> Answer:
    """Settle one of them."""
    choice = ask.form.text("choice")
    if choice not in ("new", "old", "both"):
        raise InvalidInput(f"an answer is new, old or both, not {choice!r}")
    ask.scope.answer(ask.form.text("id"), choice)
    return Redirect(ask.link("/questions"))
