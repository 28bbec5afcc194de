"""Turns that wait for their reply: bounded in number and bytes, of one token and of all."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from support.service import Ticking, bearer

from ezra import Conflict, Ezra
from ezra.service.app import service_app
from ezra.service.handle_pool import TURN_SECONDS, HandlePool, TurnBounds, size_of
from ezra.service.tokens import TokenFile

LONG = "The tyres held on. " * 1_000
"""Nineteen kilobytes; an open turn holds it several times."""

ROOM = 400_000
PATH = "/v1/graphs/imola/agents/strategist/turns"


class Open:
    """A service whose open turns are bounded.

    Attributes:
        http: Its client.
        pool: What keeps the turns.
        seconds: Its time.
    """

    def __init__(self, http: httpx2.AsyncClient, pool: HandlePool, seconds: Ticking) -> None:
        self.http = http
        self.pool = pool
        self.seconds = seconds

    @property
    def held(self) -> int:
        """About how many bytes wait for a reply."""
        return self.pool.turns.size

    async def turns(self, who: dict[str, str], count: int, message: str = LONG) -> list[str]:
        """Open turns; returns their ids."""
        found = []
        for number in range(count):
            said = {"message": f"{number}: {message}"}
            opened = await self.http.post(PATH, json=said, headers=who)
            assert opened.status_code == 200
            found.append(opened.json()["id"])
        return found

    async def reply(self, who: dict[str, str], turn_id: str) -> int:
        """Reply to a turn; returns the status."""
        path = f"{PATH}/{turn_id}/reply"
        said = await self.http.post(path, json={"response": LONG}, headers=who)
        return said.status_code


@asynccontextmanager
async def bounded(ezra: Ezra, tokens: TokenFile, bounds: TurnBounds) -> AsyncIterator[Open]:
    """Ask a service with bounds of its own, whose tokens may do everything."""
    await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
    seconds = Ticking()
    app = service_app(ezra, tokens=tokens, settings=ezra.settings, seconds=seconds)
    app.state.pool = HandlePool(ezra, seconds, bounds)
    way = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=way, base_url="http://localhost") as http:
        yield Open(http, app.state.pool, seconds)


def named(tokens: TokenFile, name: str) -> dict[str, str]:
    """Return the header of a new operator of a name."""
    _, shown = tokens.create(name, "operator", expires_at=None)
    return {"authorization": f"Bearer {shown}"}


async def test_r9_19_the_open_turns_of_a_token_are_bounded_in_bytes(
    behind: Ezra, tokens: TokenFile
) -> None:
    """The oldest goes, of the token that has too many; what another opened stays."""
    bounds = TurnBounds(bytes_per_caller=ROOM)
    one, two = named(tokens, "one"), named(tokens, "two")
    async with bounded(behind, tokens, bounds) as service:
        kept = await service.turns(two, 1)
        opened = await service.turns(one, 20)
        assert 0 < service.held <= 2 * ROOM
        assert await service.reply(one, opened[0]) == 404
        assert await service.reply(one, opened[-1]) == 200
        assert await service.reply(two, kept[0]) == 200


async def test_r9_19_the_open_turns_of_a_token_are_bounded_in_number(
    behind: Ezra, tokens: TokenFile
) -> None:
    """However small they are."""
    one = bearer(tokens)
    async with bounded(behind, tokens, TurnBounds(turns_per_caller=3)) as service:
        opened = await service.turns(one, 5, "Box?")
        said = [await service.reply(one, turn_id) for turn_id in opened]
    assert said == [404, 404, 200, 200, 200]


async def test_r9_19_the_open_turns_of_a_tenant_are_bounded(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Where all together are too much, the oldest of the token that holds most goes."""
    bounds = TurnBounds(bytes=ROOM)
    few, many = named(tokens, "few"), named(tokens, "many")
    async with bounded(behind, tokens, bounds) as service:
        kept = await service.turns(few, 1)
        opened = await service.turns(many, 20)
        assert 0 < service.held <= ROOM
        assert await service.reply(few, kept[0]) == 200
        assert await service.reply(many, opened[0]) == 404
        assert await service.reply(many, opened[-1]) == 200


async def test_r9_19_a_turn_that_was_replied_to_holds_next_to_nothing(
    behind: Ezra, tokens: TokenFile
) -> None:
    """It still refuses a further reply, for an hour, and then is forgotten."""
    one = bearer(tokens)
    async with bounded(behind, tokens, TurnBounds(bytes_per_caller=ROOM)) as service:
        opened = await service.turns(one, 1)
        before = service.held
        assert await service.reply(one, opened[0]) == 200
        assert service.held < before / 2
        assert await service.reply(one, opened[0]) == 409
        asked = await service.http.post(f"{PATH}/{opened[0]}/complete", json={}, headers=one)
        assert asked.status_code == 409
        service.seconds.now += TURN_SECONDS + 1
        assert await service.reply(one, opened[0]) == 404
        assert service.held == 0


async def test_r9_19_a_handle_holds_no_turn_that_its_caller_let_go(behind: Ezra) -> None:
    """A runtime has thousands of handles: each remembers which turn was the last, not what of."""
    agent = await (await behind.create_session_graph("imola")).spawn_agent("strategist")
    await (await agent.turn(LONG)).reply("Box.")
    turn = await agent.turn("And now? " + LONG)
    belief = await agent.commit("We box on lap 20.")
    assert (belief.turn_id, belief.receipt_id) == (turn.id, turn.receipt_id)
    assert size_of(turn) > len(LONG)
    held = weakref.ref(turn)
    del turn
    gc.collect()
    assert held() is None


async def test_r9_19_a_waiting_turn_still_replies_once(behind: Ezra) -> None:
    """What was found for it is let go when its context is made, and nothing of it is missed."""
    agent = await (await behind.create_session_graph("imola")).spawn_agent("strategist")
    turn = await agent.turn("Box?")
    shown = turn.messages
    written = await turn.reply("Yes.")
    assert (written.turn.input, turn.messages) == ("Box?", shown)
    with pytest.raises(Conflict, match=written.turn.id):
        await turn.reply("No.")
