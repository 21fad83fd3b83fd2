"""One procedure as a value: what to do, or not to do, in which situation, and how well that went. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from shared_core.errors import InvalidInput, InvalidType
from shared_core.prompt.words import language as language_of
from shared_core.recall import score
from shared_core.recall.text import is_blank, query_terms
from shared_core.values import Record
from shared_core.writing.tool_calls import called

TYPE: Final = "procedure"
Form = Literal["steps", "if_then", "template", "tools"]
FORMS: Final[tuple[Form, ...]] = ("steps", "if_then", "template", "tools")
RESERVED: Final = frozenset({"situation", "steps", "form", "avoid", "mined", "support", "successes", "pattern"})

_HEADS: Final[dict[str, dict[str, str]]] = {
    "en": {"steps": "{}:", "tools": "{}:", "if_then": "If {}, then:", "template": "Prompt for {}:", "avoid": "{}, avoid:"},
    "zh": {"steps": "{}：", "tools": "{}：", "if_then": "如果{}，那么：", "template": "{}的提示词：", "avoid": "{}，不要："},
}  # fmt: skip
_END: Final = ".。!！?？;；:：,，"


@dataclass(frozen=True, slots=True)
class Procedure:
    """What works in a situation, or, with `avoid`, what does not.

    `steps` stand in order: texts, or tool calls as {"tool", "args"}. `form` is steps, if_then,
    template or tools. `support` counts the episodes that show it and the outcomes told of it,
    `successes` how many of those went well. `mined` marks what was found rather than told. `score`
    is, out of `match`, how well the situation asked for is met, in [0, 1].
    """

    id: str
    situation: str
    steps: tuple[str | Mapping[str, Any], ...]
    form: Form
    avoid: bool
    mined: bool
    support: int
    successes: int
    record: Record
    score: float = 0.0

    @property
    def success_rate(self) -> float | None:
        """Share of the tries that went well; None before the first."""
        return self.successes / self.support if self.support else None

    @property
    def expected(self) -> float:
        """The rate to reckon with: (successes + 1) / (support + 2), so that one try is no proof (Laplace's rule)."""
        return (self.successes + 1) / (self.support + 2)

    def text(self, language: str | None = None) -> str:
        """The procedure for a prompt, in "en" or "zh" (default: the situation's own)."""
        return shown(self.situation, self.steps, self.form, self.avoid, language)

    def __str__(self) -> str:
        return self.text()


def shown(
    situation: str, steps: Sequence[str | Mapping[str, Any]], form: Form, avoid: bool, language: str | None = None
) -> str:
    """The text of a procedure: its situation, and its steps, numbered if there are several.

    >>> print(shown("Tests fail", ["read the log", "fix it"], "steps", False))
    Tests fail:
    1. read the log
    2. fix it
    """
    if not steps:
        return situation
    tongue = language or language_of(situation, [])
    head = _HEADS[tongue]["avoid" if avoid else form].format(situation.strip().rstrip(_END))
    lines = [step if isinstance(step, str) else tool_line(step) for step in steps]
    if len(lines) == 1:
        return f"{head}\n{lines[0]}"
    return "\n".join([head, *(f"{place}. {line}" for place, line in enumerate(lines, 1))])


def tool_line(step: Mapping[str, Any]) -> str:
    """A tool step as a line: `search(query=tea)`, or the tool's name alone where no arguments belong to it."""
    return called({"name": step["tool"], "args": step["args"]}) if step.get("args") else str(step["tool"])


def checked_steps(steps: Any) -> list[Any]:
    """Steps as they are kept; raises for none, blank ones and what is neither a text nor a tool call."""
    given = [steps] if isinstance(steps, str | Mapping) else list(steps) if isinstance(steps, Iterable) else None
    if given is None:
        raise InvalidType("steps are a list of texts or of tool calls {'tool': ..., 'args': ...}")
    if not given:
        raise InvalidInput("a procedure has at least one step")
    return [_step(step) for step in given]


def _step(step: Any) -> Any:
    if isinstance(step, str):
        if is_blank(step):
            raise InvalidInput("a step is blank; give a text with at least one visible character")
        return step
    if not isinstance(step, Mapping):
        raise InvalidType(f"a step is a text or a tool call, not {type(step).__name__}")
    name = step.get("tool", step.get("name"))
    if not isinstance(name, str) or is_blank(name):
        raise InvalidInput("a step that is a tool call has a 'tool', its name")
    extra = sorted(map(str, set(step) - {"tool", "name", "args", "id"}))
    if extra:
        raise InvalidInput(f"a tool call has 'tool' and 'args', not {extra}")
    return {"tool": name} if step.get("args") is None else {"tool": name, "args": step["args"]}


def _is_step(value: Any) -> bool:
    """Whether a value can be shown as a step; metadata is anybody's."""
    return isinstance(value, str) or (isinstance(value, Mapping) and isinstance(value.get("tool"), str))


def procedure(record: Record, tries: int, worked: int) -> Procedure:
    """The procedure that a record of kind rule is, with the outcomes told of it."""
    held = record.metadata
    steps, form = held.get("steps"), held.get("form")
    support, successes = held.get("support"), held.get("successes")
    return Procedure(
        id=record.id,
        situation=held["situation"] if isinstance(held.get("situation"), str) else record.text,
        steps=tuple(step for step in steps if _is_step(step)) if isinstance(steps, list) else (),
        form=form if form in FORMS else "steps",
        avoid=held.get("avoid") is True,
        mined=held.get("mined") is True,
        support=(support if isinstance(support, int) else 0) + tries,
        successes=(successes if isinstance(successes, int) else 0) + worked,
        record=record,
    )


def likeness(asked: str, situation: str, cosine: float, word_bonus: float) -> float:
    """How well a situation is met: the score of `recall.score`, steps left out of it.

    >>> likeness("deploy to staging", "Deploy to staging", 0.6, 0.5)
    1.0
    """
    same = score.same_text(asked, situation)
    matched = score.coverage(query_terms(asked), situation)
    return score.own_score(cosine, matched, identical=same, word_bonus=word_bonus)


def alike(one: Iterable[str], other: Iterable[str]) -> float:
    """Shared terms over all terms (Jaccard), in [0, 1]; 0 where either has none."""
    a, b = set(one), set(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def offered(found: Iterable[Procedure], *, min_likeness: float, min_success: float, k: int) -> list[Procedure]:
    """The procedures that are worth telling, the likeliest to help first.

    Likeness times the rate to reckon with: how well it worked, or, of a warning, how surely it fails.
    """
    ranked = []
    for each in found:
        rate = 1 - each.expected if each.avoid else each.expected
        if each.score >= min_likeness and rate >= min_success:
            ranked.append((each.score * rate, each))
    ranked.sort(key=lambda pair: (-pair[0], -pair[1].support, pair[1].id))
    return [each for _, each in ranked[:k]]
