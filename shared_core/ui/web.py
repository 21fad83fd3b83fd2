"""The page as a web application; the only module that imports starlette.

It reads requests for the views and sends what they answer. Everything that decides is elsewhere: `guard` who may
come in, the views what is shown.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from shared_core.errors import MissingExtra, NotFound, TwinmemError
from shared_core.ui.answers import Answer, Ask, Download, Page, Redirect, View
from shared_core.ui.asking import Given, language
from shared_core.ui.desk import Desk
from shared_core.ui.guard import HEADERS, Guard
from shared_core.ui.rendering import render
from shared_core.ui.views import known, memories, people, talk

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import MutableHeaders
    from starlette.requests import Request
    from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as missing:
    raise MissingExtra("starlette", "ui") from missing

_LONGEST_FORM = 16_000_000  # bytes; a text of a megabyte is nine of them where every byte is escaped
_YEAR = 365 * 24 * 3600

READ: Mapping[str, View] = {
    "/": people.choose, "/memories": memories.memories, "/memory": memories.memory, "/memory/score": memories.score,
    "/questions": memories.questions, "/graph": known.graph, "/profile": known.profile,
    "/procedures": known.procedures, "/sessions": talk.sessions, "/session": talk.session, "/timeline": talk.timeline,
    "/context": talk.context, "/stats": people.stats, "/everything": people.everything, "/export": people.export,
    "/waiting": people.waiting,
}  # fmt: skip
CHANGE: Mapping[str, View] = {
    "/memory/add": memories.add, "/memory/edit": memories.edit, "/memory/pin": memories.pin,
    "/memory/confirm": memories.confirm, "/memory/delete": memories.delete, "/memory/undo": memories.undo,
    "/questions/answer": memories.answer, "/profile/change": known.change_profile, "/procedures/outcome": known.outcome,
    "/session/delete": talk.delete_session, "/archive/delete": talk.delete_archive, "/archive/restore": talk.restore,
    "/waiting/undo": people.undo, "/waiting/confirm": people.confirm, "/everything/delete": people.delete_all,
    "/look": people.look,
}  # fmt: skip


def application(desk: Desk, guard: Guard) -> ASGIApp:
    """The page for one memory, behind its guard."""
    routes: list[Any] = [Mount("/static", StaticFiles(directory=Path(__file__).with_name("static")))]
    routes += [Route(path, _endpoint(view, desk, guard), methods=["GET"]) for path, view in READ.items()]
    routes += [
        Route(path, _endpoint(view, desk, guard, changes=True), methods=["POST"]) for path, view in CHANGE.items()
    ]
    return Gate(Starlette(routes=routes), guard)


class Gate:
    """Lets in who has the token, and gives every answer the headers that keep it here."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        request = Request(scope)
        refused = self._refused(request)
        await (refused or self._app)(scope, receive, guarded)

    def _refused(self, request: Request) -> Response | None:
        guard = self._guard
        if not guard.knows_host(request.headers.get("host", "")):
            return PlainTextResponse("This page answers only as 127.0.0.1 or localhost.", 421)
        given = request.query_params.get("token")
        if given is not None and request.url.path == "/" and request.method == "GET":
            if not guard.is_token(given):
                return _locked()
            answer = RedirectResponse("/", 303)  # so that the token does not stay in the address
            answer.set_cookie(guard.cookie, guard.session, httponly=True, samesite="strict", path="/")
            return answer
        return None if guard.is_session(_cookies(request).get(guard.cookie, "")) else _locked()


def _locked() -> Response:
    text = "Open the address that `twinmem ui` printed: it holds the token that this page asks for.\n请打开 `twinmem ui` 输出的地址，其中含有本页所需的令牌。\n"
    return PlainTextResponse(text, 403)


def _cookies(request: Request) -> dict[str, str]:
    try:
        return {name: each.value for name, each in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}


# ---------------------------------------------------------------------- requests in, answers out


def _endpoint(view: View, desk: Desk, guard: Guard, *, changes: bool = False) -> Any:
    async def endpoint(request: Request) -> Response:
        form = Given()
        if changes:
            read = await _form(request)
            given = read.text("csrf") if read is not None else ""
            if read is None or not guard.may_change(given, request.headers.get("origin")):
                return PlainTextResponse("This change did not come from the page itself.", 403)
            form = read
        return await run_in_threadpool(_answered, view, _ask(request, form, desk), guard)

    return endpoint


async def _form(request: Request) -> Given | None:
    """A form as browsers send it without files; None if it is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return None
    return _given(body.decode("utf-8", "replace"))


def _given(text: str) -> Given:
    return Given(parse_qs(text, keep_blank_values=True, errors="surrogatepass", max_num_fields=1_000))


def _ask(request: Request, form: Given, desk: Desk) -> Ask:
    cookies = _cookies(request)
    accepted = request.headers.get("accept-language", "")
    return Ask(
        desk, request.url.path, _given(request.url.query), form, language(cookies.get("language", ""), accepted),
        cookies.get("theme", "") if cookies.get("theme") in ("light", "dark") else "",
        part=request.headers.get("hx-request") == "true",
    )  # fmt: skip


def _answered(view: View, ask: Ask, guard: Guard) -> Response:
    try:
        answer = view(ask)
        return _sent(ask, answer, guard)
    except (TwinmemError, UnicodeError) as error:
        template = "_error.html" if ask.part else "error.html"
        status = 404 if isinstance(error, NotFound) else 400
        return _sent(ask, Page(template, {"error": str(error)}, status), guard)


def _sent(ask: Ask, answer: Answer, guard: Guard) -> Response:
    if isinstance(answer, Redirect):
        going = RedirectResponse(answer.to, 303)
        for name, value in answer.cookies.items():
            going.set_cookie(name, value, max_age=_YEAR, httponly=True, samesite="strict", path="/")
        return going
    if isinstance(answer, Download):
        return _Temporary(answer.file, media_type=answer.media, filename=answer.name)
    values: dict[str, Any] = {
        "ask": ask, "link": ask.link, "csrf": guard.csrf, "path": ask.path, "theme": ask.theme, "part": ask.part,
        "here": _here(ask), **_frame(ask),
    }  # fmt: skip
    html = render(answer.template, ask.language, {**values, **answer.values})
    return HTMLResponse(html.encode("utf-8", "replace"), answer.status)


def _here(ask: Ask) -> str:
    """The address to come back to; after a change, the beginning."""
    query = urlencode([(name, each) for name, values in ask.query.values.items() for each in values], errors="replace")
    return ("/" if ask.path in CHANGE else ask.path) + (f"?{query}" if query else "")


def _frame(ask: Ask) -> dict[str, Any]:
    """What every page shows around itself: whose memory it is, and what waits to be deleted."""
    if not ask.user:
        return {"user": "", "agent": "", "database": ask.desk.name, "pending": 0}
    held = ask.desk.held(ask.desk.memory.scope(user=ask.user, agent=ask.agent))
    return {"user": ask.user, "agent": ask.agent, "database": ask.desk.name, "pending": len(held)}


class _Temporary(FileResponse):
    """A file that is deleted once it is sent, or the browser has gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            shutil.rmtree(Path(self.path).parent, ignore_errors=True)
