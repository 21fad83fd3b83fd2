"""`twinmem import`: exports of this memory, and of other systems, into a database, once each.

The file is read twice. The first time only counts: a fault in the file, or a missing `--user`, is
found before anything is written, and the bar knows its end. Reading costs little beside embedding.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shared_core.commands.database import Place, UsageFault, listed, opened
from shared_core.commands.terminal import number, progress, readable, say, write_json
from shared_core.memory import AgentMemory
from shared_core.moving import importing
from shared_core.moving.importing import Imported
from shared_core.scope import Scope
from shared_core.settings import Settings
from shared_core.steps import run
from shared_core.writing.intake import Intake


def import_file(
    db: Place, file: Path, *, format: str | None, user: str | None, agent: str | None, embedder: str | None,
    revive: bool, as_json: bool,
) -> None:  # fmt: skip
    """Import a file and say what was new."""
    file, format = importing.checked_format(file, format)
    with progress(f"Reading {readable(file.name)}") as done:
        if format == importing.OURS:
            total = importing.looked_through(file, Intake(Settings()))
            theirs = importing.owner(file)
            user, agent = _named(user or theirs[0], file), agent or theirs[1]
        else:
            total = importing.read_through(file, format, lambda theirs: _named(user or theirs, file), done)
    with opened(db, embedder, make=True) as memory, progress("Remembering", total) as done:
        if format == importing.OURS:
            scope = memory.scope(user=user or "", agent=agent or "default")
            told = run(importing.ours(scope, file, revive=revive, progress=done))
        else:
            target = _target(memory, user, agent or "default")
            told = run(importing.others(target, file, format, revive=revive, progress=done, total=total))
    _report(db, file, told, as_json)


def _named(user: str | None, file: Path) -> str:
    if user is None:
        raise UsageFault(f"{file.name} does not say whose memory this is; name the user with --user NAME")
    return user


def _target(memory: AgentMemory, user: str | None, agent: str) -> importing.Target:
    """Where each conversation and memory goes: to its own user, or all of them to the one who was named.

    Conversations of several people keep apart when one `--user` takes them all in: both may have a
    "session_1" with a message "D1:1", and the second would overwrite the first.
    """
    scopes: dict[str, Scope] = {}

    def target(theirs: str | None, session: str | None) -> tuple[Scope, str | None]:
        whose = user or theirs or ""
        if whose not in scopes:
            scopes[whose] = memory.scope(user=whose, agent=agent)
        # The name may come from a file's, under a locale that could not read it.
        named = None if session is None else readable(session)
        return scopes[whose], importing.apart(theirs if user else None, named, whose)

    return target


def _report(db: Place, file: Path, told: Imported, as_json: bool) -> None:
    ours = told.format == importing.OURS
    if as_json:
        found: dict[str, Any] = {"file": readable(str(file)), "format": told.format, "database": readable(str(db))}
        found["users"] = list(told.users)
        if not ours:
            found |= {"conversations": told.conversations, "messages": told.messages}
            found |= {"memories": told.memories} if told.memories else {}
        found |= {"new": told.new, "changed": told.changed, "known": told.known}
        write_json({**found, **({"deleted": told.deleted} if told.deleted or ours else {})})
        return
    say(f"{file} ({told.format}): {_held(told)}{_whose(told)}", f"{db}: {_became(told)}")


def _held(told: Imported) -> str:
    if told.format == importing.OURS:
        return number(told.records, "record")
    parts = [number(told.memories, "memory")] if told.memories else []
    if told.messages or not parts:
        parts.append(f"{number(told.messages, 'message')} in {number(told.conversations, 'conversation')}")
    return ", ".join(parts)


def _whose(told: Imported) -> str:
    return f" of {listed(list(told.users))}" if told.users else ""


def _became(told: Imported) -> str:
    parts = [f"{told.new:,} new"]
    parts += [f"{told.changed:,} changed"] if told.changed else []
    parts += [f"{told.known:,} known already"] if told.known else []
    parts += (
        [f"{told.deleted:,} left out, since they were deleted here (--revive brings them back)"] if told.deleted else []
    )
    return ", ".join(parts)
