"""Evidence recall on conversations with known evidence: is what answers among the first ten?

Run: .venv/bin/python tests/benchmarks/recall.py PATH/TO/locomo.json [--every 1] [--json]

The file is LoCoMo's, with ``qa`` (question, evidence, category); it is not part of this repository.
No answer is generated and nothing is judged: recall@10 is the share of a question's evidence turns
among the first ten hits, hit@5 whether one is among the first five. Category 5 (adversarial) and
questions without evidence are left out. Each conversation is played into a graph of its own and
asked through ``graph.recall``. The rows differ in one thing each:

    words           no embedding model: the lexical legs alone
    names in query  with the model, speakers' names left in the dense query
    default         with the model, speakers' names cut from the dense query
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ezra import Ezra, Graph, Settings
from ezra.replay.formats import read_script
from ezra.replay.play import Replayer
from ezra.replay.script import Script

ADVERSARIAL = 5
TOPIC = "chat"


def questions(data: dict[str, Any], every: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield conversation, question and the refs of its evidence."""
    number = 0
    for conversation in data["conversations"]:
        for asked in conversation["qa"]:
            if asked["category"] == ADVERSARIAL or not asked["evidence"]:
                continue
            number += 1
            if number % every == 0:
                refs = [f"{conversation['id']}:{turn}" for turn in asked["evidence"]]
                yield conversation["id"], asked["question"], refs


async def play(ezra: Ezra, script: Script) -> None:
    """Play each conversation into a graph of its own."""
    for conversation in script.conversations:
        alone = Script(conversations=(conversation,))
        replayer = Replayer(ezra, alone, {conversation.id: (TOPIC,)})
        await replayer.play(conversation.id, [], [])


async def measure(
    ezra: Ezra, asked: list[tuple[str, str, list[str]]], *, names: bool
) -> dict[str, float]:
    """Return recall@10, hit@5 and milliseconds a question."""
    found_at_10 = hit_at_5 = elapsed = 0.0
    graphs: dict[str, Graph] = {}
    for graph_id, question, evidence in asked:
        graph = graphs.get(graph_id) or await ezra.session_graph(graph_id)
        graphs[graph_id] = graph
        started = time.perf_counter()
        # Lower case is how a caller can keep a name in the dense query.
        found = await graph.recall(question.lower() if names else question, kinds=("turn",))
        elapsed += time.perf_counter() - started
        refs = [hit.ref for hit in found.items]
        found_at_10 += len(set(evidence) & set(refs)) / len(set(evidence))
        hit_at_5 += bool(set(evidence) & set(refs[:5]))
    count = len(asked)
    return {
        "recall@10": 100 * found_at_10 / count,
        "hit@5": 100 * hit_at_5 / count,
        "ms": 1000 * elapsed / count,
    }


async def run(path: Path, data: dict[str, Any], every: int) -> dict[str, dict[str, float]]:
    """Return a row of figures per configuration."""
    asked = list(questions(data, every))
    script = read_script([path], now=datetime.now(UTC))
    rows: dict[str, dict[str, float]] = {}
    for embedder in ("off", "required"):
        with tempfile.TemporaryDirectory(prefix="ezra-recall-") as home:
            settings = Settings(home=Path(home), embedder=embedder, background=False)
            async with Ezra.open(settings) as ezra:
                await play(ezra, script)
                if embedder == "off":
                    rows["words"] = await measure(ezra, asked, names=False)
                else:
                    rows["names in query"] = await measure(ezra, asked, names=True)
                    rows["default"] = await measure(ezra, asked, names=False)
    return rows


def main() -> None:
    """Print one row per configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = asyncio.run(run(options.path, json.loads(options.path.read_text()), options.every))
    if options.json:
        print(json.dumps(rows, indent=2))  # noqa: T201
        return
    for name, figures in rows.items():
        line = "  ".join(f"{figure} {value:6.1f}" for figure, value in figures.items())
        print(f"{name:<15} {line}")  # noqa: T201


if __name__ == "__main__":
    main()
