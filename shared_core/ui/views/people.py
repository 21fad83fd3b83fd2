"""Whose memory is looked at, and all of it: figures, export, what waits to be deleted, receipts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from shared_core.errors import InvalidInput, NotFound
from shared_core.ui.answers import Answer, Ask, Download, Page, Redirect
from shared_core.ui.asking import Given
from shared_core.values import Receipt, Verified

_MANY = 500  # users shown at once


def choose(ask: Ask) -> Answer:
    """The users and agents there are; straight to the only one."""
    memory = ask.desk.memory
    wanted = ask.query.text("q").strip().lower()
    users = memory.users()
    if len(users) == 1 and not ask.query.has("all"):
        agents = memory.agents(users[0])
        if len(agents) == 1:
            only = Ask(ask.desk, query=Given({"user": users, "agent": agents}))
            return Redirect(only.link("/memories"))
    fitting = [user for user in users if wanted in user.lower()]
    shown = [(user, memory.agents(user)) for user in fitting[:_MANY]]
    return Page("choose.html", {"people": shown, "more": len(fitting) - len(shown), "wanted": ask.query.text("q")})


def stats(ask: Ask) -> Answer:
    """How much is kept, and of what."""
    scope = ask.scope
    everywhere = ask.desk.memory.stats()
    hot = next((each for each in everywhere.scopes if (each.user, each.agent) == (scope.user, scope.agent)), None)
    return Page(
        "stats.html",
        {
            "stats": scope.stats(), "graph": scope.graph.stats(), "archives": scope.archive.list(), "hot": hot,
            "everywhere": everywhere,
        },
    )  # fmt: skip


# ---------------------------------------------------------------------- all of it


def everything(ask: Ask) -> Answer:
    """Export and delete all."""
    scope = ask.scope
    values: dict[str, Any] = {"count": scope.count(), "agents": ask.desk.memory.agents(scope.user), "wrong": ""}
    return Page("everything.html", values)


def export(ask: Ask) -> Answer:
    """All of this memory as a file."""
    folder = Path(tempfile.mkdtemp(prefix="twinmem-export-"))
    file = folder / "memory.jsonl"
    try:
        ask.scope.export(file, vectors=False, audit=True)
    except BaseException:
        file.unlink(missing_ok=True)
        folder.rmdir()
        raise
    return Download(file, "memory.jsonl", "application/x-ndjson; charset=utf-8")


def delete_all(ask: Ask) -> Answer:
    """Delete everything of this user with this agent, or with all; the name has to be written out."""
    scope = ask.scope
    if ask.form.text("name").strip() != scope.user.strip():
        values = {"count": scope.count(), "agents": ask.desk.memory.agents(scope.user), "wrong": ask.form.text("name")}
        return Page("everything.html", values, status=400)
    receipt, verified = ask.desk.delete_all(scope, agents=ask.form.text("agents") == "all")
    return _receipts([(("all", scope.user), receipt, verified)])


# ---------------------------------------------------------------------- what waits


def waiting(ask: Ask) -> Answer:
    """What is deleted but not confirmed."""
    return Page("waiting.html", {"waiting": ask.desk.held(ask.scope)})


def undo(ask: Ask) -> Answer:
    """Take one deletion back, or all of them."""
    scope = ask.scope
    if ask.form.has("what"):
        ask.desk.undo(scope, ask.form.text("what"), ask.form.text("id"))
    else:
        ask.desk.undo(scope)
    return Redirect(ask.link("/waiting"))


def confirm(ask: Ask) -> Answer:
    """Delete for good what waits."""
    scope = ask.scope
    if not ask.desk.held(scope):
        raise InvalidInput("nothing waits to be deleted")
    return _receipts(ask.desk.confirm(scope))


def _receipts(done: list[tuple[tuple[str, str], Receipt, Verified]]) -> Page:
    return Page("receipt.html", {"done": done, "count": sum(receipt.count for _, receipt, _ in done)})


# ---------------------------------------------------------------------- how it looks


def look(ask: Ask) -> Answer:
    """Keep the language and the colours that were chosen, and go back."""
    chosen = {}
    for name, known in (("language", ("en", "zh")), ("theme", ("light", "dark"))):
        value = ask.form.text(name)
        if value in known:
            chosen[name] = value
    back = ask.form.text("back")
    if not back.startswith("/") or back.startswith(("//", "/\\")):
        raise NotFound("there is nothing to go back to")
    return Redirect(back, chosen)
