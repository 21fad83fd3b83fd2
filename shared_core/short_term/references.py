"""What a phrase refers to: "the document I just mentioned", "刚才提到的那个文档", "the last error", "her" (A7).

The conversation's own messages are the only memory of it; they are read when a phrase is to be
resolved. No LLM: kind, words, who named it and how long ago decide, and the result says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from shared_core.errors import InvalidInput, LimitExceeded
from shared_core.recall.text import is_blank, terms
from shared_core.settings import References
from shared_core.short_term import phrases as p
from shared_core.short_term.mentioned import Mention, Names, Thing, things, uses
from shared_core.short_term.named import Named, gender_of
from shared_core.store.rows import load
from shared_core.values import Candidate, Message, Reference, ToolUse

if TYPE_CHECKING:
    from shared_core.session import Session

_ROLES: Final[Mapping[str, tuple[str, ...]]] = {"user": ("user",), "assistant": ("assistant", "tool")}
_GENERIC: Final = (p.FILE, p.URL, p.FOLDER, p.EMAIL, p.ID, p.ITEM, p.ENTITY, p.TOOL)
_LIKE: Final[Mapping[str, tuple[str, ...]]] = {p.FILE: (p.URL,), p.URL: (), p.FOLDER: ()}


@dataclass(slots=True)
class _Fit:
    """A thing with the mention that counts for a phrase, and how well it fits."""

    thing: Thing
    mention: Mention
    type: float
    name: float
    said: float
    recent: float = 0.0
    score: float = 0.0


# ---------------------------------------------------------------------- deciding


def resolve(phrase: str, found: Sequence[Thing], ids: Sequence[str | None], settings: References) -> Reference:
    """The thing a phrase means among those that a conversation mentions; `ids` are its messages' ids."""
    asked = p.wanted(phrase)
    literal = [thing for thing in found if len(thing.text) > 1 and thing.text.casefold() in phrase.casefold()]
    if len(literal) == 1 and _before(literal[0].text, phrase):
        asked = replace(asked, place=-2)
    fits = [fit for thing in found if (fit := _fit(thing, asked, thing in literal, literal)) is not None]
    fits = _by_role(_of_best_kind(fits, asked), asked)
    if not fits:
        return Reference(phrase=phrase, kind=asked.kind, chosen=None, why=_nothing(asked))
    newest = {id(fit): age for age, fit in enumerate(sorted(fits, key=_when, reverse=True))}
    for fit in fits:
        fit.recent = 1 / (1 + newest[id(fit)])
        fit.score = (
            settings.type * fit.type
            + settings.name * fit.name
            + settings.said * fit.said
            + settings.recent * fit.recent
        )
    fits.sort(key=lambda fit: (-fit.score, newest[id(fit)]))
    chosen, how = _counted(fits, asked, literal)
    if chosen is None:
        return _reference(phrase, asked, fits, ids, None, how, ambiguous=False)
    close = len(fits) > 1 and asked.place is None and fits[0].score - fits[1].score < settings.margin
    fits.remove(chosen)
    return _reference(phrase, asked, [chosen, *fits], ids, chosen, how, ambiguous=close)


def _fit(thing: Thing, asked: p.Wanted, named: bool, literal: Sequence[Thing]) -> _Fit | None:
    """How well a thing fits, or None where it can't be meant."""
    type_ = _type(thing, asked)
    name = terms_of(thing.text)
    describing = asked.words
    share = len(describing & name) / len(describing) if describing else 0.0
    heard = asked.verbs | describing
    if type_ == 0 and not named:
        return None
    said, mention = max(
        ((len(heard & one.words) / len(heard) if heard else 0.0, one) for one in _heard(thing, asked)),
        key=lambda each: (each[0] if heard else 0.0, each[1].message, each[1].offset),
        default=(0.0, None),
    )
    if mention is None:
        return None
    if named and not (asked.place == -2 and len(literal) == 1):
        return _Fit(thing, mention, max(type_, 0.5), 1.0, said)
    if type_ == 0 or (asked.kind is None and not asked.anything and not (share or said)):
        return None
    if not heard:
        mention = _heard(thing, asked)[-1]
    return _Fit(thing, mention, type_, share, said)


def terms_of(text: str) -> frozenset[str]:
    """The words of a name, those inside it too: `q3_report.pdf` has "report"."""
    return frozenset(terms(re.sub(r"(?<=[a-z])(?=[A-Z])|[_./\\-]", " ", text)))


def _before(name: str, phrase: str) -> bool:
    """Whether a phrase asks for what was named before something it names."""
    said = re.escape(name)
    return bool(re.search(rf"\bbefore (?:the )?{said}|{said}(?:的|之|以)?(?:前|前面|之前)", phrase, re.I))


def _type(thing: Thing, asked: p.Wanted) -> float:
    """1 for what the phrase names, less for what may be it, 0 for what is not."""
    if asked.kind is None:
        people = thing.kind == p.ENTITY and p.PERSON in thing.tags
        if thing.kind not in _GENERIC or people:
            return 0.0
        return 0.5 if thing.kind == p.TOOL else 1.0  # "the note you tried to save" is the note, not the saving
    if asked.kind == p.ID and thing.kind == p.FILE and asked.noun and asked.noun <= terms_of(thing.text):
        return 0.9  # "the invoice" is invoice.pdf where no number of one was named
    if thing.kind != asked.kind:
        return 0.4 if thing.kind in _LIKE.get(asked.kind, ()) and asked.tag and asked.tag in thing.tags else 0.0
    if asked.kind == p.ENTITY:
        return _entity_type(thing, asked)
    if not asked.tag or asked.tag in thing.tags or (asked.tag == "page" and thing.kind == p.URL):
        return 1.0
    if asked.kind == p.FILE:
        # What is plainly something else is no document; "the report" may be a table, though.
        return 0.6 if asked.keep and thing.tags & {"document", "table", "slides"} else 0.2 if not asked.keep else 0.0
    return 0.0 if thing.tags - {"id", ""} and asked.kind == p.ID else 0.3


def _entity_type(thing: Thing, asked: p.Wanted) -> float:
    person = p.PERSON in thing.tags
    of_person = asked.tag == p.PERSON or asked.tag in _PEOPLE or bool(gender_of(asked.tag))
    if of_person:
        gender = asked.gender or gender_of(asked.tag)
        if (not person and thing.tags) or (gender and thing.gender and thing.gender != gender):
            return 0.0
        if asked.tag == p.PERSON:
            return 1.0 if person and (not gender or thing.gender == gender) else 0.6 if person else 0.2
        return 1.0 if asked.tag in thing.tags else 0.0 if thing.tags & _PEOPLE else 0.2 if person else 0.0
    if asked.tag in thing.tags:
        return 1.0
    return 0.0 if person or thing.tags else 0.3


_PEOPLE: Final = frozenset(
    "doctor professor manager teacher director lawyer sister brother mother father wife husband partner girlfriend"
    " boyfriend son daughter child grandmother grandfather aunt uncle cousin niece nephew friend colleague boss"
    " roommate neighbour mentor coach student fiance".split()
)


def _heard(thing: Thing, asked: p.Wanted) -> list[Mention]:
    """The mentions by the one the phrase speaks of, or all."""
    if asked.role is None:
        return thing.mentions
    return [one for one in thing.mentions if one.role in _ROLES[asked.role]] or thing.mentions


def _of_best_kind(fits: list[_Fit], asked: p.Wanted) -> list[_Fit]:
    """Without what only might be of the kind, where something is of it."""
    if asked.kind is None:
        if asked.anything and fits and not asked.words:
            # "It", "the second one": of the kind that was named last and of which there are enough, tool calls apart.
            plain = [fit for fit in fits if fit.thing.kind != p.TOOL] or fits
            kinds = Counter(fit.thing.kind for fit in plain)
            enough = [fit for fit in plain if kinds[fit.thing.kind] >= abs(asked.place or 1)]
            kind = max(enough or plain, key=_when).thing.kind
            return [fit for fit in plain if fit.thing.kind == kind]
        return fits
    best = max((fit.type for fit in fits), default=0.0)
    return [fit for fit in fits if fit.type >= (1.0 if best >= 1.0 else 0.0)]


def _by_role(fits: list[_Fit], asked: p.Wanted) -> list[_Fit]:
    """Those named by the one the phrase speaks of; all, where there are none."""
    if asked.role is None:
        return fits
    mine = [fit for fit in fits if fit.mention.role in _ROLES[asked.role]]
    # "The document I mentioned" was named by the user first, whoever repeats it.
    first = [fit for fit in mine if fit.thing.mentions[0].role in _ROLES[asked.role]]
    return first or mine or fits


def _when(fit: _Fit) -> tuple[int, int]:
    return (fit.mention.message, fit.mention.offset)


def _counted(fits: list[_Fit], asked: p.Wanted, literal: Sequence[Thing]) -> tuple[_Fit | None, str]:
    """The one a phrase counts off ("the second", "the last", "the one before"), else the best."""
    if asked.place is None:
        return fits[0], ""
    several = _described(fits, asked)
    known = [fit for fit in fits if fit.thing in literal]
    if asked.place == -2 and len(known) == 1:  # "the one before report.pdf"
        order = sorted(fits, key=_when)
        place = order.index(known[0]) if known[0] in order else 0
        return (
            (order[place - 1], f"named before {known[0].thing.text}")
            if place
            else (None, "nothing was named before it")
        )
    if asked.place < 0:
        order = sorted(several, key=_when)
        if len(order) < -asked.place:
            return None, f"only {len(order)} of the kind {'was' if len(order) == 1 else 'were'} mentioned"
        return order[asked.place], "the last named" if asked.place == -1 else "the last but one named"
    group = [] if asked.over_all else _listed(several, asked.place)
    order = group or sorted(several, key=lambda fit: _first(fit.thing))
    if len(order) < asked.place:
        return None, f"only {len(order)} of the kind {'was' if len(order) == 1 else 'were'} mentioned"
    return order[asked.place - 1], f"number {asked.place} of {len(order)} " + (
        "in one message" if group else "in the order of mention"
    )


def _described(fits: list[_Fit], asked: p.Wanted) -> list[_Fit]:
    """Where words describe what is counted, those whose names have them."""
    if not asked.words:
        return fits
    return [fit for fit in fits if fit.name] or [fit for fit in fits if fit.said] or fits


def _listed(fits: list[_Fit], place: int) -> list[_Fit]:
    """The things of the newest message that names enough of them at once: "the second one" is of a list."""
    by_message: dict[int, dict[int, tuple[int, _Fit]]] = {}
    for fit in fits:
        for mention in fit.thing.mentions:
            by_message.setdefault(mention.message, {}).setdefault(id(fit), (mention.offset, fit))
    for message in sorted(by_message, reverse=True):
        group = by_message[message]
        if len(group) >= max(place, 2) and (len(group) > 2 or 2 * len(group) > len(fits)):
            return [fit for _, fit in sorted(group.values(), key=lambda each: each[0])]
    return []


def _first(thing: Thing) -> tuple[int, int]:
    return (thing.mentions[0].message, thing.mentions[0].offset)


# ---------------------------------------------------------------------- saying why


def _reference(
    phrase: str, asked: p.Wanted, fits: Sequence[_Fit], ids: Sequence[str | None], chosen: _Fit | None, how: str, *,
    ambiguous: bool,
) -> Reference:  # fmt: skip
    candidates = []
    for fit in fits:
        why = _why(fit, asked) if fit is not chosen or not how else f"{how}; {_why(fit, asked)}"
        candidates.append(
            Candidate(
                kind=fit.thing.kind, text=fit.thing.text, score=min(round(fit.score, 4), 1.0), why=why,
                tags=tuple(sorted(tag for tag in fit.thing.tags if tag)), message_id=ids[fit.mention.message],
                role=fit.mention.role, use=fit.thing.use,
            )
        )  # fmt: skip
    return Reference(
        phrase=phrase, kind=asked.kind if chosen is None else chosen.thing.kind,
        chosen=None if chosen is None else candidates[0], candidates=tuple(candidates),
        why=how if chosen is None else candidates[0].why, ambiguous=ambiguous,
    )  # fmt: skip


def _why(fit: _Fit, asked: p.Wanted) -> str:
    told = [f"{fit.thing.kind}" + (f" ({asked.tag})" if asked.tag and asked.tag in fit.thing.tags else "")]
    if fit.name:
        told.append("its name is in the phrase" if fit.name == 1 else "words of its name")
    if fit.said:
        told.append("words said beside it")
    told.append(f"named by the {fit.mention.role}")
    if fit.recent == 1:
        told.append("most recently")
    return ", ".join(told)


def _nothing(asked: p.Wanted) -> str:
    what = asked.kind or "thing like that"
    return f"no {what}{f' ({asked.tag})' if asked.tag and asked.kind else ''} is mentioned in the newest messages"


# ---------------------------------------------------------------------- of a session


def of_session(session: Session, phrase: str) -> Reference:
    """What a phrase means in a conversation; `Session.resolve` is this."""
    scope = session._scope
    engine = scope._live()
    settings = engine.settings.references
    if not isinstance(phrase, str) or is_blank(phrase):
        raise InvalidInput("the phrase is blank; give words that refer to something, such as 'the last file'")
    if len(phrase) > engine.settings.limits.query_chars:
        most = engine.settings.limits.query_chars
        raise LimitExceeded(f"a phrase of {len(phrase)} characters; limits.query_chars is {most}")
    # "The file Anna sent" is a file; whom it is from need not be found out.
    people = p.wanted(phrase).kind in (p.ENTITY, None)
    with engine.store.read() as tx:
        turns = session._turns(tx, settings.messages)
        seqs = {seq: place for place, (seq, _, _) in enumerate(turns)}
        read = tx.rows("told_by_turns", {"seqs": str(list(seqs))}) if seqs else []
        row = session._row(tx)
        graph = row is not None and bool(tx.rows("scope_has_entities", {"scope": row[0]}))
    facts: dict[int, list[Named]] = {}
    for source, subject, predicate, object_, entities in read:
        facts.setdefault(seqs[source], []).extend(_named(subject, predicate, object_, load(entities) or ()))
    messages = [message for _, _, message in turns]
    if graph and people and row is not None:
        with engine.graphs.opened(row[0], engine.now()) as known:
            found = things(messages, facts, _known_names(known), settings.chars, people)
    else:
        found = things(messages, facts, None, settings.chars, people)
    return resolve(phrase, found, [message.id for message in messages], settings)


def tools(messages: Sequence[Message], last: int) -> list[ToolUse]:
    """The last tool calls of a conversation, oldest first; `Session.tools` is this."""
    found = uses(messages)
    return found[-last:] if last else []


_PLACES: Final = frozenset({"lives_in", "works_in", "born_in", "from", "visited", "studies_in"})
_FIRMS: Final = frozenset({"works_at", "studies_at", "graduated_from", "founded", "volunteers_at"})


def _named(subject: str | None, predicate: str | None, object_: str | None, entities: Iterable[str]) -> list[Named]:
    """The entities of a fact, with what its predicate says of them."""
    key = (predicate or "").replace(" ", "_")
    found = []
    for name in entities:
        tags: set[str] = set()
        gender = ""
        if name == object_:
            if key in _PEOPLE or gender_of(key):
                tags, gender = {p.PERSON, key}, gender_of(key)
            else:
                tags = {"place"} if key in _PLACES else {"company"} if key in _FIRMS else set()
        elif name == subject and key in {*_PLACES, *_FIRMS, "works_as", "birthday", "age", "speaks"} - {"founded"}:
            tags = {p.PERSON}
        if key == "works_on":  # "the Apollo project" and "阿波罗项目" are called Apollo and 阿波罗
            bare = _without_noun(name)
            found.append(Named(bare, frozenset({"project"})))
        else:
            found.append(Named(name, frozenset(tags), gender))
    return found


def _without_noun(name: str) -> str:
    for noun in p.nouns_of("project"):
        for end in (f" {noun}", noun):
            if name.casefold().endswith(end) and len(name) > len(end) + 1 and (end != noun or not noun.isascii()):
                return name[: -len(end)]
    return name


def _known_names(known: object) -> Names:
    """Finds the names of the scope's graph in a text, with their types."""
    from shared_core.long_term.graph.knowledge import Knowledge
    from shared_core.long_term.graph.mentions import mentions, tokens
    from shared_core.writing.extraction.english_words import NOT_NAMES

    assert isinstance(known, Knowledge)

    def names(text: str) -> list[Named]:
        part = text[:1_000]
        found = []
        for mention in mentions(known, part, tokens(part), NOT_NAMES):
            if len(mention.nodes) == 1:
                node = next(iter(mention.nodes))
                kind = (known.entity(node).type or "").casefold()
                found.append(Named(mention.text, frozenset({kind} - {""}), gender_of(kind)))
        return found

    return names
