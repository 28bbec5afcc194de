"""Who asks for what never was is told so, on every page."""

from __future__ import annotations

from pathlib import Path

from support.runtime import running
from support.service import inside

from ezra.service.console import pages

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
