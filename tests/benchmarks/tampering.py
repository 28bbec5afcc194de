"""How many ways of tampering with an export the offline verifier finds, and whether it says where.

Run: .venv/bin/python tests/benchmarks/tampering.py [--mutations 10000] [--seed 1] [--json]

An export of some 60 events with five signed heads and one change of keys is tampered with: bytes
changed, put in and taken out; lines deleted, repeated, swapped, and spliced in from another graph;
the file cut; tails rewritten with every hash and the seal made anew; contents hidden; heads, keys
and seals forged. Whoever rewrites has no key, so that it takes the public key or a head that was
kept elsewhere to find it; everything else is found without. Where one line was touched, that line
must be the first that is named. The exit code is 1 when anything was missed or named elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.belief_exports import sample_in
from support.tampering import tally


def main() -> int:
    """Print the figures; return 1 when a mutation was missed, or named elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=10_000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ezra-tampering-") as folder:
        place = Path(folder)
        sample, foreign = sample_in(place), sample_in(place, "other")
        started = time.perf_counter()
        found = tally(options.mutations, options.seed, sample, foreign, place / "mutation.jsonl")
        seconds = time.perf_counter() - started
    figures = {
        "events": len(sample.entries),
        "heads": len(sample.heads),
        "mutations": found.kinds.total(),
        "missed": len(found.missed),
        "one line touched": found.touched,
        "named elsewhere": len(found.elsewhere),
        "seconds": round(seconds, 1),
        "kinds": dict(found.kinds.most_common()),
    }
    if options.json:
        print(json.dumps(figures, indent=2))  # noqa: T201
    else:
        for name, value in figures.items():
            print(f"{name}: {value}")  # noqa: T201
    for one in [*found.missed, *found.elsewhere]:
        print(one, file=sys.stderr)  # noqa: T201
    return 1 if found.missed or found.elsewhere else 0


if __name__ == "__main__":
    sys.exit(main())
