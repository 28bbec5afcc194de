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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ring_capacity": 0}, "EZRA_RING_CAPACITY: .*greater than or equal to 1, got 0"),
        ({"embedder": "maybe"}, "EZRA_EMBEDDER: .*'auto', 'off' or 'required'"),
        ({"ring_capactiy": 3}, "EZRA_RING_CAPACTIY: .*not permitted"),
        ({"tenant": ""}, "EZRA_TENANT"),
    ],
)
def test_what_is_not_acceptable_is_named(given: dict[str, object], message: str) -> None:
    """The setting, the reason and the value."""
    with pytest.raises(ConfigError, match=message):
        Settings(**given)
