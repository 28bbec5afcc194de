"""What word search, and reads around its hits, cost in a small graph and in a large one.

Run: .venv/bin/python tests/benchmarks/words.py [--small N] [--large N] [--count N] [--cpu] [--json]

One SQLite store with one graph: turns of about twenty words by two people who take turns, drawn so
that the k-th most frequent word is about k times rarer than the first, as in English chat, where
the most frequent are stop words; a hundredth as many facts, summaries and beliefs. A question has
ten words besides stop words: the name of one speaker, who says half of all, six that are drawn as
turns are and three of any frequency. Milliseconds; ``ratio`` is the 95th
percentile in the large graph by that in the small one. ``--cpu`` counts what the process computes
instead of what passes: to compare on a machine that is busy otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.cold_samples import belief_by, fact_by, summary_by, turn_by
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.lexical import STOP_WORDS
from tiers.records import Kind, Scope, SearchQuery, Turn

WORDS = 30_000
FLATTENS_AT = 2.7
SYLLABLES = "ba co du fe gi lo ma ne pi ro sa tu ve wi xo ya".split()
SPEAKERS = ("Caroline", "Melanie")
KINDS: tuple[Kind, ...] = ("turn", "summary", "episode", "fact", "rule", "belief")
SCOPE = scope_of(topics=("talk",), user_id="team")
TOPICS = ("talk",)
ASIDE = 100
"""Of every so many turns there is a fact, a summary and a belief, some of which end again."""

Operation = Callable[[int], Awaitable[object]]


class Chat:
    """Draws words as people do."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        made: dict[str, None] = dict.fromkeys(sorted(STOP_WORDS))
        while len(made) < WORDS:
            made["".join(self.random.choices(SYLLABLES, k=self.random.choice((2, 3, 4))))] = None
        self.words = list(made)
        self._weights = list(accumulate(1 / (place + FLATTENS_AT) for place in range(WORDS)))

    def said(self, count: int) -> list[str]:
        """Return words of which few are frequent and most are rare."""
        return self.random.choices(self.words, cum_weights=self._weights, k=count)

    def question(self) -> str:
        """Return ten words, common and rare."""
        common = [word for word in self.said(100) if word not in STOP_WORDS][:6]
        rare = self.random.choices(self.words[len(STOP_WORDS) : 5_000], k=3)
        return " ".join([self.random.choice(SPEAKERS), *common, *rare])


async def filled(cold: ColdStores, chat: Chat, count: int) -> list[str]:
    """Fill a graph and return the ids of its turns."""
    ids: list[str] = []
    for start in range(0, count, 1_000):
        turns = [_turn(chat, number) for number in range(start, min(start + 1_000, count))]
        await asyncio.gather(*(cold.turns.append_turn(SCOPE, turn) for turn in turns))
        ids += [turn.id for turn in turns]
    for number in range(count // ASIDE):
        text = " ".join(chat.said(20))
        fact = fact_by(SCOPE, text, topics=TOPICS)
        await cold.semantic.put_fact(SCOPE, fact)
        if number % 10 == 0:
            await cold.review.forget(SCOPE, fact.id, "wrong", NOW + timedelta(hours=1))
        covers = (ids[number * ASIDE],)
        summary = summary_by(SCOPE, [], covers=covers, text=text, topics=TOPICS)
        await cold.episodic.put_summary(SCOPE, summary)
        key = ("part", str(number))
        await cold.beliefs.commit(SCOPE, belief_by(SCOPE, text, key=key, topics=TOPICS))
    return ids


def _turn(chat: Chat, number: int) -> Turn:
    words = chat.said(chat.random.randint(5, 35))
    cut = len(words) // 2
    speaker = SPEAKERS[number % 2]
    turn = turn_by(
        SCOPE,
        " ".join(words[:cut]),
        response=" ".join(words[cut:]),
        speaker=speaker,
        topics=TOPICS,
    )
    return turn.model_copy(update={"recorded_at": NOW + timedelta(seconds=number)})


def operations(cold: ColdStores, chat: Chat, ids: list[str]) -> dict[str, Operation]:
    """Return what is measured, by name."""
    seeded = random.Random(11)
    narrow = scope_of(agent_id="reader", topics=("talk",))

    def asked(scope: Scope, **fields: object) -> Awaitable[object]:
        known = {"text": chat.question(), "kinds": KINDS, "limit": 100, "now": NOW, **fields}
        return cold.words.search_words(scope, SearchQuery(**known))

    common = " ".join((*SPEAKERS, *chat.words[len(STOP_WORDS) : len(STOP_WORDS) + 2]))
    then = NOW + timedelta(minutes=30)
    ended = SearchQuery(text="", kinds=KINDS, limit=100, now=NOW + timedelta(days=2), as_of=then)
    return {
        "search_words": lambda _: asked(SCOPE),
        "search_words, one kind": lambda _: asked(SCOPE, kinds=("turn",)),
        "search_words, stranger": lambda _: asked(narrow),
        "search_words as of": lambda _: asked(SCOPE, as_of=then),
        "search_words, common words": lambda _: asked(SCOPE, text=common),
        "around 40": lambda _: cold.recollection.sight_around(
            SCOPE, seeded.sample(ids, 40), 6, 4, ()
        ),
        "word_statistics": lambda _: cold.recollection.word_statistics(
            SCOPE, chat.question(), KINDS
        ),
        "ended": lambda _: cold.recollection.ended(SCOPE, ended),
        "speakers": lambda _: cold.recollection.speakers(SCOPE, 50),
    }


async def measured(
    count: int, repeats: int, clock: Callable[[], float]
) -> dict[str, tuple[float, float]]:
    """Return p50 and p95 of each operation in milliseconds, in a graph of so many turns."""
    chat = Chat()
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory(prefix="ezra-words-") as folder:
        async with sqlite_cold_store(Path(folder)) as cold:
            ids = await filled(cold, chat, count)
            for name, operation in operations(cold, chat, ids).items():
                for number in range(20):
                    await operation(number)
                times = []
                for number in range(repeats):
                    started = clock()
                    await operation(number)
                    times.append((clock() - started) * 1000)
                found[name] = (statistics.median(times), statistics.quantiles(times, n=20)[-1])
    return found


def table(small: int, large: int, found: dict[int, dict[str, tuple[float, float]]]) -> str:
    """Return the figures as a Markdown table."""
    lines = [
        f"| p50 / p95 ms | {small:,} turns | {large:,} turns | ratio |",
        "|---|---|---|---|",
    ]
    for name, (low, high) in found[small].items():
        lower, higher = found[large][name]
        cells = (f"{low:.2f} / {high:.2f}", f"{lower:.2f} / {higher:.2f}", f"{higher / high:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=2_760)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--count", type=int, default=300, help="repetitions per figure")
    parser.add_argument("--cpu", action="store_true", help="what is computed, not what passes")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    sizes = (options.small, options.large)
    clock = time.process_time if options.cpu else time.perf_counter
    found = {size: asyncio.run(measured(size, options.count, clock)) for size in sizes}
    print(json.dumps(found, indent=2) if options.json else table(*sizes, found))  # noqa: T201


if __name__ == "__main__":
    main()
