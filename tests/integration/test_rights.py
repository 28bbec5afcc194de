"""What a token allows is what its operator said: it never widens, and a reader changes nothing."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from support.doors import run
from support.mcp_client import refused, told
from support.runtime import MovingClock, running
from support.servers import SERVERS_SLOWLY
from support.service import Ticking, bearer, inside, serving

from ezra import Budget, ConfigError, Ezra, PolicyDenied, UsageError
from ezra.handles.graph import Graph
from ezra.remote.graph import RemoteGraph
from ezra.service.admission import PEERS_MAX, SECONDS_EACH, WRONG_MAX, Admission, TooManyWrongTokens
from ezra.service.app import check_place, service_app
from ezra.service.caller import MAY, roles_table
from ezra.service.routes import handlers
from ezra.service.tokens import TokenFile
from ezra.wire import NEEDS, graphs, handles
from ezra.wire.operation import Operation

CLAUSE = "The buyout clause is 40 million."
BOBS = "Bob moves to the rival in June."
AT = "/v1/graphs/imola/agents/strategist"


@pytest.fixture
def clock() -> MovingClock:
    """The time, which moves only when a test moves it."""
    return MovingClock()


@pytest.fixture
async def behind(tmp_path: Path, clock: MovingClock) -> AsyncIterator[Ezra]:
    """The runtime behind the service."""
    async with running(tmp_path / "home", clock) as ezra:
        yield ezra


@pytest.fixture
def tokens(tmp_path: Path, clock: MovingClock) -> TokenFile:
    """A file of tokens that is not there yet."""
    return TokenFile(tmp_path / "tokens.json", clock)


async def paddock(ezra: Ezra) -> Graph:
    """Return a graph with a strategist of narrow rights, and with records beyond them."""
    graph = await ezra.create_session_graph("imola")
    owner = await graph.spawn_agent("owner", topics={"*"})
    await owner.remember(CLAUSE, topics={"money"})
    friend = await graph.spawn_agent("friend", topics={"tyres"}, user_id="bob")
    await friend.remember(BOBS, topics={"tyres"})
    await graph.spawn_agent(
        "strategist",
        topics={"tyres", "gossip"},
        denied_topics={"gossip"},
        user_id="anna",
        role="Plans stops.",
        budget=Budget(writes=5),
    )
    return graph


def theirs(remote: Any, graph_id: str = "imola") -> RemoteGraph:
    """Return the remote handle of a graph that a token need not be able to read."""
    return RemoteGraph(remote._connection, graphs.GraphAnswer(id=graph_id, inherits_from=()))


WIDER: tuple[dict[str, Any], ...] = (
    {"user_id": "bob"},
    {"topics": {"*"}},
    {"topics": {"tyres", "money"}},
    {"topics": {"tyres"}},
    {"denied_topics": set()},
    {"denied_topics": {"nothing"}},
    {"budget": Budget()},
    {"sources": {"*"}},
    {"denied_sources": set()},
    {"role": "Team owner."},
    {"topics": {"*"}, "user_id": "bob", "role": "x"},
)


@pytest.mark.usefixtures("tiers")
async def test_r9_13_a_token_gets_its_agent_back_as_its_operator_spawned_it(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Spawning again changes neither user, topics, denied topics, sources, role nor budget."""
    graph = await paddock(behind)
    before = {one.id: one for one in await graph.agents()}["strategist"]
    _, shown = tokens.create(
        "box", "agent", graph_id="imola", agent_id="strategist", expires_at=None
    )
    async with serving(behind, tokens=tokens) as url, Ezra.connect(url, shown) as remote:
        imola = theirs(remote)
        for given in WIDER:
            with pytest.raises(PolicyDenied):
                await imola.spawn_agent("strategist", **given)
        for _ in range(2):
            again = await imola.spawn_agent("strategist")
            assert again.topics == ("gossip", "tyres")
            for question in ("buyout clause", "Bob rival June"):
                texts = [hit.text for hit in (await again.recall(question)).items]
                assert not {CLAUSE, BOBS} & set(texts)
            await again.leave()  # and what had left comes back as it was, too
        again = await imola.spawn_agent("strategist", inject="turn")
        with pytest.raises(PolicyDenied):
            await again.remember("x", topics={"money"})
        with pytest.raises(PolicyDenied):
            await imola.spawn_agent("another")
    after = {one.id: one for one in await graph.agents()}
    assert set(after) == {"owner", "friend", "strategist"}
    mine = after["strategist"]
    for name in ("topics", "user_id", "role", "denied_topics", "sources", "budget"):
        assert getattr(mine, name) == getattr(before, name), name
    assert mine.inject == "turn"


async def test_r9_13_a_token_brings_in_no_more_than_it_states(
    behind: Ezra, tokens: TokenFile
) -> None:
    """A new agent has the token's own topics and user; a token without has none to give."""
    graph = await paddock(behind)
    _, bare = tokens.create("bare", "agent", graph_id="imola", expires_at=None)
    _, said = tokens.create(
        "said", "agent", graph_id="imola", user_id="anna", topics=("tyres",), expires_at=None
    )
    async with serving(behind, tokens=tokens) as url:
        async with Ezra.connect(url, bare) as remote:
            for given in ({"topics": {"*"}}, {"topics": {"money"}}, {"user_id": "bob"}):
                with pytest.raises(PolicyDenied):
                    await theirs(remote).spawn_agent("spy", **given)
            spy = await theirs(remote).spawn_agent("spy")
            assert not {CLAUSE, BOBS} & {hit.text for hit in (await spy.recall("buyout")).items}
        async with Ezra.connect(url, said) as remote:
            for given in ({"topics": {"*"}}, {"user_id": "bob"}, {"budget": Budget(writes=9)}):
                with pytest.raises(PolicyDenied):
                    await theirs(remote).spawn_agent("new", **given)
            await theirs(remote).spawn_agent("new")
    known = {one.id: one for one in await graph.agents()}
    assert (known["spy"].topics, known["spy"].user_id) == ((), None)
    assert (known["new"].topics, known["new"].user_id) == (("tyres",), "anna")


async def test_r9_13_over_mcp_an_agent_comes_back_as_it_was(
    behind: Ezra, tokens: TokenFile
) -> None:
    """The first use after it left spawns it by what is stored, not by what the token lacks."""
    graph = await paddock(behind)
    _, shown = tokens.create(
        "box", "agent", graph_id="imola", agent_id="strategist", expires_at=None
    )
    _, never = tokens.create("new", "agent", graph_id="imola", agent_id="never", expires_at=None)
    await (await graph.agent("strategist")).leave()
    async with serving(behind, tokens=tokens) as url:
        for secret in (shown, never):
            headers = {"authorization": f"Bearer {secret}"}
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
            ):
                found = await told(client, "recall", query="buyout clause Bob rival June")
                assert not {CLAUSE, BOBS} & {one["text"] for one in found["items"]}
    known = {one.id: one for one in await graph.agents()}
    assert (known["strategist"].topics, known["strategist"].user_id) == (
        ("gossip", "tyres"),
        "anna",
    )
    assert known["never"].topics == ()


async def test_r9_13_a_graphs_operator_inherits_from_no_other_graph(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Neither by a link, nor by a branch, nor by rows that are put in."""
    graph = await paddock(behind)
    await behind.create_session_graph("monza")
    rows = (await graph.export_rows("graphs")).rows
    one = bearer(tokens, graph_id="monza")
    other = bearer(tokens, graph_id="suzuka")
    forged = {**rows[0], "id": "suzuka", "parents": [{"id": "imola"}]}
    async with inside(behind, tokens) as http:
        asked = [
            await http.post("/v1/graphs/monza/parents", headers=one, json={"parent": said})
            for said in ("imola", {"id": "imola", "episodes": True})
        ]
        asked.append(
            await http.post(
                "/v1/graphs/suzuka/rows", headers=other, json={"table": "graphs", "rows": [forged]}
            )
        )
        asked.append(await http.post("/v1/graphs", headers=one, json={"session_graph_id": "x"}))
    assert [answer.status_code for answer in asked] == [403] * 4
    assert {one.id for one in await behind.session_graphs()} == {"imola", "monza"}
    assert (await behind.session_graph("monza")).inherits_from == ()


async def test_r9_13_a_token_of_a_user_or_topics_reads_no_whole_graph(
    behind: Ezra, tokens: TokenFile
) -> None:
    """A graph as a whole holds records of every user and topic: its limits would not limit."""
    await paddock(behind)
    limits: tuple[dict[str, Any], ...] = ({"topics": ("tyres",)}, {"user_id": "anna"})
    async with inside(behind, tokens) as http:
        for role in ("reader", "operator"):
            for limit in limits:
                headers = bearer(tokens, role=role, **limit)
                asked = {"query": "buyout clause"}
                found = await http.post("/v1/graphs/imola/recall", headers=headers, json=asked)
                assert found.status_code == 403, (role, limit)
                feed = await http.get("/v1/audit/feed", headers=headers)
                export = await http.get("/v1/graphs/imola/beliefs/export", headers=headers)
                assert (feed.status_code, export.status_code) == (403, 403)
                friend = "/v1/graphs/imola/agents/friend"
                took = await http.put(friend, headers=headers, json={"topics": ["tyres"]})
                if "user_id" in limit or role == "reader":
                    assert took.status_code == 403


BODIES: dict[str, dict[str, Any]] = {
    "graph.diff": {"other_id": "imola"},
    "beliefs.prove": {"seq": 1},
    "beliefs.prove_growth": {"old_size": 1},
    "agent.facts": {"ids": []},
    "agent.inject": {"query": "tyres"},
    "agent.board.thread": {"thread": "00000000-0000-7000-8000-000000000000"},
    "graph.turns_by_ref": {"refs": ["x"]},
    "beliefs.lives": {"belief_ids": []},
}


def _fields(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return something for every field that must be said."""
    given: dict[str, Any] = {}
    for name, field in operation.asks.model_fields.items():
        if field.is_required():
            kind = str(field.annotation)
            given[name] = 0 if "int" in kind else ["x"] if "tuple" in kind else "x"
    return given


async def _ask(http: httpx2.AsyncClient, operation: Operation[Any, Any], **more: Any) -> Any:
    names = {"graph_id": "imola", "agent_id": "strategist"}
    path = operation.path
    for name in operation.names:
        path = path.replace(f"{{{name}}}", names.get(name, "00000000-0000-7000-8000-000000000000"))
    said = BODIES.get(operation.name) or _fields(operation)
    given: dict[str, Any] = {"json": said} if operation.has_body else {"params": said}
    return await http.request(operation.verb, path, **given, **more)


def _stored(home: Path) -> list[str]:
    """Return every row of the cold tier, whatever its table."""
    with closing(sqlite3.connect(f"file:{home / 'ezra.db'}?mode=ro", uri=True)) as database:
        return [line for line in database.iterdump() if line.startswith("INSERT")]


async def test_r9_14_a_reader_reads_everything_and_changes_nothing(
    behind: Ezra, tokens: TokenFile, tmp_path: Path, clock: MovingClock
) -> None:
    """Whatever writes refuses it, whatever reads admits it, and no row is other than before."""
    graph = await paddock(behind)
    agent = await graph.agent("strategist")
    await (await agent.turn("How long do mediums last?")).reply("18 laps.")
    await behind.drain_learning()
    clock.move(hours=1)
    headers = bearer(tokens, role="reader")
    every = [operation for operation, _ in handlers] + [handles.EXPORT]
    before = _stored(tmp_path / "home")
    async with inside(behind, tokens) as http:
        answers = {one.name: await _ask(http, one, headers=headers) for one in every}
        feed = await http.get("/metrics", headers=headers)
    assert feed.status_code == 200
    for operation in every:
        status = answers[operation.name].status_code
        if operation.needs in ("act", "operate"):
            assert status == 403, operation.name
        else:
            assert status in (200, 404, 422), (operation.name, answers[operation.name].text)
    assert _stored(tmp_path / "home") == before
    reading = [one for one in every if one.needs in ("see", "read")]
    done = [one.name for one in reading if answers[one.name].status_code == 200]
    assert len(done) > len(reading) * 0.7, sorted({one.name for one in reading} - set(done))
    # What is told apart by the address alone is on the right side of the list.
    for operation in every:
        if operation.verb in ("PUT", "PATCH", "DELETE"):
            assert operation.needs in ("act", "operate"), operation.name
        if operation.verb == "GET":
            rows = operation.name in ("graph.export_rows", "catalog.export_rows")
            assert operation.needs in ("see", "read") or rows, operation.name


async def test_r9_14_a_reader_leaves_no_trace_of_having_looked(
    behind: Ezra, tokens: TokenFile, clock: MovingClock
) -> None:
    """No receipt, no sign of life, nobody brought back, nothing by MCP either."""
    graph = await paddock(behind)
    before = {one.id: one.seen_at for one in await graph.agents()}
    clock.move(hours=2)
    headers = bearer(tokens, role="reader")
    asked = {"query": "tyres", "receipt": True}
    mcp = bearer(tokens, role="reader", graph_id="imola")
    async with inside(behind, tokens) as http:
        for at in ("/v1/graphs/imola", AT):
            kept = await http.post(f"{at}/recall", headers=headers, json=asked)
            assert kept.status_code == 403
            found = await http.post(f"{at}/recall", headers=headers, json={"query": "tyres"})
            assert found.status_code == 200
        for page in (AT, f"{AT}/beliefs", f"{AT}/board/unread"):
            assert (await http.get(page, headers=headers)).status_code == 200
    async with serving(behind, tokens=tokens) as url:
        address = f"{url}/mcp?agent=strategist"
        async with (
            httpx2.AsyncClient(headers=mcp) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            await told(client, "recall", query="tyres")
            for tool, said in {
                "remember_fact": {"text": "x"},
                "commit_belief": {"claim": "x"},
                "start_turn": {"message": "x"},
                "send_message": {"text": "x"},
                "start_task": {"title": "x"},
                "ask_mesh": {"source": "x"},
                "forget": {"fact_id": "x", "reason": "x"},
            }.items():
                assert "PolicyDenied" in await refused(client, tool, **said), tool
        address = f"{url}/mcp?agent=nobody"
        async with (
            httpx2.AsyncClient(headers=mcp) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert "NotFound" in await refused(client, "recall", query="tyres")
    assert {one.id: one.seen_at for one in await graph.agents()} == before


def test_r9_14_help_says_what_each_role_may_do() -> None:
    """As a table, of the same data by which requests are judged."""
    shown = run("token", "create", "--help").out.splitlines()
    heading, *rows = roles_table()
    assert heading == ("a token may", "agent", "reader", "operator")
    assert len(rows) == len(NEEDS)
    for need, row in zip(NEEDS, rows, strict=True):
        assert [one == "yes" for one in row[1:]] == [need in MAY[role] for role in heading[1:]]
        what, _, some = row[0].partition(": ")
        place = next(at for at, line in enumerate(shown) if line.strip().startswith(what))
        assert shown[place].split()[-3:] == list(row[1:])
        assert shown[place + 1].strip() == some
    names: dict[str, set[str]] = {}
    for operation, _ in handlers:
        names.setdefault(operation.name.rpartition(".")[2], set()).add(operation.needs)
    for need, words in NEEDS.items():
        said = [one.strip() for one in words.partition(":")[2].split(",")]
        for word in said:
            assert need in names.get(word, {need}), word


@pytest.mark.parametrize("tiers", SERVERS_SLOWLY, indirect=True)
@pytest.mark.usefixtures("tiers")
async def test_r9_24_an_agent_let_go_for_silence_is_back_when_it_speaks(
    behind: Ezra, tokens: TokenFile, clock: MovingClock
) -> None:
    """By REST, by a remote handle and by one in process; as what it was, in a graph that opens."""
    graph = await paddock(behind)
    headers = bearer(tokens)
    _, shown = tokens.create("o", "operator", expires_at=None)
    async with serving(behind, tokens=tokens) as url, Ezra.connect(url, shown) as remote:
        for number, way in enumerate(("rest", "remote", "in process", "heartbeat")):
            await _let_go(behind, clock)
            member = {one.id: one for one in await graph.agents()}["strategist"]
            assert member.released
            said = f"Stint {number} went well."
            if way == "rest":
                async with httpx2.AsyncClient(base_url=url, headers=headers) as http:
                    seen = await http.get(AT)
                    assert seen.status_code == 200, seen.text
                    still = {one.id: one for one in await graph.agents()}["strategist"]
                    assert still.released, "looking it up is no act of its own"
                    done = await http.post(f"{AT}/memories", json={"what": said})
                    assert done.status_code == 200, done.text
            elif way == "remote":
                await (await remote.agent("imola", "strategist")).remember(said)
            elif way == "in process":
                await (await graph.agent("strategist")).remember(said)
            else:
                await (await remote.agent("imola", "strategist")).heartbeat()
            back = {one.id: one for one in await graph.agents()}["strategist"]
            assert (back.left_at, back.released) == (None, False), way
            assert (back.topics, back.denied_topics, back.user_id, back.budget) == (
                member.topics,
                member.denied_topics,
                member.user_id,
                member.budget,
            )
            assert (await graph.status()).state == "active"


@pytest.mark.parametrize("tiers", SERVERS_SLOWLY, indirect=True)
@pytest.mark.usefixtures("tiers")
async def test_r9_24_who_leaves_after_it_was_let_go_stays_away(
    behind: Ezra, clock: MovingClock
) -> None:
    """By itself or with its graph: speaking does not bring it back then, spawning does."""
    graph = await paddock(behind)
    for how in ("itself", "graph"):
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        behind._runtime.membership.forget_graph("imola")  # as if another process had had it
        await _let_go(behind, clock)
        assert {one.id: one.released for one in await graph.agents()}["strategist"]
        await (agent.leave() if how == "itself" else graph.close())
        assert not {one.id: one.released for one in await graph.agents()}["strategist"]
        with pytest.raises(UsageError, match="has not left"):
            await graph.agent("strategist")


async def _let_go(ezra: Ezra, clock: MovingClock) -> None:
    ezra._runtime.membership.forget_graph("imola")  # as if this process had just been started
    clock.move(hours=1)
    await ezra.run_lifecycle_tick("imola")


@pytest.mark.parametrize("tiers", SERVERS_SLOWLY, indirect=True)
@pytest.mark.usefixtures("tiers")
async def test_r9_25_last_seen_moves_by_the_agents_own_acts_alone(
    behind: Ezra, tokens: TokenFile, clock: MovingClock
) -> None:
    """Not by passes of the runtime, by looks of others, nor because a handle is held somewhere."""
    graph = await behind.create_session_graph("imola")
    here = await graph.spawn_agent("here")
    headers = bearer(tokens)
    reader = bearer(tokens, role="reader")

    async def seen() -> dict[str, datetime]:
        return {one.id: one.seen_at for one in await graph.agents()}

    async with inside(behind, tokens) as http:
        for name in ("quiet", "busy"):
            made = await http.put(f"/v1/graphs/imola/agents/{name}", headers=headers, json={})
            assert made.status_code == 200
        first = await seen()
        for _ in range(4):
            clock.move(minutes=1)
            await behind.run_lifecycle_tick("imola")
            await http.get("/console/graphs/imola/agents/quiet", headers=headers)
            await http.get("/v1/graphs/imola/agents", headers=headers)
            await http.get("/v1/graphs/imola/agents/quiet", headers=headers)
            await http.get("/v1/graphs/imola/agents/quiet/core", headers=reader)
        at = "/v1/graphs/imola/agents/busy/memories"
        await http.post(at, headers=headers, json={"what": "Busy with lap 12."})
        then = await seen()
        assert then["busy"] > first["busy"] + timedelta(minutes=3)
        assert (then["quiet"], then["here"]) == (first["quiet"], first["here"])
        clock.move(minutes=2)
        await behind.run_lifecycle_tick("imola")
    # The server held a handle of both; what it holds is no life of theirs.
    released = {one.id: one.released for one in await graph.agents()}
    assert released == {"here": False, "quiet": True, "busy": False}
    await here.heartbeat()
    assert (await seen())["here"] > first["here"]


async def test_r9_15_a_token_counts_for_the_tenant_it_was_made_for(
    tmp_path: Path, clock: MovingClock
) -> None:
    """The same file under another tenant refuses it and says why; a wrong one learns nothing."""
    path = tmp_path / "tokens.json"
    acme = TokenFile(path, clock, tenant="acme")
    other = TokenFile(path, clock, tenant="umbrella")
    made, shown = acme.create("box", "operator", expires_at=None)
    headers = {"authorization": f"Bearer {shown}"}
    assert made.tenant == "acme"
    assert await acme.has_live()
    assert not await other.has_live()
    assert await other.needed(), "a file with tokens closes whatever reads it"
    assert not await other.counts(made.id)
    with pytest.raises(ConfigError, match="no token counts"):
        await check_place("0.0.0.0", other)  # noqa: S104 - it is refused
    async with (
        running(tmp_path / "umbrella", clock, tenant="umbrella") as ezra,
        inside(ezra, other) as http,
    ):
        answer = await http.get("/v1/graphs", headers=headers)
        wrong = {"authorization": f"Bearer {shown[:-43]}{'A' * 43}"}
        unknown = await http.get("/v1/graphs", headers=wrong)
        page = await http.post("/console/sign-in", data={"token": shown, "next": ""})
    assert (answer.status_code, unknown.status_code, page.status_code) == (403, 401, 403)
    assert "a token for the tenant acme" in answer.json()["detail"]
    assert "acme" not in unknown.text
    async with running(tmp_path / "acme", clock, tenant="acme") as ezra, inside(ezra, acme) as http:
        assert (await http.get("/v1/graphs", headers=headers)).status_code == 200
    other.revoke(made.id)
    assert await acme.find(shown) is None


def test_r9_15_the_command_line_makes_tokens_of_its_tenant(tmp_path: Path) -> None:
    """And shows of each whose it is."""
    home = {"EZRA_HOME": str(tmp_path / "home")}
    for tenant in ("acme", "umbrella"):
        assert run("token", "create", f"of-{tenant}", EZRA_TENANT=tenant, **home).code == 0
    listed = run("token", "list", "--json", **home).document
    assert [one["tenant"] for one in listed] == ["acme", "umbrella"]
    path = tmp_path / "home" / "tokens.json"
    path.write_text(path.read_text().replace('"tenant": "acme",', ""))
    broken = run("token", "list", **home)
    assert broken.code == 3
    assert "tokens.0.tenant" in broken.err.replace("\n", "")


async def test_r9_16_repeated_wrong_tokens_are_slowed(tokens: TokenFile) -> None:
    """Per address, by the clock, without looking at them; who was in before stays in."""
    seconds = Ticking()
    good, late = (tokens.create(name, "reader", expires_at=None)[1] for name in ("a", "b"))
    admission = Admission(tokens, seconds)
    wrong = f"ezra_{'a' * 12}_{'b' * 43}"
    assert await admission.find(good, "here") is not None
    for _ in range(WRONG_MAX):
        assert await admission.find(wrong, "here") is None
    for shown in (wrong, late):
        with pytest.raises(TooManyWrongTokens) as slowed:
            await admission.find(shown, "here")
        assert slowed.value.seconds == SECONDS_EACH
    assert await admission.find(good, "here") is not None
    assert await admission.find(late, "elsewhere") is not None
    assert await admission.find("", "here") is None, "to show nothing is no guess"
    seconds.now += SECONDS_EACH
    assert await admission.find(wrong, "here") is None
    with pytest.raises(TooManyWrongTokens):
        await admission.find(wrong, "here")
    # However many addresses guess, what is kept of them is bounded.
    for number in range(PEERS_MAX + 50):
        await admission.find(wrong, f"peer {number}")
    assert len(admission._wrong) <= PEERS_MAX


async def test_r9_16_guesses_at_once_are_counted_before_they_are_looked_at() -> None:
    """A slow judge of tokens is asked no more often for a hundred at the same time."""
    asked, go = [], asyncio.Event()

    class Slow:
        async def find(self, given: str) -> None:
            asked.append(given)
            await go.wait()

    admission = Admission(cast("Any", Slow()), Ticking())
    tried = [asyncio.create_task(admission.find(f"guess {n}", "here")) for n in range(100)]
    for _ in range(3):
        await asyncio.sleep(0)
    go.set()
    found = await asyncio.gather(*tried, return_exceptions=True)
    assert len(asked) == WRONG_MAX
    assert sum(isinstance(one, TooManyWrongTokens) for one in found) == 100 - WRONG_MAX


async def test_r9_16_every_door_slows_guesses(behind: Ezra, tokens: TokenFile) -> None:
    """REST, MCP and the form of the console share one count; the answer says when to come again."""
    good = bearer(tokens)
    other = bearer(tokens)
    wrong = {"authorization": "Bearer ezra_nothing"}
    app = service_app(behind, tokens=tokens, settings=behind.settings, seconds=Ticking())

    def coming(host: str) -> httpx2.AsyncClient:
        way = httpx2.ASGITransport(app, client=(host, 1), raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=way, base_url="http://localhost")

    async with coming("2001:db8::1") as http, coming("2001:db8::2") as same:
        assert (await http.get("/v1/graphs", headers=good)).status_code == 200
        for number in range(WRONG_MAX):
            door = ("/v1/graphs", "/mcp", "/console/sign-in")[number % 3]
            if door == "/console/sign-in":
                answer = await http.post(door, data={"token": "guess", "next": ""})
            else:
                answer = await http.post(door, headers=wrong, json={})
            assert answer.status_code in (401, 403), answer.text
        for slowed in (
            await http.get("/v1/graphs", headers=wrong),
            await same.get("/v1/graphs", headers=other),
            await http.post("/console/sign-in", data={"token": "guess", "next": ""}),
        ):
            assert slowed.status_code == 429
            assert int(slowed.headers["retry-after"]) >= 1
        assert (await http.get("/v1/graphs", headers=good)).status_code == 200
        assert (await http.get("/health")).status_code == 200
    async with coming("2001:db8:0:1::1") as elsewhere:
        assert (await elsewhere.get("/v1/graphs", headers=other)).status_code == 200


@pytest.mark.usefixtures("tiers")
async def test_r9_16_an_id_of_a_card_that_is_not_seen_is_answered_as_a_fresh_one(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Messages, actions, tasks and changes: nothing tells whether somebody else has the id."""
    graph = await paddock(behind)
    owner, spy = await graph.agent("owner"), await graph.agent("strategist")
    seen = await owner.board.send("*", "Box in ten.", topics={"tyres"}, shared=True)
    fresh = "0198a1b2-0c3d-7e4f-8a5b-000000000001"
    task = await spy.board.start_task("Fit the wing.")
    headers = bearer(tokens, role="agent", graph_id="imola", agent_id="strategist")
    await graph.spawn_agent("strategist", topics={"tyres", "gossip"}, user_id="anna")
    doors: tuple[tuple[str, dict[str, Any]], ...] = (
        ("messages", {"to": ["*"], "text": "Hello."}),
        ("actions", {"action": "look"}),
        ("tasks", {"title": "Look."}),
        ("tasks/update", {"task_id": task.id, "note": "Looked."}),
    )
    async with inside(behind, tokens) as http:
        for number, (door, said) in enumerate(doors):
            answers = []
            hidden = await owner.board.send("*", "We sell the team.", topics={"money"})
            secret = await owner.board.start_task("Sell the team.", topics={"money"})
            for one in (hidden.id, secret.id, fresh[:-1] + f"{number + 2}"):
                asked = {**said, "id": one}
                first = await http.post(f"{AT}/board/{door}", headers=headers, json=asked)
                again = await http.post(f"{AT}/board/{door}", headers=headers, json=asked)
                assert (first.status_code, again.status_code) == (200, 200), (door, first.text)
                assert first.json()["id"] == again.json()["id"], "it is stored once"
                answers.append(first.json())
            assert len({tuple(sorted(one)) for one in answers}) == 1
        taken = {"to": ["*"], "text": "Hello.", "id": seen.id}
        answer = await http.post(f"{AT}/board/messages", headers=headers, json=taken)
        assert answer.status_code == 409, "what is seen is no secret"
    (kept,) = await owner.board.cards([hidden.id])
    assert (kept.text, kept.agent_id) == ("We sell the team.", "owner")
    assert len((await graph.board.history(task_id=task.id)).rows) == 4
