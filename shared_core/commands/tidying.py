"""`twinmem consolidate` and `twinmem cleanup`: making one of what says the same, letting go of what has faded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared_core.commands.database import Place, opened, scope_of
from shared_core.commands.terminal import note, number, progress, readable, say, table, write_json
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.values import CleanupReport, ConsolidationReport

_SHOWN = 20  # merges, or memories that go, printed one by one
_WIDTH = 60  # characters of a memory in a table


def consolidate(db: Place, *, user: str | None, agent: str | None, fold: bool, as_json: bool) -> None:
    """Merge what says the same and keep what matters, of every user or of one."""
    with opened(db) as memory:
        found: list[tuple[Scope, ConsolidationReport]] = []
        for scope in scopes(memory, db, user, agent):
            with progress(f"Consolidating {scope.user}", 0) as done:
                found.append((scope, scope.consolidate(fold=fold or None, progress=done)))
        if as_json:
            for scope, report in found:
                write_json({"user": scope.user, "agent": scope.agent, **report.model_dump(mode="json")})
            return
        _say_consolidated(found)


def _say_consolidated(found: list[tuple[Scope, ConsolidationReport]]) -> None:
    rows: list[list[str | int]] = [
        [scope.user, scope.agent, report.examined, len(report.remembered),
         sum(len(each.merged) for each in report.merges), len(report.folds)]
        for scope, report in found
    ]  # fmt: skip
    if not rows:
        say("Nobody is remembered yet.")
        return
    say(table(["user", "agent", "facts looked at", "remembered", "merged away", "summaries"], rows))
    merges = [(scope, merge) for scope, report in found for merge in report.merges]
    if merges:
        shown: list[list[str | int]] = [[_text(scope, merge.kept), _text(scope, merge.merged[0]), len(merge.merged)]
                 for scope, merge in merges[:_SHOWN]]  # fmt: skip
        say("", table(["kept", "says the same", "merged"], shown))
    if len(merges) > _SHOWN:
        note(f"the first {_SHOWN} of {number(len(merges), 'merge')}; --json shows all")


def cleanup(
    db: Place, *, user: str | None, agent: str | None, go: bool, delete: bool, threshold: float | None, as_json: bool
) -> None:
    """Say what has faded, of every user or of one; with `go` let it go."""
    decay: dict[str, Any] = {"to": "delete"} if delete else {}
    if threshold is not None:
        decay["threshold"] = threshold
    with opened(db, settings={"decay": decay} if decay else None) as memory:
        found = []
        for scope in scopes(memory, db, user, agent):
            with _told(go, scope) as done:
                found.append((scope, scope.cleanup(dry_run=not go, progress=done)))
    if as_json:
        for scope, report in found:
            write_json({"user": scope.user, "agent": scope.agent, **report.model_dump(mode="json")})
        return
    gone = [(scope, each) for scope, report in found for each in report.gone]
    if gone:
        rows = [
            [scope.user, _cut(each.text), each.reason, f"{each.worth:.2f}", f"{each.age:,.0f}", each.to]
            for scope, each in gone[:_SHOWN]
        ]
        say(table(["user", "memory", "why", "worth", "days old", "to"], rows, right=[3, 4]), "")
    if len(gone) > _SHOWN:
        note(f"the first {_SHOWN} of {number(len(gone), 'memory')}; --json shows all")
    say(_sum([report for _, report in found], go))


@contextmanager
def _told(go: bool, scope: Scope) -> Iterator[Any]:
    if not go:
        yield None
        return
    with progress(f"Cleaning up {scope.user}", 0) as done:
        yield done


def _sum(reports: list[CleanupReport], go: bool) -> str:
    examined = number(sum(report.examined for report in reports), "memory")
    archived, deleted = sum(report.archived for report in reports), sum(report.deleted for report in reports)
    pinned = sum(report.pinned for report in reports)
    kept = f"; {pinned:,} stay because they are pinned" if pinned else ""
    if not archived and not deleted:
        return f"Of {examined} none has faded{kept}."
    if go:
        return f"Of {examined} {archived:,} are archived now and {deleted:,} deleted{kept}."
    return (
        f"Of {examined} {archived:,} would be archived and {deleted:,} deleted{kept}. Nothing was done; --go does it."
    )


def scopes(memory: AgentMemory, db: Place, user: str | None, agent: str | None) -> list[Scope]:
    if user is not None or agent is not None:
        return [scope_of(memory, db, user, agent)]
    pairs = [(user, agent) for user in memory.users() for agent in memory.agents(user)]
    return [memory.scope(user=user, agent=agent) for user, agent in pairs]


def _text(scope: Scope, id: str) -> str:
    record = scope.get(id)
    return id if record is None else _cut(record.text)


def _cut(text: str) -> str:
    text = readable(" ".join(text.split()))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
