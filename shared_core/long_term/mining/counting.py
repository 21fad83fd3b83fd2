"""Patterns in runs, by counting: the same situation, the same actions, and how often that went well. Pure (B7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared_core.long_term.mining.runs import Action, Run, common, common_keys
from shared_core.long_term.procedure import alike
from shared_core.recall.text import terms

_FEW: Final = 2  # terms that situations have to share, whatever their share
_CORE: Final = 0.6  # share of the shortest run that its fellows have to have in common


@dataclass(frozen=True, slots=True)
class Pattern:
    """What recurred: `key` names its actions, `sources` are the records of its runs."""

    situation: str
    steps: tuple[str | Mapping[str, Any], ...]
    avoid: bool
    support: int
    successes: int
    key: str
    sources: tuple[int, ...]


def patterns(found: Iterable[Run], *, support: int, share: float, works: float) -> list[Pattern]:
    """The patterns that at least `support` runs show, the best supported first.

    Situations belong together where they share words (`share` of all, and at least two). In them,
    equal sequences of actions are one pattern; of what is left, what all successful runs have in
    common is. Under a success rate of `works` a pattern is a warning.
    """
    made: list[Pattern] = []
    for group in _situations(found, share):
        by_actions: dict[tuple[str, ...], list[Run]] = {}
        for run in group:
            by_actions.setdefault(tuple(action.key for action in run.actions), []).append(run)
        rest: list[Run] = []
        for same in by_actions.values():
            if len(same) >= support:
                made.append(_pattern(same, [action.key for action in same[0].actions], works))
            else:
                rest += [run for run in same if run.success]
        if len(rest) >= support:
            core = common_keys([[action.key for action in run.actions] for run in rest])
            if len(core) >= _FEW and len(core) >= _CORE * min(len(run.actions) for run in rest):
                made.append(_pattern(rest, core, works))
    return sorted(made, key=lambda each: (-each.support, each.key, each.situation))


def _situations(found: Iterable[Run], share: float) -> list[list[Run]]:
    """Runs whose situations are alike; every one of a group shares its words with all the others."""
    groups: list[tuple[str, list[Run]]] = []
    for run in found:
        words = terms(run.situation)
        best, place, shown = 0.0, -1, ""
        for at, (text, _) in enumerate(groups):
            likeness = alike(words, terms(text))
            if (
                likeness >= share
                and likeness > best
                and len(set(terms(joint := common([text, run.situation])))) >= _FEW
            ):
                best, place, shown = likeness, at, joint
        if place < 0:
            groups.append((run.situation, [run]))
        else:
            groups[place] = (shown, [*groups[place][1], run])
    return [group for _, group in groups]


def _pattern(same: Sequence[Run], keys: Sequence[str], works: float) -> Pattern:
    worked = sum(run.success for run in same)
    return Pattern(
        situation=common([run.situation for run in same]),
        steps=tuple(_steps(same, keys)),
        avoid=worked < works * len(same),
        support=len(same),
        successes=worked,
        key="\n".join(keys),
        sources=tuple(dict.fromkeys(run.source for run in same)),
    )


def _steps(same: Sequence[Run], keys: Sequence[str]) -> list[str | Mapping[str, Any]]:
    """The steps of a pattern, each with what all runs did alike: a tool with the arguments they share."""
    taken = [_walk(run.actions, keys) for run in same]
    made: list[str | Mapping[str, Any]] = []
    for actions in zip(*taken, strict=True):
        first = actions[0]
        if first.args is None:
            made.append(common([action.text for action in actions]) or first.text)
            continue
        shared = {
            name: value
            for name, value in first.args.items()
            if all((action.args or {}).get(name, ...) == value for action in actions)
        }
        made.append({"tool": first.text, "args": shared} if shared else {"tool": first.text})
    return made


def _walk(actions: Sequence[Action], keys: Sequence[str]) -> list[Action]:
    """The actions of a run that stand for these keys, in order."""
    found: list[Action] = []
    for action in actions:
        if len(found) < len(keys) and action.key == keys[len(found)]:
            found.append(action)
    return found
