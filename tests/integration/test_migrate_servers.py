"""The demo's memory moves to servers and back, and answers the same at every place.

By the command line, as a person would: Redis is real, Qdrant and MongoDB are the stand-ins.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.command import ezra
from support.servers import server_variables

CONVERSATIONS = Path(__file__).parents[2] / "scripts" / "conversations"
WEEKENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("monaco", ()),
    ("imola", ("--inherits-from", "monaco")),
)


def printed(home: Path, *arguments: str, **variables: str) -> Any:
    """Run the command with the real model and return the document that it prints."""
    # The model is kept in the user's own folder.
    kept = {name: os.environ[name] for name in ("HOME",) if name in os.environ}
    given = {**kept, "EZRA_EMBEDDER": "required", **variables}
    done = ezra(home, *arguments, "--json", timeout_seconds=110, **given)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def answers(home: Path, **variables: str) -> list[Any]:
    """Replay both weekends, which adds nothing where they are known, and ask every question."""
    questions = json.loads((CONVERSATIONS / "questions.json").read_text())
    found: list[Any] = []
    for weekend, parents in WEEKENDS:
        asked = [one["question"] for one in questions if one["graph"] == weekend]
        asking = [part for question in asked for part in ("--ask", question)]
        file = str(CONVERSATIONS / f"{weekend}.jsonl")
        report = printed(home, "replay", file, "--graph", weekend, *parents, *asking, **variables)
        found += report["answers"]
    return found


@pytest.mark.slow
def test_the_demos_memory_moves_to_servers_and_back(tmp_path: Path) -> None:
    """Sources, their order and their scores are those of before, and nothing is played again."""
    here, back, nowhere = tmp_path / "here", tmp_path / "back", tmp_path / "nowhere"
    servers = server_variables()
    before = answers(here)
    assert all(answer["sources"] for answer in before)
    mongodb, qdrant = ("env:EZRA_MONGODB_URI", "env:EZRA_QDRANT_URL")
    there = printed(
        here, "migrate", "--from", "embedded", "--to", mongodb, "--to", qdrant, **servers
    )
    assert there["ok"]
    assert answers(nowhere, **servers) == before
    assert not nowhere.exists()
    again = printed(
        back, "migrate", "--from", mongodb, "--from", qdrant, "--to", "embedded", **servers
    )
    assert again["ok"]
    assert answers(back) == before
