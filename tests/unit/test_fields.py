"""What fields, settings and parameters of routes take, and what they refuse by name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from ezra import ConfigError, Ezra, Settings
from ezra.handles.graph import Graph
from ezra.service.caller import LOCAL, Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.taking import Names, Taking
from ezra.wire.graphs import DiffAsked
from tiers.errors import UsageError
from tiers.fields import TEXT_CHARS_MAX
from tiers.records import Budget, Fact, Parent, Retention, Rule

# What every record is made of takes nothing for something else.


@pytest.mark.parametrize("number", ["2025", 2025, 1.5, "1e9", "20250301"])
def test_a_number_is_no_time(number: object) -> None:
    """As seconds since 1970 the year 2025 would be a moment of that January."""
    with pytest.raises(UsageError, match=r"valid_from: .* a time of ISO 8601"):
        Fact(text="Tokens live long.", valid_from=number)


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ({"text": 5}, "text"),
        ({"text": "x" * (TEXT_CHARS_MAX + 1)}, f"text of at most {TEXT_CHARS_MAX} characters"),
        ({"text": "x", "confidence": 7}, "less than or equal to 1"),
        ({"text": "x", "confidence": "high"}, "a number"),
        ({"text": "x", "private": "perhaps"}, "true or false"),
        ({"text": "x", "tier": "hot"}, "'archival' or 'core'"),
        ({"text": "x", "source_ids": 5}, "a list"),
        ({"text": "x", "valid_from": "soon"}, "a time of ISO 8601 with its zone"),
        ({"text": "x", "colour": "red"}, "no such field"),
    ],
)
def test_what_is_accepted_is_said_as_everywhere(given: dict[str, object], accepted: str) -> None:
    """In our words, not in those of whoever looked at it."""
    with pytest.raises(UsageError) as refused:
        Fact(**given)
    assert refused.value.accepted == accepted


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"text": " "}, "text", " "),
        ({}, "text", None),
        ({"text": "", "subject": "a", "predicate": "b", "object": ""}, "object", ""),
        ({"predicate": "b", "object": "c"}, "subject", None),
    ],
)
def test_what_a_fact_lacks_is_named(given: dict[str, object], field: str, value: object) -> None:
    """It was ``Fact: {…}``, with whatever else the fact said."""
    with pytest.raises(UsageError) as refused:
        Fact(**given)
    assert (refused.value.field, refused.value.value) == (field, value)
    assert refused.value.accepted == "text, or subject, predicate and object"


def test_an_end_before_the_beginning_is_named() -> None:
    """It was the whole fact."""
    begins, ends = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(UsageError) as refused:
        Fact(text="Tokens live long.", valid_from=begins, valid_to=ends)
    assert (refused.value.field, refused.value.value) == ("valid_to", ends)
    assert refused.value.accepted == "nothing before valid_from, 2026-03-02T00:00:00+00:00"


def test_a_name_has_at_least_one_character() -> None:
    """Of one there is one."""
    with pytest.raises(UsageError) as refused:
        Parent(id=" ")
    assert refused.value.accepted == "text of at least one character"


def test_a_time_is_read_from_text() -> None:
    """As it comes over a wire."""
    fact = Fact(text="Tokens live long.", valid_from="2025-03-01T12:00:00+01:00")
    assert fact.valid_from == datetime(2025, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize("given", [True, "3", "true"])
def test_what_is_no_number_is_none(given: object) -> None:
    """``True`` was one write, and ``"3"`` three."""
    for make in (
        lambda: Budget(writes=given),
        lambda: Retention(beliefs_days=given),
        lambda: Fact(text="Tokens live long.", confidence=given),
    ):
        with pytest.raises(UsageError, match=r"accepted: a (whole )?number"):
            make()
    assert Retention(beliefs_days=3).beliefs_days == 3.0
    with pytest.raises(UsageError, match=r"rules: 'false' .* true or false"):
        Parent(id="monaco", rules="false")


@pytest.mark.parametrize("trigger", ["it rains", "when it rains", "When it rains"])
def test_a_rule_says_when_once(trigger: str) -> None:
    """However its trigger was put."""
    assert Rule(trigger=trigger, steps=("box",)).text == "When it rains:\n- box"


def test_a_trigger_that_only_sounds_like_it_is_told_with_when() -> None:
    """``iffy`` is no ``if``."""
    assert Rule(trigger="iffy data", steps=("ask",)).text.startswith("When iffy data:")


# What a function behind a route or a page is given, by the types of its parameters.

GRAPH = cast("Graph", object())
NAMES = {"graph_id": "imola", "parent_id": "monaco"}


class _HandlePool:
    """Hands out one graph, and counts how often."""

    def __init__(self) -> None:
        self.asked_for: list[str] = []

    async def graph(self, graph_id: str, caller: Caller | None = None) -> Graph:
        assert caller is LOCAL, "whose token it is decides how far the handle looks"
        self.asked_for.append(graph_id)
        return GRAPH


async def _called(function: Any) -> tuple[Any, list[str]]:
    pool = _HandlePool()
    taking = Taking(function, tuple(NAMES), DiffAsked)
    found = await taking(cast("HandlePool", pool), LOCAL, NAMES, DiffAsked(other_id="monza"))
    return found, pool.asked_for


async def test_each_parameter_is_given_by_its_type_and_text_by_its_name() -> None:
    """In any order; the graph is that of the path."""

    async def takes(
        asked: DiffAsked, parent_id: str, graph: Graph, names: Names, who: Caller
    ) -> tuple[object, ...]:
        return asked, parent_id, graph, names, who

    found, asked_for = await _called(takes)
    assert found == (DiffAsked(other_id="monza"), "monaco", GRAPH, NAMES, LOCAL)
    assert asked_for == ["imola"]


async def test_nothing_is_looked_up_that_is_not_taken() -> None:
    """A function that takes no graph costs no look for one."""

    async def takes(asked: Any) -> object:
        return asked

    assert await _called(takes) == (DiffAsked(other_id="monza"), [])


def test_what_a_path_does_not_give_is_refused_at_once() -> None:
    """A name that is not in the path, a graph without its name, and any other type."""

    async def misspelt(parent: str) -> None: ...

    async def homeless(graph: Graph) -> None: ...

    async def other(count: int) -> None: ...

    for function, names in ((misspelt, ("parent_id",)), (homeless, ()), (other, ("count",))):
        with pytest.raises(TypeError, match="is given no"):
            Taking(function, names, DiffAsked)


# Settings come from arguments, then the environment, and are refused by name.


def test_arguments_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the environment over the defaults."""
    monkeypatch.setenv("EZRA_RING_CAPACITY", "12")
    monkeypatch.setenv("EZRA_HOME", "/somewhere")
    assert Settings().ring_capacity == 12
    assert Settings(ring_capacity=3).ring_capacity == 3
    assert Settings().home == Path("/somewhere")


def test_files_count_where_they_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After the environment: a file of variables, and a folder of secrets."""
    (tmp_path / ".env").write_text("EZRA_RING_CAPACITY=5\nEZRA_CORE_CAP=7\n")
    (tmp_path / "EZRA_OPENAI_API_KEY").write_text("sk-1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EZRA_RING_CAPACITY", "12")
    settings = Settings(_env_file=".env", _secrets_dir=tmp_path)
    assert (settings.ring_capacity, settings.core_cap) == (12, 7)
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "sk-1"
    assert Settings().core_cap != 7


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ring_capacity": 0}, "EZRA_RING_CAPACITY: .*greater than or equal to 1, got 0"),
        ({"embedder": "maybe"}, "EZRA_EMBEDDER: .*'auto', 'off', 'required'"),
        ({"ring_capactiy": 3}, "EZRA_RING_CAPACTIY: no such field"),
        ({"tenant": ""}, "EZRA_TENANT"),
        ({"home": 5}, "EZRA_HOME: a path, got 5"),
        ({"archive_after_days": float("inf")}, "EZRA_ARCHIVE_AFTER_DAYS: .*365000, got inf"),
        ({"lifecycle_seconds": 1e15}, "EZRA_LIFECYCLE_SECONDS: .*31536000000, got"),
        ({"prompts": {"hourly": "x"}}, "EZRA_PROMPTS: hourly: 'working', 'daily', .*got 'hourly'"),
    ],
)
def test_what_is_not_acceptable_is_named(given: dict[str, object], message: str) -> None:
    """The setting, the reason and the value."""
    with pytest.raises(ConfigError, match=message):
        Settings(**given)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("GUARD", "x", "EZRA_GUARD: an object in JSON, .*, got 'x'"),
        ("GUARD", '{"a": 1}', "EZRA_GUARD: a: 'allow', .*, got 1"),
        ("GUARD", "[1]", "EZRA_GUARD: fields, got"),
        ("PROMPTS", "{", "EZRA_PROMPTS: an object in JSON, .*, got '{'"),
        ("FORMER_KEYS", "abc", "EZRA_FORMER_KEYS: a list in JSON, .*, got 'abc'"),
        ("FORMER_KEYS", '["abc"]', "EZRA_FORMER_KEYS: public keys, .*, got"),
        ("FORMER_KEYS", "[7]", "EZRA_FORMER_KEYS: 0: text, got 7"),
    ],
)
def test_a_variable_that_is_no_json_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    """With its value and what is accepted; what is wrong inside of one comes behind its name."""
    monkeypatch.setenv(f"EZRA_{name}", value)
    with pytest.raises(ConfigError, match=message):
        Settings()


async def test_the_longest_spans_stand_for_never(tmp_path: Path) -> None:
    """Every setting of seconds or days that has a bound may be as long as that."""
    longest = {
        name: bound.le
        for name, field in Settings.model_fields.items()
        if name.endswith(("_seconds", "_days"))
        for bound in field.metadata
        if getattr(bound, "le", None) is not None
    }
    assert {"archive_after_days", "agent_timeout_seconds", "sign_seconds"} <= longest.keys()
    del longest["heartbeat_seconds"]  # is below the silence after which an agent is let go
    settings = Settings(home=tmp_path, embedder="off", **longest)
    async with Ezra.open(settings) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("one")
        await (await agent.turn("Box now?")).reply("Yes.")
        await graph.close()
        assert (await ezra.run_lifecycle_tick("imola")).problems == ()


def test_an_unknown_setting_is_told_with_the_one_that_is_near() -> None:
    """Without its value: in an address whose name was misspelled there may be a password."""
    with pytest.raises(ConfigError) as told:
        Settings(mongo_uri="mongodb://app:hunter2@db")
    assert str(told.value) == "EZRA_MONGO_URI: no such field; near it: EZRA_MONGODB_URI"


def test_a_variable_that_looks_like_a_setting_is_said_to_be_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Data that was to go to a server went to the folder, and nobody was told."""
    monkeypatch.setenv("EZRA_MONGO_URI", "mongodb://app:hunter2@db")
    for name in ("TOKEN_FILE", "URL", "BRIDGE_STATE", "SOMETHING_OF_SOMEBODY"):
        monkeypatch.setenv(f"EZRA_{name}", "x")
    Settings()
    (told,) = caplog.messages
    near = "near it: EZRA_MONGODB_URI"
    assert told == f"EZRA_MONGO_URI is no setting and counts for nothing; {near}"


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Container files pass variables on whether they have a value or not."""
    monkeypatch.setenv("EZRA_REDIS_URL", "")
    monkeypatch.setenv("EZRA_QDRANT_SHARDS", " ")
    monkeypatch.setenv("EZRA_HOME", "")
    settings = Settings()
    assert settings.redis_url is None
    assert settings.qdrant_shards is None
    assert settings.home == Path(".ezra")


def test_passwords_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the settings nor by the error about them."""
    monkeypatch.setenv("EZRA_MONGODB_URI", "mongodb://user:hunter2@db/")
    assert "hunter2" not in repr(Settings())
    with pytest.raises(ConfigError) as caught:
        Settings(redis_url=["redis://:hunter2@host"])
    assert "hunter2" not in str(caught.value)


def test_embedded_tiers_need_a_home() -> None:
    """A runtime whose data is all on servers does not."""
    assert Settings().needs_home
    assert not Settings(qdrant_url="http://q:6333", mongodb_uri="mongodb://m").needs_home
