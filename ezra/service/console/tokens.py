"""The tokens of the server: who may ask, making one, revoking one; for its administrators."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from tiers.errors import UsageError
from tiers.fields import ALL_TOPICS
from tiers.records import Text

from ..caller import Caller, Role, roles_table
from ..handle_pool import HandlePool
from ..issuing import Issuing
from ..tokens import DEFAULT_EXPIRY, Token, expiry_of, span_within
from .pages import Name, Query, Sent, View, href, pages

SHOWN_MAX = 500
"""So many of the latest tokens are shown."""


class TokenAsked(Query):
    """What a new token is for; ``topics`` are parted by commas."""

    name: Name
    role: Role = "agent"
    graph: Name | None = None
    agent: Name | None = None
    user: Name | None = None
    topics: str = ""
    expires: Name = DEFAULT_EXPIRY


class RevokeAsked(Query):
    """Why a token counts no more."""

    reason: Text


@pages.page("/tokens", needs="operate", label="Tokens", key="c")
async def tokens(pool: HandlePool, caller: Caller) -> View:
    """Show what is known of tokens; never the tokens themselves."""
    return await _view(pool, caller)


@pages.action("/tokens", needs="operate")
async def make(pool: HandlePool, caller: Caller, asked: TokenAsked) -> View:
    """Make a token and show it, once."""
    named = tuple(one.strip() for one in asked.topics.split(",") if one.strip())
    made, shown = await _issuing(pool).make(
        caller,
        asked.name,
        asked.role,
        graph_id=asked.graph,
        agent_id=asked.agent,
        user_id=asked.user,
        topics=named or (ALL_TOPICS,),
        expires_at=expiry_of(asked.expires, _now(pool)),
    )
    return await _view(pool, caller, made, shown)


@pages.action("/tokens/{token_id}/revoke", needs="operate")
async def revoke(pool: HandlePool, caller: Caller, token_id: str, asked: RevokeAsked) -> Sent:
    """Let nobody in with a token any more."""
    await _issuing(pool).revoke(caller, token_id, reason=asked.reason)
    return Sent(href("tokens"))


def _issuing(pool: HandlePool) -> Issuing:
    if pool.issuing is None:
        raise UsageError("tokens", None, "a server that has a file of tokens")
    return pool.issuing


def _now(pool: HandlePool) -> datetime:
    return pool.ezra._runtime.clock()  # noqa: SLF001 - no handle tells the time of the runtime


async def _view(
    pool: HandlePool, caller: Caller, made: Token | None = None, shown: str = ""
) -> View:
    known = () if pool.issuing is None else await pool.issuing.issued(caller)
    own = next((one for one in known if one.id == caller.token_id), None)
    heading, *rows = roles_table()
    values = {
        "known": known[:SHOWN_MAX],
        "left_out": max(0, len(known) - SHOWN_MAX),
        "own": own,
        "made": made,
        "shown": shown,
        "roles": get_args(Role),
        "table_head": heading,
        "table": rows,
        "default_expiry": span_within(own.expires_at if own else None, _now(pool)),
    }
    return View("tokens.html", values, "Tokens")
