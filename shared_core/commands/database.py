"""Which database, whose memory, and which embedder a command works with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from shared_core.embedding.model import BUILT_IN, identity
from shared_core.errors import EmbedderMismatch, InvalidInput, NotFound, StoreDamaged
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.session import Session
from shared_core.store.opening import canonical, is_server
from shared_core.store.postgres import Address, is_made

_SHOWN = 5  # users named in an error


class UsageFault(InvalidInput):
    """The command was called in a way that can't work; see its --help."""


class Place:
    """Where a database is, as it is named with --db: a path, or the address of a PostgreSQL server.

    >>> place = Place("postgresql://me:secret@db.example/app?schema=mine")
    >>> str(place), place.file
    ('postgresql://db.example/app?schema=mine', None)
    >>> Place("agent.db").file.name
    'agent.db'
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = os.fspath(address)

    def __str__(self) -> str:
        """As people are told of it: a server without the password."""
        return Address(self.address).shown if is_server(self.address) else self.address

    @property
    def file(self) -> Path | None:
        """The file, or None where it is a server's."""
        return None if "://" in self.address else Path(self.address)

    def exists(self) -> bool:
        """Whether anything is there. Raises `StoreUnavailable` for a server that does not answer."""
        path = self.file
        return is_made(canonical(self.address) or "") if path is None else path.exists()

    def must_exist(self) -> None:
        """Raises `NotFound` where there is no database, `StoreDamaged` for an empty file."""
        path = self.file
        if not self.exists():
            raise NotFound(f"no database at {self}; name one with --db or TWINMEM_DB, or make it with 'twinmem import'")
        if path is not None and path.is_dir():
            raise NotFound(f"{path} is a folder; name a database file with --db or TWINMEM_DB")
        if path is not None and path.stat().st_size == 0:
            raise StoreDamaged(f"{path} is empty, not a twinmem database; name another with --db or TWINMEM_DB")

    def as_file(self, otherwise: str) -> Path:
        """The file; raises `UsageFault` saying what is done `otherwise`, with a server."""
        if self.file is None:
            raise UsageFault(f"{self} is a server, not a file; {otherwise}")
        return self.file


class OtherEmbedder:
    """Stands for an embedder that only a program has; all that needs no vector works with it.

    Without it `check` could not open a database that a program filled through, say, an OpenAI model.
    """

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self.dimensions = dimensions

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Raises `EmbedderMismatch`."""
        self._refuse()

    def embed_query(self, text: str) -> list[float]:
        """Raises `EmbedderMismatch`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise EmbedderMismatch(
            f"the database was embedded with {self.name!r}, which the command line does not have "
            f"({', '.join(BUILT_IN)}); ask from a program with that embedder, or move it with 'twinmem reembed'"
        )


@contextmanager
def opened(
    place: Place, embedder: str | None = None, *, make: bool = False, moving: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[AgentMemory]:  # fmt: skip
    """The memory at a place, with the embedder it was written with.

    Raises `NotFound` if there is none, unless it is to be made, and `EmbedderMismatch` if another
    embedder is named, unless the memory is moving to it.
    """
    if embedder is not None and embedder not in BUILT_IN:
        raise UsageFault(f"unknown embedder {embedder!r}; known: {', '.join(BUILT_IN)}")
    chosen: object = embedder
    if not make or place.exists():
        place.must_exist()
        stored = written_with(place)
        if embedder is None:
            chosen = _embedder(stored)
        elif stored is not None and not moving and identity(BUILT_IN[embedder]()) != stored[0]:
            raise EmbedderMismatch(
                f"{place} is embedded with {stored[0]!r}, not with {str(embedder)!r}; leave --embedder out, "
                f"or move it with 'twinmem reembed --embedder {embedder}'"
            )
    with AgentMemory.open(place.address, embedder=chosen, settings=settings) as memory:
        yield memory


def written_with(place: Place) -> tuple[str, int] | None:
    """Name and dimensions of the embedder whose vectors a database holds; None before the first."""
    with AgentMemory.open(place.address) as memory, memory._live().store.look() as tx:
        current = tx.rows("get_meta", {"key": "embedder"})
        return next((row[1:] for row in tx.rows("embedders") if current and row[0] == int(current[0][0])), None)


def _embedder(stored: tuple[str, int] | None) -> object:
    if stored is None:
        return None
    for name, make in BUILT_IN.items():
        if identity(make()) == stored[0]:
            return None if name == "default" else name
    return OtherEmbedder(*stored)


# ---------------------------------------------------------------------- whose memory


def scope_of(memory: AgentMemory, place: Place, user: str | None, agent: str | None) -> Scope:
    """The one scope a reading command is about; what is left out must be the only one there is.

    Raises `NotFound` for a user or agent of whom nothing is kept, `UsageFault` where one has to be chosen.
    """
    users = memory.users()
    if not users:
        raise NotFound(f"{place} remembers nobody yet; fill it with 'twinmem import FILE'")
    user = _chosen(user, users, f"{place} holds the memory of", "--user")
    agents = memory.agents(user)
    if agent is None and "default" in agents:
        agent = "default"
    return memory.scope(user=user, agent=_chosen(agent, agents, f"user {user!r} is known to", "--agent"))


def _chosen(given: str | None, known: Sequence[str], holds: str, option: str) -> str:
    if given is None and len(known) == 1:
        return known[0]
    if given is None:
        raise UsageFault(f"{holds} {listed(known)}; choose one with {option}")
    if given not in known:
        raise NotFound(f"{holds} {listed(known)}, not {given!r}")
    return given


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> listed(["alice", "bob"]), listed(list("abcdefg"))
    ("'alice' and 'bob'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    shown = [repr(name) for name in names[:_SHOWN]]
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} and {len(names) - _SHOWN:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def session_of(scope: Scope, session: str) -> Session:
    """A conversation that exists; raises `NotFound`, naming some, for one that does not."""
    known = scope.sessions()
    if session not in known:
        raise NotFound(f"user {scope.user!r} has no session {session!r}; known: {listed(known) if known else 'none'}")
    return scope.session(session)
