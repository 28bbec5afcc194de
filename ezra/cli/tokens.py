"""The commands about tokens: who may ask a server, and what."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tiers.fields import ALL_TOPICS

from ..service.caller import Role, roles_table
from ..service.tokens import DEFAULT_EXPIRY, Token, TokenFile, expiry_of
from .doors import NoUrl, only_here
from .helping import laid_out
from .options import Home, Json, settings_at
from .screen import Screen


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


@token_app.command(
    "create",
    epilog=laid_out(
        "Examples: ezra token create strategist --graph imola --agent strategist --topic tyres"
        "  ·  ezra token create console --role reader --expires 30d  ·  "
        "ezra token create backup --role operator --expires never --json"
    )
    + "\n"
    + ROLES,
)
def create(
    name: Annotated[str, typer.Argument(help="What audit and logs call its bearer.")],
    role: Annotated[
        Role,
        typer.Option(
            help="agent acts as agents; reader reads and writes nothing; operator does all."
        ),
    ] = "agent",
    graph: Annotated[str | None, typer.Option(help="The only graph that it reaches.")] = None,
    agent: Annotated[str | None, typer.Option(help="The only agent as whom it acts.")] = None,
    user: Annotated[
        str | None, typer.Option(help="The only user for whom its agents work.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="A topic that its agents may hold; what each was spawned with if not given. "
            "Repeatable."
        ),
    ] = None,
    expires: Annotated[
        str, typer.Option(help="How long it counts: 12h, 30d, 4w, or never.")
    ] = DEFAULT_EXPIRY,
    home: Home = None,
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Make a token and print it, once: nobody can tell it again. It counts at once."""
    only_here("token create", url)
    screen = Screen()
    made, secret = _tokens(home).create(
        name,
        role,
        graph_id=graph,
        agent_id=agent,
        user_id=user,
        topics=tuple(topic) if topic else (ALL_TOPICS,),
        expires_at=expiry_of(expires, datetime.now(UTC)),
    )
    if json:
        screen.document({**_shown(made), "token": secret})
        return
    screen.line(secret)
    until = f"until {made.expires_at:%Y-%m-%d %H:%M} UTC" if made.expires_at else "without an end"
    screen.note(f"token {made.id} counts {until}; keep it now, it is not shown again")


@token_app.command("list", epilog="Example: ezra token list --json")
def tokens(home: Home = None, url: NoUrl = None, json: Json = False) -> None:
    """Show all tokens and what they allow; never the tokens themselves."""
    only_here("token list", url)
    screen = Screen()
    found = _tokens(home).tokens()
    if json:
        screen.document([_shown(one) for one in found])
        return
    headings = (
        "id",
        "name",
        "role",
        "tenant",
        "graph",
        "agent",
        "user",
        "topics",
        "expires",
        "state",
    )
    screen.table(headings, [_row(one) for one in found])


@token_app.command("revoke", epilog="Example: ezra token revoke 3kx5c2qvw7ha")
def revoke(
    token_id: Annotated[str, typer.Argument(help="The id of a token, as list shows it.")],
    home: Home = None,
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Let nobody in with a token any more, at once and for ever."""
    only_here("token revoke", url)
    screen = Screen()
    revoked = _tokens(home).revoke(token_id)
    if json:
        screen.document(_shown(revoked))
    else:
        screen.line(f"token {revoked.id} ({revoked.name}) counts no more")


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
