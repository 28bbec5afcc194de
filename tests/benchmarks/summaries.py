"""What summaries made without a model keep of the sentences that a set's questions ask for.

Run: .venv/bin/python tests/benchmarks/summaries.py FILE [--seeds N] [--tokens GRAIN=N] [--json]

FILE is a set as ``ezra eval`` reads it. Percent of the sentences asked for; ``random`` and
``rarity`` spend the tokens of each text on sentences of the same turns, without labels; ``all`` is
of every sentence of the turns that a question names; ``told`` is of all statements, by the texts'
own account. What counts as kept is said in ``tests/support/kept_summaries.py``. ``--tokens
daily=200`` gives days another budget than the default: chance keeps as much then as it does of a
month.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.kept_summaries import EPISODES, SEEDS, Kept, kept_of

from ezra.evaluation.sets import read_set
from metaagents.lifecycle.rules import EPISODE_TOKENS, LifecyclePolicy
from tiers.records import Grain

COLUMNS = "grain texts tokens asked ezra random most rarity above all told".split()


def main() -> None:
    """Measure a set and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--tokens", action="append", default=[], metavar="GRAIN=N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}; it must be at least 1")
    try:
        policy = LifecyclePolicy(episode_tokens={**EPISODE_TOKENS, **_budgets(options.tokens)})
    except ValueError as error:
        parser.error(str(error))
    found = kept_of(read_set(options.file), policy, seeds=options.seeds)
    print(_document(found) if options.json else _table(found))  # noqa: T201


def _budgets(given: Sequence[str]) -> dict[Grain, int]:
    """Return budgets by grain; a ``ValueError`` names what is none."""
    budgets: dict[Grain, int] = {}
    for one in given:
        name, _, number = one.partition("=")
        grain = next((grain for grain in EPISODES if grain == name), None)
        if grain is None or not number.isdecimal() or int(number) < 1:
            raise ValueError(f"--tokens is {one!r}; it must be one of {EPISODES}, = and at least 1")
        budgets[grain] = int(number)
    return budgets


def _document(found: Sequence[Kept]) -> str:
    return json.dumps([asdict(one) | {"above_random": one.above_random} for one in found], indent=2)


def _table(found: Sequence[Kept]) -> str:
    rows = [COLUMNS]
    for one in found:
        shares = (one.ezra, one.random, one.random_most, one.rarity, one.above_random)
        percent = [f"{100 * share:.1f}" for share in (*shares, one.of_everything, one.told)]
        rows.append([one.grain, str(one.texts), f"{one.tokens:.0f}", str(one.asked), *percent])
    return "\n".join("  ".join(f"{cell:>7}" for cell in row) for row in rows)


if __name__ == "__main__":
    main()
