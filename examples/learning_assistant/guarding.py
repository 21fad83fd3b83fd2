"""What every request and answer passes: a limit on bodies, and headers that keep the page to itself."""

from __future__ import annotations

import json
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST: Final = 64 * 1024  # bytes of a body; the longest question takes 16 KB
_POLICY: Final = (
    "default-src 'none'; style-src 'self'{inline}; script-src 'self'{inline}; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_DOCS: Final = ("/docs", "/redoc")  # Swagger UI starts from a script in its page


class _TooLarge(Exception):
    """A body went over the limit while it was read."""


class Guard:
    """An ASGI middleware that refuses large bodies with 413 and sets the security headers."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST) -> None:
        self._app = app
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        read, begun = 0, False

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._largest:
                raise _TooLarge
            return message

        async def headed(message: Message) -> None:
            nonlocal begun
            if read > self._largest and not begun:
                raise _TooLarge  # whatever the application made of the body that broke off
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message["headers"], *_headers(scope["path"])]}
            await send(message)

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        try:
            if declared.isdigit() and int(declared[:20]) > self._largest:
                raise _TooLarge
            await self._app(scope, bounded, headed)
        except _TooLarge:
            await _refuse(send, self._largest, scope["path"])


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    policy = _POLICY.format(inline=" 'unsafe-inline'" if path.startswith(_DOCS) else "")
    found = {
        "content-security-policy": policy, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }  # fmt: skip
    return [(name.encode(), value.encode()) for name, value in found.items()]


async def _refuse(send: Send, largest: int, path: str) -> None:
    error = {"type": "too_large", "message": f"a body has at most {largest} bytes", "problems": []}
    headers = [(b"content-type", b"application/json"), *_headers(path)]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
