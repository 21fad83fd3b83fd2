"""Which database, whose memory, and which embedder a command works with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from shared_core.embedding.model import BUILT_IN, identity
from shared_core.errors import EmbedderMismatch, InvalidInput, NotFound, StoreDamaged
from shared_core.memory import AgentMemory
from shared_core.scope import Scope
from shared_core.session import Session

_SHOWN = 5  # users named in an error


class UsageFault(InvalidInput):
    """The command was called in a way that can't work; see its --help."""


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
    path: Path, embedder: str | None = None, *, make: bool = False, moving: bool = False
) -> Iterator[AgentMemory]:
    """The memory in the file at `path`, with the embedder it was written with.

    Raises `NotFound` if there is no file, unless it is to be made, and `EmbedderMismatch` if another
    embedder is named, unless the memory is moving to it.
    """
    if embedder is not None and embedder not in BUILT_IN:
        raise UsageFault(f"unknown embedder {embedder!r}; known: {', '.join(BUILT_IN)}")
    chosen: object = embedder
    if not make or path.exists():
        _must_be_file(path)
        stored = written_with(path)
        if embedder is None:
            chosen = _embedder(stored)
        elif stored is not None and not moving and identity(BUILT_IN[embedder]()) != stored[0]:
            raise EmbedderMismatch(
                f"{path} is embedded with {stored[0]!r}, not with {str(embedder)!r}; leave --embedder out, "
                f"or move it with 'twinmem reembed --embedder {embedder}'"
            )
    with AgentMemory.open(path, embedder=chosen) as memory:
        yield memory


def _must_be_file(path: Path) -> None:
    if not path.exists():
        raise NotFound(f"no database at {path}; name one with --db or TWINMEM_DB, or make it with 'twinmem import'")
    if path.is_dir():
        raise NotFound(f"{path} is a folder; name a database file with --db or TWINMEM_DB")
    if path.stat().st_size == 0:
        raise StoreDamaged(f"{path} is empty, not a twinmem database; name another with --db or TWINMEM_DB")


def written_with(path: Path) -> tuple[str, int] | None:
    """Name and dimensions of the embedder whose vectors a database holds; None before the first."""
    with AgentMemory.open(path) as memory, memory._live().store.look() as tx:
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


def scope_of(memory: AgentMemory, path: Path, user: str | None, agent: str | None) -> Scope:
    """The one scope a reading command is about; what is left out must be the only one there is.

    Raises `NotFound` for a user or agent of whom nothing is kept, `UsageFault` where one has to be chosen.
    """
    users = memory.users()
    if not users:
        raise NotFound(f"{path} remembers nobody yet; fill it with 'twinmem import FILE'")
    user = _chosen(user, users, f"{path} holds the memory of", "--user")
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
