"""How many attempts to cross a scope each backend withstands.

Run: .venv/bin/python tests/benchmarks/isolation.py [--attempts 10000] [--seed 1] [--json]
     [--backend sqlite]

Attackers of every kind (other tenants, graphs, agents, users and topics, look-alike names, forged
ids and owners, syntax of every engine in every string) call every method of every port. A leak is
a record shown that the rules of visibility forbid; a mutation is a row of the raw engine that
changed and is not the attacker's. The exit code is 1 when there is either.

``qdrant http`` and ``mongo`` are the real clients over the stand-ins of the test suite;
``runtime`` is the embedded whole through its public API.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.isolation.report import Report, table
from support.isolation.runtime import EVERY_BENCH
from support.isolation.trial import Plan, tried
from support.session import SESSION

BATCHES = 60
NAMES = [bench.name for bench in EVERY_BENCH]


async def measured(names: list[str], attempts: int, seed: int) -> list[Report]:
    """Return what came of attacking the named backends, one after the other."""
    plan = Plan(attempts=attempts, seed=seed, corners=8, batch=max(50, attempts // BATCHES))
    reports = []
    for bench in EVERY_BENCH:
        if bench.name in names:
            with tempfile.TemporaryDirectory(prefix="ezra-isolation-") as folder:
                reports.append(await tried(bench, plan, Path(folder)))
            print(f"{bench.name}: done", file=sys.stderr)  # noqa: T201
    return reports


def main() -> int:
    """Print the table, or one JSON document; return 1 on any finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=500, help="calls per backend")
    parser.add_argument("--seed", type=int, default=1, help="of the world and of the attempts")
    parser.add_argument("--backend", action="append", choices=NAMES, help="this one only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with SESSION:
        chosen = options.backend or NAMES
        reports = asyncio.run(measured(chosen, options.attempts, options.seed))
    if options.json:
        print(json.dumps([report.as_dict() for report in reports], indent=2))  # noqa: T201
    else:
        told = [report.told() for report in reports if not report.is_clean]
        print("\n\n".join([table(reports), *told]))  # noqa: T201
    return 0 if all(report.is_clean for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
