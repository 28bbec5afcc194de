"""A method that offers itself is there at every door: shown with a handle made for it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import Field

from ezra import UsageError
from ezra.operations import Sent, operation
from ezra.remote.connection import Connection
from ezra.remote.handle import RemoteHandle
from ezra.service.caller import LOCAL
from ezra.service.openapi import described
from ezra.service.problem_answers import on_error
from ezra.service.routes import Handlers, caller_of, pool_of, router_of
from ezra.service.taking import Names
from ezra.wire.agents import RecordAsked, RememberAsked
from ezra.wire.derivation import Handle
from ezra.wire.graphs import SpawnAsked
from ezra.wire.handles import AGENT_DOCUMENTS, AGENT_KNOWLEDGE, BELIEFS, TENANT, RecallAsked
from ezra.wire.operation import Asked
from tiers.errors import EzraError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Pitwall:
    """A handle of this test: what it is asked, it answers."""

    def __init__(self, car: str) -> None:
        self.car = car

    @operation("GET", "/laps/{driver}")
    async def laps(
        self,
        driver: str,
        *,
        compounds: str | Sequence[str] = (),
        since: datetime | int | None = None,
        limit: Annotated[int, Field(ge=1, le=3)] = 2,
    ) -> dict[str, Any]:
        """Return laps of a driver, the last one first.

        Args:
            driver: Who drove.
            compounds: Only on one of these tyres, or on
                this one.
            since: A time or a lap.
            limit: How many.
        """
        return {"car": self.car, "driver": driver, "of": compounds, "since": since, "most": limit}

    @operation("POST", "/orders", changes=True, repeats=False, own_id="id")
    async def order(
        self,
        text: Annotated[str | bytes, Sent(str)],
        *,
        tags: Iterable[str] = (),
        at: datetime | None = None,
        id: str | None = None,  # noqa: A002 - as handles call it
    ) -> tuple[str, str | None, tuple[str, ...], datetime | None]:
        """Give an order."""
        assert isinstance(text, str)
        return text, id, tuple(tags), at


HANDLE = Handle("pitwall", "/v1/cars/{graph_id}", Pitwall, "read", "operate")


class RemotePitwall(RemoteHandle, Pitwall, of=Pitwall):
    """The same on a server."""


def _handlers() -> Handlers:
    made = Handlers()

    def bound(name: str) -> Any:
        async def do(names: Names, asked: Any) -> Any:
            given = {one: names[one] for one in HANDLE.offered[name].in_path}
            return await getattr(Pitwall(names["graph_id"]), name)(**given, **asked.arguments)

        return do

    for offered in HANDLE.offered.values():
        made.does(offered.operation)(bound(offered.method_name))
    return made


def _app() -> tuple[FastAPI, Handlers]:
    app, handlers = FastAPI(), _handlers()
    app.include_router(router_of(handlers))
    app.dependency_overrides |= {pool_of: lambda: None, caller_of: lambda: LOCAL}
    app.add_exception_handler(EzraError, on_error)
    return app, handlers


class _Inside(Connection):
    """A connection to an app of this process."""

    def _client(self) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=_app()[0])
        return httpx2.AsyncClient(transport=transport, base_url="http://inside")


@asynccontextmanager
async def _asked() -> AsyncIterator[RemotePitwall]:
    async with _Inside("http://127.0.0.1:1", None) as connection:
        yield RemotePitwall(connection, HANDLE, {"graph_id": "44"})


@pytest.mark.parametrize("compounds", ["soft", ("soft", "hard")])
@pytest.mark.parametrize("since", [None, 7, NOON])
async def test_a_question_is_asked_over_http_as_in_process(compounds: Any, since: Any) -> None:
    """Path, list, moment and number arrive as they were meant; what was not said stays unsaid."""
    async with _asked() as remote:
        there = await remote.laps("lewis", compounds=compounds, since=since)
    here = await Pitwall("44").laps("lewis", compounds=compounds, since=since)
    told = None if since is None else NOON.isoformat().replace("+00:00", "Z")
    sent = since if since in (None, 7) else told
    listed = [compounds] if isinstance(compounds, str) else list(compounds)
    assert there == {**here, "of": listed, "since": sent}


async def test_a_change_gets_an_id_of_the_asking_side() -> None:
    """So that it may be asked again; an id that was given stays."""
    async with _asked() as remote:
        first = await remote.order("box", tags={"box"}, at=NOON)
        own = await remote.order("box", id="mine")
    assert first[0] == "box"
    assert first[1]
    assert first[2:] == (("box",), NOON)
    assert own == ("box", "mine", (), None)


@pytest.mark.parametrize(
    ("given", "field"),
    [({"limit": 4}, "limit"), ({"limit": True}, "limit"), ({"since": "yesterday"}, "since")],
)
async def test_bounds_are_those_of_the_method(given: dict[str, Any], field: str) -> None:
    """What is beyond them is refused by its name before anything is sent."""
    async with _asked() as remote:
        with pytest.raises(UsageError) as refused:
            await remote.laps("lewis", **given)
    assert refused.value.field == field
    async with _asked() as remote:
        with pytest.raises(UsageError, match="a set, list or tuple"):
            await remote.order("box", tags="box")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": "2"}, "limit: '2' is not accepted; accepted: a whole number, 1 to 3"),
        ({"limit": 4}, "limit: 4 is not accepted; accepted: a whole number, 1 to 3"),
        ({"driver": 44}, "driver: 44 is not accepted; accepted: text"),
        ({"driver": ""}, "driver: '' is not accepted; accepted: a name of at least one character"),
        ({"compounds": ["soft", 5]}, "compounds[1]: 5 is not accepted; accepted: text"),
    ],
)
async def test_either_side_refuses_the_same_in_the_same_words(
    given: dict[str, Any], said: str
) -> None:
    """The handle in process is no more lenient than the client of a server, nor the other way."""
    async with _asked() as remote:
        for handle in (Pitwall("44"), remote):
            with pytest.raises(UsageError, match=re.escape(said)):
                await handle.laps(**{"driver": "lewis", **given})


KNOWN = AGENT_KNOWLEDGE.offered["neighbours"].operation.asks


@pytest.mark.parametrize(
    ("asks", "given", "said"),
    [
        (RecallAsked, {"query": "x", "limit": "8"}, "limit: '8' is not accepted; .*whole number"),
        (RecallAsked, {"query": "x", "rerank": "no"}, "rerank: 'no' is .*true or false"),
        (RecallAsked, {"query": "x", "half_life_days": "1"}, "half_life_days: '1' .*a number"),
        (KNOWN, {"name": "Ada", "limit": "8"}, "limit: '8' is not accepted; .*whole number"),
    ],
)
def test_a_body_has_the_types_of_json(asks: type[Asked], given: dict[str, Any], said: str) -> None:
    """In it a text is no number, as it is none in process; numbers are what they are."""
    with pytest.raises(UsageError, match=said):
        asks.model_validate(given)
    assert asks.model_validate({**given, list(given)[-1]: "true" in said or 1})


_PASSAGES = {"name": "a", "media_type": "text/plain", "digest": "0" * 64}
_TOLD: Mapping[type[Asked], Mapping[str, Any]] = {
    RememberAsked: {
        "what.fact.private": {"what": {"text": "x", "private": "no"}},
        "what.fact.confidence": {"what": {"text": "x", "confidence": "1"}},
        "what.rule.successes": {"what": {"trigger": "x", "steps": ["y"], "successes": "3"}},
    },
    RecordAsked: {"turns[0].private": {"turns": [{"message": "x", "private": "no"}]}},
    AGENT_DOCUMENTS.offered["store"].operation.asks: {
        "draft.passages[0][2]": {"draft": _PASSAGES | {"passages": [["x", [], "3"]]}}
    },
    TENANT.offered["create_session_graph"].operation.asks: {
        "budget.writes": {"session_graph_id": "x", "budget": {"writes": "3"}},
        "exist_ok": {"session_graph_id": "x", "exist_ok": "yes"},
    },
    SpawnAsked: {"model_window_tokens": {"model_window_tokens": "8000"}},
    BELIEFS.offered["rewind"].operation.asks: {"time": {"time": "1", "reason": "x"}},
}


@pytest.mark.parametrize("asks", _TOLD, ids=lambda asks: asks.__name__)
def test_so_has_what_stands_within_a_body(asks: type[Asked]) -> None:
    """Records in it are as strict as they are in process, and the place is named."""
    for field, given in _TOLD[asks].items():
        with pytest.raises(UsageError) as refused:
            asks.model_validate(given)
        assert refused.value.field == field


def test_the_document_has_the_words_of_the_method() -> None:
    """Summary, parameters and their texts, bounds, rights: nothing is said a second time."""
    app, handlers = _app()
    document = described(app.routes, handlers)
    laps = document["paths"]["/v1/cars/{graph_id}/laps/{driver}"]["get"]
    assert laps["operationId"] == "pitwall.laps"
    assert laps["summary"] == "Return laps of a driver, the last one first."
    told = {one["name"]: one for one in laps["parameters"]}
    assert told["limit"]["schema"]["maximum"] == 3
    assert told["compounds"]["description"] == "Only on one of these tyres, or on this one."
    assert {one.name: one.needs for one, _ in handlers} == {
        "pitwall.laps": "read",
        "pitwall.order": "operate",
    }


def test_a_remote_handle_that_would_look_on_this_side_is_not_made() -> None:
    """What a handle does not offer, its class on the other side does itself."""

    class Garage(Pitwall):
        async def open(self) -> None:
            """Open it: here."""

    with pytest.raises(TypeError, match="open"):
        type("RemoteGarage", (RemoteHandle, Garage), {}, of=Garage)
