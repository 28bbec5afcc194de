"""The commands about tokens: who may ask a server, and what."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from tiers.fields import ALL_TOPICS

from ..service.caller import Role, roles_table
from ..service.tokens import DEFAULT_EXPIRY, Token, TokenFile, expiry_of
from .command import Answer, Note, Rows, command
from .doors import Folder
from .options import settings_at


def _roles() -> str:
    """Return what each role may do as a table, of what the server itself judges requests by."""
    heading, *rows = roles_table()
    lines = [f"{'Roles':<26}{''.join(f'{role:<10}' for role in heading[1:])}"]
    for said, *may in rows:
        what, _, some = said.partition(": ")
        lines += [f"  {what:<24}{''.join(f'{one:<10}' for one in may)}".rstrip(), f"      {some}"]
    return "\n".join(("", f"[bold]{lines[0].rstrip()}[/]", *lines[1:]))


ROLES = _roles()

token_app = typer.Typer(
    help="Tokens: who may ask a server, and what.", no_args_is_help=True, epilog=ROLES
)

BOUNDS = ("tenant", "graph", "agent", "user", "topics")
HEADINGS = ("id", "name", "role", *BOUNDS, "expires", "state")


@command(token_app, below=ROLES)
def create(
    folder: Folder,
    name: str,
    role: Role = "agent",
    graph: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    topic: list[str] | None = None,
    expires: str = DEFAULT_EXPIRY,
) -> Answer:
    """Make a token and print it, once: nobody can tell it again. It counts at once.

    Args:
        name: What audit and logs call its bearer.
        role: agent acts as agents; reader reads and writes nothing; operator does all.
        graph: The only graph that it reaches.
        agent: The only agent as whom it acts.
        user: The only user for whom its agents work.
        topic: A topic that its agents may hold; what each was spawned with if not given.
            Repeatable.
        expires: How long it counts: 12h, 30d, 4w, or never.

    Examples:
        ezra token create strategist --graph imola --agent strategist --topic tyres
        ezra token create console --role reader --expires 30d
        ezra token create backup --role operator --expires never --json
    """
    folder.only("token create")
    made, secret = _tokens(folder.home).create(
        name,
        role,
        graph_id=graph,
        agent_id=agent,
        user_id=user,
        topics=tuple(topic) if topic else (ALL_TOPICS,),
        expires_at=expiry_of(expires, datetime.now(UTC)),
    )
    until = f"until {made.expires_at:%Y-%m-%d %H:%M} UTC" if made.expires_at else "without an end"
    note = f"token {made.id} counts {until}; keep it now, it is not shown again"
    return Answer({**_shown(made), "token": secret}, (secret, Note(note)))


@command(token_app, "list")
def tokens(folder: Folder) -> Answer:
    """Show all tokens and what they allow; never the tokens themselves.

    Examples:
        ezra token list --json
    """
    folder.only("token list")
    found = _tokens(folder.home).tokens()
    return Answer([_shown(one) for one in found], [Rows(HEADINGS, list(map(_row, found)))])


@command(token_app)
def revoke(folder: Folder, token_id: str) -> Answer:
    """Let nobody in with a token any more, at once and for ever.

    Args:
        token_id: The id of a token, as list shows it.

    Examples:
        ezra token revoke 3kx5c2qvw7ha
    """
    folder.only("token revoke")
    revoked = _tokens(folder.home).revoke(token_id)
    return Answer(_shown(revoked), f"token {revoked.id} ({revoked.name}) counts no more")


def _tokens(home: Path | None) -> TokenFile:
    settings = settings_at(home)
    return TokenFile(settings.tokens_path, tenant=settings.tenant)


def _shown(token: Token) -> dict[str, Any]:
    """Return what may be shown of a token."""
    state = token.state_at(datetime.now(UTC))
    return {**token.model_dump(mode="json", exclude={"sha256"}), "state": state}


def _row(token: Token) -> list[str]:
    expires = "never" if token.expires_at is None else f"{token.expires_at:%Y-%m-%d}"
    bounds = [one or "any" for one in (token.graph_id, token.agent_id, token.user_id)]
    topics = " ".join(token.topics) or "none"
    state = token.state_at(datetime.now(UTC))
    return [token.id, token.name, token.role, token.tenant, *bounds, topics, expires, state]
