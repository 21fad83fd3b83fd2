"""Between the views and the web: what a view is given, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared_core.errors import NotFound
from shared_core.ui.asking import Given
from shared_core.ui.showing import link

if TYPE_CHECKING:
    from shared_core.scope import Scope
    from shared_core.ui.desk import Desk


@dataclass(frozen=True)
class Ask:
    """A request, read: where to, with which parameters and form, in which language; `part` if only a piece is wanted."""

    desk: Desk
    path: str = "/"
    query: Given = field(default_factory=Given)
    form: Given = field(default_factory=Given)
    language: str = "en"
    theme: str = ""
    part: bool = False

    @property
    def user(self) -> str:
        """Whose memory."""
        return self.form.text("user") or self.query.text("user")

    @property
    def agent(self) -> str:
        """Which agent's."""
        return self.form.text("agent") or self.query.text("agent") or "default"

    @property
    def scope(self) -> Scope:
        """The memory asked for; raises `NotFound` for a user or agent of whom nothing is kept."""
        memory = self.desk.memory
        if self.user not in memory.users() or self.agent not in memory.agents(self.user):
            raise NotFound(f"nothing is kept of user {self.user!r} with agent {self.agent!r}")
        return memory.scope(user=self.user, agent=self.agent)

    def link(self, path: str, **given: Any) -> str:
        """An address of the page about the same user and agent."""
        return link(path, user=self.user, agent=self.agent, **given)

    @contextmanager
    def looking(self) -> Iterator[Scope]:
        """The memory, while it lasts without counting what is searched: to look at a memory is not to recall it."""
        scope = self.scope
        with scope._engine.uncounted():
            yield scope


@dataclass(frozen=True)
class Page:
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """Go there and look: the answer to every change, so that reloading repeats nothing."""

    to: str
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Download:
    """A file to keep, deleted here once it is sent."""

    file: Path
    name: str
    media: str


Answer = Page | Redirect | Download
View = Callable[[Ask], Answer]
