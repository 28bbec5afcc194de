"""``ezra doctor``: what is installed, and what each tier's engine says about itself."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Sequence
from importlib.metadata import Distribution, distributions, version
from typing import TYPE_CHECKING, Any

from tiers.errors import EzraError
from tiers.fleet import SessionGraph
from tiers.health import TierHealth

from ..assembly.engines import check_up
from ..settings import Settings
from .command import Answer
from .doors import Folder, refuse_nothing
from .options import settings_at

if TYPE_CHECKING:
    from ..app import Ezra

LOGS_MAX = 1_000
VERIFY_SECONDS_MAX = 30.0
"""After so long no further log is begun: the report says how many were verified."""
GRAPHS_MAX = 10_000
NAMED_MAX = 5
OURS = ("ezra", "tiers", "metaagents")
_MODULE_OF_OURS = re.compile(rf"^({'|'.join(OURS)})(?:/[^,\n]*)?\.py(?:,|$)", re.MULTILINE)


async def doctor(folder: Folder) -> Answer:
    """Check the installation and every tier: reachable, version, indexes, permissions, speed.

    Says what to do about each problem, and verifies the belief logs. Exit code 1 when a tier does
    not answer, the memory cannot be opened or a log is not whole. Of a server, 'ezra status --url'
    tells how its tiers answer.

    Examples:
        ezra doctor
        ezra doctor --home /srv/ezra --json
    """
    folder.only("doctor")
    report, healthy = await examined(settings_at(folder.home))
    return Answer(report, lines_of(report), code=0 if healthy else 1)


def foreign_owners() -> dict[str, list[str]]:
    """Return our package names that another installed distribution claims as well."""
    owners: dict[str, set[str]] = {}
    for one in distributions():
        for name in _claimed(one):
            owners.setdefault(name, set()).add(one.metadata["Name"])
    return {name: sorted(owners[name]) for name in OURS if owners.get(name, set()) - {"ezra"}}


def _claimed(one: Distribution) -> set[str]:
    """Return which of our names a distribution says it brings, or brings a module of.

    The list of its files is looked through as text: making a path of each takes ten times as long.
    """
    declared = (one.read_text("top_level.txt") or "").split()
    if declared:
        return set(OURS) & set(declared)
    files = one.read_text("RECORD")
    if files is None:
        files = "".join(f"{file}\n" for file in one.files or ())
    return set(_MODULE_OF_OURS.findall(files))


async def examined(settings: Settings) -> tuple[dict[str, Any], bool]:
    """Return what there is to say, and whether a runtime can be opened and every tier answers."""
    tiers = await check_up(settings)
    shared = foreign_owners()
    data, beliefs, clock, usable = await _opened(settings)
    report = {
        "ezra": version("ezra"),
        "python": platform.python_version(),
        "home": str(settings.home) if settings.needs_home else "not needed",
        "data": data,
        "beliefs": beliefs,
        "clock": clock,
        "packages": "owned by ezra alone" if not shared else f"also owned by: {shared}",
        "tiers": [tier.model_dump(mode="json") for tier in tiers],
    }
    return report, usable and not shared and all(tier.reachable for tier in tiers)


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return the report as lines for people: a tier's problems below it."""
    lines = [f"{key:<9} {value}" for key, value in report.items() if key != "tiers"]
    for found in report["tiers"]:
        lines += _tier_lines(TierHealth.model_validate(found))
    return lines


def _tier_lines(tier: TierHealth) -> list[str]:
    parts = [f"{tier.engine} {tier.version}".strip()]
    if not tier.reachable:
        parts.append("NOT REACHABLE")
    if tier.round_trip_ms is not None:
        parts.append(f"{tier.round_trip_ms:.2f} ms")
    parts += [f"{name}: {value}" for name, value in tier.details.items()]
    return [f"{tier.tier:<9} {', '.join(parts)}", *(f"{'':<9} → {one}" for one in tier.problems)]


async def _opened(settings: Settings) -> tuple[str, str, str, bool]:
    """Return how opening went, what belief logs and their times are like, and whether all is well.

    A log that ends in the future is told and hurts nobody.
    """
    from ..app import Ezra

    try:
        await refuse_nothing(settings)
        async with Ezra.open(settings) as ezra:
            graphs = await ezra.session_graphs()
            beliefs, whole = await _verified(ezra, graphs)
            clock = await _clocked(ezra, graphs)
            return f"usable, {len(graphs)} session graphs", beliefs, clock, whole
    except EzraError as error:
        return f"{type(error).__name__}: {error}", "not verified", "not known", False


async def _clocked(ezra: Ezra, graphs: Sequence[SessionGraph]) -> str:
    """Return which belief logs end in the future, as they do after a clock that ran ahead."""
    ahead = []
    for one in graphs[:GRAPHS_MAX]:
        found = await (await ezra.session_graph(one.id)).beliefs.in_future()
        ahead += [] if found is None else [f"{one.id}: {found}"]
    times = "; ".join(ahead[:NAMED_MAX]) or "no belief log ends in the future"
    return times + (f"; and {len(ahead) - NAMED_MAX} more" if len(ahead) > NAMED_MAX else "")


async def _verified(ezra: Ezra, graphs: Sequence[SessionGraph]) -> tuple[str, bool]:
    """Verify the belief logs of the latest graphs, until they have taken long enough."""
    began, done, wrong = time.monotonic(), 0, []
    for graph in graphs[: -LOGS_MAX - 1 : -1]:
        if time.monotonic() - began > VERIFY_SECONDS_MAX:
            break
        found = await (await ezra.session_graph(graph.id)).beliefs.verify()
        done += 1
        if not found.ok:
            wrong.append(f"{graph.id}: {found.problem_count} problems")
    verified = f"{done} of {len(graphs)} logs verified"
    advice = "'ezra audit check GRAPH' says more"
    return f"{verified}, " + (f"{'; '.join(wrong)} ({advice})" if wrong else "all whole"), not wrong
