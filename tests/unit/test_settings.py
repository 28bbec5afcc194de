"""Settings come from arguments, then the environment, and are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ezra import ConfigError, Settings


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
    ],
)
def test_what_is_not_acceptable_is_named(given: dict[str, object], message: str) -> None:
    """The setting, the reason and the value."""
    with pytest.raises(ConfigError, match=message):
        Settings(**given)


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
