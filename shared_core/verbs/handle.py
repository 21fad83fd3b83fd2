"""What the verbs of a scope stand on: whose it is, the engine, and records as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from shared_core.errors import NotFound
from shared_core.store import rows, scopes
from shared_core.store.rows import Draft, micros
from shared_core.values import as_message
from shared_core.writing.intake import Intake, identifier
from shared_core.writing.redact import redacted

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.ports import Redactor, Transaction
    from shared_core.recall.question import Query
    from shared_core.scope import Scope
    from shared_core.values import Record


class Handle:
    """One user with one agent, and the engine that keeps them; `Scope` is made of verbs over it."""

    def __init__(self, engine: Engine, user: str, agent: str, live: Callable[..., Engine]) -> None:
        self._engine = engine
        self._live = live  # the engine, or the error that it is closed
        self.user = user
        self.agent = agent

    def _find(self, tx: Transaction) -> int | None:
        return scopes.scope_id(tx, self.user, self.agent)

    def _raw(self, tx: Transaction, id: str) -> tuple[int, Draft, int]:
        scope = self._find(tx)
        found = [] if scope is None else tx.rows("seq_by_id", (scope, identifier(id, "id", self._engine.settings)))
        row = tx.rows("raw_record", {"seq": found[0][0]}) if found else []  # gone, if it is deleted meanwhile
        if scope is None or not row:
            raise NotFound(f"no record {id!r} in the scope of user {self.user!r}")
        return found[0][0], rows.draft(row[0]), scope

    def _records(self, tx: Transaction, seqs: Sequence[int]) -> dict[int, Record]:
        if not seqs:
            return {}
        return {row[0]: self._counted(row) for row in tx.rows("records_by_seq", {"seqs": str(list(seqs))})}

    def _counted(self, row: tuple[Any, ...]) -> Record:
        """A record with the accesses that are counted but not yet written.

        Raises `StoreDamaged` for a row of somebody else: a damaged index leads there.
        """
        rows.must_be_of(row, self.user, self.agent)
        return self._fresh(rows.record(row, self._engine.accesses(row[0])))

    def _fresh(self, record: Record) -> Record:
        """The record, flagged if it is past the time to live of its type."""
        life = self._engine.settings.facts.time_to_live.get(record.type or "")
        if life is None:
            return record
        since = record.confirmed_at or record.created_at
        if micros(since + life) > self._engine.now():
            return record
        return record.model_copy(update={"stale": True})

    @property
    def _whole(self) -> Scope:
        """The scope that this is a part of, for verbs whose work is done elsewhere with other verbs."""
        return cast("Scope", self)

    @property
    def _intake(self) -> Intake:
        """What takes in the texts of this scope; under the vault it holds what their tokens stand for."""
        return self._engine.intake_of(self.user, self.agent)

    @property
    def _asking(self) -> Redactor | None:
        """How questions, and texts to be compared, are redacted: as what is stored, but nothing is kept or refused."""
        return self._engine.asking(self.user, self.agent)

    def _as_asked(self, query: Query) -> Query:
        """A query as the memory may see it; so a redacted value finds what it was stored with."""
        redactor = self._asking
        if redactor is None:
            return query
        if isinstance(query, str):
            return redactor(query) if len(query) <= self._engine.settings.limits.query_chars else query
        if not isinstance(query, Iterable) or any(isinstance(each, str) for each in query):
            return query  # refused where it is read
        messages = [as_message(each) for each in query]
        return [each.model_copy(update={"content": redacted(each.content, redactor)}) for each in messages]
