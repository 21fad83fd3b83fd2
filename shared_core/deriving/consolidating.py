"""Consolidation (D7): what matters becomes a memory, what says the same becomes one, a subject is folded.

Everything works in small transactions, so that others can write in between, and every one of them
leaves the memory whole and says how far it came: stopped or killed anywhere, the next call goes on.
What is looked at is what was written since the last time, found by revision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared_core.deriving import learning, merging, promoting, subjects
from shared_core.errors import InvalidType
from shared_core.steps import Steps
from shared_core.values import ConsolidationReport, Fold, Merge

if TYPE_CHECKING:
    from shared_core.engine import Progress
    from shared_core.scope import Scope
    from shared_core.session import Session

Stop = Callable[[], bool]
"""Asked between two transactions whether to stop."""


@dataclass(slots=True)
class Work:
    """What has been done so far, who is told of it, and who may stop it."""

    progress: Progress | None = None
    stop: Stop | None = None
    examined: int = 0
    done: int = 0
    total: int = 0
    remembered: list[str] = field(default_factory=list)
    merges: dict[str, list[str]] = field(default_factory=dict)
    folds: list[Fold] = field(default_factory=list)
    stopped: bool = False

    def goes_on(self, more: int = 0) -> bool:
        """Count what was done, tell it, and ask whether to go on."""
        self.done += more
        if more and self.progress is not None:
            self.progress(min(self.done, self.total), self.total)
        self.stopped = self.stopped or (self.stop is not None and bool(self.stop()))
        return not self.stopped

    def report(self) -> ConsolidationReport:
        """What has been done."""
        merges = tuple(Merge(kept=id, merged=tuple(gone)) for id, gone in self.merges.items())
        return ConsolidationReport(
            examined=self.examined, remembered=tuple(self.remembered), merges=merges, folds=tuple(self.folds),
            stopped=self.stopped,
        )  # fmt: skip


def scope(
    scope: Scope, *, fold: bool | None = None, progress: Progress | None = None, stop: Stop | None = None
) -> Steps[ConsolidationReport]:
    """Consolidate all of a scope: the turns of its sessions, its new facts, and with `fold` its subjects."""
    for given in (progress, stop):
        if given is not None and not callable(given):
            raise InvalidType(f"progress and stop are callables, not {type(given).__name__}")
    engine = scope._live()
    settings = engine.settings.consolidation
    work = Work(progress, stop)
    engine.flush()
    with engine.store.look() as tx:
        number = scope._find(tx)
        names = [] if number is None else [row[0] for row in tx.rows("session_names", {"scope": number})]
    if number is None:
        return work.report()
    for name in names:
        if not work.goes_on():
            return work.report()
        promoting.remember(scope.session(name), work)
    with engine.store.look() as tx:
        upto, after, last_fold = tx.rows("consolidation_reached", {"scope": number})[0]
        since = {"scope": number, "revision": after, "upto": upto}
        work.total = tx.rows("count_facts_since", since)[0][0]
    if settings.merge and work.goes_on():
        merging.merge_all(scope, number, after, upto, work)
    if (settings.fold if fold is None else fold) and work.goes_on():
        yield from subjects.fold_all(scope, number, last_fold, work)
    return work.report()


def after(session: Session) -> None:
    """What follows new messages: every few of the user's, the session is consolidated."""
    engine = session._scope._live()
    every = engine.settings.consolidation.every
    if not every or not engine.settings.facts.extract:
        return
    with engine.store.look() as tx:
        number = session._number(tx)
        if number is None or tx.rows("asked_since_consolidated", {"session": number})[0][0] < every:
            return
    close(session)


def close(session: Session, *, final: bool = False) -> ConsolidationReport:
    """Consolidate one session: what matters in its new turns, and duplicates among the facts of it."""
    work = Work()
    written = promoting.remember(session, work, final=final)
    engine = session._scope._live()
    if written and engine.settings.consolidation.merge:
        with engine.store.look() as tx:
            number = session._scope._find(tx)
        if number is not None:
            merging.merge(session._scope, number, written, [], None, work)
    return work.report()


def ended(session: Session, *, final: bool = False) -> Steps[None]:
    """What a conversation is consolidated by when it is over: the LLM reads what it owes, then `close`."""
    engine = session._scope._live()
    if not engine.settings.facts.extract:
        return
    if learning.asks_llm(engine) and (final or engine.settings.facts.llm == "now"):
        yield from learning.resume(session._scope)
    close(session, final=final)


def farewell(session: Session) -> Steps[None]:
    """Consolidate a conversation whose turns are about to go; with `consolidation.keep_summary` sum all of it up."""
    settings = session._scope._live().settings
    yield from ended(session, final=True)
    if settings.facts.extract and settings.consolidation.keep_summary:
        yield from promoting.sum_up(session)
