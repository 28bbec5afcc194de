"""What a context holds of the turns that answer a set's questions, as they were said.

Run: .venv/bin/python tests/benchmarks/contexts.py FILE [--every N]

FILE is a set as ``ezra eval`` reads it. Each question is said to an agent that is new to the
conversation. Percent of the turns that answer it; ``told`` counts turns too of which a fact or a
summary in the context was made; tokens are those of the whole context. Beside it stands what
recall finds among its first ten.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ezra import Ezra, Graph, Settings
from ezra.evaluation.run import ASKED_AFTER, TOPIC, StandingClock
from ezra.evaluation.sets import Interview, Question, read_set
from ezra.replay.play import Replayer
from ezra.replay.script import Script

FOUND_MAX = 10
COLUMNS = ("as said", "told", "tokens", f"recall@{FOUND_MAX}")


def main() -> None:
    """Ask a set's questions and print what the contexts held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask only every n-th question")
    options = parser.parse_args()
    if options.every < 1:
        parser.error(f"--every is {options.every}; it must be at least 1")
    rows: list[tuple[float, ...]] = []
    for interview in read_set(options.file).interviews:
        rows += asyncio.run(_asked(interview, options.every))
        print(f"{interview.id}: {len(rows)} questions so far")  # noqa: T201
    if not rows:
        parser.error(f"{options.file} has no questions that somebody's turns answer")
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    print("  ".join(f"{one:>10}" for one in COLUMNS))  # noqa: T201
    print("  ".join(f"{one:>10.1f}" for one in means))  # noqa: T201


async def _asked(interview: Interview, every: int) -> list[tuple[float, ...]]:
    clock = StandingClock(interview.ends_at)
    with tempfile.TemporaryDirectory(prefix="ezra-contexts-") as home:
        # No fact becomes core, so that each question is asked of the same memory.
        settings = Settings(home=Path(home), background=False, promote_at_uses=1_000_000)
        async with Ezra.open(settings, clock=clock) as ezra:
            conversation = interview.conversation
            named = any(line.topics is not None for line in conversation.lines)
            topics = {} if named else {conversation.id: (TOPIC,)}
            script = Script(conversations=(conversation,))
            await Replayer(ezra, script, topics, lambda _line, _new: None).play(
                conversation.id, [], []
            )
            graph = await ezra.session_graph(interview.id)
            stored = await graph.turns_by_ref([turn.ref for turn in interview.turns])
            refs = {turn.id: ref for ref, turn in stored.items()}
            clock.show(interview.ends_at + ASKED_AFTER)
            return [await _row(graph, one, refs) for one in interview.questions[::every]]


async def _row(graph: Graph, question: Question, refs: Mapping[str, str]) -> tuple[float, ...]:
    agent = await graph.spawn_agent("asker", topics={"*"})
    turn = await agent.turn(question.text)
    found = [slot for slot in turn.slots if slot.kind in ("archival", "warm")]
    said = {refs.get(one) for slot in found if slot.record == "turn" for one in slot.source_ids}
    told = {refs.get(one) for slot in found for one in slot.source_ids}
    recalled = await graph.recall(question.text, limit=FOUND_MAX, kinds=("turn",))
    hits = {hit.ref for hit in recalled.items}

    def share(among: set[str | None]) -> float:
        return 100 * len(among.intersection(question.evidence)) / len(question.evidence)

    return share(said), share(told), float(turn.tokens), share(hits)


if __name__ == "__main__":
    main()
