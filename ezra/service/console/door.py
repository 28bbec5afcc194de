"""The console's door: addresses to pages, errors to pages that say them, and signing in.

The gate asks it whose token a browser's session stands for, and lets it say refusals to people.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Scope

from tiers.errors import EzraError, NotFound, UsageError
from tiers.ids import Clock

from ...wire.problems import problem_of
from ..caller import Caller
from ..given_names import names_in
from ..handle_pool import HandlePool
from ..limits import TooManyRequests, network_of
from ..problem_answers import Unauthorized, status_of
from ..taking import Names
from . import signing_in
from .pages import PREFIX, Page, Pages, Query, Sent, View, href, name_of
from .rendering import KINDS, Drawn
from .signing_in import CSRF, Fields, Questions, Sessions

FRAGMENT = "x-ezra-fragment"
"""A request with this header wants a part of a page: what refuses it is short."""

ASKED = "asked"
"""What an address calls a question that was asked by a form."""

SIGN_IN = f"{PREFIX}/sign-in"
SIGN_OUT = f"{PREFIX}/sign-out"
STATIC = f"{PREFIX}/static/"
FIELDS_MAX = 1_000
_YEAR_SECONDS = 365 * 24 * 3_600
SECURITY: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # With none at all a browser would send our own forms without an origin.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""What every page says: nothing of another site is loaded, asked or framed."""

Finds: TypeAlias = Callable[[str, str], Awaitable[object | None]]
"""Gives something for a token that counts, ``None`` for any other; of which address is told."""


class Console:
    """Serves the pages.

    Args:
        pages: Which.
        pool: Hands out handles.
        finds: Judges a token; ``None`` where everybody on this machine may do everything.
        clock: Where the time comes from.
        seconds: Monotonic seconds.
    """

    def __init__(
        self,
        pages: Pages,
        pool: HandlePool,
        finds: Finds | None,
        clock: Clock,
        seconds: Callable[[], float],
    ) -> None:
        self._pages = pages
        self._pool = pool
        self._finds = finds
        self._clock = clock
        self._sessions = Sessions(seconds)
        self._questions = Questions(seconds)
        self._drawn = Drawn()

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the console, and the one that leads browsers to it."""
        plain = (
            Route("/", self._front, methods=["GET"]),
            Route(f"{STATIC}{{name}}", self._static, methods=["GET"]),
            Route(SIGN_IN, self._ask, methods=["GET"]),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
            Route(f"{PREFIX}/", self._front, methods=["GET"]),
        )
        shown = tuple(self._route(page) for page in self._pages)
        return (*plain, *shown, Route(f"{PREFIX}/{{rest:path}}", self._nowhere))

    def owns(self, path: str) -> bool:
        """Return whether an address is the console's."""
        return path == PREFIX or path.startswith(f"{PREFIX}/")

    def is_open(self, path: str) -> bool:
        """Return whether anybody may read an address: what is needed to sign in."""
        return path in ("/", SIGN_IN) or path.startswith(STATIC)

    def shown(self, headers: Headers) -> str:
        """Return the token that a browser's session stands for; empty when it has none."""
        return self._sessions.of(headers).shown

    async def refusal(self, scope: Scope, error: EzraError | None, request_id: str) -> Response:
        """Return what people are told when the gate does not let a request through.

        Args:
            scope: The request.
            error: Why; ``None`` when the service itself failed.
            request_id: Under which the log tells of it.
        """
        request = Request(scope)
        if isinstance(error, Unauthorized):
            return self._to_sign_in(request)
        if error is not None:
            return await self._trouble(request, error)
        values = {"said": {"title": "The service failed", "id": request_id, "status": 500}}
        return await self._html(request, self._error_view(request, values, 500))

    def _route(self, page: Page) -> Route:
        async def endpoint(request: Request) -> Response:
            parts = request.path_params.items()
            names = names_in({name: name_of(part) for name, part in parts})
            request.scope["path_params"] = names  # the access log tells them as they are
            request.scope["route"] = route
            try:
                return await self._answer(page, request, names)
            except EzraError as error:
                return await self._trouble(request, error)

        path = f"{PREFIX}{page.path}".rstrip("/")
        route = Route(path, endpoint, methods=[page.verb])
        return route

    async def _answer(self, page: Page, request: Request, names: Names) -> Response:
        caller: Caller = request.state.caller
        page.check(caller, names)
        fields: Fields
        if page.verb == "POST":
            fields = await self._form(request)
            if page.only_asks and (to := self._keep(request, fields)):
                return RedirectResponse(to, 303, SECURITY)
        else:
            fields = request.query_params.multi_items()
            if ASKED in request.query_params:
                page, fields = self._asked_before(page, request) or (page, fields)
                page.check(caller, names)
        asked: Query = page.asks.of(fields)
        shown = await page.answer(self._pool, caller, names, asked)
        if isinstance(shown, Sent):
            return RedirectResponse(shown.to, 303, SECURITY)
        return await self._html(request, shown, names, page)

    def _keep(self, request: Request, fields: Fields) -> str | None:
        """Keep a question; return where it is answered, ``None`` when it is too long for that."""
        path = request.scope["path"]
        kept = [(name, value) for name, value in fields if name != CSRF]
        key = self._questions.keep(self._sessions.of(request.headers), path, kept)
        return None if key is None else f"{request.url.path}?{urlencode({ASKED: key})}"

    def _asked_before(self, page: Page, request: Request) -> tuple[Page, Fields] | None:
        """Return what was asked at an address, and what answers it; ``None`` when nobody knows."""
        question = self._pages.question_at(page.path)
        session, key = self._sessions.of(request.headers), request.query_params[ASKED]
        fields = self._questions.find(session, request.scope["path"], key)
        return None if question is None or fields is None else (question, fields)

    async def _form(self, request: Request) -> list[tuple[str, str]]:
        """Return the fields of a form of our own.

        Raises:
            UsageError: It is another's, or no form.
        """
        signing_in.check_site(request)
        fields = await _fields_of(request)
        given = next((value for name, value in fields if name == CSRF), "")
        signing_in.check_csrf(self._sessions.of(request.headers), given)
        return fields

    async def _html(
        self,
        request: Request,
        view: View,
        names: Names | None = None,
        page: Page | None = None,
    ) -> Response:
        frame = self._frame(request, names or {}, page)
        headers = {**SECURITY, "vary": FRAGMENT}
        kind = "text/html; charset=utf-8"
        if view.later is None:
            return Response(await self._drawn.page(view, frame), view.status, headers, kind)
        gap = secrets.token_hex()
        content = await self._drawn.page(view, {**frame, "later": gap})
        shown, _, rest = content.partition(gap)
        parts = self._streamed(shown, self._later(view.later, frame), rest)
        return StreamingResponse(parts, view.status, headers, kind)

    async def _streamed(self, shown: str, later: Awaitable[str], rest: str) -> AsyncIterator[str]:
        """Give the beginning of a page, then what takes its time, then its end."""
        yield shown
        yield await later
        yield rest

    async def _later(self, ask: Callable[[], Awaitable[View]], frame: Mapping[str, object]) -> str:
        """Return a fragment of a page whose beginning is shown already; an error stands there."""
        try:
            view = await ask()
        except EzraError as error:
            problem = problem_of(error)
            values = {"said": {**problem, "status": status_of(error, problem)}}
            view = View("error_part.html", values)
        return await self._drawn.page(view, frame)

    def _frame(self, request: Request, names: Names, page: Page | None) -> dict[str, object]:
        """Return what every template knows."""
        caller: Caller | None = getattr(request.state, "caller", None)
        session = self._sessions.of(request.headers)
        groups = ((), ("graph_id",), ("graph_id", "agent_id"))
        shown = {
            len(group): [
                (one, one.address(names), page is not None and one.path == page.path)
                for one in self._pages.labelled(*group)
                if caller is not None and all(name in names for name in group)
                # By its own names: who is bound to a graph is not led to pages of the tenant.
                if one.is_for(caller, {name: names[name] for name in group})
            ]
            for group in groups
        }
        return {
            "now": self._clock(),
            "caller": caller,
            "may_read": lambda graph_id: caller is not None and caller.may("read", graph_id),
            "names": names,
            "nav": shown[0],
            "graph_tabs": shown[1],
            "agent_tabs": shown[2],
            "csrf": session.csrf,
            "is_signed_in": bool(session.shown),
            "tenant": self._pool.ezra.settings.tenant,
        }

    async def _trouble(self, request: Request, error: EzraError) -> Response:
        problem = problem_of(error)
        status = status_of(error, problem)
        view = self._error_view(request, {"said": {**problem, "status": status}}, status)
        answer = await self._html(request, view)
        if isinstance(error, TooManyRequests):
            answer.headers["retry-after"] = str(error.seconds)
        return answer

    def _error_view(self, request: Request, values: Mapping[str, object], status: int) -> View:
        template = "error_part.html" if FRAGMENT in request.headers else "error.html"
        return View(template, values, "That did not work", status)

    def _to_sign_in(self, request: Request) -> Response:
        """Send somebody without a token that counts to where one is shown."""
        cookie = signing_in.cookie_of(request.headers)
        self._sessions.end(cookie)
        if FRAGMENT in request.headers:  # its page is loaded again, and is told why
            return Response("sign in again", 401, SECURITY, "text/plain")
        path, query = request.scope["path"], request.url.query
        here = f"{path}?{query}" if query else path
        to = here if request.method == "GET" and here != PREFIX else None
        where = href("sign-in", next=to, ended="1" if cookie else None)
        answer = RedirectResponse(where, 303, SECURITY)
        if cookie:
            signing_in.take(answer, request.scope)
        return answer

    async def _front(self, request: Request) -> Response:
        if request.scope["path"] == "/" and "text/html" not in request.headers.get("accept", ""):
            raise NotFound("path", "/")
        return RedirectResponse(PREFIX, 303, SECURITY)

    async def _nowhere(self, request: Request) -> Response:
        return await self._trouble(request, NotFound("page", request.scope["path"]))

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = await self._drawn.static(name)
        if content is None:
            return await self._nowhere(request)
        kind = KINDS[f".{name.rpartition('.')[2]}"]
        # The address names the content, so it never changes; an address without does not.
        lasts = f"public, max-age={_YEAR_SECONDS}, immutable"
        is_named = "v" in request.query_params
        headers = {**SECURITY, "cache-control": lasts if is_named else "no-cache"}
        return Response(content, 200, headers, kind)

    async def _ask(self, request: Request) -> Response:
        is_let_in = getattr(request.state, "caller", None) is not None
        if is_let_in:  # no token is needed here
            return RedirectResponse(PREFIX, 303, SECURITY)
        asked = request.query_params
        problem = "That session is over: sign in again." if "ended" in asked else None
        return await self._html(request, _sign_in_view(asked.get("next", ""), problem))

    async def _sign_in(self, request: Request) -> Response:
        try:
            signing_in.check_site(request)
            fields = dict(await _fields_of(request))
        except EzraError as error:
            return await self._trouble(request, error)
        to = signing_in.inside(fields.get("next", ""))
        shown = fields.get("token", "").strip()
        if self._finds is None:
            return RedirectResponse(to, 303, SECURITY)
        try:
            found = await self._finds(shown, network_of(request.scope.get("client")))
        except EzraError as error:
            return await self._trouble(request, error)
        if found is None:
            problem = "This server knows no such token, or it counts no more."
            return await self._html(request, _sign_in_view(to, problem, 403))
        self._sessions.end(signing_in.cookie_of(request.headers))
        answer = RedirectResponse(to, 303, SECURITY)
        signing_in.give(answer, self._sessions.begin(shown), request.scope)
        return answer

    async def _sign_out(self, request: Request) -> Response:
        try:
            await self._form(request)
        except EzraError as error:
            return await self._trouble(request, error)
        self._sessions.end(signing_in.cookie_of(request.headers))
        answer = RedirectResponse(SIGN_IN, 303, SECURITY)
        signing_in.take(answer, request.scope)
        return answer


async def _fields_of(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a form.

    Raises:
        UsageError: It is none.
    """
    try:
        content = (await request.body()).decode()
        return parse_qsl(content, keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError as error:
        raise UsageError("form", "no form", "fields in UTF-8, as a browser sends them") from error


def _sign_in_view(to: str, problem: str | None, status: int = 200) -> View:
    return View("sign_in.html", {"to": to, "problem": problem}, "Sign in", status)
