"""How fast a history is recorded, with the installed model and with vectors that cost nothing."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from ... import Ezra, Settings
from .talk import past_turns
from .vectors import BagOfWords

WARM_UP = 100


async def measured(embedder: str, turns: int) -> dict[str, object]:
    """Return turns a second: until they are stored, and until they are indexed and learnt from."""
    with tempfile.TemporaryDirectory(prefix="ezra-bench-") as folder:
        given = embedder == "given"
        settings = Settings.model_validate(
            {"home": Path(folder), "embedder": "off" if given else embedder}
        )
        async with Ezra.open(settings, embedder=BagOfWords() if given else None) as ezra:
            graph = await ezra.create_session_graph("bench")
            agent = await graph.spawn_agent("scribe")
            await agent.record(past_turns(0, WARM_UP))
            await ezra.drain_learning()
            history = list(past_turns(WARM_UP, WARM_UP + turns))
            started, worked = time.perf_counter(), time.process_time()
            await agent.record(history)
            stored = time.perf_counter() - started
            await ezra.drain_learning()
            learnt = time.perf_counter() - started
    return {
        "stored_per_second": turns / stored,
        "learnt_per_second": turns / learnt,
        "processor_ms": 1000 * (time.process_time() - worked) / turns,
    }
