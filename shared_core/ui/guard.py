"""Who may see the page: whoever started it, through a browser on this machine, and nothing that only pretends to be them.

Any page of the web may send requests to a port of this machine, so being bound to loopback is not
enough. The token keeps others out, the Host header has to name this machine (a name of the web that was pointed
here does not, which is DNS rebinding), and a change has to carry a second secret that no other site can read.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

HEADERS: Mapping[str, str] = {
    # Nothing but our own files: no inline script or style, no frame, no request to anywhere else.
    "content-security-policy": "default-src 'self'; img-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with none at all our own forms would say they come from "null"
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Sent with every answer."""


@dataclass(frozen=True)
class Guard:
    """The secrets of one run of the page, and what they decide."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies know no ports, and two pages may run at once."""
        return f"twinmem-{self.port}"

    @property
    def session(self) -> str:
        """What the cookie holds: not the token itself, which stood in a URL."""
        return self._derived("session")

    @property
    def csrf(self) -> str:
        """What a change has to carry."""
        return self._derived("csrf")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()

    @property
    def hosts(self) -> frozenset[str]:
        """The Host headers a browser on this machine sends."""
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    @property
    def url(self) -> str:
        """Where to begin."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def knows_host(self, host: str) -> bool:
        """Whether a request was meant for this machine."""
        return host.lower() in self.hosts

    def is_token(self, given: str) -> bool:
        """Whether this is the token of the URL."""
        return _same(given, self.token)

    def is_session(self, given: str) -> bool:
        """Whether this is what the cookie has to hold."""
        return _same(given, self.session)

    def may_change(self, given: str, origin: str | None) -> bool:
        """Whether a change comes from one of our own forms."""
        ours = origin is None or origin.removeprefix("http://").lower() in self.hosts
        return ours and _same(given, self.csrf)


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
