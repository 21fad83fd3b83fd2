"""`twinmem redact`: which memories hold private data as it is, and putting it out of them (E1)."""

from __future__ import annotations

from collections import Counter

from shared_core.commands.database import Place, opened
from shared_core.commands.terminal import note, number, say, table, write_json
from shared_core.commands.tidying import scopes
from shared_core.scope import Scope
from shared_core.values import PrivateData

_SHOWN = 20  # records told one by one


def redact(db: Place, *, user: str | None, agent: str | None, go: bool, vault: bool, as_json: bool) -> None:
    """Find private data in every user's memory or in one; with `go` redact it."""
    mode = ("vault" if vault else "mask") if go else "off"
    with opened(db, settings={"redaction": {"mode": mode}}) as memory:
        found = [
            (scope, each)
            for scope in scopes(memory, db, user, agent)
            for each in (scope.redact() if go else scope.private())
        ]
        clean = memory.purge() if go and found else True
    if as_json:
        for scope, each in found:
            write_json({"user": scope.user, "agent": scope.agent, **each.model_dump(mode="json"), "redacted": go})
        return
    _say(found, go)
    if not clean:
        note("somebody is reading the file: 'twinmem purge' takes out the old bytes later")


def _say(found: list[tuple[Scope, PrivateData]], go: bool) -> None:
    if not found:
        say("No memory holds private data as it is.")
        return
    say(table(["user", "record", "kind", "holds"], [[scope.user, each.id, each.kind.value, _kinds(each.kinds)]
              for scope, each in found[:_SHOWN]]), "")  # fmt: skip
    if len(found) > _SHOWN:
        note(f"the first {_SHOWN} of {number(len(found), 'record')}; --json shows all")
    total: Counter[str] = Counter()
    for _, each in found:
        total.update(each.kinds)
    holds = f"{number(len(found), 'record')}: {_kinds(total)}"
    say(f"Redacted {holds}." if go else f"{holds}. Nothing was done; --go redacts them.")
    note("relations and tasks that were told directly, and archives, are not looked through")


def _kinds(kinds: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
