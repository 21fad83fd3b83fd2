"""What a question asks, as both grammars give it, and the words for relations they look for."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared_core.long_term.graph.knowledge import Knowledge
from shared_core.long_term.graph.names import has_unspaced
from shared_core.long_term.graph.predicates import Form, bare, lemmas, lexicon, meaning_of


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: what stands in one of these relations to the nodes of `known`.

    Of each form the object is asked for (that of its words: a turned form asks for the subject of
    its meaning), or the subject where `subject` says so. `other` makes it a yes-no question.
    `kind` is who, where or which; `type` the noun after "which"; `noun` tells that a noun, not a
    verb, says what is asked for ("her boss"); `language` is that of the question.
    """

    forms: tuple[Form, ...]
    known: frozenset[int]
    subject: bool = False
    other: frozenset[int] | None = None
    kind: str = "which"
    type: str = ""
    noun: bool = False
    language: str = "en"


@dataclass(slots=True)
class Words:
    """The words for relations: the table's, and the graph's own predicates that are not in it."""

    verbs: dict[tuple[str, ...], list[Form]] = field(default_factory=dict)
    nouns: dict[tuple[str, ...], list[Form]] = field(default_factory=dict)
    chinese_verbs: dict[str, list[Form]] = field(default_factory=dict)
    chinese_nouns: dict[str, list[Form]] = field(default_factory=dict)


def words(known: Knowledge) -> Words:
    """The words for relations that this graph can be asked with."""
    table = lexicon()
    found = Words(
        {stems: [form] for stems, form in table.verbs.items()},
        {stems: [form] for stems, form in table.nouns.items()},
        {word: [form] for word, form in table.chinese_verbs.items()},
        {word: [form] for word, form in table.chinese_nouns.items()},
    )
    told = [key for key, count in known.predicates.items() if count]
    for key in dict.fromkeys([*told, *(clause.head.predicate for clause in known.closure.clauses)]):
        if meaning_of(key) == Form(key) and lemmas(key) not in table.verbs:
            if has_unspaced(key):
                found.chinese_verbs.setdefault(bare(key), []).append(Form(key))
                found.chinese_nouns.setdefault(key, []).append(Form(key))
            else:
                _own(found, key)
    return found


def _own(found: Words, key: str) -> None:
    """An English predicate that the table does not have: as a verb, and as a noun."""
    stems = lemmas(key)
    if not stems:
        return
    plain, turned = Form(key), Form(key, turned=True)
    found.verbs.setdefault(stems, []).append(plain)
    found.nouns.setdefault(stems, []).append(plain)
    if len(stems) == 1:
        found.verbs.setdefault((*stems, "by"), []).append(turned)
        return
    if stems[-1] == "by":
        found.verbs.setdefault(stems[:-1], []).append(turned)
    if stems[-1] == "of":
        found.nouns.setdefault(stems[:-1], []).append(turned)
    if stems[0] == "have":
        found.nouns.setdefault(stems[1:], []).append(plain)
