"""`twinmem ui`: the local page on a database."""

from __future__ import annotations

from shared_core.commands.database import Place, opened
from shared_core.commands.terminal import note, say


def ui(db: Place, *, port: int, browser: bool, embedder: str | None) -> None:
    """Serve the page until Ctrl-C."""
    from shared_core.ui.server import serve

    def told(url: str) -> None:
        say(url)
        note("Whoever has this address sees and changes everything; it works on this machine only. Ctrl-C ends it.")

    with opened(db, embedder) as memory:
        serve(memory, str(db), port=port, browser=browser, told=told)
