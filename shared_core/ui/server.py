"""`twinmem ui`: the page on a port of this machine; the only module that imports uvicorn."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from shared_core.errors import InvalidInput, MissingExtra
from shared_core.ui.desk import Desk
from shared_core.ui.guard import Guard

if TYPE_CHECKING:
    from shared_core.memory import AgentMemory

_LOOPBACK = "127.0.0.1"


class Running:
    """A page that is served; `run` serves until it is stopped, `stop` ends that from another thread."""

    def __init__(self, memory: AgentMemory, name: str, port: int = 0) -> None:
        try:
            import uvicorn
        except ImportError as error:
            raise MissingExtra("uvicorn", "ui") from error
        from shared_core.ui.web import application

        self._socket = _bound(port)
        self.guard = Guard(self._socket.getsockname()[1])
        self.desk = Desk(memory, name, warms=True)
        config = uvicorn.Config(
            application(self.desk, self.guard), log_config=None, access_log=False, server_header=False, date_header=False,
            lifespan="off", proxy_headers=False, timeout_graceful_shutdown=2,
        )  # fmt: skip
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """Where the page begins; whoever has it sees everything."""
        return self.guard.url

    def run(self) -> None:
        """Serve until Ctrl-C, or until `stop`."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """End `run`."""
        self._server.should_exit = True


def _bound(port: int) -> socket.socket:
    """A socket on loopback, and on nothing else; port 0 takes any that is free."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((_LOOPBACK, port))
        bound.listen(128)  # whoever comes before the server has started waits, and is not refused
    except (OSError, OverflowError) as error:
        bound.close()
        raise InvalidInput(f"port {port} can't be used: {error}; name another with --port, or none") from error
    return bound


def serve(memory: AgentMemory, name: str, *, port: int = 0, browser: bool = True, told: Callable[[str], None]) -> None:
    """Serve the page of a memory until Ctrl-C; `told` is given its address, and a browser opened with it."""
    page = Running(memory, name, port)
    told(page.url)
    if browser:
        # Beside us: on some systems opening one waits for it.
        threading.Thread(target=webbrowser.open, args=(page.url,), daemon=True).start()
    with suppress(KeyboardInterrupt):  # the way it is ended
        page.run()
