"""`AgentMemory`: opens a database, closes it, hands out scopes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from shared_core.deriving import learning
from shared_core.engine import Engine, Options, Progress
from shared_core.errors import ArchiveUnreachable, InvalidInput, InvalidType, MemoryClosed, OptionConflict
from shared_core.ports import Clock, Transaction
from shared_core.scope import Scope
from shared_core.settings import Settings
from shared_core.steps import Steps, both, threaded
from shared_core.store import backup as backups
from shared_core.store import cascade, copying, encryption, ledger, vault
from shared_core.store.opening import canonical, is_server
from shared_core.store.opening import opened as store_at
from shared_core.store.rows import draft, instant
from shared_core.store.sqlite import SqliteStore
from shared_core.values import CheckReport, FailedWrite, HotScope, MemoryStats, Receipt, Verified
from shared_core.verbs import erasing
from shared_core.verbs.background import Backgrounding
from shared_core.writing.intake import embedded_text, identifier

_open: dict[str, tuple[Engine, int]] = {}
_factories: dict[str, Callable[[], Mapping[str, Any]]] = {}
_registry = threading.RLock()
_REEMBED_BATCH = 256
_BACKUP_TRIES = 10  # as long as archives come and go under it


class AgentMemory:
    """One memory in one database; every handle of the same file in a process shares it.

    >>> with AgentMemory.open(embedder="hashing") as memory:
    ...     alice = memory.scope(user="alice")
    ...     fact = alice.add("I live in Lyon")
    ...     alice.search("Who lives in Lyon?")[0].record.text
    'I live in Lyon'
    """

    def __init__(self, engine: Engine) -> None:
        """Use `AgentMemory.open`."""
        self._engine = engine
        self._closed = False

    # ------------------------------------------------------------------ life

    @classmethod
    def open(
        cls,
        address: str | os.PathLike[str] | None = None,
        *,
        embedder: Any = None,
        llm: Callable[[str], str] | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        key: Any = None,
        durability: str = "process",
    ) -> Self:
        """Open a database, made if it is not there.

        `address`: a path; None (or ":memory:") for a new private database that ends with its last
        handle. `embedder`: None for the bundled multilingual one, "e5", "hashing", or anything
        with `embed_documents` and `embed_query`; a file embedded with another one opens, but every
        verb that needs a vector raises `EmbedderMismatch` until `reembed()`. `llm`: a callable from
        prompt to text. `clock`: a callable giving aware UTC. `durability`: "process" survives
        `kill -9`, "power" also a power cut. `key` encrypts the file at rest (extra `encryption`): a
        passphrase, 32 bytes, or a callable that gives one; without it the environment's `TWINMEM_KEY`
        is taken for a new file or an encrypted one.

        Raises `OptionConflict` if this process has the file open with other options, `WrongKey` for a
        key that does not open it, `StoreDamaged` or `StoreTooNew` for a file that can't be read.
        """
        if isinstance(settings, Mapping):
            try:
                settings = Settings(**settings)
            except ValidationError as error:
                raise InvalidInput(f"settings: {error}") from error
        elif settings is not None and not isinstance(settings, Settings):
            raise InvalidType(f"settings is a Settings or a dict, not {type(settings).__name__}")
        path = canonical(address)
        key = encryption.resolved(key)
        if key is None and path is not None and not is_server(path):
            key = encryption.from_environment(path)
        options = Options(embedder, llm, settings, clock, key, durability)
        if path is None:
            return cls(Engine(None, options))
        with _registry:
            if path in _open:
                engine, handles = _open[path]
                wrong = engine.options.conflicts(options)
                if wrong:
                    raise OptionConflict(
                        f"{path} is open in this process with another {' and '.join(wrong)}; "
                        "close that handle first, or open with the same options"
                    )
                _open[path] = (engine, handles + 1)
            else:
                _open[path] = (Engine(path, options), 1)
            return cls(_open[path][0])

    @classmethod
    async def aopen(cls, address: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """Async twin of `open`."""
        import asyncio

        return await asyncio.to_thread(cls.open, address, **options)

    @classmethod
    def register(cls, address: str | os.PathLike[str], factory: Callable[[], Mapping[str, Any]]) -> None:
        """Tell how a serialised handle of `address` is opened in a new process.

        `factory` gives the options of `open` (embedder, llm, key...) when it is needed. Without it a
        restored handle opens with the defaults: history works, and what needs another embedder raises
        `UnregisteredHandle`. Register before the first handle of the address is restored.
        """
        if not callable(factory):
            raise InvalidType("register takes a callable that gives the options of open as a dict")
        path = canonical(address)
        if path is None:
            raise InvalidInput("a database in memory can't be restored by its address; give a path")
        with _registry:
            _factories[path] = factory

    @classmethod
    def restore(cls, address: str | os.PathLike[str]) -> Self:
        """Open a database as a serialised handle means it: shared if open here, else as registered."""
        path = canonical(address)
        with _registry:
            if path in _open:  # whoever holds a handle of this process has shown the key
                engine, handles = _open[path]
                _open[path] = (engine, handles + 1)
                return cls(engine)
            memory = cls.open(path, **_registered(path))
            memory._engine.unregistered = path is not None and path not in _factories
            return memory

    @property
    def address(self) -> str | None:
        """The absolute path of the database, or its URL; None in memory."""
        return self._engine.address

    @property
    def settings(self) -> Settings:
        """The numbers this memory works with."""
        return self._engine.settings

    @property
    def llm(self) -> Callable[[str], str] | None:
        """The language model it was opened with, if any."""
        found: Callable[[str], str] | None = self._engine.llm
        return found

    def close(self) -> None:
        """Release this handle; the last one closes the database. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        path = self.address
        if path is None:
            self._engine.close()
            return
        with _registry:
            engine, handles = _open.get(path, (self._engine, 1))
            if handles > 1:
                _open[path] = (engine, handles - 1)
                engine.queue.drain()
                return
            _open.pop(path, None)
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        where = "in memory" if self.address is None else self._engine.store.address  # without a password
        return f"AgentMemory({where!r}, embedder={self._engine.model.name!r})"

    def _handle(self) -> Engine:
        if self._closed:
            raise MemoryClosed
        return self._engine

    def _live(self) -> Engine:
        """The engine for a verb about the whole memory, once what is queued is written."""
        engine = self._handle()
        engine.caught_up()
        return engine

    # ------------------------------------------------------------------ who

    def scope(self, *, user: str, agent: str = "default") -> Scope:
        """The memory of one user with one agent; the only way to read, write or erase.

        Nothing is created until something is written. Ids are compared exactly, byte for byte.
        Raises `InvalidInput` (a ValueError) for an empty or blank user or agent, or None.
        """
        engine = self._handle()
        user, agent = identifier(user, "user", engine.settings), identifier(agent, "agent", engine.settings)

        def live(*, wait: bool = True) -> Engine:
            engine = self._handle()
            if wait:
                engine.caught_up((user, agent))
            return engine

        return Scope(engine, user, agent, live)

    def users(self) -> list[str]:
        """The users of whom anything is kept, sorted."""
        with self._live().store.look() as tx:
            return [row[0] for row in tx.rows("users")]

    def agents(self, user: str) -> list[str]:
        """The agents with which anything of a user is kept, sorted."""
        engine = self._live()
        with engine.store.look() as tx:
            return [row[0] for row in tx.rows("agents", {"user": identifier(user, "user", engine.settings)})]

    def forget(self, user: str) -> Receipt:
        """Erase everything of a user, with all agents; the receipt says how much it was."""
        engine = self._live()
        user = identifier(user, "user", engine.settings)
        now = engine.now()
        count, ids, erased = 0, [], {}  # type: int, list[str], dict[str, int]
        agents, tombstones = [], []  # type: list[str], list[str]
        with engine.store.write() as tx:
            for scope, agent in tx.rows("scopes_of", {"user": user}):
                receipt = cascade.forget_scope(tx, scope, now)
                agents.append(agent)
                tombstones += receipt.tombstones
                count += receipt.count
                ids += receipt.ids
                for name, number in receipt.erased.items():
                    erased[name] = erased.get(name, 0) + number
                engine.indexes.drop(scope)
                engine.graphs.drop(scope)
        whole = Receipt(count=count, ids=tuple(ids), erased=erased, at=instant(now), tombstones=tuple(tombstones))
        return engine.erased(whole, user, *agents, whole=True)

    def verify(self, receipt: Receipt) -> Verified:
        """Look whether an erasure holds: no row, vector, word, link, archive line or tombstone, and no byte in the file.

        `pending` says that the file has still to be rewritten; `purge()` does it. What was told anew
        since is no problem, what an import with `revive=True` brought back is. Reads the archives of
        the user, and looks through the database. Raises `StoreDamaged` for an archive that can't be read.

        >>> with AgentMemory.open(embedder="hashing") as memory:
        ...     alice = memory.scope(user="alice")
        ...     receipt = alice.delete(alice.add("I live in Lyon").id)
        ...     memory.verify(receipt).ok
        True
        """
        return erasing.verify(self._live(), receipt)

    # ------------------------------------------------------------------ upkeep

    def flush(self) -> None:
        """Write what waits in memory, and let the LLM read the turns it still owes; what a verb has returned is written.

        That a write was queued in the background (`background`) counts only from here on. Raises
        `QueuedWriteFailed` for what can't be written; it goes on waiting.
        """
        engine = self._handle()
        engine.queue.drain()
        engine.flush()
        engine.settle(quiet=True)
        if learning.asks_llm(engine):
            for user, agent in learning.owed(engine):
                self.scope(user=user, agent=agent).resume()

    @property
    def background(self) -> Backgrounding:
        """`with memory.background():` queues `add`, `add_many` and `add_messages` and writes them in a thread (D8).

        They return at once; written is what was queued when the block, `flush()` or `close()` has
        ended. Bad input raises where it is given. All other verbs of a scope wait for what is queued of it.

        >>> with AgentMemory.open(embedder="hashing") as memory, memory.background():
        ...     scope = memory.scope(user="alice")
        ...     fact = scope.add("I live in Lyon")
        ...     scope.search("Lyon")[0].record.id == fact.id
        True
        """
        return Backgrounding(self)

    def drop_failed(self) -> tuple[FailedWrite, ...]:
        """Give up the queued writes that failed, one of each scope, and get them; what waits behind them goes on."""
        return self._handle().queue.drop_failed()

    def stats(self) -> MemoryStats:
        """What of the database is in memory, the most used scope first, and how many writes are queued (D9)."""
        engine = self._handle()
        indexes, graphs = engine.indexes.held(), engine.graphs.held()
        with engine.store.look() as tx:
            names = {
                number: row[0] for number in indexes | graphs if (row := tx.rows("scope_names", {"scope": number}))
            }
        hot = [
            HotScope(
                user=names[number][0], agent=names[number][1], bytes=indexes.get(number, (0, 0))[0],
                relations=graphs.get(number, (0, 0))[0], uses=max(indexes.get(number, (0, 0))[1], graphs.get(number, (0, 0))[1]),
            )
            for number in names
        ]  # fmt: skip
        hot.sort(key=lambda each: (-each.uses, each.user, each.agent))
        return MemoryStats(
            scopes=tuple(hot), bytes=sum(each.bytes for each in hot), limit=engine.settings.cache.bytes,
            evicted=engine.indexes.evicted, queued=engine.queue.records,
        )  # fmt: skip

    def purge(self) -> bool:
        """Rewrite the file, so that no byte of what was erased is left in it; False while a reader blocks it.

        Waits `settings.erasure.wait` seconds for readers and other writers. It takes as long as the
        file is large, and as much memory up to 256 MB.
        """
        engine = self._live()
        engine.flush()
        engine.model.forget()
        engine.settle()
        with engine.store.write() as tx:
            vault.sweep(tx)
        return erasing.sweep(engine)

    def backup(self, path: str | os.PathLike[str], *, key: Any = None) -> None:
        """Copy the database as it is now, while it is in use; the copy is checked before it gets its name.

        It is encrypted as the original is, or under another `key`: so a plain memory becomes an
        encrypted one, and a copy for somebody else gets a key of its own. What lies in the archive beside
        the database is copied beside the backup. `twinmem restore` puts both back.
        """
        engine = self._live()
        engine.flush()
        if is_server(self.address):
            raise InvalidInput("a server is backed up with its own tools (pg_dump), or copied with 'twinmem copy'")
        if self.address is None:
            raise InvalidInput("a database in memory is in no file; scope.export(path) writes what a scope holds")
        assert isinstance(engine.store, SqliteStore)
        where, found = os.path.abspath(os.fspath(path)), encryption.resolved(key)
        for left in reversed(range(_BACKUP_TRIES)):
            engine.settle()
            try:
                return backups.backup(engine.store, where, found)
            except ArchiveUnreachable:
                if not left:
                    raise

    def copy(
        self, address: str | os.PathLike[str], *, key: Any = None, progress: Callable[[str, int], None] | None = None
    ) -> dict[str, int]:
        """Copy everything into another, empty database, of either kind; how many rows of each table.

        From a file to a server ("postgresql://...") and back, ids and times and vectors kept. What
        arrives is compared with what was sent before it is committed. `progress(table, rows)` is told of each.

        The archive's files go along; but not to a server, if they lie in the folder beside this database.

        Raises `InvalidInput` if there is a memory already, or such archives.
        """
        engine = self._live()
        engine.flush()
        engine.settle()
        place = canonical(address)
        if place is None:
            raise InvalidInput("copy into a path or a server's address; a database in memory would be gone at once")
        target = store_at(place, self.settings.busy_timeout, "process", encryption.resolved(key))
        try:
            return copying.copy(engine.store, target, progress)
        finally:
            target.close()

    def rekey(self, key: Any) -> None:
        """Encrypt the file under another key; a crash leaves it whole, under the old key or the new one.

        Raises `StoreBusy` while another process has it open, `InvalidInput` for a file without
        encryption: back that up with a key and use the copy.
        """
        engine = self._live()
        found = encryption.resolved(key)
        if found is None:
            raise InvalidInput("a key is a passphrase or 32 bytes, not None")
        if not isinstance(engine.store, SqliteStore):
            raise InvalidInput("a key encrypts a file; a server's disk is encrypted by the server")
        engine.store.rekey(found)
        engine.options = replace(engine.options, key=found)

    def _reembed(self, progress: Progress | None = None) -> Steps[int]:
        """Move every record to the embedder this handle was opened with; how many were embedded.

        Works in batches, each committed: stopped half way, it goes on where it was, and until the
        last batch the old vectors stay what is searched. `progress(done, total)` is told of each.
        """
        engine = self._live()
        model = engine.model
        dimensions = yield from model.measured()
        with engine.store.write() as tx:
            number = ledger.ensure_embedder(tx, model.name, dimensions)
        with engine.store.look() as tx:
            total = tx.rows("count_unembedded", {"embedder": number})[0][0]
        done = after = seen = 0
        while True:
            with engine.store.read() as tx:
                rows = tx.rows("unembedded", {"embedder": number, "after": after, "limit": _REEMBED_BATCH})
                drafts = {row[0]: draft(tx.rows("raw_record", {"seq": row[0]})[0]) for row in rows}
            if not rows:
                with engine.store.write() as tx:
                    if self._all_embedded(tx, number):
                        self._switch(tx, number)
                        break
                after = 0  # written meanwhile, under the old embedder
                continue
            after = rows[-1][0]
            vectors = yield from model.packed([embedded_text(item) for item in drafts.values()])
            with engine.store.write() as tx:
                for (seq, item), vector in zip(drafts.items(), vectors, strict=True):
                    current = tx.rows("raw_record", {"seq": seq})
                    if vector is not None and current and current[0][4] == item.text:
                        tx.run("insert_vector", (seq << 8 | number, vector))
                        done += 1
            seen += len(rows)
            if progress is not None:
                progress(min(seen, total), total)
        engine.indexes.drop()
        return done

    reembed, areembed = both(_reembed)

    @staticmethod
    def _all_embedded(tx: Transaction, number: int) -> bool:
        bare = tx.rows("unembedded", {"embedder": number, "after": 0, "limit": -1})
        return not any(embedded_text(draft(tx.rows("raw_record", {"seq": row[0]})[0])) for row in bare)

    @staticmethod
    def _switch(tx: Transaction, number: int) -> None:
        """From here on this embedder's vectors are the ones that are searched."""
        tx.run("set_meta", {"key": "embedder", "value": str(number)})
        tx.run("drop_other_vectors", {"embedder": number})
        tx.run("bump_all")
        tx.run("mark_all_changed")

    def _check(self, fix: bool = False) -> Steps[CheckReport]:
        """Compare rows, vectors, words and the graph; with `fix`, rebuild what can be rebuilt.

        Finds: damage the database engine itself reports, rows without a scope or session, vectors
        without a record or of a wrong length, texts without a vector or words, links to nothing;
        relations, aliases, traits, questions, outcomes, traces and pending work of which the
        record, the entity or the scope is not there. What belongs to nothing goes; an entity is
        rebuilt from the relations that name it, an index of the database from its table. A text that is
        not the one its words were cut from was changed in the file, and is named. A file that is so
        damaged that parts of it can't be read raises nothing here; it is a problem.
        """
        from shared_core.verbs import checkup

        return (yield from checkup.check(self._live(), fix))

    check, acheck = both(_check)

    ausers = threaded(users)
    aagents = threaded(agents)
    aforget = threaded(forget)
    averify = threaded(verify)
    abackup = threaded(backup)
    acopy = threaded(copy)
    arekey = threaded(rekey)
    aflush = threaded(flush)
    apurge = threaded(purge)
    adrop_failed = threaded(drop_failed)
    astats = threaded(stats)
    aclose = threaded(close)


def _registered(path: str | None) -> dict[str, Any]:
    """The options that were registered for an address; none without a registration."""
    if path not in _factories:
        return {}
    found = _factories[path]()
    allowed = {field.name for field in fields(Options)}
    if not isinstance(found, Mapping) or not found.keys() <= allowed:
        what = f"the options {sorted(map(str, found))}" if isinstance(found, Mapping) else f"a {type(found).__name__}"
        raise InvalidType(
            f"what is registered for {path} gave {what}; it has to give a dict of options of AgentMemory.open: "
            f"{', '.join(sorted(allowed))}"
        )
    return dict(found)
