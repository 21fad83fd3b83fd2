"""What an agent was asked, what it did, and how that went: runs, read from turns, events and tasks. Pure (B7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from shared_core.recall.text import terms

Role = Literal["asked", "began", "did", "went", "judged", "ended"]
_SITUATION: Final = 300  # characters of what was asked that count
_ACTIONS: Final = 30  # a run of more actions is no recipe


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened in a session: `source` is the record it is known from."""

    role: Role
    text: str = ""
    source: int | None = None
    success: bool | None = None
    args: Mapping[str, Any] | None = None  # of a tool call; None where the action is a text


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a run: a tool with its arguments, or a text."""

    text: str
    args: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """Equal for the same tool, or for texts of the same words."""
        return f"tool:{self.text}" if self.args is not None else " ".join(terms(self.text))


@dataclass(frozen=True, slots=True)
class Run:
    """A situation, the actions taken in it, whether that went well, and the record it is known from."""

    situation: str
    actions: tuple[Action, ...]
    success: bool
    source: int
    error: str = ""


@dataclass(slots=True)
class _Open:
    situation: str
    source: int
    task: bool
    actions: list[Action] = field(default_factory=list)
    verdict: bool | None = None
    failed: bool = False
    error: str = ""

    def run(self) -> Run | None:
        """The run, if anything was done; without a verdict it went as its last action did."""
        if not self.actions or len(self.actions) > _ACTIONS:
            return None
        success = not self.failed if self.verdict is None else self.verdict
        return Run(self.situation, tuple(self.actions), success, self.source, "" if success else self.error)


def runs(moments: Iterable[Moment]) -> list[Run]:
    """The runs of one session, out of its moments in order.

    A run begins with what the user asks, or with a task, and takes in all that is done until the
    next; praise and complaint judge it, an end says how it went, else its last action does.
    """
    found: list[_Open] = []
    for moment in moments:
        now = found[-1] if found else None
        if moment.role == "began" or (moment.role == "asked" and not (now and now.task)):
            if moment.source is not None and moment.text.strip():
                found.append(_Open(moment.text.strip()[:_SITUATION], moment.source, moment.role == "began"))
        elif now is not None:
            _take(now, moment)
    return [run for each in found if (run := each.run()) is not None]


def _take(now: _Open, moment: Moment) -> None:
    if moment.role == "did":
        action = Action(moment.text, moment.args)
        if not now.actions or now.actions[-1].key != action.key:
            now.actions.append(action)
        now.failed = moment.success is False
    elif moment.role == "went" and moment.success is False:
        now.failed, now.error = True, moment.text[:_SITUATION]
    elif moment.role == "judged":
        now.verdict = moment.success
    elif moment.role == "ended":
        now.verdict, now.task = moment.success, False


def common(texts: Sequence[str]) -> str:
    """The words that all texts share, in order: what a situation is once its particulars are gone.

    What stands in one text alone is in none of it, so it can be kept when that text is erased.

    >>> common(["Deploy the billing service to staging", "Please deploy the search service to staging"])
    'deploy the service to staging'
    >>> common(["把订单服务部署到测试环境", "请把支付服务部署到测试环境"])
    '把服务部署到测试环境'
    """
    if len(set(texts)) == 1:
        return texts[0]
    shared = _tokens(texts[-1])
    for text in reversed(texts[:-1]):
        shared = _subsequence(shared, _tokens(text))
    made = ""
    for token in shared:
        made += (" " if made and made[-1].isascii() and token.isascii() else "") + token
    return made


def common_keys(sequences: Sequence[Sequence[str]]) -> list[str]:
    """The longest sequence that stands in all of these in its order."""
    shared = list(sequences[0])
    for sequence in sequences[1:]:
        shared = _subsequence(shared, list(sequence))
    return shared


def _tokens(text: str) -> list[str]:
    """Words as they are written, Chinese characters one by one."""
    found: list[str] = []
    word = ""
    for char in text[:_SITUATION]:
        if "\u3400" <= char <= "\u9fff":
            found += [word, char] if word else [char]
            word = ""
        elif char.isalnum() or (word and char in "'-_./"):
            word += char
        elif word:
            found.append(word)
            word = ""
    return [token.rstrip("'-_./") for token in [*found, *([word] if word else [])]]


def _subsequence(a: Sequence[str], b: Sequence[str]) -> list[str]:
    """The longest common subsequence, letter case aside, in the spelling of `a`."""
    low, other = [x.casefold() for x in a], [x.casefold() for x in b]
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            same = low[i] == other[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if low[i] == other[j]:
            found.append(a[i])
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
