"""Writes a generated evaluation set: turns, and questions with known evidence.

Run: .venv/bin/python tests/benchmarks/sets/make.py NAME OUT.json [--seed 1] [--size CONVERSATIONS]

    assistant   a user with an assistant whose answers are long: 6 conversations of 224 messages
    requests    the same user, who also makes polite requests: 4 conversations of 280 messages
    team        five people with tool outputs in five channels: 5 conversations of 400 turns
    sealed      a support desk with many customers and terse tickets: 4 conversations of 360 turns;
                kept apart: look at results on it once, when nothing will be changed any more

The same name, seed and size always give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    """Write the set that the command line names."""
    from benchmarks.sets.catalog import KINDS, made, written

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=sorted(KINDS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, help="how many conversations")
    options = parser.parse_args()
    document = made(options.name, options.seed, options.size)
    options.out.write_text(written(document), encoding="utf-8")
    conversations = document["conversations"]
    turns = sum(len(one["turns"]) for one in conversations)
    asked = sum(len(one["qa"]) for one in conversations)
    print(f"{len(conversations)} conversations, {turns} turns, {asked} questions")  # noqa: T201


if __name__ == "__main__":
    main()
