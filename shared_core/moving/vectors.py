"""Vectors for records that come in: those they bring, where they are of this memory's embedder, else new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared_core.moving.parsing import Moved
from shared_core.steps import Steps
from shared_core.writing.intake import embedded_text

if TYPE_CHECKING:
    from shared_core.engine import Engine


def embed(engine: Engine, records: Sequence[Moved]) -> Steps[int]:
    """Give records their vectors; how many had to be made.

    Raises `EmbedderMismatch` where the database was embedded with another model than it is open with.
    """
    model = engine.model
    wanted = [moved for moved in records if embedded_text(moved.item)]
    if not wanted:
        return 0
    engine.ready()
    if model.dimensions is None:
        yield from model.measured()
    bare = []
    for moved in wanted:
        own = [pieces for name, size, pieces in moved.vectors if (name, size) == (model.name, model.dimensions)]
        moved.item.vector = own[0] if own else None
        if not own:
            bare.append(moved.item)
    if bare:
        yield from engine.embed(bare)
    return len(bare)
