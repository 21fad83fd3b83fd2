"""`twinmem check` and `twinmem reembed`: keeping a database whole."""

from __future__ import annotations

from shared_core.commands.database import Place, opened, written_with
from shared_core.commands.terminal import number, progress, readable, say, table, write_json

_SHOWN = 20  # problems printed one by one


def check(db: Place, *, fix: bool, as_json: bool) -> bool:
    """Check, and mend what can be mended; whether all is well now."""
    with opened(db) as memory:
        report = memory.check(fix=fix)
    if as_json:
        write_json({"database": readable(str(db)), "ok": report.ok, **report.model_dump(mode="json")})
        return report.ok
    found = report.problems
    if found:
        rows = [[problem.what, problem.where, "yes" if problem.fixable else "no"] for problem in found[:_SHOWN]]
        say(table(["problem", "where", "--fix mends it"], rows))
        say(f"... and {len(found) - _SHOWN:,} more\n" if len(found) > _SHOWN else "")
    held = f"{number(report.records, 'record')}, {number(report.vectors, 'vector')}"
    if not found:
        say(f"{db} is whole: {held}.")
    elif report.fixed:
        say(f"{db}: {number(len(found), 'problem')}, {report.fixed:,} mended ({held}).")
    else:
        say(f"{db}: {number(len(found), 'problem')} ({held}).")
    return report.ok


def reembed(db: Place, *, embedder: str, as_json: bool) -> None:
    """Move every record to another embedder."""
    with opened(db):
        was = written_with(db)
    with opened(db, embedder, moving=True) as memory, progress(f"Embedding with {embedder}", 0) as done:
        count = memory.reembed(progress=done)
    now = written_with(db)
    assert now is not None
    if as_json:
        write_json({"database": readable(str(db)), "was": was and was[0], "embedder": now[0], "embedded": count})
    elif count:
        say(f"{db}: {number(count, 'record')} embedded with {now[0]}" + (f" (was {was[0]})." if was else "."))
    else:
        say(f"{db}: nothing to do, every record has its vector of {now[0]}.")
