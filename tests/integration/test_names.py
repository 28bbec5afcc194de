"""A name that is not there is told with those near it, to whoever may see them, on every page."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running
from support.service import bearer, inside, serving

from ezra import Ezra, NotFound, Settings
from ezra.service.console import pages
from ezra.service.tokens import TokenFile

# A name that is not there is told with those near it, to whoever may see them.


async def test_an_error_notes_the_names_near_one_that_is_not_there(tmp_path: Path) -> None:
    """Of graphs and of members; the message itself, which others may be sent, has none of them."""
    async with Ezra.open(Settings(home=tmp_path, embedder="off", background=False)) as ezra:
        graph = await ezra.create_session_graph("imola")
        await graph.spawn_agent("strategist")
        with pytest.raises(NotFound) as unknown:
            await ezra.session_graph("Imla")
        with pytest.raises(NotFound) as nobody:
            await graph.agent("strategst")
        with pytest.raises(NotFound) as far:
            await ezra.session_graph("zzz")
        with pytest.raises(NotFound) as long:
            await ezra.session_graph("imola" * 20)
    assert unknown.value.__notes__ == ["near it: imola"]
    assert nobody.value.__notes__ == ["near it: strategist"]
    assert not hasattr(far.value, "__notes__")
    assert not hasattr(long.value, "__notes__")
    assert "imola" not in str(unknown.value)


async def test_a_server_tells_them_to_who_may_list_them(tmp_path: Path) -> None:
    """Graphs to who reads every graph, members to who reads theirs; nobody else learns a name."""
    tokens = TokenFile(tmp_path / "tokens.json")
    who = {
        "operator": bearer(tokens),
        "reader": bearer(tokens, role="reader"),
        "of imola": bearer(tokens, role="reader", graph_id="imola"),
        "agent": bearer(tokens, role="agent"),
        "limited": bearer(tokens, role="operator", topics=["tyres"]),
    }
    graphs, members = ("operator", "reader"), ("operator", "reader", "of imola")
    asked = {
        "/v1/graphs/imla": ("imola", graphs),
        "/v1/graphs/imola/diff?other_id=monz": ("monza", graphs),
        "/v1/graphs/imola/agents/strategst": ("strategist", members),
        "/v1/graphs/imola/agents/strategst/core": ("strategist", members),
    }
    async with Ezra.open(Settings(home=tmp_path, embedder="off", background=False)) as ezra:
        await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        await ezra.create_session_graph("monza")
        async with inside(ezra, tokens) as http:
            for path, (near, told) in asked.items():
                for name, headers in who.items():
                    said = (await http.get(path, headers=headers)).json()
                    found = said.pop("near", None)
                    assert found == ([near] if name in told else None), (path, name, said)
                    assert near not in str(said).replace(path, ""), (path, name)


async def test_a_handle_on_a_server_notes_them_as_in_process(tmp_path: Path) -> None:
    """The error is the same: its kind, its words and its note."""
    async with (
        Ezra.open(Settings(home=tmp_path, embedder="off", background=False)) as ezra,
        serving(ezra) as url,
        Ezra.connect(url) as remote,
    ):
        await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        told = []
        for one in (ezra, remote):
            for graph_id, agent_id in (("imla", "strategist"), ("imola", "strategst")):
                with pytest.raises(NotFound) as unknown:
                    await (await one.session_graph(graph_id)).agent(agent_id)
                error = unknown.value
                told.append((str(error), error.kind, error.name, error.near, error.__notes__))
    assert told[:2] == told[2:]
    assert [one[3] for one in told[:2]] == [("imola",), ("strategist",)]


# Who asks for what never was is told so, on every page.

NO_ID = "0198a1b2-0c3d-7e4f-8a5b-000000000001"


async def test_r9_36_every_page_of_what_never_was_is_not_found(tmp_path: Path) -> None:
    """An unknown graph, agent, turn, fact, belief or receipt is 404, and so is any other page."""
    async with running(tmp_path) as ezra, inside(ezra) as http:
        graph = await ezra.create_session_graph("imola")
        await graph.spawn_agent("here")
        for page in pages:
            for known in ({"graph_id": "nowhere"}, {"graph_id": "imola", "agent_id": "nobody"}):
                more = [name for name in page.names if name not in known]
                if page.verb != "GET" or not page.names or (len(known) > 1 and page.names == (
                    "graph_id",)):  # fmt: skip
                    continue
                names = known | {name: "7" if name == "seq" else NO_ID for name in more}
                answer = await http.get(page.address(names))
                assert answer.status_code == 404, (page.path, names)
        assert (await http.get("/console/nothing")).status_code == 404
        here = await http.get("/console/graphs/imola/agents/here/turns")
        assert here.status_code == 200
        assert "No turns yet" in here.text
