"""One decorated method is at every door: shown with a copy of the packages that has one more."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from support.processes import succeeded

import ezra

ROOT = Path(ezra.__file__).parent.parent
NEXT_METHOD = '    @operation("GET", "/usage")\n'

ADDED = '''
    @operation(
        "POST",
        "/pit-stops",
        changes=True,
        repeats=False,
        tool=Tool("adds", "Note a pit stop.", "note_pit_stop", everywhere=True),
    )
    async def pit_stop(
        self,
        tyres: str,
        *,
        lap: Annotated[int, ForModel("Of the race.", Limit)] = 1,
        by: Annotated[str | None, ForModel("Who called it.", Name)] = None,
        machine: str = "",
    ) -> tuple[str, int, str | None]:
        """Note a pit stop of the agent's car.

        Args:
            tyres: What is fitted.
            lap: When.
            by: Who says so.
            machine: Where.
        """
        return f"{self.id}: {tyres}", lap, by

'''

ASKED = """
import asyncio, json, sys, time
from pathlib import Path

import httpx2
from mcp.client.client import Client
from support.runtime import running
from support.service import serving

from ezra import Ezra
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.mcp import mcp_server
from ezra.wire.tools import agent_tools


async def main():
    caller = Caller("ci", "agent", "race", "car", None, ("tyres",))
    async with running(Path(sys.argv[1])) as runtime, serving(runtime) as url:
        graph = await runtime.create_session_graph("race")
        agent = await graph.spawn_agent("car", topics=("tyres",))
        path = "/v1/graphs/race/agents/car/pit-stops"
        async with httpx2.AsyncClient(base_url=url, timeout=60) as http:
            rest = (await http.post(path, json={"tyres": "soft", "lap": 60, "by": "me"})).json()
            described = (await http.get("/openapi.json")).json()["paths"][path_of(path)]["post"]
        async with Ezra.connect(url) as there:
            far = await there.agent("race", "car")
            remote = await far.pit_stop("soft", lap=3)
        async with Client(mcp_server(HandlePool(runtime, time.monotonic), caller)) as client:
            tools = {one.name: one for one in (await client.list_tools()).tools}
            tool = tools["note_pit_stop"]
            said = await client.call_tool("note_pit_stop", {"tyres": "soft", "lap": 5})
            refused = await client.call_tool("note_pit_stop", {"tyres": "soft", "lap": 60})
        spec = next(one for one in agent_tools() if one.name == "note_pit_stop")
        framework = await spec.call(agent, {"tyres": "soft"})
    print(json.dumps({
        "rest": rest,
        "described": described,
        "remote": remote,
        "words": tool.description,
        "takes": tool.input_schema,
        "reads": tool.annotations.read_only_hint,
        "said": said.structured_content,
        "refused": refused.is_error,
        "framework": framework.model_dump(mode="json"),
    }))


def path_of(path):
    return path.replace("race", "{graph_id}").replace("car", "{agent_id}")


asyncio.run(main())
"""


def test_one_decorated_method_is_at_every_door(tmp_path: Path) -> None:
    """REST, its document, the remote client, MCP and frameworks: nothing else has to be written."""
    for name in ("ezra", "metaagents", "tiers"):
        shutil.copytree(ROOT / name, tmp_path / name)
    handle = tmp_path / "ezra/handles/agent.py"
    text = handle.read_text()
    assert NEXT_METHOD in text
    handle.write_text(text.replace(NEXT_METHOD, ADDED + NEXT_METHOD))

    path = {"PYTHONPATH": f"{tmp_path}:{ROOT / 'tests'}"}
    command = (sys.executable, "-P", "-c", ASKED, tmp_path / "home")
    done = succeeded(*command, cwd=tmp_path, env=path)
    found = json.loads(done.stdout)

    assert found["rest"] == ["car: soft", 60, "me"]
    assert found["described"]["summary"] == "Note a pit stop of the agent's car."
    assert found["remote"] == ["car: soft", 3, None]
    assert found["words"] == "Note a pit stop."
    assert found["takes"]["required"] == ["tyres"]
    assert set(found["takes"]["properties"]) == {"tyres", "lap", "by"}
    assert found["takes"]["properties"]["tyres"]["description"] == "What is fitted."
    assert found["takes"]["properties"]["lap"]["maximum"] == 50
    assert found["reads"] is False
    assert found["said"] == {"answer": ["car: soft", 5, None]}
    assert found["refused"] is True
    assert found["framework"] == {"answer": ["car: soft", 1, None]}
