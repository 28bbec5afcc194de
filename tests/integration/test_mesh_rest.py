"""A real service over HTTP as a source: what it is sent, and what is taken of its answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from support.held import held
from support.mesh_sources import NOW, SECRET, Service, answer, weather, weather_service

from ezra.mesh import Source, source_of
from tiers.errors import TierRejected, TierTimeout, TierUnavailable, UsageError

running_service = held(weather_service, "module")
"""A service for all tests."""


@pytest.fixture
async def service(running_service: Service) -> Service:
    """The service, which was asked nothing yet."""
    running_service.asked.clear()
    return running_service


@pytest.fixture
async def source(service: Service, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Source]:
    """A source over it, with a secret in a header."""
    monkeypatch.setenv("WEATHER_TOKEN", "hunter2")
    headers = {"authorization": "Bearer ${WEATHER_TOKEN}"}
    made = source_of("weather", weather(service, headers=headers, answer_bytes_max=200_000))
    yield made
    await made.close()


async def test_an_answer_has_declared_fields_and_says_how_fresh_it_is(
    source: Source, service: Service
) -> None:
    """Typed, limited, and with the time of the service's own data."""
    found = await answer(source, track="imola", laps=3)
    row = {"at": "2026-05-14T08:00:00Z", "temperature": 31.5, "is_wet": False}
    assert found.rows == (row, row)
    assert (found.rows_total, found.truncated) == (12, True)
    assert found.synced_at == datetime(2026, 5, 14, 8, 30, tzinfo=UTC)
    assert found.confidence == 0.8
    assert found.time_travel_available
    assert SECRET not in found.model_dump_json()
    (asked,) = service.asked
    assert (asked.method, asked.path) == ("GET", "/api/tracks/imola")
    assert asked.query == {"unit": ["celsius"], "laps": ["3"]}
    assert asked.headers["authorization"] == "Bearer hunter2"


async def test_the_past_is_a_parameter(source: Source, service: Service) -> None:
    """Where the question has one; the other says that it has none."""
    found = await answer(source, track="imola", as_of=datetime(2026, 1, 1, tzinfo=UTC))
    assert service.asked[0].query["at"] == ["2026-01-01T00:00:00Z"]
    assert found.as_of == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(UsageError, match="no time travel for search"):
        await answer(source, "search", words="rain", as_of=NOW)
    assert len(service.asked) == 1


async def test_a_post_sends_declared_fields_only(source: Source, service: Service) -> None:
    """A value stays a value of JSON, whatever it looks like."""
    await answer(source, "search", words='"}, "kind": "secrets')
    (asked,) = service.asked
    assert (asked.method, asked.path, asked.query) == ("POST", "/api/search", {})
    assert json.loads(asked.body) == {"words": '"}, "kind": "secrets', "kind": "weather"}


async def test_a_redirect_leads_inside_the_service_or_nowhere(
    source: Source, service: Service
) -> None:
    """A token is never sent to somebody else, and a circle ends."""
    assert len((await answer(source, track="moved")).rows) == 2
    assert [one.path for one in service.asked] == ["/api/tracks/moved", "/api/tracks/imola"]
    for track, why in (("away", "to elsewhere"), ("aside", "to elsewhere"), ("round", "3 times")):
        with pytest.raises(TierRejected, match=why):
            await answer(source, track=track)
    assert not [one for one in service.asked if "secrets" in one.path]


@pytest.mark.parametrize(
    ("track", "why"),
    [
        ("huge", "more than 200000 bytes"),
        ("deep", "no JSON|nested"),
        ("broken", "answered 500"),
        ("text", "no JSON"),
        ("odd", "temperature of row 1 is no number"),
    ],
)
async def test_an_answer_that_is_none_is_an_error(source: Source, track: str, why: str) -> None:
    """Too long, too deep, no JSON, or of other types than declared; it is not repeated."""
    with pytest.raises(TierRejected, match=why) as told:
        await answer(source, track=track)
    assert SECRET not in str(told.value)


async def test_a_value_is_one_segment_of_the_path(source: Source, service: Service) -> None:
    """It climbs nowhere and adds no parameter; what would is refused before anything is sent."""
    for hostile in ("..", "../secrets", "..%2f/x", "a/../../b", "a\\b"):
        with pytest.raises(UsageError, match=r"slots\.track"):
            await answer(source, track=hostile)
    assert service.asked == []
    await answer(source, track="x?unit=kelvin#now&laps=9")
    await answer(source, track="%2e%2e%2fsecrets")
    assert [(one.path, one.query) for one in service.asked] == [
        ("/api/tracks/x%3Funit%3Dkelvin%23now%26laps%3D9", {"unit": ["celsius"]}),
        ("/api/tracks/%252e%252e%252fsecrets", {"unit": ["celsius"]}),
    ]


async def test_a_service_that_is_away_or_silent_is_left_out() -> None:
    """In its own time."""
    away = source_of("weather", weather(Service("http://127.0.0.1:9/api")), 1.0)
    with pytest.raises(TierUnavailable, match="cannot be reached: ConnectError"):
        await answer(away, track="imola")
    with pytest.raises(TierUnavailable):
        await away.check()


async def test_a_late_service_is_not_waited_for(service: Service) -> None:
    """No longer than the deadline of its source."""
    late = source_of("weather", weather(service, timeout_seconds=0.000_001))
    with pytest.raises(TierTimeout, match="no answer within 1e-06 s"):
        await answer(late, track="imola")
    await late.close()


async def test_checking_asks_for_no_data(service: Service) -> None:
    """Only whether somebody answers."""
    await source_of("weather", weather(service)).check()
    assert [(one.method, one.path) for one in service.asked] == [("HEAD", "/api/")]
