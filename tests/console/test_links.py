"""Where links lead: to what is there, and nowhere that who follows them may not go."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from support.console import furnished
from support.console_past import BRANCH, with_past
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra.service.tokens import TokenFile

pytestmark = pytest.mark.asyncio(loop_scope="session")

LED_TO = re.compile(r'(?:href|data-more|data-live)="(/console[^"#]*)')
OF_A_KIND = 4
"""So many addresses are opened that differ in ids and numbers alone."""


@dataclass
class Walked:
    """The house with a graph that has a past, asked without a network."""

    tokens: TokenFile
    http: httpx2.AsyncClient

    async def walk(self, **given: Any) -> dict[str, int]:
        """Follow every link from the front, as who has such a token; return how each answered."""
        who = bearer(self.tokens, **given)
        waiting, kinds = ["/console"], Counter[str]()
        answered: dict[str, int] = {}
        while waiting:
            address = waiting.pop()
            kind = re.sub(r"[0-9a-f-]{36}|\d+", "N", address)
            kinds[kind] += 1
            if address in answered or kinds[kind] > OF_A_KIND:
                continue
            answer = await self.http.get(address, headers=who)
            answered[address] = answer.status_code
            waiting += map(unescape, LED_TO.findall(answer.text))
        return answered


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def walked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Walked]:
    """One for all walks: they only look."""
    home = tmp_path_factory.mktemp("walked")
    clock = MovingClock()
    tokens = TokenFile(home / "tokens.json", clock)
    tokens.create("first", "operator", expires_at=None)
    async with running(home / "home", clock, promote_at_uses=1) as ezra:
        await furnished(ezra, clock)
        await with_past(ezra, clock)
        async with inside(ezra, tokens) as http:
            yield Walked(tokens, http)


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        ({"role": "operator"}, f"/console/graphs/{BRANCH}/beliefs"),
        ({"role": "reader", "graph_id": "imola"}, "/console/graphs/imola/facts"),
        ({"role": "reader", "graph_id": BRANCH}, f"/console/graphs/{BRANCH}/beliefs"),
        (
            {"role": "agent", "graph_id": "imola", "agent_id": "strategist"},
            "/console/graphs/imola/agents/strategist",
        ),
        ({"role": "operator", "graph_id": "imola", "user_id": "ann"}, "/console"),
    ],
    ids=["operator", "reader of an heir", "reader of a branch", "agent", "operator for one user"],
)
async def test_every_link_leads_to_a_page(
    walked: Walked, given: dict[str, Any], reached: str
) -> None:
    """An agent's name in a branch, the graph that another inherits from, a fact that is shown."""
    answered = await walked.walk(**given)
    assert answered[reached] == 200
    assert {one: status for one, status in answered.items() if status != 200} == {}


async def test_what_is_not_led_to_is_still_named(walked: Walked) -> None:
    """Who may not open the graph that another inherits from, or a fact's page, reads of them."""
    reader = bearer(walked.tokens, role="reader", graph_id="imola")
    page = (await walked.http.get("/console/graphs/imola", headers=reader)).text
    assert re.search(r'<th scope="row">\s*monaco\s*</th>', page)
    agent = bearer(walked.tokens, role="agent", graph_id="imola", agent_id="strategist")
    own = (await walked.http.get("/console/graphs/imola/agents/strategist", headers=agent)).text
    assert "Imola pit loss is 28 seconds" in own
