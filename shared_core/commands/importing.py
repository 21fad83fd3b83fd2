"""`twinmem import`: chat exports into a database, once each.

The file is read twice. The first time only counts: a fault in the file, or a missing `--user`, is
found before anything is written, and the bar knows its end. Reading costs little beside embedding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared_core.commands.database import UsageFault, listed, opened
from shared_core.commands.terminal import number, progress, readable, say, write_json
from shared_core.formats import Conversation, detect, read
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.values import Message, Record

_BATCH = 256  # messages in one transaction: as many as are embedded in one call


@dataclass
class Tally:
    """What an import found and what it did."""

    conversations: int = 0
    messages: int = 0
    new: int = 0
    changed: int = 0
    users: dict[str, None] = field(default_factory=dict)  # in the order of the file


def import_file(
    db: Path, file: Path, *, format: str | None, user: str | None, agent: str, embedder: str | None, as_json: bool
) -> None:
    """Import a file and say what was new."""
    format = format or detect(file)
    found = Tally()
    with progress(f"Reading {readable(file.name)}") as done:
        for conversation in read(file, format):
            _target(conversation, user, file)
            found.conversations += 1
            for _ in conversation.messages:
                found.messages += 1
                done(found.messages)
    told = Tally()
    with opened(db, embedder, make=True) as memory, progress("Remembering", found.messages) as done:
        for conversation in read(file, format):
            _remember(memory, conversation, _target(conversation, user, file), agent, told)
            done(told.messages)
    _report(db, file, format, told, as_json)


def _target(conversation: Conversation, user: str | None, file: Path) -> tuple[str, str]:
    """The user and the session a conversation goes to.

    Conversations of several people keep apart when one `--user` takes them all in: both may have a
    "session_1" with a message "D1:1", and the second would overwrite the first.
    """
    session = readable(conversation.session)  # a file's name, under a locale that could not read it
    theirs = conversation.user
    if user is None and theirs is None:
        raise UsageFault(f"{file.name} does not say whose conversations these are; name the user with --user NAME")
    if user is not None and theirs is not None and theirs != user:
        session = f"{theirs} {session}"
    return user or theirs or "", session


def _remember(
    memory: AgentMemory, conversation: Conversation, target: tuple[str, str], agent: str, tally: Tally
) -> None:
    user, session = target
    scope = memory.scope(user=user, agent=agent)
    tally.conversations += 1
    tally.users[user] = None
    for batch in _batches(conversation.messages):
        before = datetime.now(UTC)
        records = scope.session(session).add_messages(batch)
        tally.messages += len(batch)
        written = {record.id: record for record in records if record.updated_at >= before}
        new = sum(_is_new(scope, record) for record in written.values())
        tally.new += new
        tally.changed += len(written) - new


def _is_new(scope: Scope, record: Record) -> bool:
    return [change.action for change in scope.history(record.id)] == ["added"]


def _batches(messages: Iterable[Message]) -> Iterator[list[Message]]:
    batch: list[Message] = []
    for message in messages:
        batch.append(message)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _report(db: Path, file: Path, format: str, tally: Tally, as_json: bool) -> None:
    known = tally.messages - tally.new - tally.changed
    if as_json:
        found: dict[str, Any] = {"file": readable(str(file)), "format": format, "database": readable(str(db))}
        counts = {"conversations": tally.conversations, "messages": tally.messages}
        found["users"] = list(tally.users)
        write_json({**found, **counts, "new": tally.new, "changed": tally.changed, "known": known})
        return
    read_in = f"{number(tally.messages, 'message')} in {number(tally.conversations, 'conversation')}"
    whose = f" of {listed(list(tally.users))}" if tally.users else ""
    parts = [f"{tally.new:,} new"]
    parts += [f"{tally.changed:,} changed"] if tally.changed else []
    parts += [f"{known:,} known already"] if known else []
    say(f"{file} ({format}): {read_in}{whose}", f"{db}: {', '.join(parts)}")
