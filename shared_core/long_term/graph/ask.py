"""Answers out of the graph, without a language model, and without a guess.

A grammar for each language says what is asked; here it is looked up, and proved. What the question
supposes of an answer ("which *projects*") has to be known too. Only where the graph has never heard
of that kind of thing, and nothing says what the answer is, is it given with the supposition named.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared_core.long_term.graph import chinese, english
from shared_core.long_term.graph.asked import Asked, words
from shared_core.long_term.graph.asking_words import AUXILIARY, SELF_NAMES, WHERE, WHICH, WHO
from shared_core.long_term.graph.inference import Fact
from shared_core.long_term.graph.knowledge import Knowledge
from shared_core.long_term.graph.names import entity_key, has_unspaced
from shared_core.long_term.graph.predicates import MEANINGS, lemmas
from shared_core.long_term.graph.values import Answer, Relation

_LONGEST = 500  # characters; what is longer asks more than one thing
_UNPROVED = 0.5  # on the confidence of an answer that supposes something
_PERSONAL = (
    "works_at", "works_on", "lives_in", "born_in", "likes", "prefers", "dislikes", "knows", "speaks", "studies",
    "studies_at", "teaches", "manages", "founded", "wrote", "designed", "invented", "member_of",
)  # fmt: skip
_BETWEEN_PERSONS = (
    "married_to", "husband", "wife", "friend_of", "sibling_of", "sister", "brother", "colleague_of", "parent_of",
    "mother", "father", "son", "daughter",
)  # fmt: skip
_TABLE = frozenset(meaning.name for meaning in MEANINGS)
_FIRMS = ("company", "firm", "employer", "business", "organisation", "organization", "公司", "企业", "单位", "机构")
_PERSONS = frozenset("person human man woman people somebody".split())
_CHINESE_PERSONS = ("人", "员", "师", "家", "者", "生", "长")


def answers(known: Knowledge, question: str, user: str) -> list[Answer]:
    """The answers to a question, the surest first; [] for what is not understood or not known."""
    if not known.graph or len(question) > _LONGEST or not question.strip():
        return []
    grammar = chinese if has_unspaced(question) and _chinese(question) else english
    own = frozenset(
        node for name in (*SELF_NAMES, user) if (node := known.lookup(name)) is not None
    )  # "I" is whoever the memory is of, under whichever of these names it was told
    asked = grammar.understand(known, question, words(known), own)
    if asked is None:
        return []
    found = [_yes(known, asked)] if asked.other is not None else list(_found(known, asked))
    return sorted((each for each in found if each is not None), key=lambda answer: -answer.confidence)


def _chinese(question: str) -> bool:
    """Whether a question with Han characters is asked in Chinese: "Where does 张伟 work?" is not."""
    first = question.split()[0].strip("\"'“”").lower() if question.split() else ""
    return first not in WHO | WHICH | WHERE | AUXILIARY | {"how"}


def _facts(asked: Asked, known: Knowledge) -> Iterator[tuple[int, Fact]]:
    """What answers, and the fact that says so."""
    for form in asked.forms:
        wants_objects = asked.subject is form.turned
        for node in sorted(asked.known):
            if wants_objects:
                yield from ((other, (node, form.meaning, other)) for other in known.objects(form.meaning, node))
            else:
                yield from ((other, (other, form.meaning, node)) for other in known.subjects(form.meaning, node))


def _found(known: Knowledge, asked: Asked) -> Iterator[Answer]:
    seen: set[int] = set()
    for node, fact in _facts(asked, known):
        stored = known.known(fact)
        if node in seen or stored is None or node in asked.known:
            continue
        seen.add(node)
        proof, sure, assumed = known.proof(stored), known.confidence(stored), ()
        if asked.kind == "who" and fact[1] != "is_a":
            # Of "who does Ann like" the verb says nothing; of "who is her mentor", or "who likes", it does.
            doubtful = not asked.subject and not asked.noun and fact[1] in _TABLE
            if not _may_be_person(known, node, doubtful=doubtful):
                continue
        if asked.type:
            typed = _typed(known, node, asked.type)
            if typed is None:
                continue
            more, surely = typed
            proof += [relation for relation in more if relation not in proof]
            if not surely:
                sure *= _UNPROVED
                noun = asked.type if has_unspaced(asked.type) else f"one of {asked.type}"
                name = known.name(node)
                assumed = (f"{name}是{noun}" if asked.language == "zh" else f"{name} is {noun}",)  # type: ignore[assignment]
        yield Answer(text=known.name(node), relations=tuple(proof), confidence=sure, assumed=assumed)


def _yes(known: Knowledge, asked: Asked) -> Answer | None:
    """Yes, proved; what is not known is no "no"."""
    for form in asked.forms:
        for one in sorted(asked.known):
            for other in sorted(asked.other or ()):
                fact = (other, form.meaning, one) if form.turned else (one, form.meaning, other)
                stored = known.known(fact)
                if stored is not None:
                    text = "是" if asked.language == "zh" else "yes"
                    return Answer(text=text, relations=tuple(known.proof(stored)), confidence=known.confidence(stored))
    return None


# ---------------------------------------------------------------------- what an answer is


def _typed(known: Knowledge, node: int, noun: str) -> tuple[list[Relation], bool] | None:
    """The relations that prove a node to be such a thing, and True; False if nothing says it is or is not."""
    meant = known.lookup(noun)
    kinds = known.closure.objects("is_a", node)
    for kind in kinds:
        if kind == meant or any(_ends(name, noun) for name in known.spellings(kind)):
            return known.proof((node, "is_a", kind)), True
    type_ = known.type(node)
    if type_ is not None and (_ends(type_, noun) or (meant is not None and known.lookup(type_) == meant)):
        return [], True
    if any(_holds(name, noun) for name in known.spellings(node)):
        return [], True
    if kinds or type_ is not None:
        return None
    if any(_ends(noun, firm) for firm in _FIRMS) and known.closure.subjects("works_at", node):
        return [], False  # what people work at is likely to be one, whatever else is known to be
    return None if _heard_of(known, noun, meant) else ([], False)


def _heard_of(known: Knowledge, noun: str, meant: int | None) -> bool:
    """Whether the graph knows things of this kind, so that it would know this one."""
    if meant is not None:
        return True
    for node in known.graph:
        type_ = known.type(node)
        if type_ is not None and _ends(type_, noun):
            return True
        if known.closure.subjects("is_a", node) and any(_ends(name, noun) for name in known.spellings(node)):
            return True
    return False


def _ends(name: str, noun: str) -> bool:
    """Whether a kind is that noun, or a narrower one: "open source project", "消息队列项目"."""
    if has_unspaced(noun):
        return entity_key(name).endswith(entity_key(noun))
    mine, wanted = lemmas(name), lemmas(noun)
    return bool(wanted) and mine[-len(wanted) :] == wanted


def _holds(name: str, noun: str) -> bool:
    """Whether a name says itself what it is: "Project Alpha", "凤凰项目"."""
    if has_unspaced(noun):
        return entity_key(noun) in entity_key(name) and entity_key(name) != entity_key(noun)
    mine, wanted = lemmas(name), lemmas(noun)
    return len(mine) > len(wanted) > 0 and (mine[: len(wanted)] == wanted or mine[-len(wanted) :] == wanted)


def _may_be_person(known: Knowledge, node: int, *, doubtful: bool) -> bool:
    """Whether "who" may mean a node: certainly, or (of who does something) unless it is known to be a thing."""
    kinds = [name for kind in known.closure.objects("is_a", node) for name in known.spellings(kind)]
    kinds += [type_] if (type_ := known.type(node)) else []
    if any(_ends(kind, person) for kind in kinds for person in _PERSONS) or any(
        kind.endswith(_CHINESE_PERSONS) for kind in kinds
    ):
        return True
    acts = any(known.closure.objects(meaning, node) for meaning in (*_PERSONAL, *_BETWEEN_PERSONS))
    related = any(known.closure.subjects(meaning, node) for meaning in _BETWEEN_PERSONS)
    return acts or related or not (kinds or doubtful)
