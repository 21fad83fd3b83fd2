"""`Graph`: what a scope knows of people and things, and how they hang together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared_core.engine import Engine
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.long_term import entities, forgetting, likeness, naming, relations
from shared_core.long_term.inference import Fact
from shared_core.long_term.names import checked, entity_key, predicate_key, shown
from shared_core.long_term.predicates import BUILTIN, clause, meaning_of
from shared_core.long_term.values import (
    Answer,
    Entity,
    GraphStats,
    Neighbour,
    Path,
    Proposal,
    Relation,
    Rule,
    Subgraph,
    sentence,
)
from shared_core.ports import Transaction
from shared_core.steps import threaded
from shared_core.store import ledger
from shared_core.store.rows import instant, load
from shared_core.values import Receipt, Triple
from shared_core.writing.intake import fraction, identifier
