"""What all handles of one open database share: the store, the embedder, the clock, the caches."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from shared_core.embedding.model import Model
from shared_core.errors import EmbedderMismatch, InvalidInput, InvalidType, MemoryClosed, StoreError, UnregisteredHandle
from shared_core.long_term.graph.cache import GraphCache
from shared_core.ports import Clock, Redactor, TokenCounter, Transaction
from shared_core.recall.cache import IndexCache
from shared_core.recall.index import ScopeIndex
from shared_core.recall.text import ANALYZER
from shared_core.recall.where import Where
from shared_core.settings import Settings
from shared_core.short_term.tokens import count as count_tokens
from shared_core.steps import Call, Steps
from shared_core.store import ledger, scopes, tombstones, vault
from shared_core.store.encryption import Key
from shared_core.store.opening import opened
from shared_core.store.rows import Draft, draft, micros
from shared_core.values import Receipt
from shared_core.verbs import erasing
from shared_core.verbs.background import Queue
from shared_core.writing.intake import Intake, cut, embedded_text
from shared_core.writing.redact import redactor

if TYPE_CHECKING:
    from shared_core.writing.redaction.policy import Redaction

_EMBEDDER = "embedder"  # the key in `meta` of the embedder whose vectors the memory searches
_ANALYZER = "analyzer"
_COUNTED = 512  # accesses that wait in memory before they are written
_counting: ContextVar[bool] = ContextVar("twinmem_counting", default=True)

Progress = Callable[[int, int], None]
"""Told how much of a long work is done, and of how much."""


def system_clock() -> datetime:
    """The present as aware UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Options:
    """What a database was opened with; a second open has to agree."""

    embedder: Any = None
    llm: Any = None
    settings: Settings | None = None
    clock: Clock | None = None
    key: Key | None = field(default=None, repr=False)
    durability: str = "process"

    def conflicts(self, other: Options) -> list[str]:
        """The options that `other` gives and this has differently."""
        return [
            name
            for name in ("embedder", "llm", "settings", "clock")
            if getattr(other, name) is not None and not _agree(getattr(self, name), getattr(other, name))
        ] + [name for name in ("key", "durability") if getattr(other, name) != getattr(self, name)]


def _agree(mine: Any, theirs: Any) -> bool:
    return mine is theirs or (mine is not None and type(mine) is type(theirs) and bool(mine == theirs))


class Engine:
    """One open database."""

    def __init__(self, address: str | None, options: Options) -> None:
        if options.durability not in ("process", "power"):
            raise InvalidInput(f"durability is 'process' or 'power', not {options.durability!r}")
        if options.llm is not None and not callable(options.llm):
            raise InvalidType("an llm is a callable that takes a prompt and gives text; see as_llm of the adapters")
        if options.key is not None and address is None:
            raise InvalidInput("a database in memory is in no file; leave key out, or give a path")
        self.options = options
        self.address = address
        self.settings = options.settings or Settings()
        if self.settings.recall.expand == "llm" and options.llm is None:
            raise InvalidInput('settings.recall.expand="llm" needs an llm; give one, or a callable as expand')
        self._clock = options.clock or system_clock
        self.model = Model(options.embedder, self.settings)
        self.llm = options.llm
        self.count: TokenCounter = self.settings.token_counter or count_tokens
        self.intake = Intake(self.settings, redactor(self.settings))
        self.store = opened(address, self.settings.busy_timeout, options.durability, options.key)
        self.indexes = IndexCache(self.store, self.settings)
        self.graphs = GraphCache(self.store, self.settings)
        self.queue = Queue(self.settings.background)
        self.unregistered = False  # restored from a serialised handle, with nothing registered for it
        self.unswept = 0  # records erased since the file was rewritten
        self._agreed = False
        self._accesses: dict[int, tuple[int, int]] = {}
        self._access_lock = threading.Lock()
        self._pid = os.getpid()
        self._vault_secret: bytes | None = None
        self.closed = False
        self._recut()

    # ------------------------------------------------------------------ private data

    def intake_of(self, user: str, agent: str) -> Intake:
        """What takes in the texts of one scope: where tokens stand for values, they are its own.

        `intake` is for texts that are made of what is stored: it labels what it finds, and never refuses.
        """
        mode = self.settings.redaction.mode
        if mode == "refuse":
            return Intake(self.settings, self._redaction(refuses=True))
        if mode == "vault":
            return Intake(self.settings, self._redaction(put=vault.Tokens(self._secret(), user, agent)))
        return self.intake

    def asking(self, user: str, agent: str) -> Redactor | None:
        """The redactor for questions of one scope: the same tokens, but nothing is kept."""
        if self.settings.redaction.mode != "vault":
            return self.intake.redactor
        return self._redaction(put=vault.Tokens(self._secret(), user, agent, keeps=False))

    def _redaction(self, **changes: Any) -> Redactor:
        return replace(cast("Redaction", self.intake.redactor), **changes)

    def _secret(self) -> bytes:
        """The secret of the database, read once."""
        if self._vault_secret is None:
            with self.store.write() as tx:  # it may have to be made
                self._vault_secret = tombstones.secret(tx)
        return self._vault_secret

    # ------------------------------------------------------------------ time and state

    def __reduce__(self) -> Any:
        """Refuse to be pickled: locks, connections and caches belong to this process."""
        raise InvalidType("a memory can't be pickled or copied; send its address, and open it there")

    def now(self) -> int:
        """The clock's present, in microseconds."""
        value = self._clock()
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise InvalidInput("the clock gave a time without a timezone; it has to return aware UTC")
        return micros(value)

    def open_or_raise(self) -> None:
        """Refuse work after `close()`."""
        if self.closed:
            raise MemoryClosed

    # ------------------------------------------------------------------ the embedder of the database

    def embedder(self, tx: Transaction) -> int | None:
        """The number of our embedder in this database, None before its first vector.

        Raises `EmbedderMismatch` if the database was embedded with another one.
        """
        rows = tx.rows("current_embedder")
        if not rows:
            return None
        number, name, dimensions = rows[0]
        mine = self.model.dimensions
        if name != self.model.name or (mine is not None and mine != dimensions):
            holds = f"{self.store.address} holds vectors of {name!r} ({dimensions} dimensions), but was "
            ours = f"{self.model.name!r} ({mine or 'unknown'} dimensions)"
            moving = "call memory.reembed() to move everything to the new one"
            if self.unregistered:
                raise UnregisteredHandle(
                    f"{holds}restored without it, with {ours}; say how to make {name!r} before anything is restored: "
                    f"AgentMemory.register({self.store.address!r}, lambda: {{'embedder': ...}}), or {moving}"
                )
            raise EmbedderMismatch(f"{holds}opened with {ours}; open it with {name!r}, or {moving}")
        self.model.dimensions = dimensions
        self._agreed = True
        return int(number)

    def ready(self) -> None:
        """Raise before any embedding is computed if its vectors could not be used.

        Asked of the database once; every write asks again inside its transaction.
        """
        self.open_or_raise()
        if not self._agreed:
            with self.store.look() as tx:
                self.embedder(tx)

    def claim_embedder(self, tx: Transaction) -> int | None:
        """Our number, made on the first write that has a vector."""
        number = self.embedder(tx)
        if number is None and self.model.dimensions is not None:
            tx.rows("lock_embedders")
            number = self.embedder(tx)
        if number is None and self.model.dimensions is not None:
            number = ledger.ensure_embedder(tx, self.model.name, self.model.dimensions)
            tx.run("set_meta", {"key": _EMBEDDER, "value": str(number)})
        return number

    def embed(self, drafts: Sequence[Draft]) -> Steps[None]:
        """Give drafts their vectors."""
        texts = [embedded_text(item) for item in drafts]
        vectors = yield from self.model.packed(texts)
        for item, vector in zip(drafts, vectors, strict=True):
            item.vector = vector

    def ask(self, prompt: str) -> Steps[Any]:
        """What the LLM answers, by its async form (`acall`) where it has one and the verb is awaited.

        Raises whatever the model raises.
        """
        assert self.llm is not None
        return (yield Call(self.llm, prompt, getattr(self.llm, "acall", None)))

    @contextmanager
    def recalling(
        self, scope: int, where: Where | None = None, model: Model | None = None
    ) -> Iterator[tuple[Transaction, ScopeIndex]]:
        """The index of a scope, current, under our embedder, or under that of another `model`."""
        model = model or self.model
        with self.store.look() as tx:
            if model is self.model:
                number = self.embedder(tx)
            else:
                number = ledger.embedder_id(tx, model.name, model.dimensions or 0)
        with self.indexes.opened(scope, number, model.dimensions, where) as opened:
            yield opened

    def caught_up(self, key: tuple[str, str] | None = None) -> None:
        """Wait for what is queued of a scope, or of all; never inside a transaction, for which the writer may wait."""
        if not self.store.held:
            self.queue.wait(key)

    # ------------------------------------------------------------------ counting recalls

    def accessed(self, seqs: Sequence[int], now: int) -> None:
        """Count that records were recalled; written later, so that a search never waits for it."""
        if not _counting.get():
            return
        if self._pid != os.getpid():  # a fork: the lock and what waits are the parent's
            self._access_lock, self._accesses, self._pid = threading.Lock(), {}, os.getpid()
        with self._access_lock:
            for seq in seqs:
                self._accesses[seq] = (self._accesses.get(seq, (0, 0))[0] + 1, now)
            full = len(self._accesses) >= _COUNTED
        if full:
            # Locked by another process, or not writable: what waits is kept, and counted at a later time.
            with suppress(StoreError):
                self.flush(wait=False)

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """While it lasts, what is recalled here does not count as recalled: for measuring a memory."""
        token = _counting.set(False)
        try:
            yield
        finally:
            _counting.reset(token)

    def accesses(self, seq: int) -> tuple[int, int] | None:
        """What is counted of a record but not yet written."""
        return self._accesses.get(seq)

    def flush(self, *, wait: bool = True) -> None:
        """Write what waits in memory; with `wait=False` only if the database is free now."""
        if self._pid != os.getpid():
            return
        with self._access_lock:
            waiting, self._accesses = self._accesses, {}
        if not waiting:
            return
        try:
            with self.store.write(wait=wait) as tx:
                alive = {row[0] for row in tx.rows("existing", {"seqs": str(list(waiting))})}
                tx.many("add_access", [(seq, n, at) for seq, (n, at) in waiting.items() if seq in alive])
        except BaseException:
            with self._access_lock:
                for seq, (n, at) in waiting.items():
                    more, later = self._accesses.get(seq, (0, at))
                    self._accesses[seq] = (n + more, max(at, later))
            raise

    # ------------------------------------------------------------------ upkeep

    def _recut(self) -> None:
        """Cut every text into words anew if this version of the tokenizer gives other terms."""
        with self.store.look() as tx:
            rows = tx.rows("get_meta", {"key": _ANALYZER})
        if rows and rows[0][0] == str(ANALYZER):
            return
        with self.store.write() as tx:
            if rows:
                self.recut(tx, [row[0] for row in tx.rows("texts")])
            tx.run("set_meta", {"key": _ANALYZER, "value": str(ANALYZER)})
            tx.run("add_meta", {"key": "identity", "value": os.urandom(16).hex()})

    def abandoned(self) -> int:
        """The time before which whoever began to write an archive file was killed."""
        return self.now() - int(self.settings.archive.abandoned_seconds * 1_000_000)

    def settle(self, *, quiet: bool = False) -> None:
        """Do to the archive's files what was decided in the database; raises `ArchiveUnreachable`, or logs it."""
        with self.store.look() as tx:
            waiting = tx.rows("unsettled_archives", {"before": self.abandoned()})
        if waiting:
            from shared_core.long_term.archive import settle

            settle(self, waiting, quiet=quiet)

    def erased(self, receipt: Receipt, user: str, *agents: str, whole: bool = False) -> Receipt:
        """Do what follows an erasure once it is committed: caches, archive files, the bytes; the receipt tells of it."""
        return erasing.finish(self, receipt, user, *agents, whole=whole)

    def recut(self, tx: Transaction, seqs: Sequence[int]) -> None:
        """Give records their words again, out of their texts."""
        touched: set[int] = set()
        for seq in seqs:
            row = tx.rows("raw_record", {"seq": seq})[0]
            item = draft(row)
            cut(item)
            tx.run("set_words", (item.words, item.shape, seq))
            touched.add(row[0])
        for scope in touched:
            revision = scopes.bump(tx, scope)
            tx.run("mark_scope_changed", {"scope": scope, "revision": revision})

    def close(self) -> None:
        """Write what waits and close the database."""
        if self.closed:
            return
        try:
            self.queue.end()
        finally:
            self._close()

    def _close(self) -> None:
        try:
            self.flush()
            erasing.at_close(self)
        finally:
            self.closed = True
            self.indexes.close()
            self.graphs.drop()
            self.store.close()
