"""`twinmem users` and `twinmem stats`: who is remembered, and how much."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from shared_core.commands.database import Place, opened, scope_of, written_with
from shared_core.commands.terminal import number, readable, say, table, write_json
from shared_core.memory import AgentMemory
from shared_core.values import Stats

_COUNTED = ("sessions", "messages", "long_term", "tokens")


def users(db: Place, *, as_json: bool) -> None:
    """List the users with their agents."""
    with opened(db) as memory:
        found = {user: memory.agents(user) for user in memory.users()}
    if as_json:
        for user, agents in found.items():
            write_json({"user": user, "agents": agents})
    elif found:
        say(table(["user", "agents"], [[user, ", ".join(agents)] for user, agents in found.items()]))
    else:
        say(f"{db} remembers nobody yet.")


def stats(db: Place, *, user: str | None, agent: str | None, as_json: bool) -> None:
    """Count what is kept of every user, or of one."""
    with opened(db) as memory:
        counted = _counted(memory, db, user, agent)
    stored = written_with(db)
    total: Counter[str] = Counter()
    for _, _, each in counted:
        total.update({"records": each.records, **{name: getattr(each, name) for name in _COUNTED}})
    size = _size(db)
    if as_json:
        rows = [{"user": user, "agent": agent, **each.model_dump(mode="json")} for user, agent, each in counted]
        sums = {name: total[name] for name in ("records", *_COUNTED)}
        embedder = None if stored is None else {"name": stored[0], "dimensions": stored[1]}
        write_json(
            {
                "database": readable(str(db)),
                **({} if size is None else {"bytes": size}),
                "embedder": embedder,
                "scopes": rows,
                "total": sums,
            }
        )
        return
    with_agents = any(agent != "default" for _, agent, _ in counted)
    heads = ["user", *(["agent"] if with_agents else []), "sessions", "messages", "facts etc.", "tokens"]
    rows_ = [[user, *([agent] if with_agents else []), *_numbers(each)] for user, agent, each in counted]
    if len(rows_) > 1:
        rows_.append(["total", *([""] if with_agents else []), *(total[name] for name in _COUNTED)])
    embedded = f", embedded with {stored[0]}" if stored else ""
    taken = "" if size is None else f", {size / 1e6:,.1f} MB"
    say(f"{db}: {number(total['records'], 'record')}{taken}{embedded}", "", table(heads, rows_))


def _size(db: Place) -> int | None:
    """Bytes of the file and its log; None for a server, which holds more than this memory."""
    if db.file is None:
        return None
    parts = [Path(f"{db.file}{end}") for end in ("", "-wal")]
    return sum(part.stat().st_size for part in parts if part.exists())


def _counted(memory: AgentMemory, db: Place, user: str | None, agent: str | None) -> list[tuple[str, str, Stats]]:
    if user is not None or agent is not None:
        scope = scope_of(memory, db, user, agent)
        return [(scope.user, scope.agent, scope.stats())]
    pairs = [(user, agent) for user in memory.users() for agent in memory.agents(user)]
    return [(user, agent, memory.scope(user=user, agent=agent).stats()) for user, agent in pairs]


def _numbers(each: Stats) -> list[Any]:
    return [getattr(each, name) for name in _COUNTED]
