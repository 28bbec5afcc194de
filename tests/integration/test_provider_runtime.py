"""A runtime whose vectors and answers come from a provider, chosen by settings alone.

The real client libraries, at the stand-in for both providers' HTTP APIs.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import ezra as command
from support.held import held
from support.model_http import KEY, Fault, ModelServer, running_model_server
from support.model_providers import PROVIDERS, says
from support.runtime import running

from ezra import ConfigError

server = held(running_model_server, "module")
"""One server for all tests of the module."""


def chosen(server: ModelServer, provider: str) -> dict[str, object]:
    """Return the settings that put embedding and answering on a provider."""
    server.reset()
    url = server.url if provider == "gemini" else f"{server.url}/open/v1"
    return {
        "embedder": provider,
        "embedding_dimensions": 256,
        "llm": provider,
        f"{provider}_api_key": KEY,
        f"{provider}_base_url": url,
    }


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_settings_alone_choose_a_provider(
    server: ModelServer, provider: str, tmp_path: Path
) -> None:
    """What is said is embedded there, what is asked is answered there, and both are named."""
    async with running(tmp_path, **chosen(server, provider)) as ezra:
        assert ezra.embedder is not None
        assert ezra.embedder.startswith(f"{provider}/")
        assert ezra.embedder.endswith("@256")
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"tyres"})
        await agent.remember("Mediums last 18 laps.")
        await ezra.drain_learning()
        hits = await agent.recall("Mediums last 18 laps.")
        assert hits.items[0].text == "Mediums last 18 laps."
        assert hits.degraded == ()
        server.answers.append(says(provider, "About 18."))
        done = await agent.complete("How long do mediums last?")
        assert done.response == "About 18."
        assert provider in done.model


async def test_a_key_that_is_taken_away_degrades_and_never_breaks_a_turn(
    server: ModelServer, tmp_path: Path
) -> None:
    """Words still answer, ``dense`` is missing, and the key is in no message."""
    async with running(tmp_path, **chosen(server, "openai")) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"tyres"})
        await agent.remember("Mediums last 18 laps.")
        server.faults.extend([Fault(status=401)] * 20)
        turn = await agent.turn("How long do mediums last?")
        assert "dense" in turn.degraded
        assert "Mediums last 18 laps." in [slot.text for slot in turn.slots]
        assert not any(KEY in reason for reason in turn.skipped)
        hits = await agent.recall("mediums")
        assert [hit.text for hit in hits.items] == ["Mediums last 18 laps."]
        server.reset()


async def test_a_provider_without_its_key_is_refused_by_name(tmp_path: Path) -> None:
    """Before anything is opened."""
    with pytest.raises(ConfigError, match="EZRA_GEMINI_API_KEY"):
        async with running(tmp_path, embedder="gemini"):
            pass


def test_the_doctor_examines_providers_too(server: ModelServer, tmp_path: Path) -> None:
    """Embedding and model are rows of its report; a wrong key is a problem with advice."""
    variables = {
        f"EZRA_{name.upper()}": str(value) for name, value in chosen(server, "gemini").items()
    }
    assert command(tmp_path / "home", "init", **variables).returncode == 0
    done = command(tmp_path / "home", "doctor", "--json", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"engine": "gemini' in done.stdout
    wrong = variables | {"EZRA_GEMINI_API_KEY": "not-the-key"}
    done = command(tmp_path / "home", "doctor", **wrong)
    assert "EZRA_GEMINI_API_KEY" in done.stdout
    assert "not-the-key" not in done.stdout + done.stderr
