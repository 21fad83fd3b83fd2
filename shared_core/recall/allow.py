"""Which slots a search may return: decided before the cut, never after it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shared_core.recall.arrays import Mask
from shared_core.recall.index import ALWAYS, KINDS, STATUSES, ScopeIndex
from shared_core.recall.where import Where, names
from shared_core.values import Kind, Status

_ACTIVE = STATUSES.index(Status.ACTIVE)
_UNSEEN = [STATUSES.index(Status.ARCHIVED), STATUSES.index(Status.WAITING)]


def allowed(
    index: ScopeIndex,
    *,
    now: int,
    kinds: Collection[Kind] | None = None,
    where: Where | None = None,
    session: int | None = None,
    exclude: Collection[int] = (),
    as_of: int | None = None,
) -> Mask | None:
    """The slots that pass, or None for all of them.

    Without `as_of`: what is active, valid and not expired at `now`. With it: what was stored and
    true at that time, whether or not it was replaced since. `session` is a session's number,
    `exclude` holds seqs. A filter that names `status` decides about status itself.
    """
    masks: list[Mask] = []
    if len(index) < index.size:
        masks.append(index["live"])
    if not index.all_can_be_found:
        masks.append((index["rows"] > 0) | (index["length"] > 0))  # a tool call says nothing that could answer
    mute = (index["rows"] == 0) & (index["length"] == 0)  # no vector and no word: no question is answered by it
    if mute.any():
        masks.append(~mute)
    at = now if as_of is None else as_of
    for column, late in (("expires", True), ("valid_until", True), ("valid_from", False)):
        mask = index[column] > at if late else index[column] <= at
        if not mask.all():
            masks.append(mask)
    if as_of is not None:
        # What was told later but began before is true then: its `valid_from` has let it pass already.
        masks.append((index["created"] <= as_of) | (index["valid_from"] > ALWAYS))
        masks.append(~np.isin(index["status"], _UNSEEN))
    elif not names(where, "status"):
        mask = index["status"] == _ACTIVE
        if not mask.all():
            masks.append(mask)
    if kinds is not None:
        masks.append(np.isin(index["kind"], [KINDS.index(kind) for kind in kinds]))
    if session is not None:
        masks.append(index["session"] == index.session_code(session))
    if where is not None:
        masks.append(index.fields.mask(where, index.size))
    slots = [index.slot_of[seq] for seq in exclude if seq in index.slot_of]
    if slots:
        mask = np.ones(index.size, np.bool_)
        mask[slots] = False
        masks.append(mask)
    return np.logical_and.reduce(masks) if masks else None
