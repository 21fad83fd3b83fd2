"""What goes into a context, gathered from every part of the memory (C4).

The talk, the profile, the task and the summary are read in one transaction; then one search gives
memories and events together, the graph tells of what the question names, and procedures that match
it are looked up where there are any. `assembling` chooses among all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput
from shared_core.ports import TokenCounter, Transaction
from shared_core.prompt.assembling import Line, Part, Talk, assemble
from shared_core.prompt.words import block, inert, label, language, remembered
from shared_core.recall.index import KINDS
from shared_core.recall.question import Query
from shared_core.recall.text import query_terms, terms
from shared_core.recall.where import Where, matches, parse
from shared_core.short_term import summary, window
from shared_core.short_term.task_text import within as task_within
from shared_core.short_term.tokens import count_message
from shared_core.short_term.working import shown as task_text
from shared_core.steps import Steps
from shared_core.store import ledger
from shared_core.values import Context, Hit, Kind, Message, Omitted, as_message

if TYPE_CHECKING:
    from shared_core.long_term.graph.values import Relation
    from shared_core.session import Session, Turn

_FEW = 10  # memories looked for however small the budget
_NEAREST = 5  # times the events that are always in: how many are scored
_RULES, _KNOWLEDGE = 2, 12  # places in the ranking that procedures, and what the graph tells, are worth
_SUMMARISED = 64  # oldest turns of a summary that are looked for in the prompt


@dataclass(slots=True)
class _Given:
    """What was read before the search."""

    talk: list[Message]
    asked: Query
    tongue: str
    excluded: list[str]
    visible: set[str]  # records of turns that the prompt shows
    records: dict[str, str]  # by message id
    written: list[str] = field(default_factory=list)  # records that are lines of the profile
    parts: dict[str, Part] = field(default_factory=dict)
    kinds: frozenset[Kind] = frozenset()
    graph: bool = False
    where: Where | None = None
    recent: list[Message] = field(default_factory=list)  # what of the talk is shown at least
    earlier: tuple[str, int] = ("", 0)  # the running summary, and the tokens it may take


def gather(
    session: Session,
    query: Query | None,
    max_tokens: int,
    k: int | None,
    shown: Iterable[Message | Mapping[str, Any]] | None,
    where: Mapping[str, Any] | None = None,
) -> Steps[Context]:
    """`Session.context`."""
    scope = session._scope
    engine = scope._live()
    count = cache(engine.count)  # most texts are weighed several times
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise InvalidInput(f"max_tokens is a whole number from 1, not {max_tokens!r}")
    limits = engine.settings.context
    given = _read(session, None if query is None else scope._as_asked(query), max_tokens, shown, parse(where), count)
    hits: list[Hit] = []
    shows_talk = shown is None and bool(limits.recent_messages)
    room = max_tokens - sum(count_message(message, count) for message in given.recent if shows_talk)
    most = min(limits.memories if k is None else k, max(_FEW, room // limits.line_tokens), engine.settings.limits.k)
    if given.asked and most:
        out_of = [*given.excluded, *given.written]
        hits = yield from scope._search(given.asked, k=most, where=where, exclude=out_of)
        if Kind.EVENT in given.kinds:
            hits += yield from _events(session, given, hits, min(limits.least_events, most))
        if Kind.RULE in given.kinds and limits.rules:
            yield from _rules(session, given, hits, int(max_tokens * limits.rules_share))
    elif k is not None and k < 0:
        raise InvalidInput(f"k is a whole number from 0, not {k!r}")
    _earlier(given, hits[: limits.least_memories], count)
    relations, names = _relations(session, given) if given.graph and most else ([], [])
    sources = _sources(session, [*_told(hits), *(id for relation in relations for id in relation.sources)])
    _recalled(given, hits, most, sources, limits.least_memories, limits.least_events, limits.relevant)
    if relations:
        _known(given, relations, names, sources, int(max_tokens * limits.knowledge_share))
    talk = None
    if shows_talk:
        talk = _talk(session, given, limits.recent_messages, count)
    out = [Omitted(id, "memories", "window") for id in given.excluded if id in given.visible]
    order = ("profile", "memories", "task", "events", "rules", "summary", "knowledge")
    parts = [given.parts[name] for name in order if name in given.parts]
    return assemble(parts, talk, max_tokens, given.tongue, count, limits, out, given.excluded)


# ---------------------------------------------------------------------- before the search


def _read(
    session: Session, query: Query | None, max_tokens: int, shown: Iterable[Message | Mapping[str, Any]] | None,
    where: Where | None, count: TokenCounter,
) -> _Given:  # fmt: skip
    scope = session._scope
    engine = scope._live()
    limits = engine.settings.context
    seen = None if shown is None else [as_message(message) for message in shown]
    with engine.store.read() as tx:
        turns, recent = session._newest(tx, int(max_tokens * limits.recent_share), None, count)
        given = _asked(query, turns, recent if limits.recent_messages else [], seen)
        given.where, given.recent = where, recent
        number = scope._find(tx)
        if number is None:
            return given
        row = tx.rows("find_session", {"scope": number, "name": session.id})
        if row:
            _task(session, tx, row[0][0], given, int(max_tokens * limits.task_share))
            if not any(summary.is_shown(message) for message in seen or ()):
                _summary(session, tx, row[0], given, int(max_tokens * limits.summary_share))
        given.graph = bool(limits.entities) and bool(tx.rows("graph_is_told", {"scope": number}))
        given.written = _profile(session, tx, number, given, max_tokens, sorted(given.visible))
    with engine.recalling(number) as (_, index):
        held = index["kind"]
        given.kinds = frozenset(kind for kind in (Kind.EVENT, Kind.RULE) if bool((held == KINDS.index(kind)).any()))
    return given


def _asked(
    query: Query | None, turns: Sequence[Turn], recent: Sequence[Message], shown: Sequence[Message] | None
) -> _Given:
    """What is asked, and what is no answer to it: the question itself, and whatever the prompt shows."""
    talk = [message for _, _, message in turns]
    seen = recent if shown is None else shown
    # The window may hold shortened copies; what they are copies of is excluded all the same.
    known = {id(message) for message in seen} | {message.id for message in seen if message.id}
    excluded = [record for _, record, message in turns if id(message) in known or message.id in known]
    visible = set(excluded)
    asked: Query = query if query is not None else _up_to_newest_question(talk)
    if query is None and asked:
        excluded += [record for _, record, message in turns if message is asked[-1]]
    if isinstance(query, str):
        excluded += [record for _, record, message in turns[-1:] if message.text == query]
    tongue = language(query if isinstance(query, str) else "", talk)
    records = {message.id: record for _, record, message in turns if message.id}
    return _Given(talk, asked, tongue, list(dict.fromkeys(excluded)), visible, records)


def _up_to_newest_question(talk: list[Message]) -> list[Message]:
    newest = next((i for i in range(len(talk) - 1, -1, -1) if talk[i].role == "user"), None)
    return [] if newest is None else talk[max(0, newest - 3) : newest + 1]


def _task(session: Session, tx: Transaction, row: int, given: _Given, most: int) -> None:
    engine = session._scope._live()
    text = task_text(engine, tx, row, given.tongue, most)
    if text:
        given.parts["task"] = _either("task", text, most, lambda text, most: task_within(text, most, engine.count))


def _either(name: str, text: str, most: int, cut: Callable[[str, int], str]) -> Part:
    """A text at several lengths, so that a tight budget has at least its beginning."""
    half = cut(text, most // 2)
    texts = dict.fromkeys([text, half, cut(half, most // 4)])
    return Part(name, [Line(block(each)) for each in texts if each], 1, either=True)


def _summary(session: Session, tx: Transaction, row: tuple[Any, ...], given: _Given, most: int) -> None:
    """The running summary, without what the prompt shows in the words it was made of."""
    number, text, reach = row[0], row[4], row[5]
    if not text:
        return
    known = {"session": number, "reach": reach, "limit": _SUMMARISED}
    turns = [each[0] for each in tx.rows("summarised_turns", known)]
    if turns and len(turns) < _SUMMARISED and given.visible.issuperset(turns):
        return
    said = [message.text for message in given.talk if given.records.get(message.id or "") in given.visible]
    given.earlier = (_unsaid(text, said), most)


def _earlier(given: _Given, hits: Sequence[Hit], count: TokenCounter) -> None:
    """The running summary as a part, without what the surest memories say in the same words."""
    text, most = given.earlier
    text = _unsaid(text, [hit.record.text for hit in hits])
    if text:
        short = summary.within(text, most, count)
        given.parts["summary"] = _either("summary", short, most, lambda text, most: summary.within(text, most, count))


def _unsaid(text: str, said: Sequence[str]) -> str:
    """A summary without the entries that stand word for word in one of these messages, and headings left bare.

    >>> _unsaid("Key information:\\n- User: I like tea\\n- Ann: Lyon\\nDecisions:\\n- User: Go", ["I like tea", "Go!"])
    'Key information:\\n- Ann: Lyon'
    """
    kept: list[str] = []
    for line in reversed(text.splitlines()):
        words = line.removeprefix("- ").partition(": ")
        entry = words[2] or words[0]
        if line.startswith("- ") and any(entry.rstrip(" .。!！") in message for message in said):
            continue
        heading = not line.startswith("- ") and line.endswith((":", "："))
        if not heading or (kept and kept[-1].startswith("- ")):
            kept.append(line)
    return "\n".join(reversed(kept))


def _profile(
    session: Session, tx: Transaction, scope: int, given: _Given, max_tokens: int, without: Collection[str]
) -> list[str]:
    """The profile within its share; the ids of the records that the user wrote as lines of it."""
    settings = session._scope._live().settings.profile
    most = min(settings.max_tokens, int(settings.share * max_tokens))
    if not most:
        return []
    entries = session._scope.profile.fitting(tx, scope, most, given.tongue, without, given.where)
    lines = [Line(block(line), entry.ids) for entry, line in entries]
    if lines:
        given.parts["profile"] = Part("profile", lines, len(lines))
    return [id for entry, _ in entries if entry.edited for id in entry.ids]


# ---------------------------------------------------------------------- after it


def _events(session: Session, given: _Given, hits: Sequence[Hit], least: int) -> Steps[list[Hit]]:
    """Relevant events, where the one ranking of everything has too few of them.

    By their own score alone: they are few (`settings.episodes.most`), and a second ranking of all records
    would cost as much as the first.
    """
    scope = session._scope
    engine = scope._live()
    relevant = engine.settings.context.relevant
    known = {hit.record.id for hit in hits}
    wanted = least - sum(hit.record.kind is Kind.EVENT and hit.score >= relevant for hit in hits)
    if wanted <= 0:
        return []
    likest = yield from scope._likest(given.asked, Kind.EVENT, _NEAREST * least, given.where)
    found = [(seq, hit) for seq, hit in likest if hit.score >= relevant and hit.record.id not in known]
    engine.accessed([seq for seq, _ in found[:wanted]], engine.now())
    return [hit for _, hit in found[:wanted]]


def _recalled(
    given: _Given, hits: Sequence[Hit], most: int, sources: Mapping[str, frozenset[str]], least_memories: int,
    least_events: int, relevant: float,
) -> None:  # fmt: skip
    """Memories and events out of one ranking: its first `most`, and as many of either as are always in."""
    memories, events = Part("memories", least=least_memories), Part("events", least=least_events, by_time=True)
    matched = {id for line in _lines(given, "rules") for id in line.records}
    for place, hit in enumerate(hits):
        record = hit.record
        if record.id in matched:
            continue
        event = record.kind is Kind.EVENT
        part, least = (events, least_events) if event else (memories, least_memories)
        if place >= most and (len(part.lines) >= min(least, most) or (event and hit.score < relevant)):
            continue
        same = sources.get(record.id, frozenset())
        part.lines.append(Line(remembered(record), (record.id,), same, hit, place))
    for part in (memories, events):
        if part.lines:
            given.parts[part.name] = part


def _lines(given: _Given, name: str) -> list[Line]:
    return given.parts[name].lines if name in given.parts else []


def _rules(session: Session, given: _Given, hits: Sequence[Hit], most: int) -> Steps[None]:
    """Procedures for a situation like the one asked about."""
    text = _newest(given.asked)
    if not text:
        return
    found = yield from session._scope.procedures._match(text, k=session._scope._live().settings.context.rules)
    by_id = {hit.record.id: hit for hit in hits}
    fitting = _fitting(session, given, [each.id for each in found])
    lines = [
        Line(f"- {inert(str(each))}", (each.id,), hit=by_id.get(each.id), place=_RULES + place)
        for place, each in enumerate(found)
        if each.id in fitting
    ]
    if lines:
        given.parts["rules"] = Part("rules", lines, 1, most)


def _fitting(session: Session, given: _Given, ids: Iterable[str]) -> frozenset[str]:
    """Which of these records the filter of this context lets pass; all of them where it has none."""
    wanted = frozenset(ids)
    if given.where is None or not wanted:
        return wanted
    scope = session._scope
    with scope._live().store.look() as tx:
        number = scope._find(tx)
        records = scope._records(tx, ledger.seqs_of(tx, number or 0, wanted)).values()
    return frozenset(record.id for record in records if matches(given.where, record))


def _newest(asked: Query) -> str:
    """The question's own words."""
    if isinstance(asked, str):
        return asked
    said = [as_message(message) for message in asked]
    return next((message.text for message in reversed(said) if message.role == "user"), "")


def _told(hits: Iterable[Hit]) -> list[str]:
    """The hits that may have been read from something else."""
    return [hit.record.id for hit in hits if hit.record.kind is not Kind.TURN]


def _sources(session: Session, ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """For each record the ids of those it came from."""
    if not ids:
        return {}
    scope = session._scope
    with scope._live().store.look() as tx:
        number = scope._find(tx)
        found: dict[str, set[str]] = {}
        for record, source in tx.rows("source_ids", {"scope": number, "ids": _json(ids)}):
            found.setdefault(record, set()).add(source)
    return {record: frozenset(source) for record, source in found.items()}


def _json(ids: Iterable[str]) -> str:
    import json

    return json.dumps(list(dict.fromkeys(ids)))


def _of(records: Iterable[str], sources: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(source for record in records for source in sources.get(record, ()))


def _relations(session: Session, given: _Given) -> tuple[list[Relation], list[str]]:
    """What the graph tells of the things that the question names, and their names; of the user the profile tells."""
    text = _newest(given.asked)
    if not text.strip():
        return [], []
    from shared_core.long_term.graph import views
    from shared_core.long_term.graph.asking_words import SELF_NAMES

    scope = session._scope
    settings = scope._live().settings
    found: dict[Any, Relation] = {}
    with scope.graph._naming(text, settings.context.entities) as (known, nodes):
        own = {known.lookup(name) for name in (*SELF_NAMES, scope.user)}
        others = [node for node in nodes if node not in own]
        for node in others:
            for relation in views.surest(known, node, settings.graph.text_relations)[0]:
                found.setdefault(relation.triple, relation)
        names = [name for node in others for name in known.spellings(node)]
    # What was told directly has no source that a filter could mean.
    fitting = _fitting(session, given, [id for relation in found.values() for id in relation.sources])
    told = [each for each in found.values() if not each.sources or not fitting.isdisjoint(each.sources)]
    return told, names


def _known(
    given: _Given, relations: Sequence[Relation], names: Iterable[str], sources: Mapping[str, frozenset[str]], most: int
) -> None:
    """What the graph tells: what shares a word with the question, then the rest, where there is room to spare.

    What was read from a memory competes with the memories; one thing that only the graph knows is
    always in. Of a question that says no more than a name all is wanted.
    """
    asked = set(query_terms(_newest(given.asked)))
    wanted = asked.difference(*(terms(name) for name in names)) or asked
    ranked = []
    for relation in relations:
        line = Line(_relation(relation, given.tongue), relation.sources, _of(relation.sources, sources))
        ranked.append((wanted.isdisjoint(terms(str(relation))), bool(relation.sources), line))
    ranked.sort(key=lambda each: each[:2])
    lines = [replace(line, place=_KNOWLEDGE + n, spare=spare) for n, (spare, _, line) in enumerate(ranked)]
    untold = any(not spare and not sourced for spare, sourced, _ in ranked)  # what no memory says, and only the graph
    given.parts["knowledge"] = Part("knowledge", lines, int(untold), most)


def _relation(relation: Relation, tongue: str) -> str:
    """What the graph tells as a line: since when it is known, or that it was inferred."""
    chinese = tongue == "zh"
    told = f"{relation.created_at.date()}" if relation.created_at is not None else ""
    origin = ("推断" if chinese else "inferred") if relation.inferred else told
    sure = f" ({'置信度' if chinese else 'confidence'} {relation.confidence:.2g})" if relation.confidence < 1 else ""
    return f"- [{label(origin)}] {inert(str(relation))}{sure}" if origin else f"- {inert(str(relation))}{sure}"


def _talk(session: Session, given: _Given, least: int, count: TokenCounter) -> Talk:
    """The conversation as far as it was read, to be shown as far as it fits."""
    groups = window.turns(given.talk)
    needed = messages = 0
    while needed < len(groups) and messages < least:
        needed += 1
        messages += len(groups[-needed])
    return Talk(
        recent=given.recent,
        within=lambda tokens, turns: session._windowed(given.talk, max(tokens, 0), turns, count),
        records=given.records,
        turns=needed,
        whole=len(given.talk),
    )
