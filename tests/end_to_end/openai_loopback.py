"""An OpenAI-compatible chat server on loopback that says what it was told to say, and keeps what it was sent.

It is as strict as the service: tool results must answer calls of the message before, every call must be
answered, system messages lead. A body that breaks a rule is answered with status 400.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from shared_core.prompt.words import HEADINGS

FENCE = "<memories>"
_PIECE = 7  # characters a streamed chunk


def call(name: str, id: str = "call-1", **args: Any) -> list[dict[str, Any]]:
    """A reply that calls a tool; several added together call them in parallel."""
    return [{"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}]


def faults(messages: list[dict[str, Any]]) -> list[str]:
    """What the service would refuse in a conversation."""
    found: list[str] = []
    waiting: list[str] = []
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                found.append(f"message {place}: a tool result without its call")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            found.append(f"message {place}: the calls {waiting} have no result")
        waiting = [each["id"] for each in message.get("tool_calls") or []]
        if role == "system" and any(before["role"] != "system" for before in messages[:place]):
            found.append(f"message {place}: a system message behind the conversation's beginning")
        if role == "assistant" and not message.get("content") and not waiting:
            found.append(f"message {place}: an assistant message that says and calls nothing")
        if role not in ("system", "user", "assistant"):
            found.append(f"message {place}: the role {role!r}")
    if waiting:
        found.append(f"the calls {waiting} have no result")
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        found.append("nothing to answer")
    return found


def text_of(message: dict[str, Any]) -> str:
    """The text of a message of a body, in whichever form it was sent."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def told(prompt: list[dict[str, Any]]) -> int:
    """How often a prompt holds memories: 0 or 1, or more where any part of them stands in it twice."""
    text = "\n".join(map(text_of, prompt))
    parts = [text.count(f"## {heading}\n{FENCE}") for heading in HEADINGS["en"].values()]
    return max(*parts, text.count(FENCE) - sum(parts) + 1 if FENCE in text else 0)


class Loopback:
    """`url` is the base URL; `say` sets the replies of the next requests; `bodies` are the requests."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._replies: deque[Any] = deque()
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                loopback._answer(self, body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def say(self, *replies: Any) -> None:
        """A text, tool calls (`call`), or a status to fail with, one a request; past the end "ok"."""
        self._replies = deque(replies)

    @property
    def prompts(self) -> list[list[dict[str, Any]]]:
        """The messages of each request."""
        return [body["messages"] for body in self.bodies]

    # ------------------------------------------------------------------ answering

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if not handler.path.endswith("/v1/chat/completions"):
            return _send(handler, 404, _error(f"no such path: {handler.path}"))
        self.bodies.append(body)
        wrong = faults(body["messages"])
        if wrong:
            self.refused += wrong
            return _send(handler, 400, _error("; ".join(wrong)))
        reply = self._replies.popleft() if self._replies else "ok"
        if isinstance(reply, int):
            return _send(handler, reply, _error("told to fail"))
        if body.get("stream"):
            return _stream(handler, body, reply)
        message: dict[str, Any] = {"role": "assistant", "content": reply if isinstance(reply, str) else None}
        if not isinstance(reply, str):
            message["tool_calls"] = reply
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
        _send(handler, 200, {**_head(body, "chat.completion"), "choices": [choice], "usage": _USAGE})


_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _finish(reply: Any) -> str:
    return "stop" if isinstance(reply, str) else "tool_calls"


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_800_000_000, "model": body["model"]}


def _error(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}}


def _send(handler: BaseHTTPRequestHandler, status: int, answer: dict[str, Any]) -> None:
    raw = json.dumps(answer).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


def _stream(handler: BaseHTTPRequestHandler, body: dict[str, Any], reply: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    head = _head(body, "chat.completion.chunk")
    lines = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in _deltas(reply)]
    lines.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        lines.append({**head, "choices": [], "usage": _USAGE})
    for line in [*map(json.dumps, lines), "[DONE]"]:
        raw = f"data: {line}\n\n".encode()
        handler.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


def _deltas(reply: Any) -> Iterator[dict[str, Any]]:
    """A reply in pieces, as the service sends them: a call's name first, then its arguments bit by bit."""
    yield {"role": "assistant", "content": "" if isinstance(reply, str) else None}
    if isinstance(reply, str):
        yield from ({"content": reply[i : i + _PIECE]} for i in range(0, len(reply), _PIECE))
        return
    for index, each in enumerate(reply):
        function = each["function"]
        yield {"tool_calls": [{**each, "index": index, "function": {**function, "arguments": ""}}]}
        for i in range(0, len(function["arguments"]), _PIECE):
            piece = {"index": index, "function": {"arguments": function["arguments"][i : i + _PIECE]}}
            yield {"tool_calls": [piece]}
